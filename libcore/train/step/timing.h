/* timing.h - the time per step, compared with the prediction. */
#ifndef TRAIN_TIMING_H
#define TRAIN_TIMING_H
#include "train/train_run.h"

/* Records the time of a complete step of n samples, number `done` of this call from 1, and reports
 * the median once there are enough. Collective. Fails: as requests. */
weir_status train_time_step(train_run *r, int64_t n, int64_t done) WEIR_CHECKED;
/* Reports the times that have not been reported. Collective. Fails: as requests. */
weir_status train_tell_times(train_run *r) WEIR_CHECKED;
#endif
