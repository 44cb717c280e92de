/* distribution.c - see distribution.h. All in units of the scale from the location: z of a value, a
 * of the bound, b of the upper one; F and S are the probabilities below and above z of the whole
 * distribution. */
#include "eval/score/distribution.h"
#include <math.h>
#include "eval/score/crps.h"
#include "eval/score/normal.h"
#include "eval/score/positive.h"

/* Beyond so many scales below the location a bound cuts nothing that a number could hold. */
static const double no_bound = -40;

bool wx_family_is_bounded(wx_family family)
{
  return family != WX_NORMAL && family != WX_LOGISTIC;
}

bool wx_family_is_censored(wx_family family)
{
  return family == WX_CENSORED_NORMAL || family == WX_CENSORED_LOGISTIC ||
         family == WX_CENSORED_SHIFTED_GAMMA;
}

bool wx_family_has_upper(wx_family family)
{
  return family == WX_CENSORED_NORMAL || family == WX_CENSORED_LOGISTIC;
}

double wx_distribution_upper(const wx_distribution *d)
{
  return wx_family_has_upper(d->family) && d->width > 0 ? d->lower + d->width : INFINITY;
}

/* Returns whether positive.h has it; else *of is it, or what one of positive.h is at its limits. */
static bool is_positive(const wx_distribution *d, wx_distribution *of)
{
  *of = *d;
  if (!wx_positive(d->family) || !(d->scale > 0)) {
    return false;
  }
  if (isnan(d->location - d->lower) ||
      (d->family == WX_CENSORED_SHIFTED_GAMMA && !(d->shift >= 0))) {
    of->scale = NAN;
  } else if (wx_positive_is_point(d)) {
    of->location = d->lower;
    of->scale = 0;
  } else if (wx_positive_is_narrow(d)) {
    of->family = WX_CENSORED_NORMAL;
  } else {
    return true;
  }
  return false;
}

static bool is_normal(const wx_distribution *d)
{
  return d->family < WX_LOGISTIC;
}

/* ---- The whole distributions ---- */

static double density(bool normal, double z)
{
  const double e = exp(-fabs(z));

  return normal ? wx_normal_density(z) : e / ((1 + e) * (1 + e));
}

static double above(bool normal, double z)
{
  return normal ? wx_normal_above(z) : z > 0 ? exp(-z) / (1 + exp(-z)) : 1 / (1 + exp(z));
}

/* ln (1 + e^-z), the integral of S of the logistic distribution above z. */
static double soft(double z)
{
  return z > 0 ? log1p(exp(-z)) : log1p(exp(z)) - z;
}

/* Integral of S above z. */
static double first_integral(bool normal, double z)
{
  if (normal && z > -no_bound) {
    return 0; /* also of an infinite z */
  }
  return normal ? wx_normal_density(z) - z * wx_normal_above(z) : soft(z);
}

/* Integral of S^2 above z. */
static double square_integral(bool normal, double z)
{
  if (!normal) {
    const double u = exp(-z);

    /* The series of ln (1 + u) - u / (1 + u) where both nearly cancel. */
    return u < 1e-3 ? u * u * (0.5 - u * (2.0 / 3 - u * (0.75 - u * 0.8)))
                    : soft(z) - above(false, z);
  }
  if (isinf(z)) {
    return z > 0 ? 0 : INFINITY;
  }
  const double s = wx_normal_above(z);

  return -z * s * s + 2 * wx_normal_density(z) * s -
         WX_INV_SQRT_PI * wx_normal_above(WX_SQRT_2 * z);
}

/* Minus the dilogarithm of -e^-z: ln (1 + u) as a series of Bernoulli numbers (NIST DLMF 25.12). */
static double dilogarithm(double z)
{
  const double pi = 3.14159265358979323846;

  if (z < 0) {
    return pi * pi / 6 + z * z / 2 - dilogarithm(-z);
  }
  const double w = log1p(exp(-z)), w2 = w * w;

  return w + w2 / 4 +
         w * w2 *
             (1.0 / 36 -
              w2 * (1.0 / 3600 - w2 * (1.0 / 211680 - w2 * (1.0 / 10886400 - w2 / 526901760))));
}

/* Integral of (t - z) S(t) above z. */
static double second_integral(bool normal, double z)
{
  return normal ? ((1 + z * z) * wx_normal_above(z) - z * wx_normal_density(z)) / 2
                : dilogarithm(z);
}

/* ---- Shares of what lies above a ---- */

/* S(z) / S(a), the integrals of S and of S^2 above z over S(a) and S(a)^2, and the density at z
 * over S(a). */
typedef struct shares {
  double above, first, square, density;
} shares;

static shares far_normal(double a, double z, double w)
{
  const double ra = wx_normal_mills(a), e = exp(-w * (a + w / 2));

  return (shares){.above = e * wx_normal_mills(z) / ra,
                  .first = e * wx_normal_first(z) / ra,
                  .square = e * e * wx_normal_square(z) / ra / ra,
                  .density = e / ra};
}

/* From this a on, shares are those of a continued fraction or of an exponential distribution. */
static double far_of(bool normal)
{
  return normal ? 5 : 30;
}

/* w: z - a, of which little may be left in the rounded difference. */
static shares shares_of(bool normal, double a, double z, double w)
{
  const double far = far_of(normal);

  if (a >= far && normal) {
    return far_normal(a, z, w);
  }
  if (a >= far) { /* an exponential distribution, but for e^-30 */
    const double e = exp(-w);

    return (shares){e, e, e * e / 2, e};
  }
  const double s = above(normal, a);

  return (shares){.above = above(normal, z) / s,
                  .first = first_integral(normal, z) / s,
                  .square = square_integral(normal, z) / s / s,
                  .density = density(normal, z) / s};
}

/* ---- Probabilities ---- */

/* z of x, and a of the bound; a is -inf where the bound cuts nothing. */
static double standard(const wx_distribution *d, double x, double *a)
{
  const double bound = (d->lower - d->location) / d->scale;

  *a = wx_family_is_bounded(d->family) && bound > no_bound ? bound : -INFINITY;
  return (x - d->location) / d->scale;
}

/* b of the upper bound; inf where it cuts nothing. */
static double standard_upper(const wx_distribution *d)
{
  const double bound = (wx_distribution_upper(d) - d->location) / d->scale;

  return bound < -no_bound ? bound : INFINITY;
}

/* Where all of a distribution of scale 0 is. */
static double point_of(const wx_distribution *d)
{
  const double upper = wx_distribution_upper(d);
  const double x = d->location > upper ? upper : d->location;

  return wx_family_is_bounded(d->family) && x < d->lower ? d->lower : x;
}

static double above_of_cut(const wx_distribution *d, double x)
{
  double a;

  if (!(d->scale > 0)) {
    return d->scale != 0 || isnan(point_of(d) - x) ? NAN : point_of(d) > x;
  }
  const double z = standard(d, x, &a);

  if (z < a) {
    return isnan(x) ? NAN : 1;
  }
  if (x >= wx_distribution_upper(d)) {
    return 0;
  }
  return isinf(a) || wx_family_is_censored(d->family) ? above(is_normal(d), z)
                                                      : shares_of(is_normal(d), a, z, z - a).above;
}

double wx_distribution_above(const wx_distribution *d, double x)
{
  wx_distribution of;

  return is_positive(d, &of) ? wx_positive_above(d, x) : above_of_cut(&of, x);
}

static double below_of_cut(const wx_distribution *d, double x)
{
  double a;

  if (!(d->scale > 0)) {
    return d->scale != 0 || isnan(point_of(d) - x) ? NAN : point_of(d) < x;
  }
  const double z = standard(d, x, &a);

  if (z <= a) {
    return 0;
  }
  if (x > wx_distribution_upper(d)) {
    return 1;
  }
  return isinf(a) || wx_family_is_censored(d->family)
             ? above(is_normal(d), -z)
             : 1 - shares_of(is_normal(d), a, z, z - a).above;
}

double wx_distribution_below(const wx_distribution *d, double x)
{
  wx_distribution of;

  return is_positive(d, &of) ? wx_positive_below(d, x) : below_of_cut(&of, x);
}

/* z above which lies the probability q. */
static double upper_quantile(bool normal, double q)
{
  return normal ? -wx_normal_quantile(q) : log((1 - q) / q);
}

static double quantile_of_cut(const wx_distribution *d, double p)
{
  const bool normal = is_normal(d);
  double a;

  if (!(d->scale > 0)) {
    return d->scale == 0 ? point_of(d) : NAN;
  }
  (void)standard(d, d->location, &a);
  if (isinf(a) || wx_family_is_censored(d->family)) {
    const double x = d->location + d->scale * (normal ? wx_normal_quantile(p) : log(p / (1 - p)));

    const double upper = wx_distribution_upper(d); /* and NaN stays */

    return !isinf(a) && x < d->lower ? d->lower : x > upper ? upper : x;
  }
  if (a < 5) {
    return fmax(d->lower,
                d->location + d->scale * upper_quantile(normal, (1 - p) * above(normal, a)));
  }
  /* Far in the tail: Newton from the exponential distribution. */
  double z = a - log1p(-p) / (normal ? a : 1);

  for (int k = 0; k < 50; k++) {
    const shares s = shares_of(normal, a, z, z - a);
    const double next = z + s.above / s.density * log(s.above / (1 - p));

    if (!(fabs(next - z) > 1e-15 * z)) {
      break;
    }
    z = fmax(next, a);
  }
  return d->location + d->scale * z;
}

double wx_distribution_quantile(const wx_distribution *d, double p)
{
  wx_distribution of;

  return is_positive(d, &of) ? wx_positive_quantile(d, p) : quantile_of_cut(&of, p);
}

static double log_score_of_cut(const wx_distribution *d, double y)
{
  const bool normal = is_normal(d), censored = wx_family_is_censored(d->family);
  const double half_log_2pi = 0.91893853320467274178;
  double a;
  const double z = standard(d, y, &a);

  const double b = standard_upper(d), upper = wx_distribution_upper(d);

  if (!(d->scale > 0) || (wx_family_is_bounded(d->family) && y < d->lower) || y > upper) {
    return NAN;
  }
  if (censored && y == d->lower) {
    return isinf(a) ? NAN : -log(above(normal, -a));
  }
  if (y == upper) {
    return isinf(b) ? NAN : -log(above(normal, b));
  }
  const double whole = normal ? z * z / 2 + half_log_2pi : fabs(z) + 2 * log1p(exp(-fabs(z)));

  if (isinf(a) || censored) {
    return whole + log(d->scale);
  }
  if (a < far_of(normal)) {
    return whole + log(d->scale) + log(above(normal, a));
  }
  return (normal ? (z - a) * (z + a) / 2 + log(wx_normal_mills(a)) : z - a) + log(d->scale);
}

double wx_distribution_log_score(const wx_distribution *d, double y)
{
  wx_distribution of;

  return is_positive(d, &of) ? wx_positive_log_score(d, y) : log_score_of_cut(&of, y);
}

/* Between bounds, counted from the one that the location is nearer to or beyond: by symmetry the
 * lower one, at a, the other at b. */
static void moments_between(const wx_distribution *d, double a, double b, double *mean, double *sd)
{
  const bool normal = is_normal(d), flip = a + b < 0;
  const double low = flip ? -b : a, high = flip ? -a : b;
  const double over = isinf(high) ? 0 : first_integral(normal, high);
  const double beyond = isinf(high) ? 0 : second_integral(normal, high) + (high - low) * over;
  const double first = first_integral(normal, low) - over;
  const double second = 2 * (second_integral(normal, low) - beyond);

  *mean = flip ? wx_distribution_upper(d) - d->scale * first : d->lower + d->scale * first;
  *sd = d->scale * sqrt(fmax(0, second - first * first));
}

static void moments_of_cut(const wx_distribution *d, double *mean, double *sd)
{
  const double exponential = 1e3; /* a from which it is one, to 1e-6 */
  const bool normal = is_normal(d);
  const double pi = 3.14159265358979323846;
  double a;

  if (d->scale == 0) {
    *mean = point_of(d);
    *sd = 0;
    return;
  }
  (void)standard(d, d->location, &a);
  *mean = d->location;
  *sd = d->scale * (normal ? 1 : pi / sqrt(3));
  const double b = standard_upper(d);

  if (isfinite(b)) {
    moments_between(d, a, b, mean, sd);
    return;
  }
  if (isinf(a) || isnan(a)) {
    return;
  }
  const bool censored = wx_family_is_censored(d->family);
  const double share = censored ? 1 : above(normal, a);
  const bool far = !censored && a >= far_of(normal);
  /* Of the distance to the bound, in scales; far in the tail 1 + a^2 - a / R(a), or 2. */
  const double first = censored ? first_integral(normal, a) : shares_of(normal, a, a, 0).first;
  const double second = !far              ? 2 * second_integral(normal, a) / share
                        : !normal         ? 2
                        : a < exponential ? 1 + a * (a - 1 / wx_normal_mills(a))
                                          : 2 * first * first;

  *mean = d->lower + d->scale * first;
  *sd = d->scale * sqrt(fmax(0, second - first * first));
}

void wx_distribution_moments(const wx_distribution *d, double *mean, double *sd)
{
  wx_distribution of;

  if (is_positive(d, &of)) {
    wx_positive_moments(d, mean, sd);
  } else {
    moments_of_cut(&of, mean, sd);
  }
}

/* ---- CRPS ---- */

/* Integrals of P(X <= t)^2 below x and of P(X > t)^2 above it, in scales. */
static void integrals(const wx_distribution *d, double x, double *below_x, double *above_x)
{
  const bool normal = is_normal(d);
  double a;
  const double of_x = standard(d, x, &a), b = standard_upper(d), z = of_x > b ? b : of_x;

  if (isinf(a)) {
    *below_x = square_integral(normal, -z);
    *above_x = square_integral(normal, z);
  } else if (wx_family_is_censored(d->family)) {
    *below_x = z > a ? square_integral(normal, -z) - square_integral(normal, -a) : 0;
    *above_x = fmax(0, a - z) + square_integral(normal, fmax(a, z));
  } else {
    const shares at = shares_of(normal, a, a, 0),
                 over = shares_of(normal, a, fmax(a, z), fmax(0, z - a));

    *below_x = z > a ? (z - a) - 2 * (at.first - over.first) + (at.square - over.square) : 0;
    *above_x = fmax(0, a - z) + over.square;
  }
  if (isfinite(b)) {
    *below_x += of_x - z;
    *above_x -= square_integral(normal, b);
  }
}

static double crps_tail_of_cut(const wx_distribution *d, double y, double t, bool upper)
{
  const double w = upper ? fmax(y, t) : fmin(y, t);
  double below_w, above_w, below_t, above_t;

  if (!(d->scale > 0)) {
    const double at = point_of(d);

    return d->scale == 0 && !isnan(at - y) ? fabs((upper ? fmax(at, t) : fmin(at, t)) - w) : NAN;
  }
  integrals(d, w, &below_w, &above_w);
  integrals(d, t, &below_t, &above_t);
  return d->scale * (upper ? (below_w - below_t) + above_w : below_w + (above_w - above_t));
}

double wx_distribution_crps_tail(const wx_distribution *d, double y, double t, bool upper)
{
  wx_distribution of;

  return is_positive(d, &of) ? wx_positive_crps_tail(d, y, t, upper)
                             : crps_tail_of_cut(&of, y, t, upper);
}

double wx_distribution_crps(const wx_distribution *d, double y)
{
  return d->family == WX_NORMAL ? wx_crps_normal(d->location, d->scale, y)
                                : wx_distribution_crps_slopes(d, y).crps;
}

/* H(z, a, b), the score in scales, with its derivatives. */
typedef struct standard_crps {
  double h, z, a, b, zz, za, aa, bb;
} standard_crps;

static standard_crps of_whole(bool normal, double z)
{
  const double s = above(normal, fabs(z)), f = density(normal, z);
  const double rest = normal ? f - fabs(z) * s : soft(fabs(z)); /* integral of S above |z| */

  return (standard_crps){.h = fabs(z) + 2 * rest - (normal ? WX_INV_SQRT_PI : 1),
                         .z = z < 0 ? 2 * s - 1 : 1 - 2 * s,
                         .zz = 2 * f};
}

/* w: z - a, in which truth counts however far below the bound the location is. */
static standard_crps of_censored(bool normal, double z, double a, double w)
{
  const double f = density(normal, a), s = above(normal, a), below = above(normal, -a);

  if (w <= 0) {
    return (standard_crps){
        .h = square_integral(normal, a) - w, .z = -1, .a = 1 - s * s, .aa = 2 * s * f};
  }
  standard_crps c = of_whole(normal, z);

  c.h = a < 0 ? c.h - square_integral(normal, -a)
              : w + 2 * (first_integral(normal, z) - first_integral(normal, a)) +
                    square_integral(normal, a);
  c.a = -below * below;
  c.aa = -2 * below * f;
  return c;
}

/* From the score c without an upper bound to that with it, at z or, where this is beyond, at b;
 * over: z - b. */
static void add_upper(bool normal, double over, double b, standard_crps *c)
{
  const double f = density(normal, b), s = above(normal, b), below = above(normal, -b);

  c->h -= square_integral(normal, b);
  if (over < 0) {
    c->b = s * s;
    c->bb = -2 * s * f;
    return;
  }
  c->h += over;
  c->z = 1;
  c->zz = 0;
  c->b = below * below - 1;
  c->bb = 2 * below * f;
}

static standard_crps of_truncated(bool normal, double z, double a, double w)
{
  const shares at = shares_of(normal, a, a, 0), over = shares_of(normal, a, fmax(a, z), fmax(0, w));
  const double hazard = at.density; /* and its derivative: */
  const double bend = hazard * (normal ? -a : 1 - 2 * above(false, -a)) + hazard * hazard;
  const double rest = at.square - at.first + over.first;

  if (w <= 0) {
    return (standard_crps){.h = at.square - w,
                           .z = -1,
                           .a = 2 * hazard * at.square,
                           .aa = 2 * bend * at.square + 2 * hazard * (2 * hazard * at.square - 1)};
  }
  return (standard_crps){.h = w - 2 * (at.first - over.first) + at.square,
                         .z = 1 - 2 * over.above,
                         .a = 2 * hazard * rest,
                         .zz = 2 * over.density,
                         .za = -2 * hazard * over.above,
                         .aa = 2 * bend * rest +
                               2 * hazard * hazard * (2 * at.square - at.first + over.first)};
}

/* Of a location that is not above the upper bound, if there is one. */
static wx_crps_slopes slopes_below_upper(const wx_distribution *d, double y)
{
  double a;
  const double z = standard(d, y, &a), s = d->scale, b = standard_upper(d);
  const double upper = wx_distribution_upper(d), over = (y - upper) / s;
  const bool beyond = isfinite(b) && over > 0;
  const double at = beyond ? b : z, w = ((beyond ? upper : y) - d->lower) / s;
  standard_crps c = isinf(a)                           ? of_whole(is_normal(d), at)
                    : wx_family_is_censored(d->family) ? of_censored(is_normal(d), at, a, w)
                                                       : of_truncated(is_normal(d), at, a, w);
  if (isfinite(b)) {
    add_upper(is_normal(d), over, b, &c);
  }
  const double l = isinf(a) ? 0 : a, u = isinf(b) ? 0 : b; /* no term of a bound that is nowhere */

  return (wx_crps_slopes){.crps = s * c.h,
                          .m = -(c.z + c.a + c.b),
                          .s = c.h - z * c.z - l * c.a - u * c.b,
                          .mm = (c.zz + 2 * c.za + c.aa + c.bb) / s,
                          .ms = (z * c.zz + (z + l) * c.za + l * c.aa + u * c.bb) / s,
                          .ss =
                              (z * z * c.zz + 2 * z * l * c.za + l * l * c.aa + u * u * c.bb) / s};
}

static wx_crps_slopes crps_slopes_of_cut(const wx_distribution *d, double y)
{
  const double upper = wx_distribution_upper(d);

  if (!(d->scale > 0)) {
    return (wx_crps_slopes){.crps = d->scale == 0 ? fabs(y - point_of(d)) : NAN};
  }
  if (!(d->location > upper)) {
    return slopes_below_upper(d, y);
  }
  wx_distribution mirror = *d;

  mirror.location = -d->location;
  mirror.lower = -upper;
  wx_crps_slopes c = slopes_below_upper(&mirror, -y);

  c.m = -c.m;
  c.ms = -c.ms;
  return c;
}

wx_crps_slopes wx_distribution_crps_slopes(const wx_distribution *d, double y)
{
  wx_distribution of;

  return is_positive(d, &of) ? wx_positive_crps_slopes(d, y) : crps_slopes_of_cut(&of, y);
}
