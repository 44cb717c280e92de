/* linear.c - see linear.h. Numbers of equations are those of Eisenstein and Hu 1998. */
#include "data/simulation/linear.h"
#include <math.h>

#define PI 3.14159265358979323846
#define EULER 2.71828182845904523536
static const double temperature = 2.7255; /* K: of the background (Fixsen, ApJ 707 (2009) 916) */

/* Ratio of the momentum densities of baryons and photons at redshift z (equation 5). */
static double momentum_ratio(double w_b, double theta2, double z)
{
  return 31.5 * w_b / (theta2 * theta2) * (1000 / z);
}

/* The function G(y) of equation 15. */
static double suppression(double y)
{
  const double root = sqrt(1 + y);

  return y * (-6 * root + (2 + 3 * y) * log((root + 1) / (root - 1)));
}

/* Equations 2 to 24. */
static void fit_full(cf_linear *l)
{
  const double w_m = l->c.omega_m * l->c.h * l->c.h, w_b = l->c.omega_b * l->c.h * l->c.h;
  const double theta4 = l->theta2 * l->theta2;
  const double z_eq = 2.5e4 * w_m / theta4;
  const double b1 = 0.313 * pow(w_m, -0.419) * (1 + 0.607 * pow(w_m, 0.674));
  const double b2 = 0.238 * pow(w_m, 0.223);
  const double z_d =
      1291 * pow(w_m, 0.251) * (1 + b1 * pow(w_b, b2)) / (1 + 0.659 * pow(w_m, 0.828));
  const double r_d = momentum_ratio(w_b, l->theta2, z_d);
  const double r_eq = momentum_ratio(w_b, l->theta2, z_eq);
  const double a1 = pow(46.9 * w_m, 0.670) * (1 + pow(32.1 * w_m, -0.532));
  const double a2 = pow(12.0 * w_m, 0.424) * (1 + pow(45.0 * w_m, -0.582));
  const double c1 = 0.944 / (1 + pow(458 * w_m, -0.708)), c2 = pow(0.395 * w_m, -0.0266);

  l->k_eq = 0.0746 * w_m / l->theta2;
  l->sound = 2 / (3 * l->k_eq) * sqrt(6 / r_eq) *
             log((sqrt(1 + r_d) + sqrt(r_d + r_eq)) / (1 + sqrt(r_eq)));
  l->k_silk = 1.6 * pow(w_b, 0.52) * pow(w_m, 0.73) * (1 + pow(10.4 * w_m, -0.95));
  l->alpha_c = pow(a1, -l->f_b) * pow(a2, -pow(l->f_b, 3));
  l->beta_c = 1 / (1 + c1 * (pow(l->f_c, c2) - 1));
  l->alpha_b =
      2.07 * l->k_eq * l->sound * pow(1 + r_d, -0.75) * suppression((1 + z_eq) / (1 + z_d));
  l->beta_b = 0.5 + l->f_b + (3 - 2 * l->f_b) * sqrt(17.2 * w_m * (17.2 * w_m) + 1);
  l->beta_node = 8.41 * pow(w_m, 0.435);
}

/* Equations 26 and 31. */
static void fit_smooth(cf_linear *l)
{
  const double w_m = l->c.omega_m * l->c.h * l->c.h, w_b = l->c.omega_b * l->c.h * l->c.h;

  l->smooth_sound = 44.5 * log(9.83 / w_m) / sqrt(1 + 10 * pow(w_b, 0.75));
  l->alpha_gamma = 1 - 0.328 * log(431 * w_m) * l->f_b + 0.38 * log(22.3 * w_m) * l->f_b * l->f_b;
}

/* Equations 19 and 20. */
static double shape(double q, double alpha, double beta)
{
  const double ln = log(EULER + 1.8 * beta * q);
  const double c = 14.2 / alpha + 386 / (1 + 69.9 * pow(q, 1.08));

  return ln / (ln + c * q * q);
}

static double transfer_full(const cf_linear *l, double k)
{
  const double kk = k * l->c.h, q = kk / (13.41 * l->k_eq), ks = kk * l->sound;
  const double share = 1 / (1 + pow(ks / 5.4, 4));
  const double dark =
      share * shape(q, 1, l->beta_c) + (1 - share) * shape(q, l->alpha_c, l->beta_c);
  const double moved = ks / cbrt(1 + pow(l->beta_node / ks, 3));
  const double wave = moved > 1e-8 ? sin(moved) / moved : 1;
  const double rest = shape(q, 1, 1) / (1 + ks / 5.2 * (ks / 5.2));
  const double peaks = l->alpha_b / (1 + pow(l->beta_b / ks, 3)) * exp(-pow(kk / l->k_silk, 1.4));

  return l->f_b * (rest + peaks) * wave + l->f_c * dark;
}

static double transfer_smooth(const cf_linear *l, double k)
{
  const double w_m = l->c.omega_m * l->c.h;
  const double x = 0.43 * k * l->c.h * l->smooth_sound;
  const double gamma = w_m * (l->alpha_gamma + (1 - l->alpha_gamma) / (1 + x * x * x * x));
  const double q = k * l->theta2 / gamma, ln = log(2 * EULER + 1.8 * q);

  return ln / (ln + (14.2 + 731 / (1 + 62.5 * q)) * q * q);
}

double cf_linear_transfer(const cf_linear *l, double k)
{
  if (!(k > 0)) {
    return 1;
  }
  return l->transfer == CF_TRANSFER_FULL ? transfer_full(l, k) : transfer_smooth(l, k);
}

double cf_linear_power(const cf_linear *l, double k)
{
  const double t = cf_linear_transfer(l, k);

  return k > 0 ? l->amplitude * pow(k, l->c.n_s) * t * t : 0;
}

double cf_linear_sigma(const cf_linear *l, double radius)
{
  /* Integrates by the trapezoidal rule in ln k; the tails are below 1e-9 of the sum. */
  const double lo = log(1e-6 / radius), hi = log(400 / radius);
  const int n = 2000;
  double sum = 0;

  for (int i = 0; i <= n; i++) {
    const double k = exp(lo + (hi - lo) * i / n), x = k * radius;
    const double w = x < 0.02 ? 1 - x * x / 10 : 3 * (sin(x) - x * cos(x)) / (x * x * x);

    sum += cf_linear_power(l, k) * k * k * k * w * w;
  }
  return sqrt(sum * (hi - lo) / n / (2 * PI * PI));
}

double cf_linear_displacement(const cf_linear *l, double max_k)
{
  const double lo = log(1e-7 * max_k), hi = log(max_k);
  const int n = 2000;
  double sum = 0;

  for (int i = 0; i <= n; i++) {
    const double k = exp(lo + (hi - lo) * i / n);

    sum += (i == n ? 0.5 : 1) * cf_linear_power(l, k) * k;
  }
  return sqrt(sum * (hi - lo) / n / (6 * PI * PI));
}

double cf_linear_expansion(const cf_linear *l, double a)
{
  return sqrt(l->c.omega_m / (a * a * a) + 1 - l->c.omega_m);
}

/* Om(a). */
static double matter(const cf_linear *l, double a)
{
  const double e = cf_linear_expansion(l, a);

  return l->c.omega_m / (a * a * a * e * e);
}

/* 5/2 Om E int_0^a da' / (a' E)^3, which is a where there is nothing but matter (Heath, MNRAS 179
 * (1977) 351). With a' = u^2 the integrand is smooth at 0. */
static double unscaled_growth(const cf_linear *l, double a)
{
  const double om = l->c.omega_m, top = sqrt(a);
  const int n = 400; /* Simpson */
  double sum = 0;

  for (int i = 1; i <= n; i++) {
    const double u = top * i / n, u2 = u * u;
    const double f = 2 * u2 * u2 / pow(om + (1 - om) * u2 * u2 * u2, 1.5);

    sum += (i == n ? 1 : i % 2 == 1 ? 4 : 2) * f;
  }
  return 2.5 * om * cf_linear_expansion(l, a) * sum * top / (3 * n);
}

double cf_linear_growth(const cf_linear *l, double a)
{
  return unscaled_growth(l, a) / l->growth_today;
}

double cf_linear_growth_rate(const cf_linear *l, double a)
{
  return matter(l, a) * (2.5 * a / unscaled_growth(l, a) - 1.5);
}

double cf_linear_growth2(const cf_linear *l, double a)
{
  const double d = cf_linear_growth(l, a);

  return -3.0 / 7 * d * d * pow(matter(l, a), -1.0 / 143);
}

double cf_linear_growth2_rate(const cf_linear *l, double a)
{
  return 2 * pow(matter(l, a), 6.0 / 11);
}

weir_status cf_linear_init(const cf_cosmology *c, cf_transfer transfer, cf_linear *out)
{
  if (!(c->omega_b > 0 && c->omega_b < c->omega_m && c->omega_m <= 1)) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "cosmology: omega_b = %g of omega_m = %g; 0 < omega_b < omega_m <= 1 has to be", c->omega_b,
        c->omega_m);
  }
  if (!(c->h > 0 && c->sigma_8 > 0 && c->n_s >= -2 && c->n_s <= 3)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "cosmology: h = %g, sigma_8 = %g, n_s = %g; the first two have to be above 0, "
                     "n_s from -2 to 3",
                     c->h, c->sigma_8, c->n_s);
  }
  cf_linear l = {.c = *c, .transfer = transfer, .amplitude = 1};

  l.theta2 = temperature / 2.7 * (temperature / 2.7);
  l.f_b = c->omega_b / c->omega_m;
  l.f_c = 1 - l.f_b;
  fit_full(&l);
  fit_smooth(&l);
  l.growth_today = unscaled_growth(&l, 1);
  l.amplitude = pow(c->sigma_8 / cf_linear_sigma(&l, 8), 2);
  if (!isfinite(l.amplitude)) {
    return weir_fail(WEIR_ERR_CONFIG, "cosmology: h = %g, sigma_8 = %g give no finite spectrum",
                     c->h, c->sigma_8);
  }
  *out = l;
  return WEIR_OK;
}
