/* experiment.h - the samples of a configuration with their split, and the network on them. */
#ifndef CF_EXPERIMENT_H
#define CF_EXPERIMENT_H
#include "conf/weir_cli.h"
#include "estimator.h"
#include "options.h"

enum { CF_DIGEST = 64 };

/* Not to be moved: the estimator points into it. */
typedef struct cf_experiment {
  cf_cfg *cfg;
  cf_source_opts input; /* of the configuration, or of the universes that were written */
  const char *folder[1];
  bool leads; /* the rank that warns of what all ranks see */
  cf_source *source;
  cf_samples *samples;
  cf_split split;
  cf_adaptation adaptation;     /* of domain adaptation */
  int64_t epoch;                /* of the training */
  void *whole;                  /* a sample of which smaller cubes are made; NULL: none are */
  bool begun;                   /* samples were read */
  weir_access_stream visits;    /* of this rank's group, in the training .. */
  int64_t end;                  /* .. and how many of them there are */
  int64_t readers;              /* ranks that read samples */
  weir_load_peers peers;        /* without a comm: no exchange of samples */
  bool constant[CF_MAX_LABELS]; /* labels of whose constant predictions was warned */
  bool met;                     /* its ranks agreed that all have begun */
  weir_train_cfg train;         /* with the program's seed */
  cf_estimator estimator;
  char line[CF_NOTES][CF_NOTE_LINE]; /* notes of the weights .. */
  char *text[4];                     /* .. and the long ones */
  char truth[CF_DIGEST + 1];         /* as cf_survey makes it */
  char digest[CF_DIGEST];            /* of the training data */
} cf_experiment;

/* Writes the universes of the section simulate into the folder where source.input names no samples,
 * those that are not there yet. Fails: as cf_universe_write. */
weir_status cf_experiment_prepare(const cf_cfg *cfg, const char *folder) WEIR_CHECKED;
/* Opens the samples of source.input and splits them; folder: read where source.input is empty, or
 * NULL; comm: as for cf_survey. Fails: WEIR_ERR_CONFIG (neither is given), as cf_source_open,
 * cf_split_create, cf_samples_create, cf_survey. */
weir_status cf_experiment_open(cf_cfg *cfg, const char *folder, const weir_comm *comm,
                               cf_experiment *out) WEIR_CHECKED;
void cf_experiment_close(cf_experiment *e);
/* Survey of all samples before any is used. universe: -1 where the source does not state it; label:
 * [count, n_labels], NULL where labels are not read; the caller frees both arrays. truth: digest of
 * 64 hex digits of the labels of all samples, or of the classes of the middle plane of each; ""
 * without truth. All planes of classes are checked, those of a sample by one rank of comm (NULL: by
 * this one). Files that are not opened to be counted (files.per_file) are not surveyed where the
 * first one does not state its universe and data.split.samples_per_universe is given. Local: one
 * rank alone may fail. Fails: as cf_source_universe, and as cf_source_labels or _classes, so that
 * errors of test samples are reported before a training; WEIR_ERR_STOPPED. */
typedef struct cf_surveyed {
  int64_t *universe; /* [count] */
  float *label;
  char truth[CF_DIGEST + 1];
} cf_surveyed;
void cf_surveyed_fini(cf_surveyed *s);
weir_status cf_survey(cf_source *s, const cf_cfg *cfg, cf_truth truth, const weir_comm *comm,
                      cf_surveyed *out) WEIR_CHECKED;
/* Opens the network of the configuration for training on the samples. Fails: as cf_estimator_open.
 */
weir_status cf_experiment_network(cf_experiment *e, const weir_config *config) WEIR_CHECKED;
/* Trains it on the ranks of exec->dist in the folder, resuming from its latest checkpoint, with
 * the events of weir_train_run. Collective. Fails: WEIR_ERR_CONFIG where a checkpoint there is of
 * other samples; as weir_train_run. */
weir_status cf_experiment_train(cf_experiment *e, const char *dir, const weir_plan_opts *exec,
                                weir_train_result *result) WEIR_CHECKED;
/* Emits the event `samples` and logs a line. */
void cf_experiment_tell(const cf_experiment *e);
#endif
