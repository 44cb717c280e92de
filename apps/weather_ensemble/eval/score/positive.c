/* positive.c - see positive.h. Values are counted from the origin: the bound of the log-normal
 * distribution, and what lies `shift` below the bound of the gamma distribution. */
#include "eval/score/positive.h"
#include <math.h>
#include "base/special/weir_gamma.h"
#include "eval/score/normal.h"

bool wx_positive(wx_family family)
{
  return family == WX_LOG_NORMAL || family == WX_CENSORED_SHIFTED_GAMMA;
}

static double shift_of(const wx_distribution *d)
{
  return d->family == WX_LOG_NORMAL ? 0 : d->shift;
}

static double mean_of(const wx_distribution *d)
{
  return d->location - d->lower + shift_of(d);
}

static double from_origin(const wx_distribution *d, double x)
{
  return x - d->lower + shift_of(d);
}

bool wx_positive_is_point(const wx_distribution *d)
{
  return mean_of(d) <= 1e-6 * d->scale;
}

bool wx_positive_is_narrow(const wx_distribution *d)
{
  return d->scale <= (d->family == WX_LOG_NORMAL ? 1e-7 : 1e-3) * mean_of(d);
}

/* ---- Numbers with derivatives by mean m and standard deviation s ---- */

typedef wx_crps_slopes jet;

static jet constant(double c)
{
  return (jet){.crps = c};
}

static jet sum(jet a, double factor, jet b)
{
  return (jet){a.crps + factor * b.crps, a.m + factor * b.m,   a.s + factor * b.s,
               a.mm + factor * b.mm,     a.ms + factor * b.ms, a.ss + factor * b.ss};
}

static jet times(jet a, jet b)
{
  return (jet){.crps = a.crps * b.crps,
               .m = a.m * b.crps + a.crps * b.m,
               .s = a.s * b.crps + a.crps * b.s,
               .mm = a.mm * b.crps + 2 * a.m * b.m + a.crps * b.mm,
               .ms = a.ms * b.crps + a.m * b.s + a.s * b.m + a.crps * b.ms,
               .ss = a.ss * b.crps + 2 * a.s * b.s + a.crps * b.ss};
}

/* f(a) of value v and derivatives f1, f2. */
static jet apply(jet a, double v, double f1, double f2)
{
  return (jet){.crps = v,
               .m = f1 * a.m,
               .s = f1 * a.s,
               .mm = f1 * a.mm + f2 * a.m * a.m,
               .ms = f1 * a.ms + f2 * a.m * a.s,
               .ss = f1 * a.ss + f2 * a.s * a.s};
}

static jet inverse(jet a)
{
  const double r = 1 / a.crps;

  return apply(a, r, -r * r, 2 * r * r * r);
}

static jet logarithm(jet a)
{
  return apply(a, log(a.crps), 1 / a.crps, -1 / (a.crps * a.crps));
}

static jet exponential(jet a)
{
  const double e = exp(a.crps);

  return apply(a, e, e, e);
}

/* Probability above a of the standard normal distribution; nothing is left of it far away. */
static jet normal_above(jet a)
{
  const double f = wx_normal_density(a.crps);

  return f > 0 ? apply(a, wx_normal_above(a.crps), -f, a.crps * f)
               : constant(wx_normal_above(a.crps));
}

/* ---- Log-normal ---- */

/* Standard deviation of the logarithm. */
static double log_sd(const wx_distribution *d)
{
  const double r = d->scale / mean_of(d);

  return sqrt(log1p(r * r));
}

/* The logarithm of x in its standard deviations. */
static double log_standard(const wx_distribution *d, double x)
{
  const double t = log_sd(d), y = from_origin(d, x);

  return y > 0 ? log(y / mean_of(d)) / t + t / 2 : isnan(y) ? NAN : -INFINITY;
}

/* y (1 - 2 S(z)) - 2 m (1 - S(z - t) - S(t / sqrt 2)), m the mean and t the standard deviation of
 * the logarithm (Jordan, Krueger and Lerch 2019, appendix A). */
static jet log_normal_crps(double mean, double sd, double y)
{
  const jet m = {.crps = mean, .m = 1}, s = {.crps = sd, .s = 1};
  const jet ratio = times(s, inverse(m)), square = times(ratio, ratio);
  const double r2 = square.crps;
  const jet q = apply(square, log1p(r2), 1 / (1 + r2), -1 / ((1 + r2) * (1 + r2)));
  const double root = sqrt(q.crps);
  const jet t = apply(q, root, 0.5 / root, -0.25 / (root * q.crps));
  const jet spread = normal_above(sum(constant(0), 1 / WX_SQRT_2, t));

  if (y <= 0) {
    return times(m, sum(constant(0), 2, spread));
  }
  const jet far = sum(constant(log(y)), -1, logarithm(m));
  const jet w = times(far, inverse(t));
  const jet z = sum(w, 0.5, t), z_less = sum(w, -0.5, t);
  const jet part = sum(sum(constant(-2), 2, normal_above(z_less)), 2, spread);

  return sum(times(m, part), y, sum(constant(1), -2, normal_above(z)));
}

/* ---- Gamma ---- */

static double shape_of(const wx_distribution *d)
{
  const double r = mean_of(d) / d->scale;

  return r * r;
}

static double unit_of(const wx_distribution *d)
{
  return d->scale * (d->scale / mean_of(d));
}

static jet gamma_below(jet k, jet x)
{
  const weir_of_shape p = weir_gamma_below(k.crps, x.crps);

  return (jet){
      .crps = p.v,
      .m = p.k * k.m + p.x * x.m,
      .s = p.k * k.s + p.x * x.s,
      .mm = p.k * k.mm + p.x * x.mm + p.kk * k.m * k.m + 2 * p.kx * k.m * x.m + p.xx * x.m * x.m,
      .ms = p.k * k.ms + p.x * x.ms + p.kk * k.m * k.s + p.kx * (k.m * x.s + k.s * x.m) +
            p.xx * x.m * x.s,
      .ss = p.k * k.ss + p.x * x.ss + p.kk * k.s * k.s + 2 * p.kx * k.s * x.s + p.xx * x.s * x.s};
}

static jet rest_of(jet k)
{
  double rest[3];

  weir_stirling_rest(k.crps, rest);
  return apply(k, rest[0], rest[1], rest[2]);
}

/* x times the density, x^k e^-x / Gamma(k). */
static jet gamma_rate(jet k, jet x)
{
  const double ln_root_2pi = 0.91893853320467274178;

  if (x.crps <= 0) {
    return constant(0);
  }
  const jet ln_k = logarithm(k), ln = sum(logarithm(x), -1, ln_k);
  const jet power = sum(sum(times(k, ln), -1, x), 1, k);

  return exponential(sum(sum(sum(power, 0.5, ln_k), -1, rest_of(k)), -1, constant(ln_root_2pi)));
}

/* Gamma(k + 1/2) / (sqrt pi Gamma(k)): half the mean difference of two independent values. */
static jet half_difference(jet k)
{
  const jet next = sum(k, 1, constant(0.5));
  const jet ln = sum(sum(times(k, logarithm(next)), -1, times(k, logarithm(k))), 0.5, logarithm(k));

  return exponential(
      sum(sum(sum(ln, 1, rest_of(next)), -1, rest_of(k)), 1, constant(-0.5 + log(WX_INV_SQRT_PI))));
}

/* Scheuerer and Hamill's equation 10, its F of shape k + 1 by that of shape k and the density. */
static jet gamma_crps(double mean, double sd, double shift, double y)
{
  const jet m = {.crps = mean, .m = 1}, s = {.crps = sd, .s = 1};
  const jet ratio = times(m, inverse(s)), k = times(ratio, ratio);
  const jet unit = times(s, inverse(ratio)), per_unit = inverse(unit);
  const jet c = sum(constant(0), shift, per_unit), z = sum(constant(0), fmax(y, shift), per_unit);
  const jet at = gamma_below(k, z), bound = gamma_below(k, c);
  const jet two_k = sum(k, 1, k), two_c = sum(c, 1, c);
  const jet both = sum(constant(1), -1, gamma_below(two_k, two_c));
  const jet first = sum(times(sum(z, -1, k), sum(constant(-1), 2, at)), 2, gamma_rate(k, z));
  const jet inner = sum(times(sum(k, -1, c), bound), -2, gamma_rate(k, c));
  const jet h = sum(sum(first, 1, times(bound, inner)), -1, times(half_difference(k), both));

  return times(unit, h);
}

/* ---- Probabilities ---- */

double wx_positive_below(const wx_distribution *d, double x)
{
  if (x <= d->lower) {
    return 0;
  }
  return d->family == WX_LOG_NORMAL
             ? wx_normal_below(log_standard(d, x))
             : weir_gamma_below(shape_of(d), from_origin(d, x) / unit_of(d)).v;
}

double wx_positive_above(const wx_distribution *d, double x)
{
  if (x < d->lower) {
    return 1;
  }
  return d->family == WX_LOG_NORMAL
             ? wx_normal_above(log_standard(d, x))
             : 1 - weir_gamma_below(shape_of(d), from_origin(d, x) / unit_of(d)).v;
}

/* The value above c of probability p, which is more than that below c: Newton's method between
 * limits, from Wilson and Hilferty's approximation. */
static double gamma_quantile(double k, double c, double p)
{
  const double cube = 1 - 1 / (9 * k) + wx_normal_quantile(p) / (3 * sqrt(k));
  double lo = c, hi = k + 10 * sqrt(k) + 60;
  double x = k * cube * cube * cube;

  for (int i = 0; i < 200; i++) {
    x = x > lo && x < hi ? x : (lo + hi) / 2;
    const weir_of_shape at = weir_gamma_below(k, x);
    const double next = x - (at.v - p) / at.x;

    *(at.v < p ? &lo : &hi) = x;
    if (fabs(next - x) <= 1e-15 * x || hi - lo <= 1e-15 * hi) {
      return fmin(fmax(next, lo), hi);
    }
    x = next;
  }
  return x;
}

double wx_positive_quantile(const wx_distribution *d, double p)
{
  if (isnan(p) || p < 0 || p > 1) {
    return NAN;
  }
  if (d->family == WX_LOG_NORMAL) {
    const double t = log_sd(d);

    return d->lower + mean_of(d) * exp(t * wx_normal_quantile(p) - t * t / 2);
  }
  const double k = shape_of(d), unit = unit_of(d), c = d->shift / unit;

  if (p == 1) {
    return INFINITY;
  }
  return p <= weir_gamma_below(k, c).v ? d->lower : d->lower + unit * (gamma_quantile(k, c, p) - c);
}

double wx_positive_log_score(const wx_distribution *d, double y)
{
  const double half_ln_2pi = 0.91893853320467274178, x = from_origin(d, y);

  if (d->family == WX_LOG_NORMAL) {
    const double z = log_standard(d, y);

    return x > 0 ? z * z / 2 + log(x * log_sd(d)) + half_ln_2pi : NAN;
  }
  const double k = shape_of(d), unit = unit_of(d), z = x / unit;
  double rest[3];

  if (y < d->lower) {
    return NAN;
  }
  if (y == d->lower) {
    const double at = weir_gamma_below(k, z).v;

    return at > 0 ? -log(at) : NAN;
  }
  weir_stirling_rest(k, rest);
  return z - k - k * log(z / k) - 0.5 * log(k) + rest[0] + half_ln_2pi + log(x);
}

void wx_positive_moments(const wx_distribution *d, double *mean, double *sd)
{
  *mean = d->location;
  *sd = d->scale;
  if (d->family == WX_LOG_NORMAL) {
    return;
  }
  const double k = shape_of(d), unit = unit_of(d), c = d->shift / unit, far = k - c;
  const double g = gamma_rate(constant(k), constant(c)).crps, q = 1 - weir_gamma_below(k, c).v;
  const double first = far * q + g, second = (far * far + k) * q + (far + 1) * g;

  *mean = d->lower + unit * first;
  *sd = unit * sqrt(fmax(0, second - first * first));
}

/* ---- CRPS ---- */

wx_crps_slopes wx_positive_crps_slopes(const wx_distribution *d, double y)
{
  const double x = from_origin(d, fmax(y, d->lower));

  if (isnan(y)) {
    return (wx_crps_slopes){NAN, NAN, NAN, NAN, NAN, NAN};
  }
  wx_crps_slopes c = d->family == WX_LOG_NORMAL ? log_normal_crps(mean_of(d), d->scale, x)
                                                : gamma_crps(mean_of(d), d->scale, d->shift, x);

  c.crps += fmax(0, d->lower - y);
  return c;
}

/* Integral of P(X <= x)^2 (or P(X > x)^2) from lo to hi, both above the bound: Gauss and Legendre's
 * rule in the logarithm of the distance to the origin. */
static double integrate(const wx_distribution *d, bool upper, double lo, double hi)
{
  static const double at[] = {0.1488743389816312, 0.4333953941292472, 0.6794095682990244,
                              0.8650633666889845, 0.9739065285171717};
  static const double weight[] = {0.2955242247147529, 0.2692667193099963, 0.2190863625159820,
                                  0.1494513491505806, 0.0666713443086881};
  enum { PIECES = 48, LEAST = 3 };
  const double origin = d->lower - shift_of(d), none = 1e-13;
  const double first = wx_positive_quantile(d, none), last = wx_positive_quantile(d, 1 - none);
  const double low = fmin(fmax(lo, first), hi), high = fmax(fmin(hi, last), low);
  const double from = log(low - origin), to = log(high - origin);
  const int pieces = (int)fmin(PIECES, LEAST + ceil((to - from) * 4));
  const double half = (to - from) / (2 * pieces);
  double total = upper ? low - lo : hi - high; /* where the probability is 1 */

  for (int i = 0; i < pieces && half > 0; i++) {
    for (int j = -5; j < 5; j++) {
      const int k = j < 0 ? -j - 1 : j;
      const double u = exp(from + half * (2 * i + 1 + (j < 0 ? -at[k] : at[k])));
      const double p = upper ? wx_positive_above(d, origin + u) : wx_positive_below(d, origin + u);

      total += half * weight[k] * u * p * p;
    }
  }
  return total;
}

double wx_positive_crps_tail(const wx_distribution *d, double y, double t, bool upper)
{
  const double low = fmin(y, t), far = fmax(fmax(y, t), wx_positive_quantile(d, 1 - 1e-13));
  const double bound = d->lower;

  if (isnan(y) || isnan(t)) {
    return NAN;
  }
  if (upper) { /* between t and y where y is more, then above */
    return integrate(d, false, fmax(t, bound), fmax(y, bound)) + fmax(0, bound - fmax(y, t)) +
           integrate(d, true, fmax(fmax(y, t), bound), far);
  }
  return integrate(d, false, bound, fmax(low, bound)) +
         (t > y ? fmax(0, fmin(t, bound) - y) + integrate(d, true, fmax(y, bound), fmax(t, bound))
                : 0);
}
