/* metrics.h - errors of predictions of a parameter, with bootstrap intervals over universes:
 * samples of one universe share label and large waves, and are one case.
 *
 * With e = predicted - truth over all cases: mae, mean |e|; rmse, root of mean e^2; bias, mean e;
 * relative, mean |e| / |truth|; r2, 1 - sum e^2 / sum (truth - mean truth)^2; slope, that of the
 * least-squares line of the predictions over the truth: 1 is unbiased, 0 a prediction without
 * information. */
#ifndef CF_METRICS_H
#define CF_METRICS_H
#include "app/weir_score.h"
#include "conf/weir_opt.h"

typedef enum cf_score {
  CF_MAE,
  CF_RMSE,
  CF_BIAS,
  CF_RELATIVE,
  CF_R2,
  CF_SLOPE,
  CF_SCORES
} cf_score;
extern const char *const cf_score_name[CF_SCORES];

typedef struct cf_bootstrap_opts {
  int64_t resamples;
  double confidence;
  int64_t seed;
} cf_bootstrap_opts;
extern const weir_opt cf_bootstrap_options[];

/* Count of each universe in each resample. Resample r depends on (seed, r) alone: all models and
 * parameters have the same resamples. */
typedef struct cf_resamples {
  int64_t groups, resamples;
  double confidence;
  uint32_t *count; /* [resamples, groups] */
} cf_resamples;
/* Fails: WEIR_ERR_MEMORY. */
weir_status cf_resamples_create(const cf_bootstrap_opts *o, uint64_t seed, int64_t groups,
                                cf_resamples *out) WEIR_CHECKED;
void cf_resamples_fini(cf_resamples *r);

/* Cases of one parameter, borrowed. */
typedef struct cf_cases {
  int64_t n, groups;               /* groups: universes, numbered from 0 */
  const int64_t *group;            /* [n] */
  const double *truth, *predicted; /* [n] */
} cf_cases;

/* Computes all scores; NaN where they are undefined (no case; a truth of 0; truths without
 * variance). Intervals are between two percentiles of the resamples; NaN where fewer than two
 * universes have cases. Fails: WEIR_ERR_MEMORY. */
weir_status cf_metrics(const cf_cases *c, const cf_resamples *r,
                       weir_estimate out[CF_SCORES]) WEIR_CHECKED;
/* Computes the skill score of a relative to b, 1 - score of a / score of b, on the same cases:
 * positive where a is better. CF_MAE or CF_RMSE. Fails: WEIR_ERR_MEMORY. */
weir_status cf_metrics_skill(const cf_cases *a, const cf_cases *b, cf_score score,
                             const cf_resamples *r, weir_estimate *out) WEIR_CHECKED;

/* Errors of averages over a universe. within: root of the variance among samples of one universe;
 * shared: root of the mean square of their common error, without the contribution of `within`, at
 * least 0. NaN where no universe has two samples. */
typedef struct cf_sharing {
  double within, shared;
} cf_sharing;
/* Computes both. Cases of one universe are consecutive, here and below. */
cf_sharing cf_metrics_sharing(const cf_cases *c);
/* Returns the RMSE of means of m samples, of disjoint blocks of m consecutive ones of a universe;
 * NaN where no universe has so many. *blocks: their number. */
double cf_metrics_blocks(const cf_cases *c, int64_t m, int64_t *blocks);
#endif
