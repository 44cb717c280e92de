/* robustness.h - networks, and regressions fitted on the same universes, scored on sets of samples
 * that were simulated differently: a row for each model, a column for each set. */
#ifndef CF_ROBUSTNESS_H
#define CF_ROBUSTNESS_H
#include "eval/score_tables.h"

/* A set of samples: a column. */
typedef struct cf_robustness_set_opts {
  const char *name;
  weir_string_list samples;
} cf_robustness_set_opts;

/* A network: a row. */
typedef struct cf_robustness_network_opts {
  const char *name, *weights;
  const char *trained_on; /* name of a set */
} cf_robustness_network_opts;

typedef struct cf_robustness_opts {
  weir_struct_list sets;     /* of cf_robustness_set_opts */
  weir_struct_list networks; /* of cf_robustness_network_opts */
} cf_robustness_opts;
extern const weir_opt cf_robustness_options[];

/* Checks names and that each network is trained on a set of the list. Fails: WEIR_ERR_CONFIG. */
weir_status cf_robustness_check(const cf_robustness_opts *o) WEIR_CHECKED;
/* Returns the set that a network, of checked options, is trained on. */
int64_t cf_robustness_own(const cf_robustness_opts *o, int64_t network);
/* Writes the path of the predictions of a network for a set in a folder. Fails: WEIR_ERR_CONFIG
 * (too long). */
weir_status cf_robustness_path(const cf_robustness_opts *o, const char *dir, int64_t network,
                               int64_t set, char *path, size_t size) WEIR_CHECKED;

/* Scores of posteriors. */
typedef enum cf_robustness_posterior {
  CF_POSTERIOR_GAIN,     /* information gain, nats, with its interval; of all labels alone */
  CF_POSTERIOR_COVERAGE, /* share of true values within the central 68 %: of a label alone */
  CF_POSTERIOR_CHI2,     /* reduced chi2: of a label alone */
  CF_POSTERIOR_SCORES
} cf_robustness_posterior;

/* A model on a set: label 0 is all labels (mae and rmse alone), then each. NaN: undefined. */
typedef struct cf_robustness_cell {
  double half; /* half range, in the unit of the label; 1 of all */
  int64_t samples, universes;
  weir_estimate score[CF_SCORES]; /* as cf_score_row: errors in the unit of the label */
  weir_estimate posterior[CF_POSTERIOR_SCORES];
} cf_robustness_cell;

typedef struct cf_robustness_row {
  char model[CF_MAX_NAME];
  int64_t trained_on;       /* set */
  bool network;             /* else a regression or the mean */
  cf_robustness_cell *cell; /* [n_sets, 1 + n_labels] */
} cf_robustness_row;

typedef struct cf_robustness {
  const cf_robustness_opts *opts;
  int64_t n_sets, n_labels;
  char label[CF_MAX_LABELS][CF_MAX_NAME];
  cf_robustness_row *row;
  int64_t n_rows, capacity;
} cf_robustness;

/* Adds the scores of an evaluation whose set k is `set[k]` of the options, the first the one that
 * all models are trained on: those of the network and, unless a row has them already, of the
 * regressions and the mean. opts are borrowed. Fails: WEIR_ERR_MEMORY, WEIR_ERR_DATA (other labels
 * than those of an earlier one). */
weir_status cf_robustness_add(const cf_robustness_opts *opts, const cf_evaluation *e,
                              const cf_score_tables *t, const int64_t *set,
                              cf_robustness *r) WEIR_CHECKED;
void cf_robustness_fini(cf_robustness *r);
const cf_robustness_cell *cf_robustness_at(const cf_robustness *r, int64_t row, int64_t set,
                                           int64_t label);
/* Writes robustness.csv and report.html to the folder, and the table of errors to stdout. Fails: as
 * weir_report and weir_score_write. */
weir_status cf_robustness_write(const cf_robustness *r, const cf_eval_opts *eval, uint64_t seed,
                                const char *dir) WEIR_CHECKED;
#endif
