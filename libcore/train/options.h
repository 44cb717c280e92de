/* options.h - options of a training, checked against its task. */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H
#include "train/train_run.h"

/* Refuses a task of too many inputs, dimensions or metrics, of reserved names, and, where samples
 * are asked for, one without them. Fails: WEIR_ERR_CONFIG. */
weir_status train_check_task(const weir_train_task *t, bool samples) WEIR_CHECKED;
/* Refuses options that do not fit the task; sets the samples of a step, the steps of an epoch and
 * the steps in all. Fails: WEIR_ERR_CONFIG. */
weir_status train_check_options(train_run *r) WEIR_CHECKED;
/* Whether training starts from the weights of a file. */
bool train_is_fine_tuning(const weir_train_cfg *c);
/* Returns the number of the metric that the target names; -1: there is no target. */
int train_target(const weir_train_task *t, const weir_train_cfg *c);
/* Returns the learning rate of a step, the first of which is 1. */
double train_rate(const train_run *r, int64_t step);
#endif
