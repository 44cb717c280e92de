/* ranks.c - see ranks.h. */
#include "train/grid/ranks.h"

#include <string.h>

#include "load/weir_sampler.h"
#include "train/grid/apart.h"
#include "train/step/size.h"

static weir_status open_ranks(train_run *r)
{
  train_ranks *k = &r->ranks;

  WEIR_TRY(weir_grid_check(&k->grid, weir_comm_size(k->all)));
  k->rank = weir_comm_rank(k->all);
  weir_grid_coords(&k->grid, k->rank, k->coords);
  WEIR_TRY(train_check_optim_shards(r->cfg));
  WEIR_TRY(train_check_sizes_grid(r));
  if (train_apart(r->cfg)) {
    k->replicas = weir_grid_size(&k->grid);
    return train_check_apart(r->cfg, &k->grid);
  }
  k->dist = (weir_dist){.comm = k->all, .grid = k->grid};
  WEIR_TRY(train_optim_shards_open(&k->optim, (weir_optim_shard)r->cfg->optim.shard, r->params,
                                   k->rank, weir_comm_size(k->all)));
  return train_shard_inputs(k, &r->graph, r->cfg->batch);
}

weir_status train_ranks_open(train_run *r)
{
  const weir_dist *asked = r->exec.dist;
  train_ranks *k = &r->ranks;

  r->exec.dist = NULL;
  if (asked != NULL && weir_comm_size(asked->comm) > 1) {
    k->all = asked->comm;
    k->grid = asked->grid;
    memcpy(k->replicate_below, r->task->replicate_below, sizeof k->replicate_below);
    WEIR_TRY(train_agree_all(r, open_ranks(r)));
    WEIR_TRY(weir_allreduce_create(k->all, "minimum step",
                                   weir_reducer_of(WEIR_REDUCE_MIN, WEIR_I64), &k->number, 1,
                                   &k->min_request));
  }
  for (int i = 0; i < r->task->n_inputs; i++) {
    k->box[i] = train_box(k, r->task, i, k->coords);
  }
  return WEIR_OK;
}

weir_status train_agree(const train_run *r, weir_status status)
{
  return r->ranks.dist.comm != NULL ? weir_comm_agree(r->ranks.dist.comm, status) : status;
}

weir_status train_agree_all(const train_run *r, weir_status status)
{
  return r->ranks.all != NULL ? weir_comm_agree(r->ranks.all, status) : status;
}

weir_status train_min(train_run *r, int64_t *x)
{
  return r->ranks.replicas > 0 ? WEIR_OK : train_min_all(r, x);
}

weir_status train_min_all(train_run *r, int64_t *x)
{
  if (r->ranks.min_request != NULL) {
    r->ranks.number = *x;
    WEIR_TRY(weir_request_run(r->ranks.min_request));
    *x = r->ranks.number;
  }
  return WEIR_OK;
}

bool train_leads(const train_run *r)
{
  return r->ranks.rank == 0;
}

void train_own_samples(const train_run *r, int64_t n, int64_t *lo, int64_t *hi)
{
  const weir_grid *grid = &r->ranks.grid;

  weir_sampler_share(n, r->ranks.coords[WEIR_ALONG_SAMPLES],
                     grid->dims > 0 ? grid->extent[WEIR_ALONG_SAMPLES] : 1, lo, hi);
}

int64_t train_counted_samples(const train_run *r, int64_t n)
{
  int64_t lo = 0, hi = n;

  if (r->ranks.replicas > 0) {
    train_own_samples(r, n, &lo, &hi);
  }
  return hi - lo;
}
