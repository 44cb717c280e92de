/* check.c - the gradient of a task against central differences, everything in f64. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "train/train_priv.h"

enum { PURPOSE = 0x63686563 };

typedef struct checking {
  const weir_train_task *task;
  const weir_train_check_cfg *cfg;
  weir_params *params;
  weir_store *store;
  weir_plan *look, *loss;
  weir_tensor input[TRAIN_INPUTS];
  double *bank; /* the parameters */
  double *gradient;
} checking;

/* The samples, as f64 where they are floats. */
static weir_status fetch(checking *c)
{
  weir_tensor raw[TRAIN_INPUTS] = {{.data = NULL}}, *pointer[TRAIN_INPUTS];
  weir_box box[TRAIN_INPUTS];
  const int64_t n = c->cfg->batch;
  int64_t shape[WEIR_MAX_RANK] = {n};
  void *memory = NULL;
  weir_status status;

  WEIR_TRY_GOTO(weir_alloc(n, sizeof(int64_t), &memory), done);
  int64_t *sample = memory;

  for (int64_t i = 0; i < n; i++) {
    sample[i] = (int64_t)(weir_random_bits((uint64_t)c->cfg->seed, PURPOSE, 0, (uint64_t)i) %
                          (uint64_t)c->task->n_train);
  }
  for (int k = 0; k < c->task->n_inputs; k++) {
    const weir_train_input *x = &c->task->input[k];
    const weir_dtype dtype = weir_dtype_is_float(x->dtype) ? WEIR_F64 : x->dtype;

    memcpy(shape + 1, x->shape, (size_t)x->rank * sizeof *shape);
    WEIR_TRY_GOTO(weir_tensor_init(&raw[k], x->dtype, 1 + x->rank, shape), done);
    WEIR_TRY_GOTO(weir_tensor_init(&c->input[k], dtype, 1 + x->rank, shape), done);
    pointer[k] = &raw[k];
    box[k] = train_whole(x);
  }
  const weir_train_batch want = {WEIR_TRAIN_SAMPLES, sample, n, box, -1, -1};

  WEIR_TRY_GOTO(c->task->fetch(c->task->context, &want, pointer), done);
  for (int k = 0; k < c->task->n_inputs; k++) {
    WEIR_TRY_GOTO(weir_tensor_copy(&raw[k], &c->input[k]), done);
  }
done:
  for (int k = 0; k < TRAIN_INPUTS; k++) {
    weir_tensor_fini(&raw[k]);
  }
  weir_free(&memory);
  return status;
}

static weir_status make_plan(checking *c, train_kind kind, const weir_plan_opts *exec,
                             weir_plan **out)
{
  const train_graph t = {
      .task = c->task, .params = c->params, .store = c->store, .dtype = WEIR_F64};
  weir_graph *g = NULL;

  WEIR_TRY(train_build(&t, kind, c->cfg->batch, &g));
  const weir_status status = weir_plan_create(g, c->store, exec, out);

  weir_graph_destroy(&g);
  return status;
}

static weir_status run_plan(checking *c, train_kind kind, weir_plan *plan, double *loss)
{
  train_bindings b;
  const train_numbers x = {.draw = 1};
  const int n = train_bind(c->task, c->input, c->cfg->seed, kind, c->cfg->batch, &x, &b);

  WEIR_TRY(weir_plan_run(plan, b.binding, n));
  return train_number(plan, "loss", loss);
}

static weir_status declare(checking *c)
{
  const train_graph t = {.task = c->task, .params = c->params, .dtype = WEIR_F64};
  weir_value loss;
  weir_graph *g = NULL;
  weir_net net;
  weir_status status;

  WEIR_TRY(weir_graph_create(&g));
  weir_net_init(&net, g, c->params, false);
  WEIR_TRY_GOTO(train_append(&t, &net, 1, &loss), done);
  WEIR_TRY_GOTO(weir_params_seal(c->params, c->store), done);
  WEIR_TRY_GOTO(weir_params_init(c->params, c->store, (uint64_t)c->cfg->seed), done);
done:
  weir_net_fini(&net);
  weir_graph_destroy(&g);
  return status;
}

static weir_status open(checking *c, const weir_plan_opts *exec)
{
  const int64_t count = weir_params_elements(c->params);
  weir_view v;
  int64_t lo = 0, hi = 0;
  double loss = 0;
  void *memory = NULL;

  c->bank = weir_store_get(c->store, WEIR_PARAMS_BANK)->data;
  WEIR_TRY(fetch(c));
  WEIR_TRY(make_plan(c, TRAIN_LOOK, exec, &c->look));
  WEIR_TRY(make_plan(c, TRAIN_LOSS, exec, &c->loss));
  WEIR_TRY(run_plan(c, TRAIN_LOOK, c->look, &loss));
  WEIR_TRY(weir_plan_result(c->look, "gradient", &v, &lo, &hi));
  WEIR_TRY(weir_alloc(count, sizeof(double), &memory));
  c->gradient = memory;
  for (int64_t i = 0; i < count; i++) {
    c->gradient[i] = weir_dtype_load_real(v.dtype, weir_view_at(&v, &i), 0);
  }
  return WEIR_OK;
}

static weir_status loss_at(checking *c, int64_t at, double value, double *loss)
{
  const double kept = c->bank[at];

  c->bank[at] = value;
  const weir_status status = run_plan(c, TRAIN_LOSS, c->loss, loss);

  c->bank[at] = kept;
  return status;
}

/* Central differences of two steps, extrapolated: the error is of the fourth order. */
static weir_status difference(checking *c, int64_t at, double *out)
{
  const double x = c->bank[at], h = c->cfg->step * fmax(1, fabs(x));
  double value[4];

  for (int k = 0; k < 4; k++) {
    static const double times[] = {-2, -1, 1, 2};

    WEIR_TRY(loss_at(c, at, x + times[k] * h, &value[k]));
  }
  const double close = (value[2] - value[1]) / (2 * h), wide = (value[3] - value[0]) / (4 * h);

  *out = close + (close - wide) / 3;
  return WEIR_OK;
}

static weir_status check_row(checking *c, int64_t row, FILE *out, double *worst)
{
  const weir_param_row *p = weir_params_get(c->params, row);
  const int64_t probes = p->count < c->cfg->probes ? p->count : c->cfg->probes;
  double most = 0, shown[3] = {0}, scale = 0;
  int64_t where = 0;

  /* A bias before a normalisation has no effect: its differences are rounding of the loss. */
  for (int64_t i = 0; i < weir_params_elements(c->params); i++) {
    scale = fmax(scale, 1e-5 * fabs(c->gradient[i]));
  }

  for (int64_t i = 0; i < p->count; i++) {
    scale = fmax(scale, 1e-3 * fabs(c->gradient[p->first + i]));
  }
  for (int64_t k = 0; k < probes; k++) {
    const uint64_t bits =
        weir_random_bits((uint64_t)c->cfg->seed, PURPOSE, (uint32_t)row + 1, (uint64_t)k);
    const int64_t i = probes == p->count ? k : (int64_t)(bits % (uint64_t)p->count);
    const double analytic = c->gradient[p->first + i];
    double numeric = 0;

    WEIR_TRY(difference(c, p->first + i, &numeric));
    const double size = fmax(scale, fmax(fabs(analytic), fabs(numeric)));
    const double apart = size > 0 ? fabs(analytic - numeric) / size : fabs(analytic - numeric);

    if (k == 0 || (!isnan(most) && !(apart <= most))) {
      most = apart;
      where = i;
      shown[0] = analytic;
      shown[1] = numeric;
    }
  }
  fprintf(out, "%-40s %10" PRId64 " %10" PRId64 " %14.6e %14.6e %9.2e%s\n", p->name, p->count,
          where, shown[0], shown[1], most, most <= c->cfg->tolerance ? "" : "  differs");
  *worst = most <= *worst || isnan(*worst) ? *worst : most;
  return WEIR_OK;
}

static weir_status check(checking *c, const weir_plan_opts *exec, FILE *out, double *worst)
{
  WEIR_TRY(train_check_task(c->task, true));
  WEIR_TRY(weir_params_create(WEIR_F64, &c->params));
  WEIR_TRY(weir_store_create(&c->store));
  WEIR_TRY(declare(c));
  WEIR_TRY(open(c, exec));
  fprintf(out, "%-40s %10s %10s %14s %14s %9s\n", "parameter", "elements", "worst at", "derived",
          "differences", "relative");
  for (int64_t row = 0; row < weir_params_count(c->params); row++) {
    WEIR_TRY(check_row(c, row, out, worst));
  }
  if (!(*worst <= c->cfg->tolerance)) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "the gradient of '%s' and differences are %.2e apart, more than %.2e",
                     c->task->name, *worst, c->cfg->tolerance);
  }
  return WEIR_OK;
}

weir_status weir_train_check(const weir_train_task *task, const weir_train_check_cfg *cfg,
                             const weir_plan_opts *exec, FILE *out, double *worst)
{
  checking c = {.task = task, .cfg = cfg};

  *worst = 0;
  const weir_status status = check(&c, exec, out, worst);

  weir_plan_destroy(&c.look);
  weir_plan_destroy(&c.loss);
  for (int k = 0; k < TRAIN_INPUTS; k++) {
    weir_tensor_fini(&c.input[k]);
  }
  weir_free(&c.gradient);
  weir_params_destroy(&c.params);
  weir_store_destroy(&c.store);
  return status;
}
