/* run_open.c - see run_open.h. */
#include "train/run_open.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "train/grid/optim_moves.h"
#include "train/grid/rank_arrays.h"
#include "train/grid/ranks.h"
#include "train/state.h"

/* A device takes all rows at once, and so do sums into shards of the whole buffer. */
static bool adds_in_rows(const weir_train_cfg *cfg, const weir_plan_opts *exec)
{
  const char *device = exec != NULL && exec->exec != NULL ? exec->exec->device : NULL;

  return cfg->optim.shard == WEIR_OPTIM_SHARD_NONE &&
         (device == NULL || strcmp(device, "cpu") == 0);
}

train_run train_run_of(const weir_train_task *task, const weir_train_cfg *cfg,
                       const weir_plan_opts *exec, weir_params *params, weir_store *store)
{
  train_run r = {.task = task, .cfg = cfg, .params = params, .store = store, .norm = NAN};

  r.step_s = NAN;
  r.seed = cfg->seed;
  if (exec != NULL) {
    r.exec = *exec;
  }
  r.graph = (train_graph){.task = task,
                          .params = params,
                          .store = store,
                          .optim = &cfg->optim,
                          .dtype = WEIR_DTYPE_COUNT,
                          .tiles = exec != NULL && weir_exec_has_tiles(exec->exec),
                          .in_rows = adds_in_rows(cfg, exec)};
  return r;
}

static void close_plans(train_run *r)
{
  for (int64_t i = 0; i < r->n_plans; i++) {
    weir_plan_destroy(&r->plan[i].plan);
  }
  r->n_plans = 0;
}

weir_status train_shard_params(train_run *r)
{
  if (r->ranks.optim.what != WEIR_OPTIM_SHARD_PARAMETERS) {
    return WEIR_OK;
  }
  WEIR_TRY(train_agree_all(r, train_optim_shards_check(&r->ranks.optim, r->store)));
  WEIR_TRY(train_receive_array(r, WEIR_PARAMS_FLAT));
  return train_agree_all(r, train_optim_shards_enter(&r->ranks.optim, r->store));
}

weir_status train_complete_params(train_run *r)
{
  if (!r->ranks.optim.params_sharded) {
    return WEIR_OK;
  }
  close_plans(r); /* over the shards */
  WEIR_TRY(train_agree_all(r, train_optim_shards_leave(&r->ranks.optim, r->store)));
  return train_gather_params(r);
}

void train_run_close(train_run *r)
{
  close_plans(r);
  for (int k = 0; k < TRAIN_INPUTS; k++) {
    weir_tensor_fini(&r->input[k]);
  }
  weir_free(&r->plan);
  weir_free(&r->sample);
  weir_exchange_close(&r->exchange);
  weir_free(&r->timeline.ring);
  weir_store_destroy(&r->kept);
  train_ranks_close(&r->ranks);
  train_state_close(r);
}
