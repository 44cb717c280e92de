/* check.c - the gradient of a task against central differences, everything in f64. A loss of
 * rectifiers has kinks, where differences say nothing about the derivative: such elements are found
 * by the loss alone and left out. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "train/graph.h"
#include "train/grid/distribution.h"
#include "train/options.h"
#include "train/step/bindings.h"

enum { PURPOSE = 0x63686563 };
/* Elements that are tried for each that is compared. */
enum { TRIES = 8 };

typedef struct checking {
  const weir_train_task *task;
  const weir_train_check_cfg *cfg;
  weir_params *params;
  weir_store *store;
  weir_plan *look, *loss;
  weir_tensor input[TRAIN_INPUTS];
  double *gradient;
  double at_start; /* the loss of these parameters */
  int64_t compared, left_out;
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
    const weir_dtype dtype = weir_dtype_is_real(x->dtype) ? WEIR_F64 : x->dtype;

    memcpy(shape + 1, x->shape, (size_t)x->rank * sizeof *shape);
    WEIR_TRY_GOTO(weir_tensor_init(&raw[k], x->dtype, 1 + x->rank, shape), done);
    WEIR_TRY_GOTO(weir_tensor_init(&c->input[k], dtype, 1 + x->rank, shape), done);
    pointer[k] = &raw[k];
    box[k] = train_whole(x);
  }
  const weir_train_batch want = {.split = WEIR_TRAIN_SAMPLES,
                                 .sample = sample,
                                 .n = n,
                                 .box = box,
                                 .epoch = -1,
                                 .position = -1,
                                 .repeats = 1};

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
  const int n = train_bind(c->task, NULL, c->input, c->cfg->seed, kind, c->cfg->batch, &x, &b);

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

  WEIR_TRY(fetch(c));
  WEIR_TRY(make_plan(c, TRAIN_LOOK, exec, &c->look));
  WEIR_TRY(make_plan(c, TRAIN_LOSS, exec, &c->loss));
  WEIR_TRY(run_plan(c, TRAIN_LOOK, c->look, &loss));
  WEIR_TRY(run_plan(c, TRAIN_LOSS, c->loss, &c->at_start));
  WEIR_TRY(weir_plan_result(c->look, "gradient", &v, &lo, &hi));
  WEIR_TRY(weir_alloc(count, sizeof(double), &memory));
  c->gradient = memory;
  for (int64_t i = 0; i < count; i++) {
    c->gradient[i] = weir_dtype_load_real(v.dtype, weir_view_at(&v, &i), 0);
  }
  return WEIR_OK;
}

/* Sets an element of the parameters; *before: what it was. */
static weir_status set_element(checking *c, int64_t at, double value, double *before)
{
  weir_tensor *bank = NULL;

  WEIR_TRY(weir_store_write(c->store, WEIR_PARAMS_FLAT, &bank));
  double *const x = (double *)bank->data + at;

  *before = *x;
  *x = value;
  return WEIR_OK;
}

static weir_status loss_at(checking *c, int64_t at, double value, double *loss)
{
  double kept = 0, tried;

  WEIR_TRY(set_element(c, at, value, &kept));
  const weir_status status = run_plan(c, TRAIN_LOSS, c->loss, loss);

  WEIR_TRY(set_element(c, at, kept, &tried));
  return status;
}

/* What five values of the loss around an element say. */
typedef struct slope {
  double numeric; /* central differences of two steps, extrapolated: of the fourth order */
  double kink;    /* 0 but for terms of the second order where the loss is smooth, see below */
  double noise;   /* what rounding of the loss does to either */
} slope;

/* A kink of jump J at distance a from the element, 0 <= a < 2h, changes the derivative by J beyond
 * it. `kink` is the larger of |close - wide|, J a / 4h or J (2h - a) / 4h, and of the difference of
 * second differences, J |3a - 2h| / 2h for a < h; the error of `numeric` is at most 1.2 times
 * it.
 */
static weir_status difference(checking *c, int64_t at, slope *out)
{
  const weir_tensor *bank = NULL;

  WEIR_TRY(weir_store_read(c->store, WEIR_PARAMS_FLAT, &bank));
  const double x = ((const double *)bank->data)[at], h = c->cfg->step * fmax(1, fabs(x)),
               f = c->at_start;
  double value[4];

  for (int k = 0; k < 4; k++) {
    static const double times[] = {-2, -1, 1, 2};

    WEIR_TRY(loss_at(c, at, x + times[k] * h, &value[k]));
  }
  const double close = (value[2] - value[1]) / (2 * h), wide = (value[3] - value[0]) / (4 * h);
  const double bend = (value[2] - 2 * f + value[1]) / h,
               wide_bend = (value[3] - 2 * f + value[0]) / (2 * h);

  out->numeric = close + (close - wide) / 3;
  out->kink = fmax(fabs(close - wide), fabs(wide_bend - 2 * bend));
  out->noise = 4 * DBL_EPSILON * fabs(f) / h;
  return WEIR_OK;
}

/* A parameter: its elements that were compared and left out, and the worst of the former. */
typedef struct row_check {
  int64_t compared, left_out, where;
  double scale; /* no element is compared relative to less */
  double worst, derived, numeric;
} row_check;

static weir_status check_element(checking *c, const weir_param_row *p, int64_t i, row_check *r)
{
  const double analytic = c->gradient[p->first + i];
  slope s = {.numeric = 0};

  WEIR_TRY(difference(c, p->first + i, &s));
  /* Differences caused by rounding do not count. */
  const double min_scale = c->cfg->tolerance > 0 ? s.noise / c->cfg->tolerance : 0;
  const double size = fmax(fmax(r->scale, min_scale), fmax(fabs(analytic), fabs(s.numeric)));
  const double apart = size > 0 ? fabs(analytic - s.numeric) / size : fabs(analytic - s.numeric);

  if (s.kink > fmax(0.5 * c->cfg->tolerance * size, 4 * s.noise)) {
    r->left_out++;
    return WEIR_OK;
  }
  if (r->compared++ == 0 || (!isnan(r->worst) && !(apart <= r->worst))) {
    r->worst = apart;
    r->where = i;
    r->derived = analytic;
    r->numeric = s.numeric;
  }
  return WEIR_OK;
}

/* Element number `try` of those that are tried: all in order where there are few, else drawn. */
static int64_t element_of(const checking *c, int64_t row, int64_t count, int64_t try)
{
  const uint64_t bits =
      weir_random_bits((uint64_t)c->cfg->seed, PURPOSE, (uint32_t)row + 1, (uint64_t)try);

  return count <= TRIES * c->cfg->probes ?
  try:
    (int64_t)(bits % (uint64_t)count);
}

static weir_status check_row(checking *c, int64_t row, FILE *out, double *worst)
{
  const weir_param_row *p = weir_params_get(c->params, row);
  const int64_t max_tries = p->count < TRIES * c->cfg->probes ? p->count : TRIES * c->cfg->probes;
  row_check r = {.where = -1};

  /* A bias before a normalisation has no effect: its differences are rounding of the loss. */
  for (int64_t i = 0; i < weir_params_elements(c->params); i++) {
    r.scale = fmax(r.scale, 1e-5 * fabs(c->gradient[i]));
  }
  for (int64_t i = 0; i < p->count; i++) {
    r.scale = fmax(r.scale, 1e-3 * fabs(c->gradient[p->first + i]));
  }
  for (int64_t try = 0; try < max_tries && r.compared < c->cfg->probes; try++) {
    WEIR_TRY(check_element(c, p, element_of(c, row, p->count, try), &r));
  }
  c->compared += r.compared;
  c->left_out += r.left_out;
  if (r.compared == 0) {
    fprintf(out, "%-40s %10" PRId64 " %10s %14s %14s %9s %8" PRId64 "\n", p->name, p->count, "-",
            "-", "-", "-", r.left_out);
    return weir_fail(WEIR_ERR_NUMERIC,
                     "the loss of '%s' has a kink within the step of %g at each of the %" PRId64
                     " tested elements of %s, so that its derivative cannot be compared: set "
                     "another check.seed, more check.probes or a smaller check.step",
                     c->task->name, c->cfg->step, r.left_out, p->name);
  }
  fprintf(out, "%-40s %10" PRId64 " %10" PRId64 " %14.6e %14.6e %9.2e %8" PRId64 "%s\n", p->name,
          p->count, r.where, r.derived, r.numeric, r.worst, r.left_out,
          r.worst <= c->cfg->tolerance ? "" : "  differs");
  *worst = r.worst <= *worst || isnan(*worst) ? *worst : r.worst;
  return WEIR_OK;
}

static weir_status check(checking *c, const weir_plan_opts *exec, FILE *out, double *worst)
{
  WEIR_TRY(train_check_task(c->task, true));
  WEIR_TRY(weir_params_create(WEIR_F64, &c->params));
  WEIR_TRY(weir_store_create(&c->store));
  WEIR_TRY(declare(c));
  WEIR_TRY(open(c, exec));
  fprintf(out, "%-40s %10s %10s %14s %14s %9s %8s\n", "parameter", "elements", "worst at",
          "derived", "differences", "relative", "excluded");
  for (int64_t row = 0; row < weir_params_count(c->params); row++) {
    WEIR_TRY(check_row(c, row, out, worst));
  }
  if (!(*worst <= c->cfg->tolerance)) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "the gradient of '%s' and finite differences are %.2e apart, more than %.2e",
                     c->task->name, *worst, c->cfg->tolerance);
  }
  fprintf(out,
          "compared %" PRId64 " elements; %" PRId64
          " others were excluded, because the loss has a kink within the step\n",
          c->compared, c->left_out);
  if (c->left_out > c->compared) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "the loss of '%s' has a kink within the step of %g at %" PRId64 " of %" PRId64
                     " elements; too few remain for the comparison: set a smaller check.step",
                     c->task->name, c->cfg->step, c->left_out, c->left_out + c->compared);
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
