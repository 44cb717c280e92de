/* predict_samples.h - samples read, corrected and written: while the network computes on one, the
 * next is read and the last is written. */
#ifndef WX_PREDICT_SAMPLES_H
#define WX_PREDICT_SAMPLES_H
#include "comm/weir_comm.h"
#include "predict_files.h"
#include "predictor.h"

/* Seconds. */
typedef struct wx_predict_times {
  double read, network, write;      /* of each step, wherever it ran                       */
  double read_waited, write_waited; /* that the network stood still for them              */
  double total;                     /* from the first to the last: network, waited, little else */
} wx_predict_times;

/* Which samples, and who shares the work. */
typedef struct wx_predict_what {
  const int64_t *sample; /* [n] */
  int64_t n;
  bool overlap;    /* reading and writing have a thread each; false on several ranks */
  weir_comm *comm; /* NULL: one rank */
} wx_predict_what;

/* Corrects samples of e with `last`, after `first` (batch 1 each; NULL: one stage), and completes
 * the files (of rank 0). Three samples are in memory, with
 * their members where those are asked for. Several ranks share the samples, and rank 0 writes. What
 * is written does not depend on overlap or ranks. Collective. Fails: as wx_samples_read,
 * wx_predictor_run, wx_predict_files_write; WEIR_ERR_STOPPED. */
weir_status wx_predict_samples(const wx_experiment *e, wx_predictor *first, wx_predictor *last,
                               wx_predict_files *files, const wx_predict_what *what,
                               wx_predict_times *out) WEIR_CHECKED;
#endif
