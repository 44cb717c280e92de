/* train_nets.h - two small training graphs made of operators: what the passes meet when a network
 * learns. Tests and benches only.
 *
 * `cosmo`: blocks of convolution 3^3, bias, leaky ReLU and maximum over 2^3, then dense layers, as
 * in CosmoFlow (arXiv:1808.04728). `unet`: two levels down and up with nearest upsampling, a
 * transposed convolution, skips and one batch normalisation (arXiv:1606.06650). The loss is a mean
 * square; the gradient by each parameter is a result, "g0", .., and every parameter takes a step.
 */
#ifndef WEIR_TRAIN_NETS_H
#define WEIR_TRAIN_NETS_H
#include <stdio.h>
#include <string.h>

#include "support/graph/store_check.h"
#include "base/weir_random.h"
#include "ops/broadcast/weir_broadcast.h"
#include "ops/concat/weir_concat.h"
#include "ops/contract/weir_contract.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/resample/weir_resample.h"
#include "ops/reshape/weir_reshape.h"
#include "pass/autodiff/weir_gradients.h"

#define TRAIN_PARAMS 32

typedef struct train_net {
  weir_graph *g;
  weir_store *store;
  weir_value param[TRAIN_PARAMS], grad[TRAIN_PARAMS];
  int n_params;
  weir_status status; /* of the store */
} train_net;

/* A parameter of random numbers in [-scale, scale). */
static inline weir_value train_param(train_net *t, int rank, const int64_t *shape, double scale)
{
  const int k = t->n_params < TRAIN_PARAMS - 1 ? t->n_params++ : TRAIN_PARAMS - 1;
  char name[16];

  snprintf(name, sizeof name, "w%d", k);
  const weir_status status = weir_store_add(t->store, name, WEIR_F32, rank, shape);

  if (status != WEIR_OK) {
    t->status = status;
    return WEIR_NO_VALUE;
  }
  weir_tensor *w = check_stored(t->store, name);

  for (int64_t i = 0; i < weir_tensor_numel(w); i++) {
    const double u = weir_random_uniform(3, (uint32_t)k, 0, (uint64_t)i);

    ((float *)w->data)[i] = (float)(scale * (2 * u - 1));
  }
  t->param[k] = weir_stored(t->g, t->store, name);
  return t->param[k];
}

static inline weir_value train_bias(train_net *t, weir_value x, int64_t channels)
{
  return weir_add(t->g, x, train_param(t, 1, &channels, 0.1));
}

/* kernel size^3, "same" padding, bias. */
static inline weir_value train_conv(train_net *t, weir_value x, int64_t size, int64_t out)
{
  const weir_array_desc *d = weir_value_desc(t->g, x);
  const int64_t in = d != NULL ? d->shape[4] : 1, pad = size / 2;
  const weir_conv_spec s = {.pad_before = {pad, pad, pad}, .pad_after = {pad, pad, pad}};
  const double scale = 1.7 / (double)(size * size + in);
  const weir_value w = train_param(t, 5, (int64_t[]){size, size, size, in, out}, scale);

  return train_bias(t, weir_conv(t->g, &s, x, w), out);
}

static inline weir_value train_leaky(train_net *t, weir_value x)
{
  const weir_value below = weir_lt_scalar(t->g, x, 0);

  return weir_select(t->g, below, weir_scale(t->g, x, 0.3), x);
}

static inline weir_value train_relu(train_net *t, weir_value x)
{
  return weir_max_scalar(t->g, x, 0);
}

static inline weir_value train_pool(train_net *t, weir_value x)
{
  const weir_pool_spec s = {.kernel_size = {2, 2, 2}};

  return weir_pool_max(t->g, &s, x);
}

static inline weir_value train_dense(train_net *t, weir_value x, int64_t out)
{
  const weir_array_desc *d = weir_value_desc(t->g, x);
  const int64_t in = d != NULL ? d->shape[1] : 1;
  const weir_value w = train_param(t, 2, (int64_t[]){in, out}, 1.0 / (double)in);

  return train_bias(t, weir_contract(t->g, "ni,io->no", x, w), out);
}

/* Twice as long along the three dimensions between sample and channel. */
static inline weir_value train_nearest(train_net *t, weir_value x)
{
  for (int d = 1; d < 4; d++) {
    const weir_resample_spec s = {.method = WEIR_RESAMPLE_HOLD, .dim = d, .up = 2};

    x = weir_resample(t->g, &s, x);
  }
  return x;
}

/* Transposed convolution 2^3, stride 2: what the convolution's input gets from x as its result's
 * derivative. */
static inline weir_value train_transposed(train_net *t, weir_value x, int64_t out)
{
  const weir_array_desc *d = weir_value_desc(t->g, x);
  const int64_t in = d != NULL ? d->shape[4] : 1;
  const weir_conv_spec s = {.stride = {2, 2, 2}};
  weir_broadcast_spec shape = {.rank = 5};
  weir_value y = WEIR_NO_VALUE;

  for (int k = 0; k < 5 && d != NULL; k++) {
    shape.shape[k] = k == 4 ? out : k == 0 ? d->shape[0] : 2 * d->shape[k];
  }
  const weir_value w = train_param(t, 5, (int64_t[]){2, 2, 2, out, in}, 0.2);
  const weir_value from = weir_broadcast(t->g, weir_scalar(t->g, WEIR_F32, 0), &shape);
  const weir_value made = weir_conv(t->g, &s, from, w);
  const weir_value sum = weir_sum(t->g, weir_mul(t->g, made, x), -1);

  if (weir_gradients(t->g, sum, &from, 1, &y) != WEIR_OK) {
    return WEIR_NO_VALUE;
  }
  return y;
}

/* (x - mean) / sqrt(variance + 1e-3) over all but the channels, times gamma plus beta. */
static inline weir_value train_normalise(train_net *t, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(t->g, x);
  const int64_t channels = d != NULL ? d->shape[4] : 1;
  const double n = d != NULL ? (double)(d->shape[0] * d->shape[1] * d->shape[2] * d->shape[3]) : 1;
  const weir_reduce_spec s = {.combine = WEIR_COMBINE_MOMENTS, .n_dims = 4, .dim = {0, 1, 2, 3}};
  const weir_value m = weir_reduce(t->g, &s, x);
  const weir_value mean = {m.node, m.node < 0 ? 0 : 1}, m2 = {m.node, m.node < 0 ? 0 : 2};
  const weir_value variance = weir_scale(t->g, m2, 1 / n);
  const weir_value deviation = weir_sqrt(t->g, weir_add_scalar(t->g, variance, 1e-3));
  const weir_value y = weir_div(t->g, weir_sub(t->g, x, mean), deviation);

  return train_bias(t, weir_mul(t->g, y, train_param(t, 1, &channels, 1)), channels);
}

/* The loss, its derivatives, and a step along them. */
static inline void train_finish(train_net *t, weir_value y)
{
  const weir_array_desc *d = weir_value_desc(t->g, y);
  double n = 1;
  char name[16];

  if (d == NULL) {
    return;
  }
  const weir_array_desc desc = *d;

  for (int k = 0; k < desc.rank; k++) {
    n *= (double)desc.shape[k];
  }
  const weir_value off = weir_sub(t->g, y, weir_input(t->g, "target", &desc));
  const weir_value loss = weir_scale(t->g, weir_sum(t->g, weir_square(t->g, off), -1), 1 / n);

  weir_output(t->g, "loss", loss);
  if (weir_gradients(t->g, loss, t->param, t->n_params, t->grad) != WEIR_OK) {
    return;
  }
  for (int k = 0; k < t->n_params; k++) {
    snprintf(name, sizeof name, "g%d", k);
    weir_output(t->g, name, t->grad[k]);
    weir_update(t->g, t->param[k], weir_sub(t->g, t->param[k], weir_scale(t->g, t->grad[k], 0.01)));
  }
}

static inline weir_status train_begin(train_net *t)
{
  *t = (train_net){.status = WEIR_OK};
  WEIR_TRY(weir_graph_create(&t->g));
  WEIR_TRY(weir_store_create(&t->store));
  return WEIR_OK;
}

static inline weir_value train_input(train_net *t, int64_t batch, int64_t side, int64_t channels)
{
  const weir_array_desc d = {
      .dtype = WEIR_F32, .rank = 5, .shape = {batch, side, side, side, channels}};

  return weir_input(t->g, "x", &d);
}

/* side: a multiple of 8. */
static inline weir_status train_cosmo(train_net *t, int64_t batch, int64_t side, int64_t channels)
{
  WEIR_TRY(train_begin(t));
  weir_value x = train_input(t, batch, side, 4);

  for (int level = 0; level < 3; level++) {
    x = train_pool(t, train_leaky(t, train_conv(t, x, 3, channels << level)));
  }
  x = weir_reshape_at(t->g, x, &(weir_reshape_spec){.rank = 2, .shape = {batch, -1}}, WEIR_WHERE);
  x = train_leaky(t, train_dense(t, x, 4 * channels));
  train_finish(t, train_dense(t, x, 4));
  WEIR_TRY(t->status);
  return weir_graph_status(t->g);
}

/* side: a multiple of 4. */
static inline weir_status train_unet(train_net *t, int64_t batch, int64_t side, int64_t channels)
{
  WEIR_TRY(train_begin(t));
  const weir_value x = train_input(t, batch, side, 2);
  const weir_value one = train_relu(t, train_normalise(t, train_conv(t, x, 3, channels)));
  const weir_value two = train_relu(t, train_conv(t, train_pool(t, one), 3, 2 * channels));
  const weir_value deep = train_relu(t, train_conv(t, train_pool(t, two), 3, 4 * channels));
  const weir_value up[] = {train_transposed(t, deep, 2 * channels), two};
  const weir_value mid = train_relu(t, train_conv(t, weir_concat(t->g, up, 2, 4), 3, 2 * channels));
  const weir_value top[] = {train_nearest(t, mid), one};
  const weir_value last = train_relu(t, train_conv(t, weir_concat(t->g, top, 2, 4), 3, channels));

  train_finish(t, train_conv(t, last, 1, 1));
  WEIR_TRY(t->status);
  return weir_graph_status(t->g);
}

static inline void train_fini(train_net *t)
{
  weir_graph_destroy(&t->g);
  weir_store_destroy(&t->store);
}

#endif
