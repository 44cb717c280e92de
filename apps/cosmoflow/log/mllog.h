/* mllog.h - the log of MLPerf HPC (mlcommons/logging, rules of hpc_3.0.0): a second writer on the
 * events of a run.
 *
 * A line is ":::MLLOG " and an object with namespace, time_ms, event_type, key, value and metadata.
 * Epochs count from 1, as in run.jsonl. A run that goes on appends to its log; what a submission
 * needs is a run of one piece. */
#ifndef CF_MLLOG_H
#define CF_MLLOG_H
#include "model/network.h"
#include "train/weir_train.h"

#define CF_MLLOG_NAME "mllog.txt"
#define CF_MLLOG_TARGET 0.124 /* mean absolute error of MLPerf HPC */

typedef struct cf_mllog_opts {
  bool write;
  const char *org, *platform;
  int division, status;
  int64_t nodes, accelerators;
  bool cache_cleared;
} cf_mllog_opts;
extern const weir_opt cf_mllog_options[];

/* What is trained; borrowed until the log is closed. */
typedef struct cf_mllog_run {
  const weir_train_cfg *train;
  const cf_model_opts *model;
  int64_t train_samples, eval_samples;
} cf_mllog_run;

typedef struct cf_mllog cf_mllog;

/* Begins DIR/mllog.txt with what is known before anything is read, as of `began` (of
 * weir_clock_wall_ms), and takes the events from now on; goes_on: appends. opts->write false: *out
 * is NULL, which the others accept. Fails: WEIR_ERR_DATA. */
weir_status cf_mllog_open(const cf_mllog_opts *opts, const char *dir, int64_t began, bool goes_on,
                          cf_mllog **out) WEIR_CHECKED;
/* Says what the training that follows is. */
void cf_mllog_describe(cf_mllog *log, const cf_mllog_run *run);
void cf_mllog_close(cf_mllog **log);

/* The error below which a training succeeds: train.target.value of the metric mae, else
 * CF_MLLOG_TARGET. */
double cf_mllog_target(const weir_train_cfg *train);

/* Whether a file begins as such a log, ours or another program's: one of its first lines is of it.
 */
bool cf_mllog_is(const char *path);
/* Judges a log by the rules of the checker: which keys there have to be, how often, in which order,
 * with which values; an eval_error in (0, target]; beyond them, that epochs and evaluations end
 * before others begin and before the run does. Fails: WEIR_ERR_DATA, naming line or key. */
weir_status cf_mllog_check(const char *path, double target) WEIR_CHECKED;
#endif
