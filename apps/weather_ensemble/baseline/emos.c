/* emos.c - see emos.h: the minimum of the mean CRPS over one set of cases. */
#include "baseline/emos.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "baseline/emos_priv.h"
#include "device/weir_parallel.h"

const weir_opt wx_emos_options[] = {
    WEIR_OPT_ENUM(wx_emos_opts, family, WX_NORMAL, WX_FAMILY_CHOICES,
                  "distribution: truncated at a bound (wind speed), or with all that would lie "
                  "beyond a bound at it (precipitation, cloud)"),
    WEIR_OPT_REAL(wx_emos_opts, lower, 0, -1e30, 1e30, "",
                  "bound of a truncated or censored distribution, in units of the quantity; no "
                  "truth is below it"),
    WEIR_OPT_REAL(wx_emos_opts, upper, WX_NO_UPPER, -1e30, WX_NO_UPPER, "",
                  "censored_normal and censored_logistic: upper bound, in units of the quantity "
                  "(1 of fractions); no truth is above it; 1e30: there is none"),
    WEIR_OPT_REAL(
        wx_emos_opts, shift, 0, 0, 1e30, "",
        "family censored_shifted_gamma, > 0: how far below `lower` the gamma distribution "
        "begins, in units of the quantity"),
    WEIR_OPT_ENUM(wx_emos_opts, form, WX_EMOS_FULL, WX_EMOS_FORM_CHOICES,
                  "full: mean and variance linear in those of the members; scale: the mean's bias "
                  "and the spread's factor alone"),
    WEIR_OPT_ENUM(wx_emos_opts, pool, WX_EMOS_GLOBAL, WX_EMOS_POOL_CHOICES,
                  "what shares coefficients: all cells, none, or those of a window"),
    WEIR_OPT_INT(wx_emos_opts, radius, 2, 1, 1000, "cells",
                 "pool window: how far cells count on each side of the one that is fitted",
                 .alias = "reach"),
    WEIR_OPT_INT(wx_emos_opts, min_cases, 20, 2, 0x1p31, "1",
                 "cases that a cell needs for coefficients of its own; with fewer it has those of "
                 "all cells",
                 .alias = "least"),
    WEIR_OPT_REAL(wx_emos_opts, floor, 1e-3, 1e-9, 1, "1",
                  "minimum standard deviation, in standard deviations of the truth"),
    WEIR_OPT_REAL(wx_emos_opts, tolerance, 1e-9, 0, 1, "1",
                  "relative gain in mean CRPS below which steps end"),
    WEIR_OPT_INT(wx_emos_opts, max_iter, 100, 1, 100000, "1", "steps at most", .alias = "most"),
    WEIR_OPT_END,
};

/* Moments that come before the CRPS take its places. */
enum { X = EMOS_F, Y, V };        /* first pass  */
enum { XX = EMOS_F, XY, YY, VV }; /* second pass */
enum { R = EMOS_F, RV };          /* third pass  */
enum { CHUNK = 4096 };            /* cases that are summed in one go */

/* A Newton step changes the location of no case at one standard deviation of the mean by more than
 * so many scales, and the variance by no more than the square of it: a longer step may end where
 * the CRPS of values at bounds is flat, far from the minimum. */
static const double max_step = 4;
/* Maximum of gamma and of delta sqrt(mean v), in standard deviations of the truth (of the residuals
 * if these are larger): where all truth is at two bounds the CRPS falls for ever as the scale grows
 * with alpha and beta in proportion. */
static const double max_spread = 1e3;

typedef struct search {
  const wx_cases *cases;
  double x0, y0, v0, scale; /* of the units */
  wx_family family;
  double lower, shift, width; /* of the family, as data has them */
  double at[EMOS_UNKNOWNS], low[EMOS_UNKNOWNS], high[EMOS_UNKNOWNS]; /* low <= at <= high */
  double sd_x, sd_y, v_mean; /* of the cases, in units of scale */
  bool fixed[EMOS_UNKNOWNS];
  bool settled; /* truth is always the same, and so is the first guess: nothing is left to fit */
  void (*pass)(const struct search *s, double w, double x, double y, double v, double *sum);
  emos_normal_sums *normal; /* in place of `pass` for the CRPS of normal distributions */
  double *scratch;          /* [chunks, EMOS_SUMS], NULL: one thread */
} search;

static int64_t chunks_of_row(const wx_cases *c)
{
  return (c->columns + CHUNK - 1) / CHUNK;
}

int64_t wx_emos_workspace(const wx_cases *cases)
{
  return cases->rows * chunks_of_row(cases) * EMOS_SUMS;
}

static void take_crps(const search *s, double w, double x, double y, double v, double *sum);

static void sum_chunk(const search *s, int64_t chunk, double *sum)
{
  const wx_cases *const c = s->cases;
  const int64_t row = chunk / chunks_of_row(c), from = chunk % chunks_of_row(c) * CHUNK;
  const int64_t to = from + CHUNK < c->columns ? from + CHUNK : c->columns;
  const int64_t base = row * c->columns;

  if (s->pass == take_crps && s->family == WX_NORMAL) {
    const emos_chunk normal = {.mean = c->mean + base + from,
                               .truth = c->truth + base + from,
                               .variance = c->variance + base + from,
                               .weight = c->weight != NULL ? c->weight + from : NULL,
                               .n = to - from,
                               .x0 = s->x0,
                               .y0 = s->y0,
                               .v0 = s->v0,
                               .scale = s->scale,
                               .at = s->at};

    s->normal(&normal, sum);
    return;
  }
  memset(sum, 0, EMOS_SUMS * sizeof *sum);
  for (int64_t i = from; i < to; i++) {
    const double x = (double)c->mean[base + i], y = (double)c->truth[base + i],
                 v = (double)c->variance[base + i], w = c->weight != NULL ? c->weight[i] : 1;

    if (isfinite(x) && isfinite(y) && isfinite(v) && v >= 0 && w > 0) {
      sum[EMOS_WEIGHT] += w;
      sum[EMOS_COUNT]++;
      s->pass(s, w, (x - s->x0) / s->scale, (y - s->y0) / s->scale,
              (v - s->v0) / (s->scale * s->scale), sum);
    }
  }
}

static void body(void *context, int64_t item, int thread)
{
  const search *const s = context;

  (void)thread;
  sum_chunk(s, item, s->scratch + item * EMOS_SUMS);
}

/* In the order of the chunks, whoever summed them. */
static void sum_all(search *s, double *total)
{
  const int64_t n = s->cases->rows * chunks_of_row(s->cases);
  double partial[EMOS_SUMS];

  memset(total, 0, EMOS_SUMS * sizeof *total);
  if (s->scratch != NULL) {
    weir_parallel(n, 0, body, s);
  }
  for (int64_t i = 0; i < n; i++) {
    const double *const add = s->scratch != NULL ? s->scratch + i * EMOS_SUMS : partial;

    if (s->scratch == NULL) {
      sum_chunk(s, i, partial);
    }
    for (int k = 0; k < EMOS_SUMS; k++) {
      total[k] += add[k];
    }
  }
}

/* ---- Initial point: least squares ---- */

static void take_means(const search *s, double w, double x, double y, double v, double *sum)
{
  (void)s;
  sum[X] += w * x;
  sum[Y] += w * y;
  sum[V] += w * v;
}

static void take_squares(const search *s, double w, double x, double y, double v, double *sum)
{
  (void)s;
  sum[XX] += w * x * x;
  sum[XY] += w * x * y;
  sum[YY] += w * y * y;
  sum[VV] += w * v * v;
}

static void take_residuals(const search *s, double w, double x, double y, double v, double *sum)
{
  const double r = y - s->at[EMOS_B] * x;

  sum[R] += w * r * r;
  sum[RV] += w * r * r * v;
}

/* The limits of the unknowns, in the units of s. */
static void set_limits(search *s, double sd_x, double sd_y, double min_sd)
{
  const double spread = max_spread * fmax(1, sd_y / s->scale), floor = min_sd / s->scale;

  s->sd_x = sd_x / s->scale;
  s->sd_y = sd_y / s->scale;
  s->v_mean = s->v0 / (s->scale * s->scale);
  for (int i = 0; i < EMOS_UNKNOWNS; i++) {
    s->low[i] = -INFINITY;
    s->high[i] = INFINITY;
  }
  s->low[EMOS_C] = floor * floor;
  s->high[EMOS_C] = spread * spread;
  s->low[EMOS_D] = 0;
  s->high[EMOS_D] = s->v_mean > 0 ? spread * spread / s->v_mean : 0;
}

/* Mean and variance of the residuals on the units of s; leaves the units in which they are 1. */
static bool start(search *s, const wx_emos_opts *opts, wx_emos_fit *out)
{
  double sum[EMOS_SUMS];

  *s = (search){.cases = s->cases,
                .scratch = s->scratch,
                .scale = 1,
                .family = (wx_family)opts->family,
                .lower = wx_emos_lower(opts),
                .shift = opts->shift,
                .width = wx_emos_width(opts),
                .normal = emos_normal_sums_get(),
                .pass = take_means};
  sum_all(s, sum);
  out->cases = (int64_t)sum[EMOS_COUNT];
  if (out->cases == 0) {
    return false;
  }
  s->x0 = sum[X] / sum[EMOS_WEIGHT];
  s->y0 = sum[Y] / sum[EMOS_WEIGHT];
  s->v0 = sum[V] / sum[EMOS_WEIGHT];
  s->pass = take_squares;
  sum_all(s, sum);
  const double xx = sum[XX] / sum[EMOS_WEIGHT], yy = sum[YY] / sum[EMOS_WEIGHT],
               vv = sum[VV] / sum[EMOS_WEIGHT];
  const double tiny = 1e-12;

  const double nothing = tiny * tiny * s->y0 * s->y0; /* a rounded mean may differ from all */

  out->constant = yy <= nothing;
  const bool scale = opts->form == WX_EMOS_SCALE;

  s->fixed[EMOS_B] = scale || xx <= tiny * tiny * s->x0 * s->x0;
  s->fixed[EMOS_D] = scale ? s->v0 <= 0 : vv <= tiny * s->v0 * s->v0;
  s->fixed[EMOS_C] = scale && !s->fixed[EMOS_D];
  s->at[EMOS_B] = s->fixed[EMOS_B] ? 1 : sum[XY] / sum[XX];
  s->pass = take_residuals;
  sum_all(s, sum);
  const double rr = sum[R] / sum[EMOS_WEIGHT];

  s->settled = out->constant && rr <= nothing;
  const double size = fmax(sqrt(yy), fmax(tiny * fabs(s->y0), 1e-100));
  const double min_sd = opts->floor * size;

  s->at[EMOS_D] =
      s->fixed[EMOS_D] || s->fixed[EMOS_C] ? 0 : fmax(0, sum[RV] / sum[EMOS_WEIGHT] / vv);
  s->at[EMOS_C] = rr - s->at[EMOS_D] * s->v0;
  if (s->at[EMOS_C] < min_sd * min_sd || s->fixed[EMOS_C]) {
    s->at[EMOS_C] = min_sd * min_sd;
    s->at[EMOS_D] = s->fixed[EMOS_D] ? 0 : fmax(0, (rr - min_sd * min_sd) / s->v0);
  }
  s->scale = fmax(sqrt(rr), min_sd);
  s->at[EMOS_C] /= s->scale * s->scale;
  set_limits(s, sqrt(xx), size, min_sd);
  s->v0 = 0;
  return true;
}

/* ---- CRPS and its derivatives ---- */

static void take_crps(const search *s, double w, double x, double y, double v, double *sum)
{
  const double u = fmax(s->at[EMOS_C] + s->at[EMOS_D] * v, 1e-200),
               sigma = sqrt(u); /* 0: |y - mu| */
  const double q = 0.5 / sigma; /* dsigma/du   */
  const wx_distribution d = {.family = s->family,
                             .location = s->at[EMOS_A] + s->at[EMOS_B] * x,
                             .scale = sigma,
                             .lower = (s->lower - s->y0) / s->scale,
                             .shift = s->shift / s->scale,
                             .width = s->width / s->scale};
  const wx_crps_slopes c = wx_distribution_crps_slopes(&d, y);
  const double f_m = w * c.m, f_u = w * c.s * q;
  const double f_mm = w * c.mm, f_mu = w * c.ms * q, g_uu = w * fabs(c.ss) * q * q;
  const double f_uu = w * c.ss * q * q - f_u * 0.5 / u;

  sum[EMOS_F] += w * c.crps;
  sum[EMOS_F_M] += f_m;
  sum[EMOS_F_M_X] += f_m * x;
  sum[EMOS_F_U] += f_u;
  sum[EMOS_F_U_V] += f_u * v;
  sum[EMOS_F_MM] += f_mm;
  sum[EMOS_F_MM_X] += f_mm * x;
  sum[EMOS_F_MM_XX] += f_mm * x * x;
  sum[EMOS_F_MU] += f_mu;
  sum[EMOS_F_MU_X] += f_mu * x;
  sum[EMOS_F_MU_V] += f_mu * v;
  sum[EMOS_F_MU_XV] += f_mu * x * v;
  sum[EMOS_F_UU] += f_uu;
  sum[EMOS_F_UU_V] += f_uu * v;
  sum[EMOS_F_UU_VV] += f_uu * v * v;
  sum[EMOS_G_UU] += g_uu;
  sum[EMOS_G_UU_VV] += g_uu * v * v;
}

/* ---- Steps ---- */

/* Solves (h + lambda damp) p = -g for the unknowns that are free; false: not positive. */
static bool solve(const double *sum, double lambda, const bool *free, double *p)
{
  const double h[EMOS_UNKNOWNS][EMOS_UNKNOWNS] = {
      {sum[EMOS_F_MM], sum[EMOS_F_MM_X], sum[EMOS_F_MU], sum[EMOS_F_MU_V]},
      {sum[EMOS_F_MM_X], sum[EMOS_F_MM_XX], sum[EMOS_F_MU_X], sum[EMOS_F_MU_XV]},
      {sum[EMOS_F_MU], sum[EMOS_F_MU_X], sum[EMOS_F_UU], sum[EMOS_F_UU_V]},
      {sum[EMOS_F_MU_V], sum[EMOS_F_MU_XV], sum[EMOS_F_UU_V], sum[EMOS_F_UU_VV]},
  };
  const double g[EMOS_UNKNOWNS] = {sum[EMOS_F_M], sum[EMOS_F_M_X], sum[EMOS_F_U], sum[EMOS_F_U_V]};
  const double damp[EMOS_UNKNOWNS] = {fabs(sum[EMOS_F_MM]), fabs(sum[EMOS_F_MM_XX]), sum[EMOS_G_UU],
                                      sum[EMOS_G_UU_VV]};
  double l[EMOS_UNKNOWNS][EMOS_UNKNOWNS] = {{0}};

  for (int i = 0; i < EMOS_UNKNOWNS; i++) {
    double at = free[i] ? h[i][i] + lambda * (damp[i] + 1e-12 * sum[EMOS_WEIGHT]) : 1;

    for (int j = 0; j < i; j++) {
      double v = free[i] && free[j] ? h[i][j] : 0;

      for (int k = 0; k < j; k++) {
        v -= l[i][k] * l[j][k];
      }
      l[i][j] = v / l[j][j];
      at -= l[i][j] * l[i][j];
    }
    if (free[i] && !(at > 1e-14 * fabs(h[i][i]))) {
      return false;
    }
    l[i][i] = sqrt(at);
    p[i] = free[i] ? -g[i] : 0;
    for (int j = 0; j < i; j++) {
      p[i] -= l[i][j] * p[j];
    }
    p[i] /= l[i][i];
  }
  for (int i = EMOS_UNKNOWNS - 1; i >= 0; i--) {
    for (int j = i + 1; j < EMOS_UNKNOWNS; j++) {
      p[i] -= l[j][i] * p[j];
    }
    p[i] /= l[i][i];
  }
  return true;
}

/* Returns the share of step p that `max_step` allows. */
static double share_of_step(const search *s, const double *from, const double *p)
{
  const double u = fmax(1, from[EMOS_C] + from[EMOS_D] * s->v_mean);
  const double location = fmax(fabs(p[EMOS_A]), fabs(p[EMOS_B]) * s->sd_x);
  const double variance = fmax(fabs(p[EMOS_C]), fabs(p[EMOS_D]) * s->v_mean);

  return 1 / fmax(1, fmax(location / (max_step * sqrt(u)), variance / (max_step * max_step * u)));
}

/* The next unknowns, better than those of `sum`, with theirs; false: there are none. Raises and
 * lowers lambda (Levenberg and Marquardt); variances stay at a limit that they are pressed against
 * (Bertsekas 1982). */
static bool step(search *s, double *sum, double *lambda)
{
  const double g[EMOS_UNKNOWNS] = {sum[EMOS_F_M], sum[EMOS_F_M_X], sum[EMOS_F_U], sum[EMOS_F_U_V]};
  double from[EMOS_UNKNOWNS], p[EMOS_UNKNOWNS], next[EMOS_SUMS];
  bool free[EMOS_UNKNOWNS];

  memcpy(from, s->at, sizeof from);
  for (int i = 0; i < EMOS_UNKNOWNS; i++) {
    free[i] = !s->fixed[i] && !(from[i] <= s->low[i] && g[i] >= 0) &&
              !(from[i] >= s->high[i] && g[i] <= 0);
  }
  for (; *lambda < 1e12; *lambda *= 10) {
    if (!solve(sum, *lambda, free, p)) {
      continue;
    }
    const double share = share_of_step(s, from, p);

    for (int i = 0; i < EMOS_UNKNOWNS; i++) {
      /* Between two bounds a scale that falls at once ends in a sharp minimum. */
      const double least =
          s->width > 0 && i == EMOS_C ? from[i] / (max_step * max_step) : -INFINITY;

      s->at[i] = fmin(s->high[i], fmax(fmax(s->low[i], least), from[i] + share * p[i]));
    }
    sum_all(s, next);
    if (next[EMOS_F] < sum[EMOS_F]) {
      memcpy(sum, next, sizeof next);
      *lambda = fmax(*lambda * 0.1, 1e-12);
      return true;
    }
  }
  memcpy(s->at, from, sizeof from);
  return false;
}

/* Returns the mean CRPS, in units of the scale, that steps from the unknowns of s reach; *steps:
 * how many they were. */
static double descend(search *s, const wx_emos_opts *opts, int64_t *steps)
{
  double sum[EMOS_SUMS], lambda = 1e-3;

  *steps = 0;
  sum_all(s, sum);
  const double rounding = DBL_EPSILON * sum[EMOS_WEIGHT]; /* of a CRPS of one scale */

  while (!s->settled && *steps < opts->max_iter) {
    const double before = sum[EMOS_F];

    if (!step(s, sum, &lambda)) {
      break;
    }
    ++*steps;
    if (before - sum[EMOS_F] <= fmax(opts->tolerance * before, rounding) && lambda < 1) {
      break;
    }
  }
  return sum[EMOS_F] / sum[EMOS_WEIGHT];
}

/* Between two bounds the mean CRPS may have a second, sharp minimum, where the location of most
 * cases is beyond the bound that their truth is at and all others are left aside. The search then
 * begins from the variance of the truth as well, a scale at which all cases count. */
static double descend_from_wide(const search *from, const wx_emos_opts *opts, search *s,
                                int64_t *steps)
{
  const double spread = from->sd_y;

  *s = *from;
  s->at[EMOS_C] = s->fixed[EMOS_C] ? s->at[EMOS_C] : fmin(spread * spread, s->high[EMOS_C]);
  s->at[EMOS_D] = s->fixed[EMOS_C] ? fmin(spread * spread / s->v_mean, s->high[EMOS_D]) : 0;
  return descend(s, opts, steps);
}

bool wx_emos_minimise(const wx_emos_opts *opts, const wx_cases *cases, double *scratch,
                      wx_emos_fit *out)
{
  search first = {.cases = cases, .scratch = scratch}, s, wide;
  int64_t steps;

  *out = (wx_emos_fit){.crps = NAN};
  if (!start(&first, opts, out)) {
    return false;
  }
  first.pass = take_crps;
  s = first;
  double crps = descend(&s, opts, &out->steps);

  if (first.width > 0 && !first.settled) {
    const double other = descend_from_wide(&first, opts, &wide, &steps);

    if (other < crps) {
      s = wide;
      crps = other;
      out->steps = steps;
    }
  }
  out->crps = s.scale * crps;
  out->at = (wx_emos){.alpha = s.y0 + s.scale * s.at[EMOS_A] - s.at[EMOS_B] * s.x0,
                      .beta = s.at[EMOS_B],
                      .gamma = s.scale * sqrt(s.at[EMOS_C]),
                      .delta = sqrt(s.at[EMOS_D]),
                      .family = s.family,
                      .lower = s.lower,
                      .shift = s.shift,
                      .width = s.width};
  return true;
}

double wx_emos_lower(const wx_emos_opts *opts)
{
  return (double)(float)opts->lower;
}

double wx_emos_width(const wx_emos_opts *opts)
{
  return opts->upper < WX_NO_UPPER ? (double)(float)opts->upper - wx_emos_lower(opts) : 0;
}

const char *wx_emos_wrong(const wx_emos_opts *opts)
{
  const bool upper = opts->upper < WX_NO_UPPER;

  if ((opts->family == WX_CENSORED_SHIFTED_GAMMA) != (opts->shift > 0)) {
    return "fit.family censored_shifted_gamma needs fit.shift above 0, in units of the quantity, "
           "and no other family has it";
  }
  if (upper && !wx_family_has_upper((wx_family)opts->family)) {
    return "fit.upper is of fit.family censored_normal and censored_logistic alone";
  }
  return upper && !(wx_emos_width(opts) > 0) ? "fit.upper has to be above fit.lower" : NULL;
}

weir_status wx_emos_check_truth(const wx_emos_opts *opts, const wx_cases *cases)
{
  int64_t below = 0, over = 0;
  const double lower = wx_emos_lower(opts), width = wx_emos_width(opts);
  const double upper = width > 0 ? lower + width : INFINITY;
  double least = lower, most = upper;

  if (!wx_family_is_bounded((wx_family)opts->family)) {
    return WEIR_OK;
  }
  for (int64_t i = 0; i < cases->rows * cases->columns; i++) {
    const double y = (double)cases->truth[i];

    below += y < lower;
    over += y > upper;
    least = y < least ? y : least;
    most = y > most ? y : most;
  }
  if (below > 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "EMOS: %lld values of the truth are below the bound fit.lower = %g, the "
                     "lowest is %g: take a bound that no value is below, in units of the quantity, "
                     "or fit.family normal or logistic",
                     (long long)below, opts->lower, least);
  }
  return over == 0 ? WEIR_OK
                   : weir_fail(WEIR_ERR_DATA,
                               "EMOS: %lld values of the truth are above the bound fit.upper = %g, "
                               "the highest is %g: take a bound that no value is above, in units "
                               "of the quantity (1 or 100 of a fraction), or none",
                               (long long)over, opts->upper, most);
}

weir_status wx_emos_fit_cases(const wx_emos_opts *opts, const wx_cases *cases, wx_emos_fit *out)
{
  double *scratch = NULL;

  WEIR_TRY(wx_emos_check_truth(opts, cases));
  WEIR_TRY(weir_alloc(wx_emos_workspace(cases), sizeof *scratch, (void **)&scratch));
  (void)wx_emos_minimise(opts, cases, scratch, out);
  weir_free(&scratch);
  if (out->cases < 2) {
    return weir_fail(WEIR_ERR_DATA,
                     "EMOS: %lld of %lld cases have members and truth, at least 2 are needed: "
                     "look for missing values in both",
                     (long long)out->cases, (long long)(cases->rows * cases->columns));
  }
  return WEIR_OK;
}

double wx_emos_crps(const wx_emos *at, const wx_cases *cases, double gradient[4])
{
  search s = {.cases = cases,
              .scale = 1,
              .family = at->family,
              .lower = at->lower,
              .shift = at->shift,
              .width = at->width,
              .normal = emos_normal_sums_get(),
              .pass = take_crps,
              .at = {at->alpha, at->beta, at->gamma * at->gamma, at->delta * at->delta}};
  double sum[EMOS_SUMS];

  sum_all(&s, sum);
  if (gradient != NULL) {
    for (int i = 0; i < EMOS_UNKNOWNS; i++) {
      gradient[i] = sum[EMOS_F_M + i] / sum[EMOS_WEIGHT];
    }
  }
  return sum[EMOS_F] / sum[EMOS_WEIGHT];
}
