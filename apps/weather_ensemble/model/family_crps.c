/* family_crps.c - see family_crps.h.
 *
 * In units of the scale from the location: z of the truth, a of the bound, b of the upper one; S
 * the probability above and f the density of the whole distribution, J(x) and K(x) the integrals of
 * S and S^2 above x, c that of S (1 - S) everywhere, q = S(|a|), p = 1 - q. Symmetry gives what is
 * at x < 0 from what is at |x|, so that each case is a distance and terms that no distance makes
 * large:
 *
 *   whole                 |z| + 2 J(|z|) - c
 *   censored, a <  0      |z| + 2 J(|z|) - c - K(|a|)
 *   censored, a >= 0      (z - a) + 2 J(z) - 2 J(a) + K(a)
 *   censored with b: K(|b|) less; b <= 0: as a >= 0, with -z, -b, -a in place of z, a, b
 *   truncated, a <  0     |z| + 2 max(-z, 0) q / p + 2 (J(|z|) - J(|a|)) / p
 *                             + (2 J(|a|) - c - K(|a|)) / p^2 + |a| q^2 / p^2
 *   truncated, a >= 0     (z - a) - 2 (J(a) - J(z)) / S(a) + K(a) / S(a)^2
 *
 * A truth beyond a bound is scored at the bound, and its distance added. */
#include <math.h>
#include "eval/score/normal.h"
#include "model/family_crps_priv.h"
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"

#define PI 3.14159265358979323846
#define SQRT_PI 1.77245385090551602730
#define SQRT_HALF_PI 1.25331413731550025121

/* Midpoint rule of the integral that is the scaled erfc, with the residue of its pole (Hunter and
 * Regan, Mathematics of Computation 26 (1972) 539): the relative error is exp(-(pi / step)^2), and
 * that of the terms left out. */
typedef struct rule {
  double step;
  int terms;
  double far; /* scales that a distance counts at most: its square has to be finite */
} rule;

static rule rule_of(weir_dtype dtype)
{
  return dtype == WEIR_F64 ? (rule){.step = 0.55, .terms = 11, .far = 1e12}
                           : (rule){.step = 0.65, .terms = 7, .far = 1e5};
}

/* Above x >= 0; first and square are J / S and K / S^2. */
typedef struct tail {
  weir_value x, above, j, k, first, square;
  weir_value part, rest; /* S and J over the density, of the logistic distribution over e^-x */
} tail;

static weir_value with_sum(weir_graph *g, weir_value sum, weir_value x)
{
  return sum.node < 0 ? x : weir_add(g, sum, x);
}

/* The residue of the pole at t; beyond pi / step, where it is below the error, it falls to 0. */
static weir_value pole(weir_graph *g, double step, weir_value t)
{
  const weir_value near = weir_min_scalar(g, t, PI / step);
  const weir_value back = weir_scale(g, t, -2 * PI / step);
  const weir_value up = weir_exp(g, weir_add(g, weir_square(g, near), back));

  return weir_div(g, weir_scale(g, up, 2), weir_add_scalar(g, weir_exp(g, back), 1));
}

static weir_value normal_density(weir_graph *g, weir_value x)
{
  return weir_scale(g, weir_exp(g, weir_scale(g, weir_square(g, x), -0.5)), 1 / sqrt(2 * PI));
}

/* S / f, J / f and K / f^2 in sums of positive terms. */
static tail normal_tail(weir_graph *g, rule by, weir_value x)
{
  const weir_value t = weir_scale(g, x, sqrt(0.5)), t2 = weir_square(g, t);
  weir_value sums[3] = {WEIR_NO_VALUE, WEIR_NO_VALUE, WEIR_NO_VALUE};

  for (int k = 0; k < by.terms; k++) {
    const double at = (k + 0.5) * by.step, at2 = at * at, weight = exp(-at2);
    const weir_value p = weir_rdiv_scalar(g, weight, weir_add_scalar(g, t2, at2));
    const weir_value wide = weir_add_scalar(g, weir_scale(g, t2, 2), at2);

    sums[0] = with_sum(g, sums[0], p);
    sums[1] = with_sum(g, sums[1], weir_scale(g, p, at2));
    sums[2] = with_sum(g, sums[2], weir_scale(g, weir_div(g, p, wide), at2));
  }
  const weir_value own = pole(g, by.step, t), other = pole(g, by.step, weir_scale(g, t, sqrt(2)));
  const weir_value of_t = weir_scale(g, t, 2 * by.step / PI);
  const weir_value ratio =
      weir_scale(g, weir_add(g, weir_mul(g, of_t, sums[0]), own), SQRT_HALF_PI);
  const weir_value rest = weir_sub(g, weir_scale(g, sums[1], 2 * by.step / SQRT_PI),
                                   weir_scale(g, weir_mul(g, t, own), SQRT_PI));
  const weir_value poles = weir_sub(g, own, weir_scale(g, other, sqrt(2)));
  const weir_value lacks =
      weir_scale(g, weir_sub(g, poles, weir_mul(g, of_t, sums[2])), SQRT_HALF_PI);
  const weir_value square = weir_add(g, weir_mul(g, ratio, rest), lacks);
  const weir_value f = normal_density(g, x);

  return (tail){.x = x,
                .above = weir_mul(g, f, ratio),
                .j = weir_mul(g, f, rest),
                .k = weir_mul(g, weir_square(g, f), square),
                .first = weir_div(g, rest, ratio),
                .square = weir_div(g, square, weir_square(g, ratio)),
                .part = ratio,
                .rest = rest};
}

/* With s = u / (2 + u), u = e^-x: ln(1 + u) = 2 s (1 + s^2 / 3 + s^4 / 5 + ...). */
static tail logistic_tail(weir_graph *g, weir_dtype dtype, weir_value x)
{
  const int terms = dtype == WEIR_F64 ? 14 : 6; /* s is at most 1/3 */
  const weir_value u = weir_exp(g, weir_neg(g, x)), both = weir_add_scalar(g, u, 2);
  const weir_value s = weir_div(g, u, both), s2 = weir_square(g, s);
  weir_value series = weir_scale(g, s2, 0);

  for (int k = terms; k > 0; k--) {
    series = weir_add_scalar(g, weir_mul(g, s2, series), 1.0 / (2 * k + 1));
  }
  const weir_value more = weir_add_scalar(g, s, 1);
  const weir_value soft = weir_add_scalar(g, weir_mul(g, s2, series), 1);
  const weir_value rest = weir_add(g, weir_rdiv_scalar(g, 1, more), weir_mul(g, s, series));

  return (tail){.x = x,
                .above = weir_div(g, weir_scale(g, s, 2), more),
                .j = weir_scale(g, weir_mul(g, s, soft), 2),
                .k = weir_scale(g, weir_mul(g, s2, rest), 2),
                .first = weir_mul(g, more, soft),
                .square = weir_scale(g, weir_mul(g, weir_square(g, more), rest), 0.5),
                .part = weir_rdiv_scalar(g, 1, weir_add_scalar(g, u, 1)),
                .rest = weir_div(g, weir_scale(g, soft, 2), both)};
}

/* What all cases are made of. */
typedef struct scaled {
  weir_graph *g;
  bool normal;
  double c;
  tail z, a, b;
  weir_value negative; /* max(-z, 0) */
  weir_value w;        /* (y - lower) / scale */
  weir_value a_above;  /* max(a, 0) */
} scaled;

/* J(z) / S(a) of z >= a >= 0: neither of the densities is used, which may both be 0. */
static weir_value first_of_z(const scaled *v)
{
  weir_graph *const g = v->g;
  const weir_value half = weir_add(g, weir_scale(g, v->w, 0.5), v->a_above);
  const weir_value falls = weir_exp(g, weir_neg(g, v->normal ? weir_mul(g, v->w, half) : v->w));

  return weir_div(g, weir_mul(g, falls, v->z.rest), v->a.part);
}

/* Less |z|, or less z - a where the location is below the bound. */
static weir_value truncated(const scaled *v, weir_value is_below)
{
  weir_graph *const g = v->g;
  const weir_value q = v->a.above, p = weir_rsub_scalar(g, 1, q), odds = weir_div(g, q, p);
  const weir_value twice =
      weir_add(g, weir_mul(g, v->negative, odds), weir_div(g, weir_sub(g, v->z.j, v->a.j), p));
  const weir_value flat = weir_sub(g, weir_sub_scalar(g, weir_scale(g, v->a.j, 2), v->c), v->a.k);
  const weir_value near = weir_add(
      g, weir_scale(g, twice, 2),
      weir_add(g, weir_div(g, flat, weir_square(g, p)), weir_mul(g, v->a.x, weir_square(g, odds))));
  const weir_value cut = weir_scale(g, weir_sub(g, first_of_z(v), v->a.first), 2);

  return weir_select(g, is_below, weir_add(g, cut, v->a.square), near);
}

static weir_value censored(const scaled *v, weir_value is_below)
{
  weir_graph *const g = v->g;
  const weir_value of_z = weir_scale(g, v->z.j, 2);
  const weir_value near = weir_sub(g, weir_sub_scalar(g, of_z, v->c), v->a.k);
  const weir_value cut = weir_add(g, weir_sub(g, of_z, weir_scale(g, v->a.j, 2)), v->a.k);

  return weir_select(g, is_below, cut, near);
}

/* Between two bounds: that without the upper one less K(b), or its mirror image. */
static weir_value between(const scaled *v, weir_value is_below, weir_value is_over)
{
  weir_graph *const g = v->g;
  const weir_value of_z = weir_scale(g, v->z.j, 2);
  const weir_value cut = weir_add(g, weir_sub(g, of_z, weir_scale(g, v->b.j, 2)), v->b.k);

  return weir_select(g, is_over, weir_sub(g, cut, v->a.k),
                     weir_sub(g, censored(v, is_below), v->b.k));
}

/* distance / scale, within what squares of the dtype hold. */
static weir_value in_scales(weir_graph *g, rule by, weir_value distance, weir_value scale)
{
  const double tiny = 1e-30; /* both 0 */
  const weir_value near = weir_scale(g, weir_abs(g, distance), 1 / by.far);

  return weir_div(g, distance, weir_max(g, scale, weir_max_scalar(g, near, tiny)));
}

static tail tail_of(const scaled *v, rule by, weir_dtype dtype, weir_value x)
{
  const weir_value from_zero = weir_abs(v->g, x);

  return v->normal ? normal_tail(v->g, by, from_zero) : logistic_tail(v->g, dtype, from_zero);
}

/* The CRPS of a distribution that is censored at the bound and, `extra` above it, at another. */
static weir_value between_bounds(scaled *v, rule by, weir_dtype dtype, const weir_value of[WX_OF])
{
  weir_graph *const g = v->g;
  const weir_value location = of[WX_OF_LOCATION], scale = of[WX_OF_SCALE];
  const weir_value lower = of[WX_OF_LOWER], truth = of[WX_OF_TRUTH];
  const weir_value upper = weir_add(g, lower, of[WX_OF_EXTRA]);
  const weir_value y = weir_min(g, weir_max(g, truth, lower), upper);
  const weir_value d = weir_sub(g, y, location);
  const weir_value a = in_scales(g, by, weir_sub(g, lower, location), scale);
  const weir_value b = in_scales(g, by, weir_sub(g, location, upper), scale); /* -b */
  const weir_value is_below = weir_ge_scalar(g, a, 0), is_over = weir_ge_scalar(g, b, 0);

  v->z = tail_of(v, by, dtype, in_scales(g, by, d, scale));
  v->a = tail_of(v, by, dtype, a);
  v->b = tail_of(v, by, dtype, b);
  const weir_value near = weir_select(g, is_below, weir_sub(g, y, lower), weir_abs(g, d));
  const weir_value distance = weir_select(g, is_over, weir_sub(g, upper, y), near);
  const weir_value inside = weir_mul(g, scale, between(v, is_below, is_over));

  return weir_add(g, weir_abs(g, weir_sub(g, truth, y)), weir_add(g, distance, inside));
}

static weir_value bounded(scaled *v, rule by, weir_dtype dtype, bool is_censored,
                          const weir_value of[WX_OF])
{
  weir_graph *const g = v->g;
  const weir_value location = of[WX_OF_LOCATION], scale = of[WX_OF_SCALE];
  const weir_value lower = of[WX_OF_LOWER], truth = of[WX_OF_TRUTH];
  const weir_value y = weir_max(g, truth, lower), short_by = weir_sub(g, y, truth);
  const weir_value d = weir_sub(g, y, location), over = weir_sub(g, y, lower);
  const weir_value z = in_scales(g, by, d, scale);
  const weir_value a = in_scales(g, by, weir_sub(g, lower, location), scale);
  const weir_value is_below = weir_ge_scalar(g, a, 0);

  v->z = tail_of(v, by, dtype, z);
  v->a = tail_of(v, by, dtype, a);
  v->negative = weir_max_scalar(g, weir_neg(g, z), 0);
  v->w = in_scales(g, by, over, scale);
  v->a_above = weir_max_scalar(g, a, 0);
  const weir_value rest = is_censored ? censored(v, is_below) : truncated(v, is_below);
  const weir_value distance = weir_select(g, is_below, over, weir_abs(g, d));

  return weir_add(g, short_by, weir_add(g, distance, weir_mul(g, scale, rest)));
}

bool wx_family_is_logistic(wx_family family)
{
  return family >= WX_LOGISTIC && family <= WX_CENSORED_LOGISTIC;
}

weir_value wx_family_crps(weir_graph *g, wx_family family, const weir_value of[WX_OF])
{
  const weir_value location = of[WX_OF_LOCATION], scale = of[WX_OF_SCALE], truth = of[WX_OF_TRUTH];
  const weir_array_desc *const d = weir_value_desc(g, truth);
  const bool normal = !wx_family_is_logistic(family);

  if (family == WX_NORMAL || d == NULL) {
    return weir_crps(g, location, scale, truth);
  }
  if (d->dtype != WEIR_F32 && d->dtype != WEIR_F64) {
    return weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE, "CRPS of a family takes f32 or f64"));
  }
  if (family == WX_LOG_NORMAL) {
    return wx_log_normal_crps_graph(g, of);
  }
  if (family == WX_CENSORED_SHIFTED_GAMMA) {
    return wx_gamma_crps_graph(g, d->dtype, of);
  }
  const rule by = rule_of(d->dtype);
  scaled v = {.g = g, .normal = normal, .c = normal ? WX_INV_SQRT_PI : 1};

  if (wx_family_has_upper(family) && of[WX_OF_EXTRA].node >= 0) {
    return between_bounds(&v, by, d->dtype, of);
  }
  if (wx_family_is_bounded(family)) {
    return bounded(&v, by, d->dtype, wx_family_is_censored(family), of);
  }
  const weir_value off = weir_sub(g, truth, location);
  const tail z = tail_of(&v, by, d->dtype, in_scales(g, by, off, scale));
  const weir_value rest = weir_sub_scalar(g, weir_scale(g, z.j, 2), v.c);

  return weir_add(g, weir_abs(g, off), weir_mul(g, scale, rest));
}
