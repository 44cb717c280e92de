/* state.h - the arrays of a run in the store, and copies of the network. */
#ifndef TRAIN_STATE_H
#define TRAIN_STATE_H
#include "train/train_run.h"

extern const char *const train_digests[TRAIN_GRAPHS]; /* names of the arrays */

/* Adds the arrays of the run to the store, or takes those of an earlier run on it, with the values
 * of a run that begins; freed by close. Local. Fails: WEIR_ERR_MEMORY; as train_build. */
weir_status train_state_open(train_run *r) WEIR_CHECKED;
/* Frees what the run has of its arrays in addition to the store; accepts one that is not open. */
void train_state_close(train_run *r);
/* Copies the network's arrays before a step, where such copies are kept. Fails: as weir_store_keep.
 */
weir_status train_keep_before(train_run *r) WEIR_CHECKED;
/* Restores the network's arrays as train_keep_before found them. Fails: as weir_store_restore. */
weir_status train_take_before(train_run *r) WEIR_CHECKED;
/* Copies the network's arrays as those of the best validation, where such copies are kept. Fails:
 * as weir_store_copy. */
weir_status train_keep_best(train_run *r) WEIR_CHECKED;
/* Swaps the parameters and their average, where one is kept. Collective where ranks have shards of
 * it. Fails: as weir_store_write, train_gather_params. */
weir_status train_swap_average(train_run *r) WEIR_CHECKED;
/* Makes the parameters their average, where one is kept. Collective likewise. Fails: likewise. */
weir_status train_take_average(train_run *r) WEIR_CHECKED;
/* Adds the rows of the parameters as slices of `array` in checkpoints, with names after `prefix`;
 * freed by close. Fails: WEIR_ERR_MEMORY. */
weir_status train_add_slices(train_run *r, const char *array, const char *prefix) WEIR_CHECKED;
/* Returns whether an array of the store is the network's, and not of its training. */
bool train_is_network(const char *array);
/* Returns whether an array of the training is one that this run keeps, and not one that an earlier
 * run on the store left there. */
bool train_is_own(const train_run *r, const char *array);
#endif
