/* describe.c - what an update of a training would compute, and what it takes. */
#include "train/grid/optim_moves.h"
#include "train/grid/apart.h"
#include "train/grid/ranks.h"
#include "train/options.h"
#include "train/run_open.h"
#include "train/state.h"
#include "train/step/exchange.h"
#include "train/step/plan.h"

/* A plan that runs `times` in an update: printed, and its cost added. */
static void add_plan(const weir_plan *plan, double times, FILE *out, weir_train_cost *cost)
{
  if (out != NULL) {
    weir_plan_print(plan, out);
  }
  for (int32_t i = 0; i < weir_plan_groups(plan); i++) {
    cost->flops += times * weir_plan_group(plan, i).flops;
  }
  cost->plan_bytes += weir_plan_memory_bytes(plan);
}

/* Adds the plans of the sizes that samples have; *cost, of whole samples, becomes that of a mean
 * step. */
static weir_status add_sizes(train_run *r, train_kind kind, int64_t n, weir_train_cost *cost)
{
  const weir_train_task *t = r->task;
  const double whole = cost->flops;
  double sum = 0;

  for (int i = 0; t->size != NULL && i < t->n_sizes; i++) {
    sum += t->size[i].share;
  }
  for (int i = 0; t->size != NULL && i < t->n_sizes; i++) {
    weir_train_cost own = {.flops = 0};
    weir_plan *plan = NULL;

    r->graph.size = &t->size[i];
    WEIR_TRY(train_find_plan(r, kind, n, &plan));
    add_plan(plan, (double)(r->cfg->accumulate * t->size[i].batches), NULL, &own);
    cost->flops += (own.flops - whole) * t->size[i].share / sum;
    cost->plan_bytes += own.plan_bytes;
  }
  r->graph.size = NULL;
  return WEIR_OK;
}

/* The plans that make one update. */
static weir_status describe(train_run *r, FILE *out, weir_train_cost *cost)
{
  const bool slot = train_has_slot(r);
  weir_plan *plan = NULL;

  WEIR_TRY(train_check_options(r));
  WEIR_TRY(train_ranks_open(r));
  WEIR_TRY(train_shard_params(r));
  WEIR_TRY(train_agree_all(r, train_state_open(r)));
  const int64_t groups = train_groups(r), n = (r->cfg->batch + groups - 1) / groups;

  WEIR_TRY(train_find_plan(r, slot ? TRAIN_GRADIENT : TRAIN_STEP, n, &plan));
  add_plan(plan, (double)r->cfg->accumulate, out, cost);
  WEIR_TRY(add_sizes(r, slot ? TRAIN_GRADIENT : TRAIN_STEP, n, cost));
  if (out != NULL) {
    WEIR_TRY(train_print_exchange(r, out));
  }
  if (slot) {
    WEIR_TRY(train_find_plan(r, TRAIN_APPLY, 0, &plan));
    add_plan(plan, 1, out, cost);
  }
  cost->plan_bytes += train_scatter_bytes(r);
  cost->stored_bytes = weir_store_bytes(r->store);
  return WEIR_OK;
}

weir_status weir_train_describe(const weir_train_task *task, const weir_train_cfg *cfg,
                                const weir_plan_opts *exec, FILE *out, weir_train_cost *cost)
{
  weir_train_cost own = {.flops = 0};
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_status status;

  WEIR_TRY_GOTO(weir_params_create(task->dtype, &params), done);
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_train_prepare(task, cfg->seed, params, store), done);
  train_run r = train_run_of(task, cfg, exec, params, store);

  r.exec.sizes_only = true;
  r.exec.terse = out == NULL;
  status = describe(&r, out, &own);
  train_run_close(&r);
  if (cost != NULL) {
    *cost = own;
  }
done:
  weir_params_destroy(&params);
  weir_store_destroy(&store);
  return status;
}
