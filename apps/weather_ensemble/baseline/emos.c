/* emos.c - see emos.h: the minimum of the mean CRPS over one set of cases. */
#include "baseline/emos.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "baseline/emos_priv.h"

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
    WEIR_OPT_INT(wx_emos_opts, starts, 8, 0, EMOS_REFINED, "1",
                 "with up to 256 cases: minimisations that begin elsewhere than at least squares, "
                 "the lowest of which counts, as few cases have several minima; 0: none"),
    WEIR_OPT_INT(wx_emos_opts, max_iter, 100, 1, 100000, "1", "steps at most", .alias = "most"),
    WEIR_OPT_END,
};

/* Moments that come before the CRPS take its places. */
enum { X = EMOS_F, Y, V };        /* first pass  */
enum { XX = EMOS_F, XY, YY, VV }; /* second pass */
enum { R = EMOS_F, RV };          /* third pass  */

/* Maximum of gamma and of delta sqrt(mean v), in standard deviations of the truth (of the residuals
 * if these are larger): where all truth is at two bounds the CRPS falls for ever as the scale grows
 * with alpha and beta in proportion. */
static const double max_spread = 1e3;

/* ---- Initial point: least squares ---- */

static void take_means(const emos_search *s, double w, double x, double y, double v, double *sum)
{
  (void)s;
  sum[X] += w * x;
  sum[Y] += w * y;
  sum[V] += w * v;
}

static void take_squares(const emos_search *s, double w, double x, double y, double v, double *sum)
{
  (void)s;
  sum[XX] += w * x * x;
  sum[XY] += w * x * y;
  sum[YY] += w * y * y;
  sum[VV] += w * v * v;
}

static void take_residuals(const emos_search *s, double w, double x, double y, double v,
                           double *sum)
{
  const double r = y - s->at[EMOS_B] * x;

  sum[R] += w * r * r;
  sum[RV] += w * r * r * v;
}

/* The limits of the unknowns, in the units of s. */
static void set_limits(emos_search *s, double sd_x, double sd_y, double min_sd)
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
static bool start_search(emos_search *s, const wx_emos_opts *opts, wx_emos_fit *out)
{
  double sum[EMOS_SUMS];

  *s = (emos_search){.cases = s->cases,
                     .scratch = s->scratch,
                     .scale = 1,
                     .family = (wx_family)opts->family,
                     .lower = wx_emos_lower(opts),
                     .shift = opts->shift,
                     .width = wx_emos_width(opts),
                     .normal = emos_normal_sums_get(),
                     .pass = take_means};
  emos_sum_all(s, sum);
  out->cases = (int64_t)sum[EMOS_COUNT];
  if (out->cases == 0) {
    return false;
  }
  s->x0 = sum[X] / sum[EMOS_WEIGHT];
  s->y0 = sum[Y] / sum[EMOS_WEIGHT];
  s->v0 = sum[V] / sum[EMOS_WEIGHT];
  s->pass = take_squares;
  emos_sum_all(s, sum);
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
  emos_sum_all(s, sum);
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

/* ---- Minimum ---- */

/* A search that begins elsewhere has the minimum only where that is lower by more than this,
 * relative: of the same minimum the coefficients stay those of the first search. */
static const double lower_by = 1e-8;

/* Keeps `other`, of `steps`, in *s where its mean CRPS is lower. */
static void keep_lower(emos_search *s, double *crps, int64_t *steps, const emos_search *other,
                       double of_other, int64_t steps_other)
{
  if (of_other < *crps * (1 - lower_by)) {
    *s = *other;
    *crps = of_other;
    *steps = steps_other;
  }
}

/* Between two bounds the mean CRPS may have a second, sharp minimum, where the location of most
 * cases is beyond the bound that their truth is at and all others are left aside. The search then
 * begins from the variance of the truth as well, a scale at which all cases count. */
static void widen(emos_search *s)
{
  const double spread = s->sd_y;

  s->at[EMOS_C] = s->fixed[EMOS_C] ? s->at[EMOS_C] : fmin(spread * spread, s->high[EMOS_C]);
  s->at[EMOS_D] = s->fixed[EMOS_C] ? fmin(spread * spread / s->v_mean, s->high[EMOS_D]) : 0;
}

bool wx_emos_minimise(const wx_emos_opts *opts, const wx_cases *cases, double *scratch,
                      wx_emos_fit *out)
{
  const emos_stop stop = {opts->tolerance, opts->max_iter};
  emos_search first = {.cases = cases, .scratch = scratch}, s, other;
  int64_t steps;

  *out = (wx_emos_fit){.crps = NAN};
  if (!start_search(&first, opts, out)) {
    return false;
  }
  first.pass = NULL;
  s = first;
  double crps = emos_descend(&s, &stop, &out->steps);

  if (first.width > 0 && !first.settled) {
    other = first;
    widen(&other);
    const double of_wide = emos_descend(&other, &stop, &steps);

    keep_lower(&s, &crps, &out->steps, &other, of_wide, steps);
  }
  other = first;
  if (out->cases <= EMOS_FEW && !first.settled &&
      emos_find_start(&first, &stop, (int)opts->starts, out->cases, other.at)) {
    const double of_start = emos_descend(&other, &stop, &steps);

    keep_lower(&s, &crps, &out->steps, &other, of_start, steps);
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
  emos_search s = {.cases = cases,
                   .scale = 1,
                   .family = at->family,
                   .lower = at->lower,
                   .shift = at->shift,
                   .width = at->width,
                   .normal = emos_normal_sums_get(),
                   .at = {at->alpha, at->beta, at->gamma * at->gamma, at->delta * at->delta}};
  double sum[EMOS_SUMS];

  emos_sum_all(&s, sum);
  if (gradient != NULL) {
    for (int i = 0; i < EMOS_UNKNOWNS; i++) {
      gradient[i] = sum[EMOS_F_M + i] / sum[EMOS_WEIGHT];
    }
  }
  return sum[EMOS_F] / sum[EMOS_WEIGHT];
}
