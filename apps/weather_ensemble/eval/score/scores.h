/* scores.h - the scores that tables show: quotients of sums over initialisation times, or roots of
 * them. */
#ifndef WX_SCORES_H
#define WX_SCORES_H
#include "eval/score/significance.h"
#include "eval/score/score_sums.h"

// clang-format off
typedef enum wx_score {
  WX_CRPS, WX_CRPS_FAIR, WX_CRPS_ALMOST_FAIR, WX_CRPS_GAUSS, WX_BIAS, WX_MAE, WX_RMSE,
  WX_MSE_UNBIASED, WX_SPREAD, WX_SSR, WX_LOG, WX_PIT_MEAN, WX_COVERAGE, WX_COVERAGE_NOMINAL,
  WX_WIDTH, WX_INTERVAL_SCORE, WX_EECRPS, WX_EECRPS_NORMALISED, WX_ACC, WX_ENERGY, WX_ENERGY_FAIR,
  WX_VARIOGRAM, WX_SCORES
} wx_score;
// clang-format on

typedef struct wx_score_desc {
  const char *name;
  wx_sum up, down;
  bool root;
} wx_score_desc;
extern const wx_score_desc wx_scores[WX_SCORES];

/* Computes the score (wx_score) of all initialisation times with its interval, of the first n =
 * r->n initialisation times. Fails: WEIR_ERR_MEMORY. */
weir_status wx_score_estimate(const wx_score_sums *t, int64_t region, int weighting, int score,
                              const wx_bootstrap_opts *o, const wx_resamples *r,
                              weir_estimate *out) WEIR_CHECKED;
/* A score, a ratio, of two tallies: difference and skill with intervals, and the test of the
 * differences of means of initialisation times. `scratch` [n]. Fails: WEIR_ERR_MEMORY. */
typedef struct wx_comparison {
  weir_estimate difference, skill; /* a - b; 1 - a / b */
  wx_mean_test test;
} wx_comparison;
weir_status wx_pair_compare(const wx_pair *pair, const wx_bootstrap_opts *o, const wx_resamples *r,
                            double *scratch, wx_comparison *out) WEIR_CHECKED;
weir_status wx_score_compare(const wx_score_sums *a, const wx_score_sums *b, int64_t region,
                             int weighting, wx_score score, const wx_bootstrap_opts *o,
                             const wx_resamples *r, double *scratch,
                             wx_comparison *out) WEIR_CHECKED;
/* Computes the observed frequency of the event in a bin of probabilities, with its interval. Fails:
 * WEIR_ERR_MEMORY. */
weir_status wx_score_bin(const wx_score_sums *t, int64_t region, int64_t event, int64_t bin,
                         const wx_bootstrap_opts *o, const wx_resamples *r,
                         weir_estimate *out) WEIR_CHECKED;
/* Computes means of initialisation times, [n]: NaN where nothing was counted. */
void wx_score_init_times(const wx_score_sums *t, int64_t region, int weighting, int score,
                         int64_t n, double *out);
#endif
