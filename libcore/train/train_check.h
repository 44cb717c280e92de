/* train_check.h - a small task: y = sin(3 a) b of two numbers, learnt by a small network with noise
 * and a running mean, so that every kind of state takes part. Tests only. */
#ifndef WEIR_TRAIN_CHECK_H
#define WEIR_TRAIN_CHECK_H
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "nn/weir_layer.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/random/weir_random_op.h"
#include "ops/reduce/weir_reduce.h"
#include "train/weir_train.h"

/* What differs between tests. 0: the plain task. */
typedef struct toy {
  int64_t hidden;     /* units; 0: 12                                                  */
  bool noise;         /* numbers drawn per step, and a running mean kept               */
  bool contradict;    /* validation wants -y                                           */
  int64_t bad_sample; /* this training sample and its input ..                         */
  double bad_input;   /* .. are replaced by this number; 0: none                       */
  int64_t stop_at;    /* fetch number after which a stop is asked for; 0: never        */
  int64_t fetched;    /* calls for training samples                                    */
  weir_value (*tail)(weir_graph *g, weir_value loss); /* what becomes of the loss, or NULL */
} toy;

static const weir_train_input toy_inputs[] = {{"x", WEIR_F32, 1, {2}}, {"y", WEIR_F32, 1, {1}}};

/* A part of the hidden values is taken away, and their mean is kept. */
static inline weir_value toy_noise(weir_net *net, weir_value x)
{
  weir_graph *g = net->graph;
  const weir_array_desc d = *weir_value_desc(g, x);
  weir_random_spec spec = {.kind = WEIR_RANDOM_UNIFORM, .dtype = d.dtype, .rank = 2};
  const weir_value mean = weir_statistic(net, "mean", 0, (int64_t[]){1}, 0);

  if (!net->train) {
    return x;
  }
  memcpy(spec.shape, d.shape, sizeof spec.shape);
  const weir_value draw = weir_random(g, &spec, weir_net_seed(net), weir_net_step(net));
  const weir_value now = weir_scale(g, weir_sum(g, x, -1), 1.0 / (double)(d.shape[0] * d.shape[1]));

  weir_update(g, mean, weir_add(g, weir_scale(g, mean, 0.9), weir_scale(g, now, 0.1)));
  return weir_mul(g, x, weir_cast(g, d.dtype, weir_gt_scalar(g, draw, 0.1)));
}

static inline weir_status toy_build(weir_net *net, const void *opts, const weir_value *in,
                                    weir_value *loss)
{
  const toy *t = opts;
  weir_graph *g = net->graph;
  const weir_activation tanh_of = {.kind = WEIR_ACTIVATION_TANH};
  weir_value h = weir_nn_dense(
      net, "enter",
      (&(weir_nn_dense_spec){.units = t->hidden ? t->hidden : 12, .activation = tanh_of}), in[0]);

  if (t->noise) {
    weir_net_push(net, "noise");
    h = toy_noise(net, h);
    weir_net_pop(net);
  }
  h = weir_nn_dense(net, "middle", (&(weir_nn_dense_spec){.units = 8, .activation = tanh_of}), h);
  const weir_value y = weir_nn_dense(net, "leave", (&(weir_nn_dense_spec){.units = 1}), h);
  const weir_value error = weir_sub(g, y, in[1]);
  const weir_array_desc *d = weir_value_desc(g, error);

  WEIR_TRY(weir_graph_status(g));
  const double share = 1.0 / (double)d->shape[0];
  weir_value mean = weir_scale(g, weir_sum(g, weir_square(g, error), -1), share);

  mean = weir_label(g, mean, "mean square");
  weir_output(g, "mae", weir_scale(g, weir_sum(g, weir_abs(g, error), -1), share));
  *loss = t->tail != NULL ? t->tail(g, mean) : mean;
  return weir_graph_status(g);
}

static inline weir_status toy_fetch(void *context, weir_train_split split, const int64_t *sample,
                                    int64_t n, weir_tensor *const *tensor)
{
  toy *t = context;
  const bool valid = split == WEIR_VALID_SAMPLES;
  float *x = tensor[0]->data, *y = tensor[1]->data;

  t->fetched += !valid;
  if (t->stop_at > 0 && t->fetched == t->stop_at) {
    weir_stop_request(15);
  }
  for (int64_t i = 0; i < n; i++) {
    for (uint64_t k = 0; k < 2; k++) {
      x[2 * i + (int64_t)k] =
          (float)(2 * weir_random_uniform(99, valid, 0, 2 * (uint64_t)sample[i] + k) - 1);
    }
    y[i] = sinf(3 * x[2 * i]) * x[2 * i + 1] * (valid && t->contradict ? -1 : 1);
    if (!valid && t->bad_input != 0 && sample[i] == t->bad_sample) {
      x[2 * i] = (float)t->bad_input;
    }
  }
  return WEIR_OK;
}

static const char *const toy_metrics[] = {"mae"};

static inline weir_train_task toy_task(toy *t, int64_t n_train, int64_t n_valid)
{
  return (weir_train_task){.name = "toy",
                           .dtype = WEIR_F32,
                           .input = toy_inputs,
                           .n_inputs = 2,
                           .n_train = n_train,
                           .n_valid = n_valid,
                           .opts = t,
                           .build = toy_build,
                           .metric = toy_metrics,
                           .n_metrics = 1,
                           .fetch = toy_fetch,
                           .context = t};
}

/* Defaults, and what the text says. Destroy *config after the last use. */
static inline weir_train_cfg toy_cfg(const char *const *sets, int n, weir_config **config)
{
  weir_train_cfg cfg;

  assert_ok(weir_config_load(weir_train_opts, sizeof cfg, NULL, 0, sets, n, &cfg, config));
  return cfg;
}
#endif
