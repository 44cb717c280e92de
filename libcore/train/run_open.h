/* run_open.h - begin and end of what a run has. */
#ifndef TRAIN_RUN_OPEN_H
#define TRAIN_RUN_OPEN_H
#include "train/train_run.h"

/* Returns a run that has not begun: no ranks, no arrays. All is borrowed. exec NULL: defaults. */
train_run train_run_of(const weir_train_task *task, const weir_train_cfg *cfg,
                       const weir_plan_opts *exec, weir_params *params, weir_store *store);
/* Leaves each rank its shard of rank 0's parameters in the store, where these are sharded; and
 * makes them complete on every rank again, without plans over them. Collective. Fail:
 * WEIR_ERR_CONFIG (they are not complete before), WEIR_ERR_MEMORY; as requests. */
weir_status train_shard_params(train_run *r) WEIR_CHECKED;
weir_status train_complete_params(train_run *r) WEIR_CHECKED;
/* Closes whatever of the run was opened. Collective where ranks were. */
void train_run_close(train_run *r);
#endif
