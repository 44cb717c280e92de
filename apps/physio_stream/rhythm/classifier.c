/* classifier.c - see classifier.h. */
#include "rhythm/classifier.h"
#include <string.h>
#include "nn/weir_layer.h"
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"

enum { FIRST_KERNEL = 7, KERNEL = 5, STRIDE = 2 };
static const char *const metric[] = {"accuracy"};

/* ---- The network ---- */

/* Over the samples of each window. */
static weir_value convolve(weir_net *net, const char *name, int64_t filters, int64_t kernel,
                           weir_value x)
{
  return weir_nn_conv(net, name,
                      (&(weir_nn_conv_spec){.filters = filters,
                                            .kernel_size = {1, kernel},
                                            .conv = {.stride = {1, STRIDE}},
                                            .activation = {.kind = WEIR_ACTIVATION_RELU}}),
                      x);
}

/* Mean of h [n, windows, samples, channels] over the windows that are present [n, windows, 1, 1]:
 * [n, channels]. */
static weir_value pool(weir_graph *g, weir_value h, weir_value present)
{
  const weir_reduce_spec over = {.combine = WEIR_COMBINE_SUM, .n_dims = 2, .dim = {1, 2}};
  const weir_array_desc *const d = weir_value_desc(g, h);

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const double samples = (double)d->shape[2];
  const weir_value windows = weir_reduce(g, &over, present);

  return weir_div(g, weir_reduce(g, &over, weir_mul(g, h, present)),
                  weir_scale(g, windows, samples));
}

static weir_status build(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  const ps_classifier *const c = opts;
  weir_graph *const g = net->graph;
  const weir_value present = in[PS_CLASSIFIER_PRESENT], y = in[PS_CLASSIFIER_Y];
  const weir_array_desc *const d = weir_value_desc(g, present);

  if (d == NULL) {
    return weir_graph_status(g);
  }
  const weir_dtype dtype = d->dtype; /* f64 where the gradient is checked */
  const weir_value is = weir_gt_scalar(g, present, 0);
  weir_value h = weir_select(g, is, in[PS_CLASSIFIER_X], weir_scalar(g, dtype, 0));

  h = convolve(net, "conv1", c->filters, FIRST_KERNEL, h);
  h = convolve(net, "conv2", 2 * c->filters, KERNEL, h);
  h = convolve(net, "conv3", 2 * c->filters, KERNEL, h);
  h = weir_nn_dense(
      net, "hidden",
      (&(weir_nn_dense_spec){.units = c->hidden, .activation = {.kind = WEIR_ACTIVATION_RELU}}),
      pool(g, h, present));
  const weir_value logit = weir_nn_dense(net, "logit", (&(weir_nn_dense_spec){.units = 1}), h);
  const weir_value right = weir_eq(g, weir_gt_scalar(g, logit, 0), weir_gt_scalar(g, y, 0.5));

  weir_output(g, metric[0], weir_loss_mean(g, weir_cast(g, dtype, right), WEIR_NO_VALUE));
  *loss = weir_loss_bce_logits(g, logit, y, WEIR_NO_VALUE);
  return weir_graph_status(g);
}

/* ---- The task ---- */

weir_status ps_classifier_fetch(void *context, const weir_train_batch *want,
                                weir_tensor *const *tensor)
{
  const ps_recordings *const r = context;
  const int64_t windows = tensor[PS_CLASSIFIER_X]->shape[1], size = windows * r->window;
  float *const x = tensor[PS_CLASSIFIER_X]->data, *const y = tensor[PS_CLASSIFIER_Y]->data,
               *const present = tensor[PS_CLASSIFIER_PRESENT]->data;

  for (int64_t i = 0; i < want->n; i++) {
    const int64_t k = want->sample[i] + (want->split == WEIR_TRAIN_SAMPLES ? 0 : r->n_train);
    const int64_t own = ps_recordings_windows(r, k);

    WEIR_ASSERT(own <= windows);
    ps_recordings_copy(r, k, x + i * size);
    memset(x + i * size + own * r->window, 0, (size_t)((windows - own) * r->window) * sizeof *x);
    for (int64_t w = 0; w < windows; w++) {
      present[i * windows + w] = w < own ? 1 : 0;
    }
    y[i] = r->recording[k].fibrillates ? 1 : 0;
  }
  return WEIR_OK;
}

weir_train_task ps_classifier_task(const ps_rhythm_opts *o)
{
  return (weir_train_task){.name = "rhythm",
                           .dtype = WEIR_F32,
                           .n_train = o->train,
                           .n_valid = o->valid,
                           .metric = metric,
                           .n_metrics = 1,
                           .metrics_grow = true};
}

weir_status ps_classifier_open(const ps_rhythm_opts *o, ps_recordings *r, int64_t windows,
                               int64_t seed, ps_classifier *out)
{
  *out = (ps_classifier){.filters = o->filters, .hidden = o->hidden, .task = ps_classifier_task(o)};
  out->input[PS_CLASSIFIER_X] = (weir_train_input){
      .name = "x", .dtype = WEIR_F32, .rank = 3, .shape = {windows, r->window, 1}};
  out->input[PS_CLASSIFIER_PRESENT] =
      (weir_train_input){.name = "present", .dtype = WEIR_F32, .rank = 3, .shape = {windows, 1, 1}};
  out->input[PS_CLASSIFIER_Y] =
      (weir_train_input){.name = "y", .dtype = WEIR_F32, .rank = 1, .shape = {1}};
  out->task.input = out->input;
  out->task.n_inputs = PS_CLASSIFIER_INPUTS;
  out->task.opts = out;
  out->task.build = build;
  out->task.fetch = ps_classifier_fetch;
  out->task.context = r;
  WEIR_TRY(weir_params_create(WEIR_F32, &out->params));
  WEIR_TRY(weir_store_create(&out->store));
  return weir_train_prepare(&out->task, seed, out->params, out->store);
}

void ps_classifier_close(ps_classifier *c)
{
  weir_params_destroy(&c->params);
  weir_store_destroy(&c->store);
}
