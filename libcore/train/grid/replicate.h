/* replicate.h - the level of a network from which on maps are replicated. */
#ifndef TRAIN_REPLICATE_H
#define TRAIN_REPLICATE_H
#include "train/grid/sharding.h"
#include "train/weir_train.h"

/* Appends the arrays of a graph that the thresholds replicate (weir_train_task.replicate_below),
 * and what remains of their shards, which c->whole owns. Fails: as weir_partition_create. */
weir_status train_replicate(const int64_t replicate_below[WEIR_ALONG_DIMS],
                            const weir_train_task *task, const weir_graph *g,
                            train_sharding *c) WEIR_CHECKED;
/* Returns the elements of a feature map along its dimension that is sharded along that one of the
 * grid; 0: the array is no such map. */
int64_t train_map_extent(const weir_train_task *task, const weir_graph *g, const weir_partition *p,
                         int32_t array, int along);
#endif
