/* estimator.c - see estimator.h. */
#include "estimator.h"
#include <math.h>
#include <string.h>
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"

const char *const cf_metric[][CF_METRICS] = {
    [CF_ESTIMATE] = {"mae", "mse"},
    [CF_SEGMENT] = {"accuracy", "overlap"},
};

/* Counts as the network is given them, [n, depth, height, width, channels], f32 (f64 where the
 * gradient is checked). */
static weir_value scaled(weir_graph *g, int scale, weir_value x)
{
  const weir_array_desc *const d = weir_value_desc(g, x);
  const weir_reduce_spec sample = {
      .combine = WEIR_COMBINE_SUM, .n_dims = 4, .dim = {1, 2, 3, 4}, .keep = true};

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const double n = (double)(d->shape[1] * d->shape[2] * d->shape[3] * d->shape[4]);

  x = weir_dtype_is_float(d->dtype) ? x : weir_cast(g, WEIR_F32, x);
  switch ((cf_scale)scale) {
  case CF_SCALE_LOG:
    return weir_log(g, weir_add_scalar(g, x, 1));
  case CF_SCALE_MEAN:
    return weir_div(g, x, weir_scale(g, weir_reduce(g, &sample, x), 1 / n));
  default:
    return x;
  }
}

static bool segments(const cf_estimator_spec *is)
{
  return cf_model_net(is->model)->target == CF_SEGMENT;
}

/* What the network makes of samples. */
static weir_value make(weir_net *net, const cf_estimator_spec *is, weir_value x)
{
  int64_t outputs = is->info->n_labels;

  if (segments(is)) {
    x = cf_segment_seen(net->graph, &is->model->segment, x);
    outputs = CF_CLASSES;
  }
  return cf_model_apply(net, is->model, outputs, scaled(net->graph, is->scale, x));
}

static weir_status build(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  const cf_estimator_spec *is = opts;
  weir_graph *g = net->graph;
  const bool s = segments(is);
  const char *const *const metric = cf_metric[cf_model_net(is->model)->target];
  const weir_value made = make(net, is, in[0]);
  const weir_value truth = s ? cf_segment_truth(g, &is->model->segment, in[0]) : in[1];

  weir_output(g, metric[0],
              s ? cf_segment_accuracy(g, made, truth)
                : weir_loss_mae(g, made, truth, WEIR_NO_VALUE));
  weir_output(g, metric[1],
              s ? cf_segment_overlap(g, made, truth)
                : weir_loss_mse(g, made, truth, WEIR_NO_VALUE));
  *loss = cf_model_loss(g, is->model, made, truth, WEIR_NO_VALUE);
  return weir_graph_status(g);
}

static weir_status set_up(cf_estimator *e, int64_t seed)
{
  static const char *const name[] = {
#define X(name) #name,
      CF_NOTE_LIST(X)
#undef X
  };
  const cf_net *const net = cf_model_net(e->is.model);
  const cf_volume_info *const info = e->is.info;
  cf_loss loss;

  WEIR_TRY(cf_model_loss_kind(e->is.model, &loss));
  e->input[0] = (weir_train_input){.name = "x", .dtype = e->is.dtype, .rank = 4};
  memcpy(e->input[0].shape, info->lengths, sizeof info->lengths);
  for (int d = 0; d < 3; d++) {
    e->input[0].along[d] = (weir_along)(WEIR_ALONG_DEPTH + d);
  }
  e->input[1] =
      (weir_train_input){.name = "y", .dtype = WEIR_F32, .rank = 1, .shape = {info->n_labels}};
  for (int k = 0; k < CF_NOTES; k++) {
    e->note[k] = (weir_note){name[k], e->is.note[k]};
  }
  e->task = (weir_train_task){.name = net->name,
                              .dtype = WEIR_F32,
                              .input = e->input,
                              .n_inputs = segments(&e->is) ? 1 : 2,
                              .opts = &e->is,
                              .build = build,
                              .metric = cf_metric[net->target],
                              .n_metrics = CF_METRICS,
                              .note = e->note,
                              .n_notes = e->is.note[0] != NULL ? CF_NOTES : 0};
  WEIR_TRY(weir_params_create(WEIR_F32, &e->params));
  WEIR_TRY(weir_store_create(&e->store));
  return weir_train_prepare(&e->task, seed, e->params, e->store);
}

weir_status cf_estimator_open(const cf_estimator_spec *spec, int64_t seed, cf_estimator *out)
{
  *out = (cf_estimator){.is = *spec};
  const weir_status status = set_up(out, seed);

  if (status != WEIR_OK) {
    cf_estimator_close(out);
  }
  return status;
}

void cf_estimator_close(cf_estimator *e)
{
  weir_params_destroy(&e->params);
  weir_store_destroy(&e->store);
}

weir_status cf_estimator_append(const cf_estimator *e, int64_t batch, weir_graph *g)
{
  weir_array_desc d = {.dtype = e->is.dtype, .rank = 5, .shape = {batch}};
  weir_net net;

  memcpy(d.shape + 1, e->is.info->lengths, sizeof e->is.info->lengths);
  weir_net_init(&net, g, e->params, false);
  const weir_value y = make(&net, &e->is, weir_input(g, "x", &d));

  if (y.node >= 0) {
    weir_output(g, "y", y);
  }
  weir_net_fini(&net);
  return weir_graph_status(g);
}
