/* graph.c - the graphs of a training: the task's network and loss, its gradients side by side in
 * one flat buffer, or in slices of it of which some are sharded, followed by the update rule. */
#include "train/graph.h"

#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"
#include "pass/autodiff/weir_gradients.h"
#include "train/array_names.h"
#include "train/grid/shards.h"

static weir_value number(weir_graph *g, const char *name, weir_dtype dtype)
{
  return weir_input(g, name, &(weir_array_desc){.dtype = dtype});
}

/* ---- Slices of the flat buffer ---- */

static int n_slices_of(const train_graph *t)
{
  return t->shards != NULL ? t->shards->n : 1;
}

/* Rows [*lo, *hi) of slice k. */
static weir_flat_slice slice_of(const train_graph *t, int k, int64_t *lo, int64_t *hi)
{
  const weir_flat_slice whole = {"", 0, weir_params_elements(t->params)};
  const weir_flat_slice slice = t->shards != NULL ? t->shards->slice[k] : whole;
  const int64_t n = weir_params_count(t->params);

  *lo = 0;
  while (*lo < n && weir_params_get(t->params, *lo)->first < slice.first) {
    ++*lo;
  }
  *hi = *lo;
  while (*hi < n && weir_params_get(t->params, *hi)->first < slice.first + slice.count) {
    ++*hi;
  }
  return slice;
}

static weir_value stored(const train_graph *t, weir_graph *g, const char *bank, const char *suffix)
{
  char name[80];

  (void)snprintf(name, sizeof name, "%s%s", bank, suffix);
  return weir_stored(g, t->shards != NULL ? t->shards->whole : t->store, name);
}

/* ---- Gradients and updates ---- */

weir_status train_append(const train_graph *t, weir_net *net, int64_t batch, weir_value *loss)
{
  weir_value in[TRAIN_INPUTS];

  *loss = WEIR_NO_VALUE;
  net->seed = number(net->graph, "seed", WEIR_I64);
  net->step = number(net->graph, "draw", WEIR_I64);
  for (int k = 0; k < t->task->n_inputs; k++) {
    const weir_train_input *x = &train_inputs(t->task, t->size)[k];
    weir_array_desc d = {
        .dtype = x->dtype, .rank = 1 + x->rank, .shape = {batch * train_repeats(t->size)}};

    if (t->dtype != WEIR_DTYPE_COUNT && weir_dtype_is_real(x->dtype)) {
      d.dtype = t->dtype;
    }
    memcpy(d.shape + 1, x->shape, (size_t)x->rank * sizeof *d.shape);
    in[k] = weir_input(net->graph, x->name, &d);
  }
  WEIR_TRY(t->task->build(net, t->task->opts, in, loss));
  WEIR_TRY(weir_graph_status(net->graph));
  const weir_array_desc *d = weir_value_desc(net->graph, *loss);

  if (d == NULL || d->rank != 0 || !weir_dtype_is_real(d->dtype)) {
    return weir_fail(WEIR_ERR_SHAPE, "train: the loss of '%s' must be a scalar of a float type",
                     t->task->name);
  }
  return WEIR_OK;
}

/* Gradients of all parameters, each flat: grad [parameters]. */
static weir_status gradients(const train_graph *t, const weir_net *net, weir_value loss,
                             weir_value *grad)
{
  const int64_t n = weir_params_count(t->params);
  weir_value *wrt = NULL;
  weir_status status;

  WEIR_TRY(weir_alloc(n, sizeof *wrt, (void **)&wrt));
  for (int64_t i = 0; i < n; i++) {
    wrt[i] = weir_net_param_value(net, i);
    if (wrt[i].node < 0) {
      status = weir_fail(WEIR_ERR_CONFIG, "train: the graph does not use the parameter '%s'",
                         weir_params_get(t->params, i)->name);
      goto done;
    }
  }
  WEIR_TRY_GOTO(weir_gradients(net->graph, loss, wrt, (int)n, grad), done);
  for (int64_t i = 0; i < n; i++) {
    const weir_reshape_spec flat = {.rank = 1, .shape = {weir_params_get(t->params, i)->count}};

    grad[i] = weir_reshape(net->graph, grad[i], &flat);
  }
  status = weir_graph_status(net->graph);
done:
  weir_free(&wrt);
  return status;
}

/* Those of rows [lo, hi), one after the other. */
static weir_value join(weir_graph *g, const weir_value *grad, int64_t lo, int64_t hi)
{
  return hi - lo == 1 ? grad[lo] : weir_concat(g, grad + lo, (int)(hi - lo), 0);
}

/* 1 where weight decay acts in slice k, 0 elsewhere; no value: everywhere. */
static weir_status decay_of(const train_graph *t, weir_graph *g, int k, weir_value *out)
{
  int64_t lo, hi;
  const weir_flat_slice slice = slice_of(t, k, &lo, &hi);
  weir_tensor share;
  bool all = true;

  *out = WEIR_NO_VALUE;
  for (int64_t i = lo; i < hi; i++) {
    all = all && weir_params_get(t->params, i)->decay;
  }
  if (all) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_tensor_init(&share, WEIR_U8, 1, &slice.count));
  for (int64_t i = lo; i < hi; i++) {
    const weir_param_row *row = weir_params_get(t->params, i);

    memset((uint8_t *)share.data + row->first - slice.first, row->decay ? 1 : 0,
           (size_t)row->count);
  }
  *out = weir_constant(g, &share);
  weir_tensor_fini(&share);
  return WEIR_OK;
}

/* Fills the arguments of the rule for slice k; segments: [rows of it], memory of the caller. */
static weir_status args_of(const train_graph *t, weir_graph *g, int k, weir_value grad,
                           const weir_rule_args *common, weir_segment *segments,
                           weir_rule_args *out)
{
  int64_t lo, hi;
  const weir_flat_slice slice = slice_of(t, k, &lo, &hi);

  for (int64_t i = lo; i < hi; i++) {
    const weir_param_row *row = weir_params_get(t->params, i);

    segments[i - lo] = (weir_segment){row->first - slice.first, row->count};
  }
  *out = *common;
  out->grad = grad;
  out->param = stored(t, g, WEIR_PARAMS_FLAT, slice.name);
  out->segments = segments;
  out->n_segments = hi - lo;
  out->suffix = slice.name;
  WEIR_TRY(weir_graph_status(g));
  return decay_of(t, g, k, &out->decay);
}

/* The rule after the gradient; the gradient's norm is a result. */
static weir_status update(const train_graph *t, weir_graph *g, const weir_value *grad)
{
  weir_rule_args common = {.lr = number(g, "lr", WEIR_F64)}, args[TRAIN_MAX_SLICES];
  weir_value length = WEIR_NO_VALUE;
  weir_status status;
  void *memory = NULL;
  int64_t lo, hi;

  common.step = number(g, "step", WEIR_I64);
  WEIR_TRY(weir_alloc(weir_params_count(t->params), sizeof(weir_segment), &memory));
  for (int k = 0; k < n_slices_of(t); k++) {
    (void)slice_of(t, k, &lo, &hi);
    WEIR_TRY_GOTO(args_of(t, g, k, grad[k], &common, (weir_segment *)memory + lo, &args[k]), done);
  }
  WEIR_TRY_GOTO(weir_optim_build(g, t->optim, t->shards != NULL ? t->shards->whole : t->store, args,
                                 n_slices_of(t), &length),
                done);
  weir_output(g, "norm", length);
  status = weir_graph_status(g);
done:
  weir_free(&memory);
  return status;
}

/* How much the batch counts: as its task says. */
static weir_value weight_of(const train_graph *t, weir_graph *g)
{
  if (t->task->weight == NULL) {
    return number(g, "weight", WEIR_F64);
  }
  for (int32_t i = 0; i < weir_graph_arrays(g); i++) {
    const weir_array *a = weir_graph_get_array(g, i);

    if (a->output != NULL && strcmp(a->output, t->task->weight) == 0 && a->desc.rank == 0) {
      return weir_array_value(g, i);
    }
  }
  return weir_graph_fail(g,
                         weir_fail(WEIR_ERR_CONFIG, "train: '%s' marks no scalar '%s', its weight",
                                   t->task->name, t->task->weight));
}

/* bank += weight gradient; row by row, grad[lo..hi), or at once where that is one array. */
static void add_to(const train_graph *t, weir_graph *g, weir_value bank, weir_value weight,
                   weir_value *grad, int64_t lo, int64_t hi)
{
  const int64_t first = weir_params_get(t->params, lo)->first;

  if (!t->in_rows || hi - lo == 1) {
    const weir_value all = join(g, grad, lo, hi);

    weir_update(g, bank, weir_add(g, bank, weir_mul(g, all, weight)));
    return;
  }
  for (int64_t i = lo; i < hi; i++) {
    const weir_param_row *row = weir_params_get(t->params, i);
    const int64_t at = row->first - first;
    const weir_value old = weir_slice(g, bank, 0, at, at + row->count, 1);

    grad[i] = weir_add(g, old, weir_mul(g, grad[i], weight));
  }
  weir_update(g, bank, join(g, grad, lo, hi));
}

static void accumulate(const train_graph *t, weir_graph *g, weir_value *grad)
{
  const weir_value weight = weir_cast(g, weir_params_dtype(t->params), weight_of(t, g));
  int64_t lo, hi;

  for (int k = 0; k < n_slices_of(t); k++) {
    const weir_value bank = stored(t, g, TRAIN_BANK, slice_of(t, k, &lo, &hi).name);

    add_to(t, g, bank, weight, grad, lo, hi);
  }
}

/* The accumulated gradient, divided by the weights of all batches where those were not known
 * before. */
static void accumulated(const train_graph *t, weir_graph *g, weir_value out[TRAIN_MAX_SLICES])
{
  weir_value weight = WEIR_NO_VALUE;
  int64_t lo, hi;

  for (int k = 0; k < n_slices_of(t); k++) {
    const weir_value bank = stored(t, g, TRAIN_BANK, slice_of(t, k, &lo, &hi).name);

    if (k == 0 && t->task->weight != NULL) {
      weight = weir_cast(g, weir_params_dtype(t->params), number(g, "weight", WEIR_F64));
    }
    out[k] = weight.node < 0 ? bank : weir_mul(g, bank, weight);
  }
}

/* The gradient as results "gradient", one for each slice. */
static void show(const train_graph *t, weir_graph *g, const weir_value *grad)
{
  char name[32];
  int64_t lo, hi;

  for (int k = 0; k < n_slices_of(t); k++) {
    (void)snprintf(name, sizeof name, "gradient%s", slice_of(t, k, &lo, &hi).name);
    weir_output(g, name, weir_scale(g, grad[k], 1));
  }
}

/* Appends the gradient, and what the kind does with it. */
static weir_status use_gradient(const train_graph *t, train_kind kind, const weir_net *net,
                                weir_value loss)
{
  weir_graph *const g = net->graph;
  weir_value whole[TRAIN_MAX_SLICES], *grad = NULL;
  weir_status status;
  int64_t lo, hi;

  WEIR_TRY(weir_alloc(weir_params_count(t->params), sizeof *grad, (void **)&grad));
  WEIR_TRY_GOTO(gradients(t, net, loss, grad), done);
  if (kind == TRAIN_GRADIENT) {
    accumulate(t, g, grad);
  }
  for (int k = 0; k < n_slices_of(t) && kind != TRAIN_GRADIENT; k++) {
    (void)slice_of(t, k, &lo, &hi);
    whole[k] = join(g, grad, lo, hi);
  }
  if (kind == TRAIN_LOOK) {
    show(t, g, whole);
  } else if (kind == TRAIN_STEP) {
    WEIR_TRY_GOTO(update(t, g, whole), done);
  }
  status = weir_graph_status(g);
done:
  weir_free(&grad);
  return status;
}

/* row: NULL, or the arrays of the parameters that the network reads. */
static weir_status build_net(const train_graph *t, train_kind kind, int64_t batch, weir_graph *g,
                             int32_t *row)
{
  weir_value loss = WEIR_NO_VALUE;
  weir_net net;
  weir_status status;

  weir_net_init(&net, g, t->params, kind != TRAIN_VALID);
  net.store = t->store;
  net.tiles = t->tiles;
  if (t->shards != NULL) {
    net.store = t->shards->whole;
    net.slice = t->shards->slice;
    net.n_slices = t->shards->n;
  }
  if (kind == TRAIN_CALIBRATE) {
    net.momentum = number(g, "momentum", WEIR_F64);
  }
  WEIR_TRY_GOTO(train_append(t, &net, batch, &loss), done);
  for (int64_t i = 0; row != NULL && i < weir_params_count(t->params); i++) {
    row[i] = weir_value_array(g, weir_net_param_value(&net, i));
  }
  /* Results marked by the task keep their names: a copy has none. */
  weir_output(g, "loss", weir_scale(g, loss, 1));
  if (kind != TRAIN_VALID && kind != TRAIN_LOSS && kind != TRAIN_CALIBRATE) {
    WEIR_TRY_GOTO(use_gradient(t, kind, &net, loss), done);
  }
  status = weir_graph_status(g);
done:
  weir_net_fini(&net);
  return status;
}

static weir_status build_apply(const train_graph *t, weir_graph *g)
{
  weir_value grad[TRAIN_MAX_SLICES];

  accumulated(t, g, grad);
  return update(t, g, grad);
}

weir_status train_build_rows(const train_graph *t, train_kind kind, int64_t batch, int32_t *row,
                             weir_graph **out)
{
  weir_graph *g = NULL;
  weir_status status;

  *out = NULL;
  WEIR_TRY(weir_graph_create(&g));
  status = kind == TRAIN_APPLY ? build_apply(t, g) : build_net(t, kind, batch, g, row);
  status = status == WEIR_OK ? weir_graph_status(g) : status;
  if (status != WEIR_OK) {
    weir_graph_destroy(&g);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  *out = g;
  return WEIR_OK;
}

weir_status train_build(const train_graph *t, train_kind kind, int64_t batch, weir_graph **out)
{
  return train_build_rows(t, kind, batch, NULL, out);
}
