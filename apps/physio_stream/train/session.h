/* session.h - the state of the command train, from its records to its tables. */
#ifndef PS_TRAIN_SESSION_H
#define PS_TRAIN_SESSION_H
#include "beats/task.h"
#include "eval/classes.h"
#include "options.h"
#include "records/records_list.h"
#include "report/weir_report.h"

/* The classifiers, which are tested on the same beats. */
typedef enum ps_classified_by {
  PS_BY_DISCRIMINANT,
  PS_BY_NETWORK,
  PS_CLASSIFIERS
} ps_classified_by;

/* What a classifier made of the beats. */
typedef struct ps_train_result {
  ps_confusion *each, all; /* [records, then test] */
  int64_t learnt[PS_CLASSES];
} ps_train_result;

typedef struct ps_train_session {
  ps_records records, test;
  int64_t *patient;        /* [records, then test]: the first record of the same patient */
  ps_labelled_list beats;  /* of records, then of test */
  ps_confusion *unclassed; /* [records, then test]: beats that are missed, or without a window */
  int64_t n_train;         /* beats of records         */
  float *window;           /* of each beat, where a network is trained */
  ps_train_result by[PS_CLASSIFIERS];
  double weights[PS_CLASS_WEIGHTS];
  weir_table confusion, scores, trainings;
} ps_train_session;

/* Number i of the records, then of those to test. */
const ps_record *ps_train_record(const ps_train_session *e, int64_t i);
/* Reads the window of each beat from its record. Beats whose window has a gap have no class, for
 * all classifiers: they are counted in `unclassed` and dropped. Fails: as ps_input_open,
 * ps_input_read; WEIR_ERR_CONFIG for an option that cannot be; WEIR_ERR_MEMORY. */
weir_status ps_train_read_windows(const ps_cfg *cfg, ps_train_session *e) WEIR_CHECKED;
/* Trains the network on all records and, without records to test, on those of all but each patient;
 * fills by[PS_BY_NETWORK] and trainings. The weights of all are in `out`. Fails: as
 * ps_beat_training_open, weir_train_run. */
weir_status ps_train_network(const ps_cfg *cfg, const char *out, ps_train_session *e) WEIR_CHECKED;

/* Columns of `trainings`. */
enum { PS_TRAINING_COLUMNS = 6 + PS_CLASSES };
extern const char *const ps_training_head[PS_TRAINING_COLUMNS];
#endif
