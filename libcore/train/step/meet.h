/* meet.h - replicas that train apart meet: from there on a run has one set of weights again. */
#ifndef TRAIN_MEET_H
#define TRAIN_MEET_H
#include "train/train_run.h"

/* Makes all arrays of the run equal on all replicas, before validations, checkpoints and the end:
 * completes what is under way, applies what came late, averages weights and state of the optimiser;
 * rank 0 gets the sum of losses, the others 0. Nothing where ranks compute steps together, or have
 * met since the last step. Collective. Fails: as weir_exchange_settle, plans and requests. */
weir_status train_meet(train_run *r) WEIR_CHECKED;
/* Before any other call of all ranks: meets where an update needs the answers of other replicas,
 * whatever step they are in, which none gives while it waits in that call. Collective. Fails: as
 * train_meet. */
weir_status train_meet_before_call(train_run *r) WEIR_CHECKED;
/* Sums n numbers over replicas, in place; nothing where ranks compute steps together. Collective.
 * Fails: as requests. */
weir_status train_sum_replicas(train_run *r, double *x, int64_t n) WEIR_CHECKED;
/* Reports the event `exchange` where a policy is open: contributions in time, late and their age;
 * messages and bytes of all ranks; rounds and waiting of a rank on average. Collective. Fails: as
 * requests. */
weir_status train_tell_exchange(train_run *r) WEIR_CHECKED;
#endif
