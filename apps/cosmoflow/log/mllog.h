/* mllog.h - the log of MLPerf HPC (mlcommons/logging, rules of hpc_3.0.0): a second writer of the
 * events of a run.
 *
 * A line is ":::MLLOG " and an object with namespace, time_ms, event_type, key, value and metadata.
 * Epochs count from 1, as in run.jsonl. A resumed run appends to its log; a submission needs an
 * uninterrupted run. */
#ifndef CF_MLLOG_H
#define CF_MLLOG_H
#include "data/samples.h"
#include "model/network.h"
#include "train/weir_train.h"

#define CF_MLLOG_NAME "mllog.txt"
#define CF_MLLOG_TARGET 0.124 /* mean absolute error of MLPerf HPC */

enum { CF_MLLOG_CLOSED, CF_MLLOG_OPEN };
/* The data set of the benchmark (v1.0 and later): samples of 128^3 voxels, 4 redshifts, 4 labels.
 */
enum {
  CF_MLLOG_TRAIN = 524288,
  CF_MLLOG_VALID = 65536,
  CF_MLLOG_SIDE = 128,
  CF_MLLOG_CHANNELS = 4,
  CF_MLLOG_LABELS = 4,
  CF_MLLOG_RUNS = 10 /* of a submission of the time to solution */
};

typedef struct cf_mllog_opts {
  bool write;
  const char *org, *platform;
  int division, status;
  int64_t nodes, accelerators;
  bool cache_cleared;
} cf_mllog_opts;
extern const weir_opt cf_mllog_options[];

/* The training; borrowed until the log is closed. */
typedef struct cf_mllog_run {
  const weir_train_cfg *train;
  const cf_model_opts *model;
  int64_t train_samples, eval_samples;
} cf_mllog_run;

typedef struct cf_mllog cf_mllog;

/* Opens DIR/mllog.txt, writes the lines known at the start, as of `began` (of weir_clock_wall_ms),
 * and subscribes to events; resumed: appends. opts->write false: *out is NULL, which the other
 * functions accept. Fails: WEIR_ERR_DATA. */
weir_status cf_mllog_open(const cf_mllog_opts *opts, const char *dir, int64_t began, bool resumed,
                          cf_mllog **out) WEIR_CHECKED;
/* Writes the parameters of the training that follows. */
void cf_mllog_describe(cf_mllog *log, const cf_mllog_run *run);
void cf_mllog_close(cf_mllog **log);

/* Sections subject to the rules of the closed division. */
typedef struct cf_mllog_rules {
  const cf_model_opts *model;
  const cf_data_opts *data;
  const weir_train_cfg *train;
} cf_mllog_rules;
/* Checks that a configuration follows the rules of the closed division, where its log is of it:
 * network, loss, preprocessing, update rule and target of the reference; free are the batch,
 * learning rates with their warm-up and decays, dropout and the L2 penalty. Fails: WEIR_ERR_CONFIG,
 * naming key and rule. */
weir_status cf_mllog_check_rules(const cf_mllog_opts *opts, const cf_mllog_rules *r) WEIR_CHECKED;
/* Checks the samples for training and validation likewise; simulated: by this program. */
weir_status cf_mllog_check_samples(const cf_mllog_opts *opts, const cf_volume_info *info,
                                   bool simulated, int64_t train, int64_t valid) WEIR_CHECKED;
/* Returns the value of option `key` of an update rule, or its default; NaN: the rule has no such
 * option. */
double cf_mllog_rule_option(const weir_one_of *rule, const char *key);

/* Returns the error below which a training succeeds: train.target.value of the metric mae,
 * otherwise CF_MLLOG_TARGET. */
double cf_mllog_target(const weir_train_cfg *train);

/* Returns whether a file is such a log, of this or another program, by its first lines. */
bool cf_mllog_is(const char *path);
/* Properties of the run of a checked log. */
typedef struct cf_mllog_judged {
  bool closed;
  double seed;    /* NaN: not stated */
  double minutes; /* from run_start to run_stop */
} cf_mllog_judged;
/* Checks a log by the rules of the checker: required keys, their number, order and values; an
 * eval_error in (0, target]; further, that epochs and evaluations end before others begin and
 * before the run does; of the closed division, that target and numbers of samples are those of the
 * benchmark. out: NULL, or the properties of the run. Fails: WEIR_ERR_DATA, naming line or key. */
weir_status cf_mllog_check(const char *path, double target, cf_mllog_judged *out) WEIR_CHECKED;
/* Checks n logs as runs of one submission: of one division, seeds that differ. *minutes: the mean
 * time without the fastest and the slowest run, of all where there are less than three. Fails:
 * WEIR_ERR_DATA, naming the two logs. */
weir_status cf_mllog_check_runs(const char *const *path, const cf_mllog_judged *log, int n,
                                double *minutes) WEIR_CHECKED;
#endif
