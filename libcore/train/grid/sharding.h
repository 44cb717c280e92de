/* sharding.h - the shards of the arrays of one graph. */
#ifndef TRAIN_SHARDING_H
#define TRAIN_SHARDING_H
#include "exec/weir_plan.h"

typedef struct train_sharding {
  weir_dist dist; /* its shards are `shard` */
  weir_shard *shard;
  int64_t capacity;
  weir_partition
      *whole; /* if sharding continued to the last layer, NULL: it does; shards borrow from it */
} train_sharding;

/* Appends a shard, whose bounds are borrowed. Fails: WEIR_ERR_MEMORY. */
weir_status train_add_shard(train_sharding *c, weir_shard shard) WEIR_CHECKED;
/* Frees the shards; accepts a zeroed sharding. */
void train_sharding_close(train_sharding *c);
#endif
