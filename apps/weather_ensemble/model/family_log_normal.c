/* family_log_normal.c - the CRPS of the log-normal distribution as a graph (Jordan, Krueger and
 * Lerch, Journal of Statistical Software 90 (2019) 12, appendix A). With the mean m and the truth y
 * above the bound, t the standard deviation of the logarithm, z = ln(y / m) / t + t / 2 and P the
 * standard normal distribution function:
 *
 *   (y - m) (2 P(z) - 1) + m (2 (P(z) - P(z - t)) - erf(t / 2))
 *
 * The terms of m are as small as t where the distribution is narrow. There they are integrals of
 * the normal density, so that no small difference of large terms remains. */
#include <math.h>
#include "model/family_crps_priv.h"
#include "ops/elementwise/weir_elementwise.h"

#define SQRT_TAU 2.50662827463100050242

/* Nodes and weights of Gauss and Legendre on [0, 1]. */
enum { NODES = 6 };
static const double node[NODES] = {0.033765242898423975, 0.16939530676686775, 0.38069040695840156,
                                   0.6193095930415984,   0.8306046932331322,  0.966234757101576};
static const double weight[NODES] = {0.08566224618958517, 0.1803807865240693, 0.23395696728634552,
                                     0.23395696728634552, 0.1803807865240693, 0.08566224618958517};

static const double wide = 0.5;       /* t from which differences are taken */
static const double near_one = 0.5;   /* distance from 1 of what series of the logarithm take */
static const double narrowest = 1e-7; /* standard deviation over mean that differs from 0 */
static const double point = 1e-6;     /* mean over standard deviation that does: as positive.c */
static const double least = 1e-30;    /* what is divided by, or whose logarithm is taken */
static const double farthest = 1e5;   /* z that differ from infinity; their squares are finite */

/* x within -bound and bound. */
static weir_value within(weir_graph *g, weir_value x, double bound)
{
  return weir_max_scalar(g, weir_min_scalar(g, x, bound), -bound);
}

/* Integral of the normal density from x - width to x, by its values between. */
static weir_value area(weir_graph *g, weir_value x, weir_value width)
{
  weir_value sum = WEIR_NO_VALUE;

  for (int k = 0; k < NODES; k++) {
    const weir_value at = weir_sub(g, x, weir_scale(g, width, node[k]));
    const weir_value density = weir_exp(g, weir_scale(g, weir_square(g, at), -0.5));
    const weir_value part = weir_scale(g, density, weight[k] / SQRT_TAU);

    sum = k == 0 ? part : weir_add(g, sum, part);
  }
  return weir_mul(g, width, sum);
}

/* ln(1 + x) for x within near_one: 2 s (1 + s^2 / 3 + s^4 / 5 + ...) with s = x / (2 + x). */
static weir_value log_near_one(weir_graph *g, weir_value x)
{
  enum { TERMS = 16 }; /* s is at most 1/3 */
  const weir_value s = weir_div(g, x, weir_add_scalar(g, x, 2)), s2 = weir_square(g, s);
  weir_value sum = weir_scale(g, s2, 1.0 / (2 * TERMS + 1));

  for (int k = TERMS - 1; k > 0; k--) {
    sum = weir_mul(g, s2, weir_add_scalar(g, sum, 1.0 / (2 * k + 1)));
  }
  return weir_scale(g, weir_mul(g, s, weir_add_scalar(g, sum, 1)), 2);
}

/* ln(1 + x) for x >= 0. */
static weir_value log_of_one_and(weir_graph *g, weir_value x)
{
  const weir_value far = weir_log(g, weir_add_scalar(g, weir_max_scalar(g, x, near_one), 1));

  return weir_select(g, weir_gt_scalar(g, x, near_one), far,
                     log_near_one(g, weir_min_scalar(g, x, near_one)));
}

/* ln(y / m), from the difference y - m where both are near; finite for y = 0. */
static weir_value log_ratio(weir_graph *g, weir_value y, weir_value m, weir_value difference)
{
  const weir_value off = weir_div(g, difference, weir_max(g, m, weir_abs(g, difference)));
  const weir_value far = weir_sub(g, weir_log(g, weir_max_scalar(g, y, least)), weir_log(g, m));

  return weir_select(g, weir_gt_scalar(g, weir_abs(g, off), near_one), far,
                     log_near_one(g, within(g, off, near_one)));
}

/* The terms of the mean in brackets; twice is 2 P(z) - 1. */
static weir_value of_mean(weir_graph *g, weir_value z, weir_value t, weir_value twice)
{
  const weir_value close = weir_min_scalar(g, t, wide), half = weir_scale(g, close, sqrt(0.5));
  const weir_value before = weir_erf(g, weir_scale(g, weir_sub(g, z, t), sqrt(0.5)));
  const weir_value apart =
      weir_sub(g, weir_sub(g, twice, before), weir_erf(g, weir_scale(g, t, 0.5)));
  const weir_value near = weir_scale(g, weir_sub(g, area(g, z, close), area(g, half, half)), 2);

  return weir_select(g, weir_gt_scalar(g, t, wide), apart, near);
}

weir_value wx_log_normal_crps_graph(weir_graph *g, const weir_value of[WX_OF])
{
  const weir_value scale = of[WX_OF_SCALE], lower = of[WX_OF_LOWER], truth = of[WX_OF_TRUTH];
  const weir_value from = weir_max(g, truth, lower), y = weir_sub(g, from, lower);
  const weir_value mean = weir_sub(g, of[WX_OF_LOCATION], lower),
                   edge = weir_scale(g, scale, point);
  const weir_value m = weir_max(g, mean, weir_max_scalar(g, edge, least));
  const weir_value ratio = weir_max_scalar(g, weir_div(g, scale, m), narrowest);
  const weir_value t = weir_sqrt(g, log_of_one_and(g, weir_square(g, ratio)));
  const weir_value off = weir_sub(g, y, m), logs = weir_div(g, log_ratio(g, y, m, off), t);
  const weir_value z = weir_add(g, within(g, logs, farthest), weir_scale(g, t, 0.5));
  const weir_value twice = weir_erf(g, weir_scale(g, z, sqrt(0.5)));
  const weir_value crps =
      weir_add(g, weir_mul(g, off, twice), weir_mul(g, m, of_mean(g, z, t, twice)));

  return weir_add(g, weir_sub(g, from, truth), weir_select(g, weir_gt(g, mean, edge), crps, y));
}
