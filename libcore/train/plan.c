/* plan.c - plans of a run, made when they are first needed, and their bindings. */
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "train/train_priv.h"

weir_status train_alloc_batch(train_run *r)
{
  int64_t shape[WEIR_MAX_RANK];
  const weir_grid *grid = &r->ranks.grid;
  const int64_t groups = grid->dims > 0 ? grid->extent[WEIR_ALONG_SAMPLES] : 1;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(r->cfg->batch, sizeof *r->sample, &memory));
  r->sample = memory;
  for (int k = 0; k < r->task->n_inputs; k++) {
    const weir_box *box = &r->ranks.box[k];

    shape[0] = (r->cfg->batch + groups - 1) / groups;
    for (int d = 0; d < box->rank; d++) {
      shape[1 + d] = box->hi[d] - box->lo[d];
    }
    WEIR_TRY(weir_tensor_init(&r->input[k], r->task->input[k].dtype, 1 + box->rank, shape));
  }
  return WEIR_OK;
}

/* The first n samples of the buffer. */
static weir_tensor first(const weir_tensor *t, int64_t n)
{
  weir_tensor view = weir_tensor_wrap(t->data, t->dtype, t->rank, t->shape);

  view.shape[0] = n;
  return view;
}

weir_status train_fetch(train_run *r, weir_train_split split, int64_t n)
{
  weir_tensor view[TRAIN_INPUTS], *pointer[TRAIN_INPUTS];
  weir_status status = WEIR_OK;
  int64_t lo, hi;

  train_own_samples(r, n, &lo, &hi);
  for (int k = 0; k < r->task->n_inputs; k++) {
    view[k] = first(&r->input[k], hi - lo);
    pointer[k] = &view[k];
  }
  const bool ordered = split == WEIR_TRAIN_SAMPLES;
  const weir_train_batch want = {split,
                                 r->sample + lo,
                                 hi - lo,
                                 r->ranks.box,
                                 ordered ? *r->state.epoch : -1,
                                 ordered ? r->chosen : -1};

  if (ordered && r->task->batch != NULL) {
    status = r->task->batch(r->task->context, &want);
  }
  if (status == WEIR_OK && lo < hi) {
    status = r->task->fetch(r->task->context, &want, pointer);
  }
  return train_agree(r, status);
}

int train_bind(const weir_train_task *task, const weir_tensor *input, int64_t seed, train_kind kind,
               int64_t n, const train_numbers *x, train_bindings *b)
{
  const struct {
    const char *name;
    weir_dtype dtype;
    void *at;
    bool used;
  } numbers[] = {
      {"seed", WEIR_I64, &b->seed, kind != TRAIN_APPLY},
      {"draw", WEIR_I64, &b->draw, kind != TRAIN_APPLY},
      {"step", WEIR_I64, &b->step, kind == TRAIN_STEP || kind == TRAIN_APPLY},
      {"lr", WEIR_F64, &b->lr, kind == TRAIN_STEP || kind == TRAIN_APPLY},
      {"weight", WEIR_F64, &b->weight,
       kind == (task->weight == NULL ? TRAIN_GRADIENT : TRAIN_APPLY)},
  };
  int count = 0;

  b->seed = seed;
  b->draw = x->draw;
  b->step = x->step;
  b->lr = x->lr;
  b->weight = x->weight;
  for (int k = 0; k < task->n_inputs && kind != TRAIN_APPLY; k++) {
    b->tensor[count] = first(&input[k], n);
    b->binding[count] = (weir_binding){task->input[k].name, &b->tensor[count]};
    count++;
  }
  for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
    if (numbers[k].used) {
      b->tensor[count] = weir_tensor_wrap(numbers[k].at, numbers[k].dtype, 0, NULL);
      b->binding[count] = (weir_binding){numbers[k].name, &b->tensor[count]};
      count++;
    }
  }
  return count;
}

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

static weir_status make_plan(train_run *r, train_kind kind, int64_t n, weir_plan **out)
{
  const train_shards *shards = &r->ranks.shards;
  train_graph t = r->graph;
  weir_graph *g = NULL;
  weir_status status;

  *out = NULL;
  t.shards = shards->n > 0 ? shards : NULL;
  WEIR_TRY_GOTO(weir_reserve(&r->plan, &r->plan_capacity, r->n_plans + 1, sizeof *r->plan), made);
  WEIR_TRY_GOTO(train_build(&t, kind, n, &g), made);
made:
  WEIR_TRY_GOTO(train_agree(r, status), done);
  WEIR_TRY_GOTO(train_create_plan(r, g, shards->n > 0 ? shards->own : r->store, n, &r->exec, out),
                done);
  r->plan[r->n_plans++] = (train_plan){kind, n, *out};
done:
  weir_graph_destroy(&g);
  return status;
}

weir_status train_find_plan(train_run *r, train_kind kind, int64_t n, weir_plan **out)
{
  for (int64_t i = 0; i < r->n_plans; i++) {
    if (r->plan[i].kind == kind && r->plan[i].batch == n) {
      *out = r->plan[i].plan;
      return WEIR_OK;
    }
  }
  return make_plan(r, kind, n, out);
}

weir_status train_run_plan(train_run *r, train_kind kind, int64_t n, const train_numbers *x,
                           weir_plan **plan)
{
  train_bindings b;
  int64_t lo, hi;

  train_own_samples(r, n, &lo, &hi);
  WEIR_TRY(train_find_plan(r, kind, r->ranks.replicas > 0 ? hi - lo : n, plan));
  const int count = train_bind(r->task, r->input, r->cfg->seed, kind, hi - lo, x, &b);
  const double start = weir_clock();
  const weir_status status = weir_plan_run(*plan, b.binding, count);

  r->spent_s += weir_clock() - start;
  return status;
}

weir_status train_number(const weir_plan *plan, const char *name, double *x)
{
  weir_view v;
  int64_t lo = 0, hi = 0;

  WEIR_TRY(weir_plan_result(plan, name, &v, &lo, &hi));
  if (v.rank != 0) {
    return weir_fail(WEIR_ERR_SHAPE, "train: '%s' must be a scalar but has %d dimensions", name,
                     v.rank);
  }
  *x = weir_dtype_load_real(v.dtype, v.data, 0);
  return WEIR_OK;
}
