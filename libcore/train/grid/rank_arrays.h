/* rank_arrays.h - the arrays of a run on all ranks. */
#ifndef TRAIN_RANK_ARRAYS_H
#define TRAIN_RANK_ARRAYS_H
#include "train/train_run.h"

/* Broadcasts one array of the store from rank 0. Collective. Fails: WEIR_ERR_MEMORY; as requests.
 */
weir_status train_receive_array(train_run *r, const char *name) WEIR_CHECKED;
/* Broadcasts the arrays of a checkpoint from rank 0, but those in shards. Collective. Fails:
 * WEIR_ERR_MEMORY; as requests. */
weir_status train_receive(train_run *r) WEIR_CHECKED;
/* Checks that ranks have the same weights where they are replicas. Collective. Fails:
 * WEIR_ERR_NUMERIC, naming the array and the ranks; WEIR_ERR_MEMORY; as requests. */
weir_status train_compare(train_run *r) WEIR_CHECKED;
/* Replicates all shards on all ranks, so that every array of the run is complete on each.
 * Collective. Fails: WEIR_ERR_MEMORY; as requests. */
weir_status train_allgather(const train_run *r) WEIR_CHECKED;
#endif
