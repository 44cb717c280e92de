/* weir_gamma.c - see weir_gamma.h. */
#include "base/special/weir_gamma.h"
#include <math.h>

static const double half_ln_2pi = 0.91893853320467274178;

void weir_stirling_rest(double k, double rest[3])
{
  static const double c[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                             5.0 / 5940, -691.0 / 360360, 7.0 / 1092};
  enum { TERMS = sizeof c / sizeof c[0], ENOUGH = 10 };
  double large = k, ln = 0, first = 0, second = 0;

  for (; large < ENOUGH; large++) { /* Gamma(k + 1) = k Gamma(k) */
    ln += log(large);
    first += 1 / large;
    second += 1 / (large * large);
  }
  rest[0] = rest[1] = rest[2] = 0;
  for (int i = TERMS - 1; i >= 0; i--) {
    const double power = pow(large, -2 * i - 1), n = 2 * i + 1;

    rest[0] += c[i] * power;
    rest[1] -= n * c[i] * power / large;
    rest[2] += n * (n + 1) * c[i] * power / (large * large);
  }
  if (large > k) {
    rest[0] += (large - 0.5) * log(large) - large - ln - (k - 0.5) * log(k) + k;
    rest[1] += log(large) - 0.5 / large - first - log(k) + 0.5 / k;
    rest[2] += 1 / large + 0.5 / (large * large) + second - 1 / k - 0.5 / (k * k);
  }
}

/* x^k e^-x / Gamma(k) by its logarithm, without k ln k, in which digits would be lost. */
static double density_times_x(double k, double x, double rest)
{
  return exp(k * (log(x / k) - (x - k) / k) + 0.5 * log(k) - half_ln_2pi - rest);
}

weir_of_shape weir_gamma_below(double k, double x)
{
  if (isnan(k) || isnan(x)) {
    return (weir_of_shape){.v = NAN};
  }
  if (!(x > 0)) {
    return (weir_of_shape){.v = 0};
  }
  if (x > k + 10 * sqrt(k) + 60) { /* less than 1e-22 is above */
    return (weir_of_shape){.v = 1};
  }
  double rest[3], term = 1, a = 0, b = 0, s = 1, s_k = 0, s_kk = 0;

  weir_stirling_rest(k, rest);
  const double first = log(x / k) - rest[1] + 0.5 / k, g = density_times_x(k, x, rest[0]);

  /* sum over n of x^n / ((k + 1) .. (k + n)), and of its derivatives by k */
  for (double n = 1; term > 1e-18 * s || n < x - k; n++) {
    term *= x / (k + n);
    a -= 1 / (k + n);
    b += 1 / ((k + n) * (k + n));
    s += term;
    s_k += term * a;
    s_kk += term * (a * a + b);
  }
  const double e = g / k, l = first - 1 / k, ll = -1 / k - rest[2] + 0.5 / (k * k);
  /* ll: second derivative of k ln x - x - ln Gamma(k + 1), of which l is the first */

  return (weir_of_shape){.v = fmin(1, e * s),
                         .k = e * (l * s + s_k),
                         .x = g / x,
                         .kk = e * ((l * l + ll) * s + 2 * l * s_k + s_kk),
                         .kx = g / x * first,
                         .xx = g / x * ((k - 1) / x - 1)};
}

/* Q(k, x) Gamma(k) / (x^k e^-x) for x > k: the continued fraction DLMF 8.9.2, by Lentz's method. */
static double upper_fraction(double k, double x)
{
  enum { MAX_STEPS = 20000 };
  double b = x + 1 - k, c = 1e300, d = 1 / b, h = d;

  for (int n = 1; n < MAX_STEPS; n++) {
    const double a = -n * (n - k);

    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    h *= d * c;
    if (fabs(d * c - 1) < 1e-16) {
      break;
    }
  }
  return h;
}

double weir_gamma_above(double k, double x)
{
  double rest[3];

  if (isinf(x)) {
    return x > 0 ? 0 : 1;
  }
  if (!(x >= k + 1)) {
    return 1 - weir_gamma_below(k, x).v;
  }
  weir_stirling_rest(k, rest);
  return density_times_x(k, x, rest[0]) * upper_fraction(k, x);
}
