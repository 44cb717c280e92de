/* network.c - see network.h. */
#include "beats/network.h"
#include <math.h>
#include <string.h>
#include "base/weir_file.h"
#include "nn/weir_layer.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/reshape/weir_reshape.h"
#include "train/weir_train.h"

/* The numbers of the array that describes a network. */
enum {
  VERSION,
  RATE,
  BEFORE,
  AFTER,
  LEADS,
  FEATURES,
  FILTERS,
  HIDDEN,
  LEARNT,
  NUMBERS = LEARNT + PS_CLASSES
};
enum { CONVOLUTIONS = 3, POOL = 2, MAX_FILTERS = 1024, MAX_HIDDEN = 4096 };
static const char mean_name[] = "features/mean", sd_name[] = "features/sd";
#define THIS_VERSION 1

/* ---- The network ---- */

/* Features less their mean, over their standard deviation. */
static weir_value standardise(weir_net *net, const ps_beat_network *n, weir_value f)
{
  weir_graph *const g = net->graph;

  weir_net_push(net, "features");
  const weir_value mean = weir_buffer(net, "mean", 1, &n->features, 0);
  const weir_value sd = weir_buffer(net, "sd", 1, &n->features, 1);

  weir_net_pop(net);
  return weir_div(g, weir_sub(g, f, mean), sd);
}

/* A number for each class: 0, or PS_BEAT_NEVER. */
static weir_value mask(weir_net *net, const ps_beat_network *n, weir_dtype dtype)
{
  weir_graph *const g = net->graph;
  double number[PS_CLASSES];
  weir_tensor t;

  for (int c = 0; c < PS_CLASSES; c++) {
    number[c] = n->learnt[c] ? 0 : (double)PS_BEAT_NEVER;
  }
  t = weir_tensor_wrap(number, WEIR_F64, 1, (const int64_t[]){PS_CLASSES});
  return weir_cast(g, dtype, weir_constant(g, &t));
}

weir_value ps_beat_network_build(weir_net *net, const ps_beat_network *n, weir_value x,
                                 weir_value f)
{
  static const char *const name[CONVOLUTIONS] = {"conv1", "conv2", "conv3"};
  static const int64_t kernel[CONVOLUTIONS] = {7, 5, 5};
  const weir_activation relu = {.kind = WEIR_ACTIVATION_RELU};
  weir_graph *const g = net->graph;

  for (int k = 0; k < CONVOLUTIONS; k++) {
    const weir_nn_conv_spec conv = {.filters = k == 0 ? n->filters : 2 * n->filters,
                                    .kernel_size = {kernel[k]},
                                    .activation = relu};

    x = weir_pool_max(g, (&(weir_pool_spec){.kernel_size = {POOL}}),
                      weir_nn_conv(net, name[k], &conv, x));
  }
  const weir_array_desc *const d = weir_value_desc(g, x), *const of_f = weir_value_desc(g, f);

  if (d == NULL || of_f == NULL) {
    return WEIR_NO_VALUE;
  }
  const weir_dtype dtype = d->dtype;
  weir_value all[2] = {
      weir_reshape(
          g, x,
          (&(weir_reshape_spec){.rank = 2, .shape = {d->shape[0], d->shape[1] * d->shape[2]}})),
      standardise(net, n, f)};
  weir_value h =
      weir_nn_dense(net, "hidden", (&(weir_nn_dense_spec){.units = n->hidden, .activation = relu}),
                    weir_concat(g, all, 2, 1));

  if (n->dropout > 0) {
    h = weir_nn_dropout(net, "dropout", (&(weir_nn_dropout_spec){.rate = n->dropout}), h);
  }
  return weir_add(g, weir_nn_dense(net, "logits", (&(weir_nn_dense_spec){.units = PS_CLASSES}), h),
                  mask(net, n, dtype));
}

weir_status ps_beat_network_standardise(weir_store *store, const ps_beat_network *n,
                                        const double *mean, const double *sd)
{
  weir_tensor *of_mean = NULL, *of_sd = NULL;

  WEIR_TRY(weir_store_write(store, mean_name, &of_mean));
  WEIR_TRY(weir_store_write(store, sd_name, &of_sd));
  for (int64_t k = 0; k < n->features; k++) {
    ((float *)of_mean->data)[k] = (float)mean[k];
    ((float *)of_sd->data)[k] = sd[k] > 0 ? (float)sd[k] : 1;
  }
  return WEIR_OK;
}

/* ---- Its file ---- */

weir_status ps_beat_network_add_header(weir_store *store, const ps_beat_network *n)
{
  const int64_t count = NUMBERS;
  weir_tensor *t = NULL;

  WEIR_TRY(weir_store_add(store, PS_BEAT_NETWORK_ARRAY, WEIR_F64, 1, &count));
  WEIR_TRY(weir_store_write(store, PS_BEAT_NETWORK_ARRAY, &t));
  double *const v = t->data;

  v[VERSION] = THIS_VERSION;
  v[RATE] = n->window.rate;
  v[BEFORE] = (double)n->window.before;
  v[AFTER] = (double)n->window.after;
  v[LEADS] = (double)n->leads;
  v[FEATURES] = (double)n->features;
  v[FILTERS] = (double)n->filters;
  v[HIDDEN] = (double)n->hidden;
  for (int c = 0; c < PS_CLASSES; c++) {
    v[LEARNT + c] = n->learnt[c];
  }
  return WEIR_OK;
}

static bool is_count(double v, double low, double high)
{
  return v >= low && v <= high && v == floor(v);
}

/* The ranges are those of the options. */
static weir_status take_header(const char *path, const double *v, ps_beat_network *n)
{
  const double longest = 5 * v[RATE] + 1; /* samples of 5 s */
  bool sound = v[RATE] >= 1 && v[RATE] <= 1e4 && v[BEFORE] <= longest && v[AFTER] <= longest &&
               is_count(v[BEFORE], 0, PS_BEAT_SAMPLES_MAX) &&
               is_count(v[AFTER], 1, PS_BEAT_SAMPLES_MAX) && is_count(v[LEADS], 1, PS_BEAT_LEADS) &&
               is_count(v[FEATURES], 1, PS_FEATURES) && is_count(v[FILTERS], 1, MAX_FILTERS) &&
               is_count(v[HIDDEN], 1, MAX_HIDDEN) &&
               is_count(v[BEFORE] + v[AFTER], PS_BEAT_SAMPLES_MIN, PS_BEAT_SAMPLES_MAX);

  if (v[VERSION] != THIS_VERSION || !sound) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: its array " PS_BEAT_NETWORK_ARRAY " does not describe a network of beats "
                     "of this version: train it again",
                     path);
  }
  *n = (ps_beat_network){
      .window = {.rate = v[RATE], .before = (int64_t)v[BEFORE], .after = (int64_t)v[AFTER]},
      .leads = (int64_t)v[LEADS],
      .features = (int64_t)v[FEATURES],
      .filters = (int64_t)v[FILTERS],
      .hidden = (int64_t)v[HIDDEN]};
  for (int c = 0; c < PS_CLASSES; c++) {
    n->learnt[c] = v[LEARNT + c] != 0;
  }
  return WEIR_OK;
}

/* The array alone: what the others are follows from it. */
static weir_status read_header(const char *path, ps_beat_network *n)
{
  const int64_t count = NUMBERS;
  const weir_tensor *t = NULL;
  weir_store *store = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_store_create(&store));
  WEIR_TRY_GOTO(weir_store_add(store, PS_BEAT_NETWORK_ARRAY, WEIR_F64, 1, &count), done);
  WEIR_TRY_GOTO(weir_checkpoint_load(&(weir_checkpoint){.store = store}, path, true), done);
  WEIR_TRY_GOTO(weir_store_read(store, PS_BEAT_NETWORK_ARRAY, &t), done);
  WEIR_TRY_GOTO(take_header(path, t->data, n), done);
done:
  weir_store_destroy(&store);
  return status;
}

/* ---- One beat at a time ---- */

/* Builds the graph of one beat; the first time, which declares the parameters, it is dropped. */
static weir_status build(ps_beat_classifier *c, weir_graph *g)
{
  weir_net net;
  const weir_array_desc x = {.dtype = WEIR_F32,
                             .rank = 3,
                             .shape = {1, ps_beat_window_samples(&c->is.window), c->is.leads}},
                        f = {.dtype = WEIR_F32, .rank = 2, .shape = {1, c->is.features}};

  weir_net_init(&net, g, c->params, false);
  weir_output(g, "logits",
              ps_beat_network_build(&net, &c->is, weir_input(g, "x", &x), weir_input(g, "f", &f)));
  weir_net_fini(&net);
  return weir_graph_status(g);
}

/* Nothing is stored for more weights than the file can have. */
static weir_status declare(ps_beat_classifier *c, const char *path)
{
  weir_graph *g = NULL;
  int64_t bytes = 0;

  WEIR_TRY(weir_file_size(path, &bytes));
  WEIR_TRY(weir_graph_create(&g));
  const weir_status status = build(c, g);

  weir_graph_destroy(&g);
  WEIR_TRY(status);
  if (weir_params_elements(c->params) > bytes / (int64_t)sizeof(float)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: its array " PS_BEAT_NETWORK_ARRAY " describes a network of %lld weights, "
                     "more than its %lld bytes can have: train it again",
                     path, (long long)weir_params_elements(c->params), (long long)bytes);
  }
  return weir_params_seal(c->params, c->store);
}

bool ps_beat_is_weights(const char *path)
{
  static const char *const ends[] = {".nc", ".weir"};
  const size_t n = strlen(path);

  for (int k = 0; k < 2; k++) {
    const size_t m = strlen(ends[k]);

    if (n > m && strcmp(path + n - m, ends[k]) == 0) {
      return true;
    }
  }
  return false;
}

weir_status ps_beat_classifier_plan(ps_beat_classifier *c)
{
  const int64_t samples = ps_beat_window_samples(&c->is.window);
  weir_exec_cfg cfg;

  WEIR_TRY(weir_tensor_init(&c->x, WEIR_F32, 3, (const int64_t[]){1, samples, c->is.leads}));
  WEIR_TRY(weir_tensor_init(&c->f, WEIR_F32, 2, (const int64_t[]){1, c->is.features}));
  WEIR_TRY(weir_tensor_init(&c->logits, WEIR_F32, 2, (const int64_t[]){1, PS_CLASSES}));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR; /* nothing to compile at the start of a run */
  return weir_plan_create(c->graph, c->store,
                          &(weir_plan_opts){.exec = &cfg, .threads = 1, .terse = true}, &c->plan);
}

weir_status ps_beat_classifier_open(const char *path, ps_beat_classifier *out)
{
  memset(out, 0, sizeof *out);
  WEIR_TRY(read_header(path, &out->is));
  for (int k = 0; k < PS_FEATURES; k++) {
    out->feature[k] = k;
  }
  WEIR_TRY(weir_params_create(WEIR_F32, &out->params));
  WEIR_TRY(weir_store_create(&out->store));
  WEIR_TRY(declare(out, path));
  WEIR_TRY(weir_train_weights(out->params, out->store, path));
  WEIR_TRY(weir_graph_create(&out->graph));
  WEIR_TRY(build(out, out->graph));
  return ps_beat_classifier_plan(out);
}

void ps_beat_classifier_close(ps_beat_classifier *c)
{
  weir_plan_destroy(&c->plan);
  weir_graph_destroy(&c->graph);
  weir_params_destroy(&c->params);
  weir_store_destroy(&c->store);
  weir_tensor_fini(&c->x);
  weir_tensor_fini(&c->f);
  weir_tensor_fini(&c->logits);
}

weir_status ps_beat_classifier_run(const ps_beat_classifier *c)
{
  weir_tensor x = c->x, f = c->f, logits = c->logits;

  return weir_plan_run(c->plan, ((const weir_binding[]){{"x", &x}, {"logits", &logits}, {"f", &f}}),
                       c->is.features > 0 ? 3 : 2);
}

int ps_beat_classifier_class(const ps_beat_classifier *c)
{
  const float *const v = c->logits.data;
  int best = 0;

  for (int k = 1; k < PS_CLASSES; k++) {
    best = v[k] > v[best] ? k : best;
  }
  return best;
}
