/* run_loop.h - the parts of the loop of a run, for networks that go through it together. */
#ifndef TRAIN_RUN_LOOP_H
#define TRAIN_RUN_LOOP_H
#include "train/train_run.h"

/* Opens the run, and takes its state from a checkpoint of r->dir where there is one. Collective.
 * Fails: as weir_train_run. */
weir_status train_run_begin(train_run *r) WEIR_CHECKED;
/* Makes the best weights those of the network, writes them, and reports the end; *result is set by
 * the first of several networks. first: step at which this call began. Collective. Fails: as
 * train_finish. */
weir_status train_run_end(train_run *r, int64_t first, weir_train_result *result) WEIR_CHECKED;
/* Begins an epoch, or, of a resumed run, brings the one whose validation was stopped to its end;
 * *saved: then false. Collective. Fails: as train_end_step. */
weir_status train_begin_loop(train_run *r, bool *saved) WEIR_CHECKED;
/* Returns whether steps follow. */
bool train_goes_on(const train_run *r);
/* Announces an epoch to the task. */
void train_tell_task(const train_run *r, int64_t epoch);
/* Computes one update, and does what train_end_step does. Collective. Fails: likewise; as
 * train_step. */
weir_status train_advance(train_run *r, int64_t first, bool *saved) WEIR_CHECKED;
/* Counts an update of n samples and does what is due after it: events, the end of an epoch with its
 * validation, a checkpoint; *saved: whether the state has one. Collective. Fails: WEIR_ERR_STOPPED
 * (a signal during validation, after a checkpoint); as train_validate, train_save. */
weir_status train_end_step(train_run *r, int64_t n, double loss, int64_t first,
                           bool *saved) WEIR_CHECKED;
/* Validates a state that is not validated, and saves it. Collective. Fails: likewise. */
weir_status train_end_loop(train_run *r, bool saved) WEIR_CHECKED;
/* Whether any rank was asked to stop; replicas that train apart ask one another now and then.
 * Collective. Fails: as requests. */
weir_status train_asks_stop(train_run *r, bool *stop) WEIR_CHECKED;
/* Saves the state unless it is, and fails with WEIR_ERR_STOPPED. Collective. */
weir_status train_stop_here(train_run *r, bool saved) WEIR_CHECKED;
#endif
