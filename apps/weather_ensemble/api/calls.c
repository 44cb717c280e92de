/* calls.c - see calls.h. */
#include "api/calls.h"
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "baseline/emos.h"
#include "conf/weir_opt.h"
#include "eval/ensemble.h"
#include "eval/score/crps.h"
#include "eval/sort/sort.h"
#include "eval/score/distribution.h"

static double crps(const wx_crps_decomposition *p, double share)
{
  if (share == 0) {
    return wx_crps_empirical(p);
  }
  return share == 1 ? wx_crps_fair(p) : wx_crps_almost_fair(p, share);
}

/* Scores of cases [from, from + WX_LANES) that there are. A NaN comes out as one. x: [m, WX_LANES].
 */
static void score_block(const wx_call_cases *c, int64_t from, double share, double *x, double *out)
{
  const int64_t n = c->cases - from < WX_LANES ? c->cases - from : WX_LANES;
  const double *const members = c->members + from * c->m;
  double y[WX_LANES] = {0};
  wx_crps_decomposition p[WX_LANES];

  for (int64_t k = 0; k < c->m; k++) {
    for (int64_t l = 0; l < WX_LANES; l++) {
      x[k * WX_LANES + l] = l < n ? members[l * c->m + k] : 0;
    }
  }
  memcpy(y, c->truth + from, (size_t)n * sizeof *y);
  wx_sort_lanes(x, c->m);
  wx_crps_sorted_lanes(x, c->m, y, p);
  for (int64_t l = 0; l < n; l++) {
    out[from + l] = crps(&p[l], share);
  }
}

weir_status wx_call_crps(const wx_call_cases *c, double share, double *out)
{
  double *x = NULL;

  if (c->cases < 0 || c->m < 1) {
    return weir_fail(WEIR_ERR_SHAPE, "crps: %lld cases of %lld members: an ensemble has a member",
                     (long long)c->cases, (long long)c->m);
  }
  if (!(share >= 0 && share <= 1)) {
    return weir_fail(WEIR_ERR_CONFIG, "crps: the share of the fair score, %g, is outside [0, 1]",
                     share);
  }
  WEIR_TRY(weir_alloc(c->m, WX_LANES * sizeof *x, (void **)&x));
  for (int64_t i = 0; i < c->cases; i += WX_LANES) {
    score_block(c, i, share, x, out);
  }
  weir_free(&x);
  return WEIR_OK;
}

void wx_call_crps_normal(const double *mean, const double *sd, const double *truth, int64_t n,
                         double *out)
{
  for (int64_t i = 0; i < n; i++) {
    out[i] = wx_crps_normal(mean[i], sd[i], truth[i]);
  }
}

/* ---- Distributions ---- */

static weir_status check_distributions(const wx_call_distributions *d, int64_t of, const double *at)
{
  if (d->n < 0 || of < 0 || of >= WX_CALL_OF) {
    return weir_fail(WEIR_ERR_SHAPE, "%lld distributions, call %lld", (long long)d->n,
                     (long long)of);
  }
  for (int64_t i = 0; i < d->n && of == WX_CALL_QUANTILE; i++) {
    if (at[i] <= 0 || at[i] >= 1) {
      return weir_fail(WEIR_ERR_CONFIG, "quantile: probability %g is outside (0, 1)", at[i]);
    }
  }
  return WEIR_OK;
}

static double distribution_at(const wx_distribution *d, int64_t of, double at)
{
  switch ((wx_call_of)of) {
  case WX_CALL_CRPS:
    return wx_distribution_crps(d, at);
  case WX_CALL_LOG_SCORE:
    return wx_distribution_log_score(d, at);
  case WX_CALL_QUANTILE:
    return wx_distribution_quantile(d, at);
  default:
    return wx_distribution_above(d, at);
  }
}

/* Options of EMOS, all of them plain numbers. */
static weir_status load(const char *const *sets, int64_t n, wx_emos_opts *opts)
{
  weir_config *config = NULL;

  if (n < 0 || n > INT_MAX) {
    return weir_fail(WEIR_ERR_CONFIG, "%lld options", (long long)n);
  }
  WEIR_TRY(weir_config_load(wx_emos_options, sizeof *opts, NULL, 0, sets, (int)n, opts, &config));
  weir_config_destroy(&config);
  const bool upper = opts->upper < WX_NO_UPPER;

  if (opts->family == WX_CENSORED_SHIFTED_GAMMA && !(opts->shift > 0)) {
    return weir_fail(WEIR_ERR_CONFIG, "family censored_shifted_gamma needs a shift above 0");
  }
  if (upper && (!wx_family_has_upper((wx_family)opts->family) || !(opts->upper > opts->lower))) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "upper: %g: families censored_normal and censored_logistic alone have an upper "
        "bound, which is above the lower one, %g",
        opts->upper, opts->lower);
  }
  return WEIR_OK;
}

weir_status wx_call_distribution(const wx_call_distributions *d, int64_t of, const double *at,
                                 double *out)
{
  wx_emos_opts opts;

  WEIR_TRY(check_distributions(d, of, at));
  WEIR_TRY(load(d->sets, d->n_sets, &opts));
  const double width = opts.upper < WX_NO_UPPER ? opts.upper - opts.lower : 0;

  for (int64_t i = 0; i < d->n; i++) {
    const wx_distribution one = {
        (wx_family)opts.family, d->location[i], d->scale[i], opts.lower, opts.shift, width};
    const bool none = isnan(one.location) || !(one.scale >= 0) || isnan(at[i]);

    out[i] = none ? NAN : distribution_at(&one, of, at[i]);
  }
  return WEIR_OK;
}

/* ---- Vectors ---- */

static weir_status check_vectors(const wx_call_vectors *v)
{
  return v->cases >= 0 && v->m >= 1 && v->d >= 1
             ? WEIR_OK
             : weir_fail(WEIR_ERR_SHAPE,
                         "%lld cases of %lld members of %lld numbers: give a member and a number",
                         (long long)v->cases, (long long)v->m, (long long)v->d);
}

static bool has_nan(const double *x, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    if (isnan(x[i])) {
      return true;
    }
  }
  return false;
}

static bool is_unknown(const wx_call_vectors *v, int64_t i)
{
  return has_nan(v->truth + i * v->d, v->d) || has_nan(v->members + i * v->m * v->d, v->m * v->d);
}

weir_status wx_call_energy_score(const wx_call_vectors *v, int64_t fair, double *out)
{
  WEIR_TRY(check_vectors(v));
  for (int64_t i = 0; i < v->cases; i++) {
    const wx_energy e =
        wx_energy_score(v->members + i * v->m * v->d, v->m, v->d, v->truth + i * v->d, v->d);

    out[i] = is_unknown(v, i) ? NAN : fair != 0 ? e.fair : e.empirical;
  }
  return WEIR_OK;
}

weir_status wx_call_variogram_score(const wx_call_vectors *v, double order, double *out)
{
  WEIR_TRY(check_vectors(v));
  if (!(order > 0)) {
    return weir_fail(WEIR_ERR_CONFIG, "order: %g is not above 0", order);
  }
  for (int64_t i = 0; i < v->cases; i++) {
    out[i] = is_unknown(v, i) ? NAN
                              : wx_variogram_score(v->members + i * v->m * v->d, v->m, v->d,
                                                   v->truth + i * v->d, v->d, order);
  }
  return WEIR_OK;
}

/* ---- EMOS ---- */

static weir_status fit(const wx_call_emos *c, const wx_emos_opts *opts, wx_emos *at, int64_t *sets)
{
  const int64_t cells = c->n_lat * c->n_lon;
  const wx_cases cases = {.rows = c->dates,
                          .columns = cells,
                          .mean = c->mean,
                          .variance = c->variance,
                          .truth = c->truth,
                          .weight = c->weight};
  const wx_emos_grid grid = {.n_lat = c->n_lat, .n_lon = c->n_lon, .wraps = c->wraps != 0};
  int64_t few = 0;

  *sets = wx_emos_sets(opts, cells);
  return wx_emos_fit_grid(opts, &cases, &grid, at, &few);
}

weir_status wx_call_emos_fit(const wx_call_emos *c, double *coefficients, int64_t *sets)
{
  const int64_t cells = c->n_lat * c->n_lon;
  wx_emos_opts opts;
  wx_emos *at = NULL;
  weir_status status = WEIR_OK;

  if (c->dates < 1 || c->n_lat < 1 || c->n_lon < 1) {
    return weir_fail(WEIR_ERR_SHAPE, "EMOS: %lld dates of %lld x %lld cells", (long long)c->dates,
                     (long long)c->n_lat, (long long)c->n_lon);
  }
  WEIR_TRY(load(c->sets, c->n_sets, &opts));
  WEIR_TRY(weir_alloc(cells, sizeof *at, (void **)&at));
  WEIR_TRY_GOTO(fit(c, &opts, at, sets), done);
  for (int64_t i = 0; i < cells; i++) {
    const wx_emos *const e = &at[*sets == 1 ? 0 : i];

    memcpy(coefficients + 4 * i, (const double[]){e->alpha, e->beta, e->gamma, e->delta},
           4 * sizeof *coefficients);
  }
done:
  weir_free(&at);
  return status;
}
