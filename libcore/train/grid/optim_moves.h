/* optim_moves.h - what ranks send one another where they have shards of the update
 * (optim_shards.h). */
#ifndef TRAIN_OPTIM_MOVES_H
#define TRAIN_OPTIM_MOVES_H
#include "train/train_run.h"

/* Sums the gradient over ranks, of which each has a summand: on each rank the elements of its
 * shard. Collective. Fails: as requests. */
weir_status train_scatter_gradient(train_run *r) WEIR_CHECKED;
/* Makes the parameters complete on every rank after each has updated its shard; nothing where
 * nothing is sharded, or the parameters themselves are. Collective. Fails: as requests. */
weir_status train_gather_params(train_run *r) WEIR_CHECKED;
/* Creates on rank 0 a store with the arrays of the run, those that are sharded complete and zero;
 * destroyed by the caller. *out NULL on other ranks, and where nothing is sharded. Local. Fails:
 * WEIR_ERR_MEMORY. */
weir_status train_complete_store(const train_run *r, weir_store **out) WEIR_CHECKED;
/* Copies the shards of all ranks to such a store on rank 0, or from it. Collective. Fails:
 * WEIR_ERR_MEMORY; as requests. */
weir_status train_collect_shards(const train_run *r, weir_store *complete) WEIR_CHECKED;
weir_status train_distribute_shards(const train_run *r, weir_store *complete) WEIR_CHECKED;
#endif
