/* plan.c - see plan.h. */
#include "train/step/plan.h"

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "train/array_names.h"
#include "train/grid/ranks.h"
#include "train/step/exchange.h"
#include "train/step/timeline.h"

weir_status train_create_plan(train_run *r, const weir_graph *g, weir_store *store, int64_t n,
                              const weir_plan_opts *opts, weir_plan **out)
{
  weir_plan_opts exec = *opts;
  train_sharding sharding = {.shard = NULL};

  if (r->ranks.dist.comm != NULL) {
    WEIR_TRY(train_agree(r, train_sharding_of(&r->ranks, r->task, g, n, &sharding)));
    exec.dist = &sharding.dist;
  }
  const weir_status status = weir_plan_create(g, store, &exec, out);

  train_sharding_close(&sharding);
  return status;
}

static weir_status plan_of(train_run *r, const train_graph *t, train_kind kind, int64_t n,
                           weir_store *store, weir_plan **out)
{
  weir_plan_opts exec = r->exec;
  weir_graph *g = NULL;
  weir_status status;

  exec.early = kind == TRAIN_GRADIENT && t->in_rows ? TRAIN_BANK : NULL;
  WEIR_TRY_GOTO(train_agree(r, train_build(t, kind, n, &g)), done);
  WEIR_TRY_GOTO(train_create_plan(r, g, store, n, &exec, out), done);
done:
  weir_graph_destroy(&g);
  return status;
}

static weir_status make_plan(train_run *r, train_kind kind, int64_t n, weir_plan **out)
{
  const train_shards *shards = &r->ranks.shards;
  train_graph t = r->graph;
  weir_store *store = shards->n > 0 ? shards->own : r->store;

  *out = NULL;
  t.shards = shards->n > 0 ? shards : NULL;
  if (r->ranks.optim.what != WEIR_OPTIM_SHARD_NONE && kind == TRAIN_APPLY) {
    store = r->ranks.optim.own;
  }
  WEIR_TRY(
      train_agree(r, weir_reserve(&r->plan, &r->plan_capacity, r->n_plans + 1, sizeof *r->plan)));
  weir_status status = plan_of(r, &t, kind, n, store, out);

  /* A grid may shard the gradient of one row, which is not a summand of the bank by itself. All
   * ranks fail alike. */
  if (status == WEIR_ERR_UNSUPPORTED && kind == TRAIN_GRADIENT && t.in_rows) {
    weir_clear_failure();
    t.in_rows = false;
    status = plan_of(r, &t, kind, n, store, out);
  }
  WEIR_TRY(status);
  r->plan[r->n_plans++] = (train_plan){kind, n, kind != TRAIN_APPLY ? t.size : NULL, *out};
  return WEIR_OK;
}

weir_status train_find_plan(train_run *r, train_kind kind, int64_t n, weir_plan **out)
{
  const weir_train_size *size = kind != TRAIN_APPLY ? r->graph.size : NULL;

  for (int64_t i = 0; i < r->n_plans; i++) {
    if (r->plan[i].kind == kind && r->plan[i].batch == n && r->plan[i].size == size) {
      *out = r->plan[i].plan;
      return WEIR_OK;
    }
  }
  const train_moment begin = train_begin_activity(r);
  const weir_status status = make_plan(r, kind, n, out);

  train_end_activity(r, TRAIN_PLANS, begin);
  return status;
}

weir_status train_run_plan(train_run *r, train_kind kind, int64_t n, const train_numbers *x,
                           weir_plan **plan)
{
  train_bindings b;
  int64_t lo, hi;

  train_own_samples(r, n, &lo, &hi);
  WEIR_TRY(train_find_plan(r, kind, train_counted_samples(r, n), plan));
  const int count = train_bind(r->task, r->graph.size, r->input, r->seed, kind, hi - lo, x, &b);
  WEIR_TRY(train_overlap(r, *plan, kind == TRAIN_GRADIENT && x->last));
  const train_moment start = train_begin_activity(r);
  const weir_status status = weir_plan_run(*plan, b.binding, count);

  train_end_activity(r, TRAIN_COMPUTES, start);
  r->spent_s += weir_clock() - start.time;
  return status;
}
