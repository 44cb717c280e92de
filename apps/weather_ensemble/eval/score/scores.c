/* scores.c - see scores.h. */
#include "eval/score/scores.h"
#include <math.h>

const wx_score_desc wx_scores[WX_SCORES] = {
    [WX_CRPS] = {"crps", WX_SUM_CRPS, WX_SUM_WEIGHT, false},
    [WX_CRPS_FAIR] = {"crps_fair", WX_SUM_FAIR, WX_SUM_WEIGHT, false},
    [WX_CRPS_ALMOST_FAIR] = {"crps_almost_fair", WX_SUM_ALMOST, WX_SUM_WEIGHT, false},
    [WX_CRPS_GAUSS] = {"crps_gauss", WX_SUM_GAUSS, WX_SUM_WEIGHT, false},
    [WX_BIAS] = {"bias", WX_SUM_ERROR, WX_SUM_WEIGHT, false},
    [WX_MAE] = {"mae", WX_SUM_ABSOLUTE, WX_SUM_WEIGHT, false},
    [WX_RMSE] = {"rmse", WX_SUM_SQUARE, WX_SUM_WEIGHT, true},
    [WX_MSE_UNBIASED] = {"mse_unbiased", WX_SUM_UNBIASED, WX_SUM_WEIGHT, false},
    [WX_SPREAD] = {"spread", WX_SUM_VARIANCE, WX_SUM_WEIGHT, true},
    [WX_SSR] = {"ssr", WX_SUM_CORRECTED, WX_SUM_SQUARE, true},
    [WX_LOG] = {"log_score", WX_SUM_LOG, WX_SUM_WEIGHT, false},
    [WX_PIT_MEAN] = {"pit_mean", WX_SUM_PIT, WX_SUM_WEIGHT, false},
    [WX_COVERAGE] = {"coverage", WX_SUM_COVERED, WX_SUM_WEIGHT, false},
    [WX_COVERAGE_NOMINAL] = {"coverage_nominal", WX_SUM_NOMINAL, WX_SUM_WEIGHT, false},
    [WX_WIDTH] = {"width", WX_SUM_WIDTH, WX_SUM_WEIGHT, false},
    [WX_INTERVAL_SCORE] = {"interval_score", WX_SUM_INTERVAL, WX_SUM_WEIGHT, false},
    [WX_EECRPS] = {"eecrps", WX_SUM_EXTREME_CRPS, WX_SUM_EXTREME_WEIGHT, false},
    [WX_EECRPS_NORMALISED] = {"eecrps_normalised", WX_SUM_EXTREME_CRPS, WX_SUM_EXTREME, false},
    [WX_ACC] = {"acc", WX_SUM_ACC, WX_SUM_ONE, false},
    [WX_ENERGY] = {"energy_score", WX_SUM_ENERGY, WX_SUM_PATCH, false},
    [WX_ENERGY_FAIR] = {"energy_score_fair", WX_SUM_ENERGY_FAIR, WX_SUM_PATCH, false},
    [WX_VARIOGRAM] = {"variogram_score", WX_SUM_VARIOGRAM, WX_SUM_PATCH, false},
};

weir_status wx_score_estimate(const wx_score_sums *t, int64_t region, int weighting, int score,
                              const wx_bootstrap_opts *o, const wx_resamples *r, weir_estimate *out)
{
  const wx_score_desc *const d = &wx_scores[score];
  const wx_ratio ratio = {wx_score_sums_series(t, region, weighting, d->up),
                          wx_score_sums_series(t, region, weighting, d->down)};

  return wx_bootstrap(o, r, d->root ? wx_root_ratio_of : wx_ratio_of, &ratio, out);
}

void wx_score_init_times(const wx_score_sums *t, int64_t region, int weighting, int score,
                         int64_t n, double *out)
{
  const wx_score_desc *const d = &wx_scores[score];
  const double *const a = wx_score_sums_series(t, region, weighting, d->up);
  const double *const b = wx_score_sums_series(t, region, weighting, d->down);

  for (int64_t i = 0; i < n; i++) {
    out[i] = !(b[i] > 0) ? NAN : d->root ? sqrt(a[i] / b[i]) : a[i] / b[i];
  }
}

weir_status wx_pair_compare(const wx_pair *pair, const wx_bootstrap_opts *o, const wx_resamples *r,
                            double *scratch, wx_comparison *out)
{
  WEIR_TRY(wx_bootstrap(o, r, wx_difference_of, pair, &out->difference));
  WEIR_TRY(wx_bootstrap(o, r, wx_skill_of, pair, &out->skill));
  for (int64_t i = 0; i < r->n; i++) {
    scratch[i] = pair->a_weight[i] > 0 && pair->b_weight[i] > 0
                     ? pair->a[i] / pair->a_weight[i] - pair->b[i] / pair->b_weight[i]
                     : NAN;
  }
  out->test = wx_diebold_mariano(scratch, r->n);
  return WEIR_OK;
}

weir_status wx_score_compare(const wx_score_sums *a, const wx_score_sums *b, int64_t region,
                             int weighting, wx_score score, const wx_bootstrap_opts *o,
                             const wx_resamples *r, double *scratch, wx_comparison *out)
{
  const wx_score_desc *const d = &wx_scores[score];
  const wx_pair pair = {wx_score_sums_series(a, region, weighting, d->up),
                        wx_score_sums_series(a, region, weighting, d->down),
                        wx_score_sums_series(b, region, weighting, d->up),
                        wx_score_sums_series(b, region, weighting, d->down)};

  return wx_pair_compare(&pair, o, r, scratch, out);
}

weir_status wx_score_bin(const wx_score_sums *t, int64_t region, int64_t event, int64_t bin,
                         const wx_bootstrap_opts *o, const wx_resamples *r, weir_estimate *out)
{
  const int64_t row = wx_score_sums_bin_row(t, event, bin);
  const wx_ratio ratio = {wx_score_sums_series(t, region, WX_BY_AREA, row + 1),
                          wx_score_sums_series(t, region, WX_BY_AREA, row)};

  return wx_bootstrap(o, r, wx_ratio_of, &ratio, out);
}
