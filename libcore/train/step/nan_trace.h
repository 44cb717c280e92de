/* nan_trace.h - which operator made a non-finite value. */
#ifndef TRAIN_NAN_TRACE_H
#define TRAIN_NAN_TRACE_H
#include "train/train_run.h"

/* Repeats the step, whose loss or gradient is NaN or infinite, to name the operator that made the
 * first such value. Always fails: WEIR_ERR_NUMERIC with that name; as plans. Collective. */
weir_status train_locate_nan(train_run *r) WEIR_CHECKED;
#endif
