/* step.h - one update, and validation. */
#ifndef TRAIN_STEP_H
#define TRAIN_STEP_H
#include "train/train_run.h"

/* Computes one update and *loss, its mean over the samples; after a failure the network is
 * unchanged. Collective. Fails: WEIR_ERR_NUMERIC (a NaN or infinite loss or gradient); as
 * train_fetch, plans and exchange. */
weir_status train_step(train_run *r, double *loss) WEIR_CHECKED;
/* Computes the means of loss and metrics (metric: [metrics]) over the validation samples, and
 * reports the moments to the task. Collective. Fails: WEIR_ERR_NUMERIC; as train_fetch and plans.
 */
weir_status train_validate(train_run *r, double *loss, double *metric) WEIR_CHECKED;
#endif
