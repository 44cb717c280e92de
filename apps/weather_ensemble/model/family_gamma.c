/* family_gamma.c - the CRPS of the censored shifted gamma distribution as a graph (Scheuerer and
 * Hamill, MWR 143 (2015) 4578, eq. 10). From the beginning of the gamma distribution on: m its
 * mean, y the truth, c the bound; k its shape, in its unit z and b are y and c; P(k, x) is its
 * distribution function and G = x^k e^-x / Gamma(k + 1):
 *
 *   (y - m) (2 P(k, z) - 1) + 2 m G(k, z) + P(k, b) ((m - c) P(k, b) - 2 m G(k, b))
 *     - m Gamma(k + 1/2) / (sqrt pi Gamma(k + 1)) (1 - P(2 k, 2 b))
 *
 * P is that of a shape a = k + n, and n terms by recurrence (NIST DLMF 8.8.7). With
 * eta^2 / 2 = d - ln(1 + d), d = (x - a) / a, and coefficients c_j of eta / d in powers of eta
 * (Temme 1987; Gil, Segura and Temme, SIAM J. Sci. Comput. 34 (2012) A2965)
 *
 *   P(a, x) = (1 + erf(eta sqrt(a / 2))) / 2 - exp(-a eta^2 / 2) S / (sqrt(2 pi a) C)
 *   S = sum of beta_j eta^j, C = 1 + beta_1 / a, beta_j = c_(j+1) + (j + 2) beta_(j+2) / a
 *
 * in which no small difference of large terms is taken, however large the shape. */
#include <math.h>
#include "model/family_crps_priv.h"
#include "ops/elementwise/weir_elementwise.h"

#define PI 3.14159265358979323846

/* c_1, c_2, .. */
static const double coefficient[] = {
    -1.0 / 3,
    1.0 / 12,
    -2.0 / 135,
    1.0 / 864,
    3.5273368606701940035e-4,
    -1.7875514403292181070e-4,
    3.9192631785224377817e-5,
    -2.1854485106799921615e-6,
    -1.8540622107151599607e-6,
    8.2967113409530860050e-7,
    -1.7665952736826079304e-7,
    6.7078535434014985804e-9,
    1.0261809784240308043e-8,
    -4.3820360184533531866e-9,
    9.1476995822367902342e-10,
    -2.5514193994946249767e-11,
    -5.8307721325504250675e-11,
};

/* What is computed of a dtype: the truncation error of P, of the formula in exact arithmetic, is
 * below 2e-8 (f32) and 1e-12 (f64). */
typedef struct rule {
  int steps;  /* n */
  int powers; /* of eta: 0 .. powers */
  int logs;   /* terms of the logarithm's series */
  int ratios; /* terms of the ratio of gamma functions */
} rule;

static rule rule_of(weir_dtype dtype)
{
  return dtype == WEIR_F64 ? (rule){.steps = 10, .powers = 14, .logs = 11, .ratios = 4}
                           : (rule){.steps = 4, .powers = 10, .logs = 6, .ratios = 3};
}

static const double near_one = 0.5;         /* d that the series of the logarithm takes */
static const double min_sd_per_mean = 1e-7; /* standard deviation over mean that differs from 0 */
static const double min_mean_per_sd = 1e-6; /* mean over sd that does: as positive.c */
static const double min_mean = 1e-20;       /* mean that is divided by */
static const double min_ratio = 1e-30;      /* x / a whose logarithm is taken */
static const double max_distance = 1e15;    /* units that a distance counts at most */

/* A value x of the gamma distribution of a shape, both in its unit, and x - shape. */
typedef struct gamma_arg {
  weir_value shape, x, off;
} gamma_arg;

/* P and G there. */
typedef struct gamma_at {
  weir_value below, rate;
} gamma_at;

/* -2 (ln(1 + d) - d) / d^2, from x / a = 1 + d where it is not near 1: with q = 1 / (2 + d) and
 * s = q d it is 2 q - 4 q^3 d (1/3 + s^2 / 5 + s^4 / 7 + ...). */
static weir_value log1p_remainder(weir_graph *g, rule by, weir_value d, weir_value ratio)
{
  const weir_value close = weir_max_scalar(g, weir_min_scalar(g, d, near_one), -near_one);
  const weir_value q = weir_rdiv_scalar(g, 1, weir_add_scalar(g, close, 2));
  const weir_value s2 = weir_square(g, weir_mul(g, q, close));
  weir_value sum = weir_scale(g, s2, 1.0 / (2 * by.logs + 3));

  for (int j = by.logs; j > 1; j--) {
    sum = weir_mul(g, s2, weir_add_scalar(g, sum, 1.0 / (2 * j + 1)));
  }
  const weir_value cube = weir_mul(g, weir_square(g, q), weir_mul(g, q, close));
  const weir_value near =
      weir_sub(g, weir_scale(g, q, 2),
               weir_mul(g, weir_scale(g, cube, 4), weir_add_scalar(g, sum, 1.0 / 3)));
  const weir_value wide = weir_max_scalar(g, weir_square(g, d), near_one * near_one);
  const weir_value far = weir_scale(g, weir_div(g, weir_sub(g, weir_log(g, ratio), d), wide), -2);

  return weir_select(g, weir_gt_scalar(g, weir_abs(g, d), near_one), far, near);
}

/* S; *c is C. */
static weir_value correction(weir_graph *g, rule by, weir_value eta, weir_value per_a,
                             weir_value *c)
{
  weir_value beta[2] = {WEIR_NO_VALUE, WEIR_NO_VALUE}; /* j + 1 and j + 2 */
  weir_value sum = WEIR_NO_VALUE;

  for (int j = by.powers; j >= 0; j--) {
    const weir_value more = beta[1].node < 0 ? weir_scale(g, per_a, 0)
                                             : weir_mul(g, weir_scale(g, per_a, j + 2), beta[1]);
    const weir_value own = weir_add_scalar(g, more, coefficient[j]);

    beta[1] = beta[0];
    beta[0] = own;
    sum = sum.node < 0 ? own : weir_add(g, weir_mul(g, sum, eta), own);
  }
  *c = weir_add_scalar(g, weir_mul(g, beta[1], per_a), 1);
  return sum;
}

/* Beyond 12 standard deviations and 100 units all is below, and x counts as there. */
static gamma_arg limited(weir_graph *g, gamma_arg at)
{
  const weir_value most = weir_add_scalar(g, weir_scale(g, weir_sqrt(g, at.shape), 12), 100);

  return (gamma_arg){at.shape, weir_min(g, at.x, weir_add(g, at.shape, most)),
                     weir_min(g, at.off, most)};
}

/* 1 + x / (k + 1) + x^2 / ((k + 1) (k + 2)) + ..; *product: ((k + 1) / a) .. ((k + n) / a). */
static weir_value steps_of(weir_graph *g, rule by, gamma_arg at, weir_value per_a,
                           weir_value *product)
{
  weir_value sum = WEIR_NO_VALUE, term = WEIR_NO_VALUE, all = WEIR_NO_VALUE;

  for (int j = 1; j < by.steps; j++) {
    const weir_value next = weir_add_scalar(g, at.shape, j), share = weir_mul(g, next, per_a);
    const weir_value ratio = weir_div(g, at.x, next);

    term = j == 1 ? ratio : weir_mul(g, term, ratio);
    sum = j == 1 ? weir_add_scalar(g, term, 1) : weir_add(g, sum, term);
    all = j == 1 ? share : weir_mul(g, all, share);
  }
  *product = all; /* (k + n) / a = 1 */
  return sum;
}

static gamma_at gamma_of(weir_graph *g, rule by, gamma_arg whole)
{
  const double n = by.steps;
  const gamma_arg at = limited(g, whole);
  const weir_value a = weir_add_scalar(g, at.shape, n), per_a = weir_rdiv_scalar(g, 1, a);
  const weir_value d = weir_mul(g, weir_sub_scalar(g, at.off, n), per_a), d2 = weir_square(g, d);
  const weir_value w =
      log1p_remainder(g, by, d, weir_max_scalar(g, weir_mul(g, at.x, per_a), min_ratio));
  const weir_value eta = weir_mul(g, d, weir_sqrt(g, w)), half = weir_scale(g, a, 0.5);
  const weir_value ln = weir_scale(g, weir_mul(g, d2, w), -0.5); /* -eta^2 / 2 */
  weir_value c, product;
  const weir_value s = correction(g, by, eta, per_a, &c);
  const weir_value scale = weir_mul(g, weir_sqrt(g, weir_scale(g, a, 2 * PI)), c);
  const weir_value erf = weir_erf(g, weir_mul(g, eta, weir_sqrt(g, half)));
  const weir_value skew = weir_div(g, weir_mul(g, weir_exp(g, weir_mul(g, a, ln)), s), scale);
  const weir_value rest = steps_of(g, by, at, per_a, &product);
  const weir_value power = weir_sub(g, weir_mul(g, at.shape, ln), weir_scale(g, d, n));
  const weir_value rate = weir_div(g, weir_mul(g, weir_exp(g, power), product), scale);
  const weir_value of_a = weir_sub(g, weir_scale(g, weir_add_scalar(g, erf, 1), 0.5), skew);

  return (gamma_at){weir_add(g, of_a, weir_mul(g, rate, rest)), rate};
}

/* Gamma(k + 1/2) / (sqrt pi Gamma(k + 1)), of a shape k + n by its series in (k + n + 1/4)^-2
 * (NIST DLMF 5.11.14). */
static weir_value gamma_ratio_half(weir_graph *g, rule by, weir_value k)
{
  static const double series[] = {-1.0 / 64, 21.0 / 8192, -671.0 / 524288, 180323.0 / 134217728};
  const weir_value w = weir_rdiv_scalar(g, 1, weir_add_scalar(g, k, by.steps + 0.25));
  const weir_value w2 = weir_square(g, w);
  weir_value sum = weir_scale(g, w2, series[by.ratios - 1]);

  for (int j = by.ratios - 2; j >= 0; j--) {
    sum = weir_mul(g, w2, weir_add_scalar(g, sum, series[j]));
  }
  weir_value out = weir_mul(g, weir_sqrt(g, weir_scale(g, w, 1 / PI)), weir_add_scalar(g, sum, 1));

  for (int j = 1; j <= by.steps; j++) {
    const weir_value ratio = weir_div(g, weir_add_scalar(g, k, j), weir_add_scalar(g, k, j - 0.5));

    out = weir_mul(g, out, ratio);
  }
  return out;
}

/* distance / unit, at most so far. */
static weir_value in_units(weir_graph *g, weir_value distance, weir_value unit)
{
  const weir_value near = weir_scale(g, weir_abs(g, distance), 1 / max_distance);

  return weir_div(g, distance, weir_max(g, unit, near));
}

weir_value wx_gamma_crps_graph(weir_graph *g, weir_dtype dtype, const weir_value of[WX_OF])
{
  const rule by = rule_of(dtype);
  const weir_value lower = of[WX_OF_LOWER], c = of[WX_OF_EXTRA], scale = of[WX_OF_SCALE];
  const weir_value from = weir_max(g, of[WX_OF_TRUTH], lower), over = weir_sub(g, from, lower);
  const weir_value above = weir_sub(g, of[WX_OF_LOCATION], lower), mean = weir_add(g, above, c);
  const weir_value edge = weir_scale(g, scale, min_mean_per_sd), lies_over = weir_gt(g, mean, edge);
  const weir_value m = weir_max(g, mean, weir_max_scalar(g, edge, min_mean));
  const weir_value sd = weir_max(g, scale, weir_scale(g, m, min_sd_per_mean));
  const weir_value inverse = weir_div(g, m, sd), k = weir_square(g, inverse);
  const weir_value unit = weir_div(g, sd, inverse);
  const weir_value off = weir_sub(g, over, weir_sub(g, m, c)), less = weir_sub(g, c, m);
  const gamma_arg truth = {k, in_units(g, weir_add(g, over, c), unit), in_units(g, off, unit)};
  const gamma_arg bound = {k, in_units(g, c, unit), in_units(g, less, unit)};
  const gamma_arg both = {weir_scale(g, k, 2), weir_scale(g, bound.x, 2),
                          weir_scale(g, bound.off, 2)};
  const gamma_at y = gamma_of(g, by, truth), b = gamma_of(g, by, bound);
  const weir_value beyond = weir_rsub_scalar(g, 1, gamma_of(g, by, both).below);
  const weir_value twice = weir_sub_scalar(g, weir_scale(g, y.below, 2), 1);
  const weir_value rates = weir_sub(
      g, y.rate, weir_mul(g, b.below, b.rate)); /* less the mean of two independent ones: */
  const weir_value of_m =
      weir_sub(g, weir_scale(g, rates, 2), weir_mul(g, gamma_ratio_half(g, by, k), beyond));
  const weir_value square = weir_mul(g, weir_square(g, b.below), less);
  const weir_value crps =
      weir_sub(g, weir_add(g, weir_mul(g, off, twice), weir_mul(g, m, of_m)), square);

  return weir_add(g, weir_sub(g, from, of[WX_OF_TRUTH]), weir_select(g, lies_over, crps, over));
}
