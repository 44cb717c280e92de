/* normal.c - see normal.h. */
#include "eval/score/normal.h"
#include <float.h>
#include <math.h>

#define INV_SQRT_2PI 0.39894228040143267794

double wx_normal_density(double z)
{
  return INV_SQRT_2PI * exp(-0.5 * z * z);
}

double wx_normal_below(double z)
{
  return 0.5 * erfc(-z / WX_SQRT_2);
}

double wx_normal_above(double z)
{
  return 0.5 * erfc(z / WX_SQRT_2);
}

/* A continued fraction (NIST DLMF 7.9.1), from its end. */
double wx_normal_mills(double z)
{
  enum { FRACTIONS = 60 };
  double f = z;

  for (int k = FRACTIONS; k > 0; k--) {
    f = z + k / f;
  }
  return 1 / f;
}

/* From z = 100 on the asymptotic series in 1 / z^2 (of NIST DLMF 7.12.1), where the closed forms
 * are small differences. */
double wx_normal_first(double z)
{
  const double t = 1 / (z * z);

  return z < 100 ? 1 - z * wx_normal_mills(z) : t * (1 - t * (3 - t * (15 - t * 105)));
}

double wx_normal_square(double z)
{
  const double r = wx_normal_mills(z), t = 1 / (z * z);

  return z < 100 ? 2 * r - z * r * r - WX_SQRT_2 * wx_normal_mills(WX_SQRT_2 * z)
                 : t / z * (0.5 - t * (7.0 / 4 - t * (63.0 / 8 - t * 729 / 16)));
}

enum { TERMS = 8 };

/* Quotient of two polynomials, coefficients of rising powers. */
static double quotient(const double *a, const double *b, double x)
{
  double up = a[TERMS - 1], down = b[TERMS - 1];

  for (int k = TERMS - 2; k >= 0; k--) {
    up = up * x + a[k];
    down = down * x + b[k];
  }
  return up / down;
}

double wx_normal_quantile(double p)
{
  static const double a[TERMS] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                  1.9715909503065514427e3, 1.3731693765509461125e4,
                                  4.5921953931549871457e4, 6.7265770927008700853e4,
                                  3.3430575583588128105e4, 2.5090809287301226727e3};
  static const double b[TERMS] = {1,
                                  4.2313330701600911252e1,
                                  6.8718700749205790830e2,
                                  5.3941960214247511077e3,
                                  2.1213794301586595867e4,
                                  3.9307895800092710610e4,
                                  2.8729085735721942674e4,
                                  5.2264952788528545610e3};
  static const double c[TERMS] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                  5.76949722146069140550e0,  3.64784832476320460504e0,
                                  1.27045825245236838258e0,  2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static const double d[TERMS] = {1,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  static const double e[TERMS] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                  1.78482653991729133580e0,  2.96560571828504891230e-1,
                                  2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static const double f[TERMS] = {1,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  const double q = p - 0.5;

  if (!(p > 0 && p < 1)) {
    return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
  }
  if (fabs(q) <= 0.425) {
    return q * quotient(a, b, 0.180625 - q * q);
  }
  const double r = sqrt(-log(q < 0 ? p : 1 - p));
  const double z = r <= 5 ? quotient(c, d, r - 1.6) : quotient(e, f, r - 5);

  return q < 0 ? -z : z;
}

/* The continued fraction of the incomplete beta function (NIST DLMF 8.17.22) by Lentz's method. */
static double fraction(double a, double b, double x)
{
  enum { MOST = 500 };
  const double tiny = 1e-300;
  double c = 1, d = 1 / fmax(1 - (a + b) * x / (a + 1), tiny), f = d;

  for (int m = 1; m < MOST; m++) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

    for (int k = 0; k < 2; k++) {
      const double term = k == 0 ? even : odd;

      d = 1 + term * d;
      d = 1 / (fabs(d) < tiny ? tiny : d);
      c = 1 + term / c;
      c = fabs(c) < tiny ? tiny : c;
      f *= c * d;
    }
    if (fabs(c * d - 1) < DBL_EPSILON) {
      break;
    }
  }
  return f;
}

double wx_student_two_sided(double t, double dof)
{
  const double a = dof / 2, b = 0.5;

  if (!(dof > 0) || isnan(t)) {
    return NAN;
  }
  if (isinf(t)) {
    return 0;
  }
  if (t == 0) {
    return 1;
  }
  /* I_x(dof/2, 1/2), x = dof / (dof + t^2): DLMF 8.17.1; the half where the fraction converges. */
  const double x = dof / (dof + t * t), y = t * t / (dof + t * t);
  const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));

  return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a
                                   : 1 - front * fraction(b, a, y) / b;
}
