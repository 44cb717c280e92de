/* posterior_scores.h - scores of the posteriors of a set: information and calibration.
 *
 * The log density of the truth, ln q(truth | sample), is a proper score; in units of half ranges,
 * its mean plus labels ln 2 is the expected information gain over a prior that is uniform over the
 * ranges (nats), a lower bound of the mutual information of samples and parameters (Barber and
 * Agakov, NIPS 16 (2003) 201). Ranks are of the first sample of each universe, since its samples
 * share the truth. Samples whose restricted posterior has too little within the ranges are skipped:
 * their draws and the factor of their density are not known. */
#ifndef CF_POSTERIOR_SCORES_H
#define CF_POSTERIOR_SCORES_H
#include "eval/eval_set.h"
#include "eval/metrics.h"
#include "eval/posterior/calibration.h"

typedef struct cf_posterior_opts {
  int64_t draws, bins, sample;
} cf_posterior_opts;
extern const weir_opt cf_posterior_options[];

enum { CF_LEVELS_OF_COVERAGE = 4 };
extern const double cf_coverage_level[CF_LEVELS_OF_COVERAGE];

typedef struct cf_posterior_scores {
  int64_t n, cases, n_labels, draws;      /* n: samples, cases: universes; 0: no posteriors */
  int64_t skipped;                        /* samples of which cf_posterior_draw returns false */
  weir_estimate log_density, information; /* means over the samples, nats */
  double outside;                         /* mean probability outside the ranges, unrestricted */
  double sd[CF_MAX_LABELS];               /* mean marginal standard deviation, in half ranges */
  double square[CF_MAX_LABELS]; /* mean of ((truth - mean) / standard deviation)^2: 1 where
                                   the standard deviations are those of the errors */
  int64_t *rank;                /* [n_labels + 1, cases] by parameter, the last by distance */
  cf_uniformity test[CF_MAX_LABELS + 1]; /* of these */
} cf_posterior_scores;

/* Scores the posteriors of a set, moments as Gaussians, with a warning of those skipped. Without
 * any, all is zero. Fails: WEIR_ERR_DATA (a truth outside the ranges), WEIR_ERR_MEMORY. */
weir_status cf_posterior_scores_make(const cf_posterior_opts *o, const cf_eval_set *t,
                                     const cf_resamples *resamples, uint64_t seed,
                                     cf_posterior_scores *out) WEIR_CHECKED;
void cf_posterior_scores_fini(cf_posterior_scores *s);
#endif
