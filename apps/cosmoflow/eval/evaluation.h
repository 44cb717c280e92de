/* evaluation.h - networks compared with baselines: evaluation sets, the regressions and the mean
 * fitted on the training universes of the first set, and their predictions for all sets. */
#ifndef CF_EVALUATION_H
#define CF_EVALUATION_H
#include "eval/features.h"
#include "eval/fisher.h"
#include "eval/metrics.h"
#include "eval/posterior/posterior_scores.h"
#include "eval/regression/boosting.h"
#include "eval/ridge.h"
#include "eval/summary/forecast.h"
#include "eval/eval_set.h"

enum { CF_ALL_LABELS = -1 };

typedef struct cf_eval_opts {
  weir_struct_list sets;        /* of cf_eval_set_opts */
  int part;                     /* cf_subset */
  int64_t bins;                 /* of the truth */
  int64_t points;               /* of a figure */
  weir_string_list regressions; /* names of those on further summaries */
  cf_feature_opts features;
  cf_ridge_opts ridge;
  cf_boosting_opts boosting;
  cf_bootstrap_opts bootstrap;
  cf_fisher_opts fisher;
  bool forecast; /* from the summaries of the regressions */
  cf_posterior_opts posterior;
} cf_eval_opts;
extern const weir_opt cf_eval_options[];

typedef struct cf_evaluation {
  const cf_eval_opts *opts;
  cf_feature_opts features; /* of opts, with the summaries that the regressions need */
  uint64_t seed;            /* of the program */
  weir_comm *comm;          /* ranks that share the samples; NULL: one */
  int64_t n_sets, n_labels;
  cf_eval_set *set;        /* [n_sets]; baselines are fitted on the first */
  cf_resamples *resamples; /* [n_sets] */
  int64_t n_features[CF_PREDICTORS];
  bool periodic;                       /* further summaries: samples are whole boxes */
  unsigned wanted;                     /* regressions, bits 1 << cf_predictor */
  cf_ridge ridge[CF_PREDICTORS];       /* of those with features */
  cf_boosting boosting[CF_PREDICTORS]; /* likewise, from CF_BY_BOOSTING on */
  const char *without;                 /* why there are no regressions; NULL: there are */
  cf_forecast forecast[CF_PREDICTORS]; /* universes 0: none */
  cf_posterior_scores *posterior;      /* [n_sets] */
  double *sigma;                       /* [n_labels, universes of the first] bound; NULL: none */
  double bound_k;                      /* h/Mpc: largest k of the bound */
  int64_t bound_bins;                  /* of P(k), one fundamental wave wide */
} cf_evaluation;

/* Checks that there is a set, and that each has predictions and a name of its own. Fails:
 * WEIR_ERR_CONFIG. */
weir_status cf_eval_judge_names(const weir_struct_list *sets) WEIR_CHECKED;
/* Checks the same and that the other options suit the sets. Fails: likewise. */
weir_status cf_eval_check(const cf_eval_opts *opts) WEIR_CHECKED;
/* Opens all sets, fits and predicts. Only training rows of the first set are fitted on: voxels of
 * other subsets are read after that, for prediction. Opts and spec are borrowed. The ranks of comm
 * (NULL: one) share the samples; what is fitted and predicted is rank 0's. Collective. Fails:
 * WEIR_ERR_CONFIG (no set, duplicate names), WEIR_ERR_DATA (sets with other labels, ranges or
 * shapes than the first), as its callees. */
weir_status cf_evaluation_open(const cf_eval_opts *opts, const cf_source_spec *spec, uint64_t seed,
                               weir_comm *comm, cf_evaluation *out) WEIR_CHECKED;
/* Closes an evaluation; may be called again. */
void cf_evaluation_close(cf_evaluation *e);
/* Returns the cases of a label in *out; false where `by` has no prediction for this set, or where
 * universes have one sample each and CF_BY_UNIVERSE is given. Borrowed. */
bool cf_evaluation_cases(const cf_evaluation *e, int64_t set, cf_predictor by, cf_level level,
                         int64_t label, cf_cases *out);
/* Returns the regression with the lowest MAE on a label of a set, or on all (CF_ALL_LABELS, in
 * units of their ranges); CF_BY_MEAN where there is none. */
cf_predictor cf_evaluation_best(const cf_evaluation *e, int64_t set, cf_level level, int64_t label);
/* Returns the name of a model, for tables. Borrowed. e and set are of CF_BY_NETWORK alone. */
const char *cf_evaluation_name(const cf_evaluation *e, int64_t set, cf_predictor by);
#endif
