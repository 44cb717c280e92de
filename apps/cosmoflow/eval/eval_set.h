/* eval_set.h - an evaluation set: predictions of a subset with their truth, by sample and averaged
 * over the samples of a universe. */
#ifndef CF_EVAL_SET_H
#define CF_EVAL_SET_H
#include "data/predictions.h"
#include "data/source.h"
#include "eval/summary/summaries.h"

typedef struct cf_eval_set_opts {
  const char *name, *predictions;
  weir_string_list truth; /* samples: files, folders, lists, or synth://; none: labels of the
                             predictions alone */
} cf_eval_set_opts;
extern const weir_opt cf_eval_set_options[];

/* Models that predict. */
typedef enum cf_predictor {
  CF_BY_NETWORK,
  CF_BY_RIDGE,     /* on log P(k) */
  CF_BY_MOMENTS,   /* on log P(k) and moments */
  CF_BY_SUMMARIES, /* that on cf_summary_kind k alone is CF_BY_SUMMARIES + k */
  CF_BY_ALL = CF_BY_SUMMARIES + CF_SUMMARIES, /* on all of these */
  CF_BY_BOOSTING, /* boosted trees on what CF_BY_RIDGE + k is on are CF_BY_BOOSTING + k */
  CF_BY_MEAN = CF_BY_BOOSTING + CF_BY_ALL - CF_BY_RIDGE + 1, /* of the training universes */
  CF_PREDICTORS
} cf_predictor;
enum {
  CF_FIRST_REGRESSION = CF_BY_RIDGE,
  CF_LAST_RIDGE = CF_BY_ALL,
  CF_LAST_REGRESSION = CF_BY_MEAN - 1
};
typedef enum cf_level { CF_BY_SAMPLE, CF_BY_UNIVERSE, CF_LEVELS } cf_level;
extern const char *const cf_level_name[CF_LEVELS];

/* Predictions in the units of the labels. */
typedef struct cf_predicted {
  int64_t n;
  int64_t *group;                   /* [n] */
  double *truth;                    /* [n_labels, n] */
  double *predicted[CF_PREDICTORS]; /* [n_labels, n]; NULL: none */
} cf_predicted;

typedef struct cf_eval_set {
  const cf_eval_set_opts *opts;
  cf_predictions *p;
  cf_source_opts from;
  cf_source *source; /* NULL: there are no truth files */
  int64_t n_train;
  int64_t *train;        /* [n_train] rows of p to train on, by sample */
  int64_t groups;        /* universes that are scored */
  int64_t *row, *sample; /* [level[CF_BY_SAMPLE].n] rows of p, ordered by universe and sample */
  cf_predicted level[CF_LEVELS];
} cf_eval_set;

/* Reads predictions, selects the rows of a subset and opens the truth, by a spec of which `source`
 * is that of the set but for `cache_bytes`. Opts and spec are borrowed. Fails: WEIR_ERR_DATA (no
 * row or one universe in the subset, rows of it without prediction, truth without labels, with
 * other names or ranges), as cf_predictions_read and cf_source_open. */
weir_status cf_eval_set_open(const cf_eval_set_opts *opts, const cf_source_spec *spec,
                             cf_subset subset, cf_eval_set *out) WEIR_CHECKED;
void cf_eval_set_close(cf_eval_set *t);
/* Checks that the truth has the sample of a row as in the predictions. Fails: WEIR_ERR_DATA, naming
 * row and sample. */
weir_status cf_eval_set_check(const cf_eval_set *t, int64_t row) WEIR_CHECKED;
/* Sets the predictions of model `by` for the scored rows, unit [n, n_labels] in [-1, 1]. Fails:
 * WEIR_ERR_MEMORY. */
weir_status cf_eval_set_predict(cf_eval_set *t, cf_predictor by, const double *unit) WEIR_CHECKED;
/* Counts the universes of the scored rows of b that are training universes of a: the same number
 * and labels. Fails: WEIR_ERR_MEMORY. */
weir_status cf_eval_set_known(const cf_eval_set *a, const cf_eval_set *b, int64_t *n) WEIR_CHECKED;
#endif
