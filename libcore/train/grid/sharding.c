/* sharding.c - see sharding.h. */
#include "train/grid/sharding.h"

#include "base/weir_alloc.h"

void train_sharding_close(train_sharding *c)
{
  weir_partition_destroy(&c->whole);
  weir_free(&c->shard);
}

weir_status train_add_shard(train_sharding *c, weir_shard shard)
{
  WEIR_TRY(weir_reserve(&c->shard, &c->capacity, c->dist.n_shards + 1, sizeof *c->shard));
  c->shard[c->dist.n_shards++] = shard;
  c->dist.shards = c->shard;
  return WEIR_OK;
}
