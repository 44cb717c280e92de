/* calibrate.h - running statistics for samples of the size that is evaluated. */
#ifndef TRAIN_CALIBRATE_H
#define TRAIN_CALIBRATE_H
#include "train/train_run.h"

/* Returns whether a run has steps of several sizes, and statistics to measure before validation. */
bool train_calibrates(const train_run *r);
/* Replaces the running statistics of the network by their means over task->calibrate batches of
 * training samples, the first of the present epoch, of the task's size; no effect where the run
 * does not calibrate. Weights stay as they are. Collective. Fails: as train_fetch, plans. */
weir_status train_calibrate(train_run *r) WEIR_CHECKED;
#endif
