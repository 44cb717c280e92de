/* evaluation.h - networks beside what needs none: trials, the regressions and the mean that are
 * fitted on the training universes of the first, and what these say of all. */
#ifndef CF_EVALUATION_H
#define CF_EVALUATION_H
#include "eval/features.h"
#include "eval/fisher.h"
#include "eval/metrics.h"
#include "eval/ridge.h"
#include "eval/eval_set.h"

typedef struct cf_eval_opts {
  weir_struct_list sets; /* of cf_eval_set_opts */
  int part;              /* cf_subset */
  int64_t bins;          /* of the truth */
  int64_t points;        /* of a figure */
  cf_feature_opts features;
  cf_ridge_opts ridge;
  cf_bootstrap_opts bootstrap;
  cf_fisher_opts fisher;
} cf_eval_opts;
extern const weir_opt cf_eval_options[];

typedef struct cf_evaluation {
  const cf_eval_opts *opts;
  uint64_t seed; /* of the program */
  int64_t n_sets, n_labels;
  cf_eval_set *set;        /* [n_trials] the first is the one that is trained on */
  cf_resamples *resamples; /* [n_trials] */
  int64_t n_features[CF_PREDICTORS];
  cf_ridge ridge[CF_PREDICTORS]; /* CF_BY_RIDGE and CF_BY_MOMENTS */
  const char *without;           /* why there are no regressions; NULL: there are */
  double *sigma;                 /* [n_labels, universes of the first] bound; NULL: none */
} cf_evaluation;

/* That there is a set, and each has predictions and a name of its own. Fails: WEIR_ERR_CONFIG. */
weir_status cf_eval_judge_names(const weir_struct_list *sets) WEIR_CHECKED;
/* That, and that what is asked for can be told from what they name. Fails: likewise. */
weir_status cf_eval_check(const cf_eval_opts *opts) WEIR_CHECKED;
/* Opens all trials, fits and predicts. Only rows of the training part of the first trial are fitted
 * on: voxels of other parts are read after that, to be predicted. Opts and spec are borrowed.
 * Fails: WEIR_ERR_CONFIG (no set, names that come twice), WEIR_ERR_DATA (sets of other labels,
 * ranges or shapes than the first), as what it calls. */
weir_status cf_evaluation_open(const cf_eval_opts *opts, const cf_source_spec *spec, uint64_t seed,
                               cf_evaluation *out) WEIR_CHECKED;
/* Leaves nothing to close: it may be called again. */
void cf_evaluation_close(cf_evaluation *e);
/* Cases of a label; false where `by` says nothing of this trial, or where universes have one sample
 * each and CF_BY_UNIVERSE is asked for. Borrowed. */
bool cf_evaluation_cases(const cf_evaluation *e, int64_t set, cf_predictor by, cf_level level,
                         int64_t label, cf_cases *out);
/* Name of who says something, for tables. Borrowed. */
const char *cf_evaluation_name(const cf_evaluation *e, int64_t set, cf_predictor by);
#endif
