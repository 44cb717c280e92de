/* cnn.c - see cnn.h. */
#include "model/cnn.h"
#include <stdio.h>
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"

enum { NAME = 32, DIMS = 3 };

static const struct {
  int64_t kernel_size, stride, pad;
} pools[] = {{1, 1, 0}, {2, 2, 0}, {2, 2, 0}, {3, 2, 1}};

int64_t cf_cnn_halvings(int64_t side, int64_t last)
{
  int64_t n = 0;

  for (; side > last && n < CF_BLOCKS; side /= 2) {
    n++;
  }
  return n;
}

int64_t cf_cnn_doubled(int64_t base, int64_t i, int64_t max)
{
  int64_t n = base;

  while (i-- > 0 && n < max) {
    n *= 2;
  }
  return n < max ? n : max;
}

int64_t cf_cnn_side_of(const weir_graph *g, weir_value x)
{
  const weir_array_desc *const d = weir_value_desc(g, x);

  return d != NULL && d->rank > 2 ? d->shape[2] : 0;
}

/* Whether samples are maps: one plane, along which nothing is convolved or pooled. */
static bool is_map(const weir_array_desc *d)
{
  return d->shape[1] == 1 && d->shape[2] > 1;
}

static int64_t stride_of(const cf_block *s)
{
  return s->stride > 0 ? s->stride : 1;
}

/* Windows of kernel_size voxels along `side` voxels, padded on both sides. */
static int64_t windows(int64_t side, int64_t kernel_size, int64_t stride, int64_t pad)
{
  const int64_t reach = side + 2 * pad - kernel_size;

  return reach < 0 ? 0 : reach / stride + 1;
}

static int64_t side_of_block(const cf_block *s, int64_t side)
{
  const int64_t stride = stride_of(s);
  const int64_t mid =
      s->padding == WEIR_NN_SAME
          ? (side + stride - 1) / stride
          : windows(side, s->kernel_size, stride, s->padding == WEIR_NN_GIVEN ? s->pad : 0);

  return mid == 0
             ? 0
             : windows(mid, pools[s->pool].kernel_size, pools[s->pool].stride, pools[s->pool].pad);
}

/* Voxels a side after the first n blocks; 0: a block does not fit. */
static int64_t side_after(const cf_cnn *t, int n, int64_t side)
{
  for (int i = 0; i < n && side > 0; i++) {
    side = side_of_block(&t->block[i], side);
  }
  return side;
}

static weir_activation leaky(const cf_cnn *t)
{
  return t->slope > 0 ? (weir_activation){WEIR_ACTIVATION_LEAKY_RELU, t->slope}
                      : (weir_activation){WEIR_ACTIVATION_RELU, 0};
}

static weir_value pool(weir_net *net, cf_pool kind, bool map, const char *name, weir_value v)
{
  weir_pool_spec s = {.combine = WEIR_COMBINE_MAX, .kernel_size = {1}, .stride = {1}};

  if (kind == CF_POOL_NONE) {
    return v;
  }
  for (int d = map ? 1 : 0; d < DIMS; d++) {
    s.kernel_size[d] = pools[kind].kernel_size;
    s.stride[d] = pools[kind].stride;
    s.pad_before[d] = s.pad_after[d] = pools[kind].pad;
  }
  return weir_label(net->graph,
                    kind == CF_POOL_MAX2 ? weir_pool_max(net->graph, &s, v)
                                         : weir_pool_mean(net->graph, &s, v),
                    name);
}

/* Returns the means of each channel over all voxels: [n, channels]. */
static weir_value means_of(weir_net *net, int i, weir_value v)
{
  const weir_reduce_spec space = {
      .combine = WEIR_COMBINE_SUM, .n_dims = DIMS, .dim = {1, 2, 3}, .keep = false};
  const weir_array_desc *const d = weir_value_desc(net->graph, v);
  char name[NAME];

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const double voxels = (double)(d->shape[1] * d->shape[2] * d->shape[3]);

  (void)snprintf(name, sizeof name, "mean%d", i + 1);
  return weir_label(net->graph,
                    weir_scale(net->graph, weir_reduce(net->graph, &space, v), 1 / voxels), name);
}

/* Convolution, normalisation, leaky ReLU, pooling; *mean: NULL, or the means before pooling. */
static weir_value block(weir_net *net, const cf_cnn *t, int i, bool map, weir_value v,
                        weir_value *mean)
{
  const cf_block *const s = &t->block[i];
  const bool normal = t->norm.kind != WEIR_NORM_NONE;
  weir_nn_conv_spec spec = {.filters = s->filters,
                            .padding = s->padding,
                            .kernel_size = {1},
                            .no_bias = t->no_conv_bias,
                            .no_decay = t->conv_no_decay,
                            .weight = t->weight,
                            .bias = t->conv_bias};
  weir_nn_norm_spec norm = t->norm;
  char name[NAME];

  spec.weight.gain = s->gain;
  norm.activation = leaky(t);
  if (!normal) {
    spec.activation = norm.activation;
  }
  for (int d = map ? 1 : 0; d < DIMS; d++) {
    spec.kernel_size[d] = s->kernel_size;
    spec.conv.stride[d] = s->stride;
    spec.conv.border[d] = t->border;
    spec.conv.pad_before[d] = spec.conv.pad_after[d] = s->padding == WEIR_NN_GIVEN ? s->pad : 0;
  }
  (void)snprintf(name, sizeof name, "conv%d", i + 1);
  v = weir_nn_conv(net, name, &spec, v);
  if (normal) {
    (void)snprintf(name, sizeof name, "norm%d", i + 1);
    v = weir_nn_norm(net, name, &norm, v);
  }
  if (mean != NULL) {
    *mean = means_of(net, i, v);
  }
  (void)snprintf(name, sizeof name, "pool%d", i + 1);
  return pool(net, s->pool, map, name, v);
}

static weir_value drop(weir_net *net, const cf_cnn *t, int number, weir_value v)
{
  char name[NAME];

  (void)snprintf(name, sizeof name, "dropout%d", number);
  return weir_nn_dropout(net, name, &(weir_nn_dropout_spec){.rate = t->dropout}, v);
}

static weir_value dense(weir_net *net, const cf_cnn *t, int number, int64_t outputs, weir_value v)
{
  const bool last = number > t->n_hidden;
  weir_nn_dense_spec spec = {.units = last ? outputs : t->hidden[number - 1],
                             .no_decay = last && t->last_no_decay,
                             .weight = last ? t->last : t->weight,
                             .bias = t->dense_bias};
  char name[NAME];

  if (!last) {
    spec.activation = leaky(t);
  } else if (t->scale > 0) {
    spec.activation.kind = WEIR_ACTIVATION_TANH;
  }
  (void)snprintf(name, sizeof name, "dense%d", number);
  return weir_nn_dense(net, name, &spec, v);
}

/* Checks x and the blocks. */
static weir_status check(const cf_cnn *t, const weir_array_desc *in)
{
  if (in->rank != DIMS + 2 || in->shape[2] != in->shape[3] ||
      (in->shape[1] != in->shape[2] && in->shape[1] != 1)) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s: samples are cubes, [n, side, side, side, channels], or maps, [n, 1, "
                     "side, side, channels]; these have rank %d and %lld x %lld x %lld voxels",
                     t->name, in->rank, (long long)(in->rank > 1 ? in->shape[1] : 0),
                     (long long)(in->rank > 2 ? in->shape[2] : 0),
                     (long long)(in->rank > 3 ? in->shape[3] : 0));
  }
  for (int i = 0; i < t->n_blocks; i++) {
    if (side_after(t, i + 1, in->shape[2]) == 0) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "%s: conv%d and what pools it do not fit the %lld voxels a side that "
                       "are left of %lld: larger samples, or fewer of them",
                       t->name, i + 1, (long long)side_after(t, i, in->shape[2]),
                       (long long)in->shape[2]);
    }
  }
  return WEIR_OK;
}

/* Means over z, y and x: [n, channels]. */
static weir_value mean_over_space(weir_graph *g, weir_value x)
{
  const weir_reduce_spec space = {.combine = WEIR_COMBINE_SUM, .n_dims = DIMS, .dim = {1, 2, 3}};
  const weir_array_desc *const d = weir_value_desc(g, x);

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const double n = (double)(d->shape[1] * d->shape[2] * d->shape[3]);

  return weir_scale(g, weir_reduce(g, &space, x), 1 / n);
}

weir_value cf_cnn_build(weir_net *net, const cf_cnn *t, int64_t outputs, weir_value x)
{
  const weir_array_desc *const in = weir_value_desc(net->graph, x);

  if (in == NULL) {
    return WEIR_NO_VALUE;
  }
  const weir_status status = check(t, in);
  const int64_t n = in->shape[0];
  weir_value mean[CF_BLOCKS];

  if (status != WEIR_OK) {
    return weir_graph_fail(net->graph, status);
  }
  for (int i = 0; i < t->n_blocks; i++) {
    x = block(net, t, i, is_map(in), x, t->global_means ? &mean[i] : NULL);
  }
  if (t->global_mean) {
    x = mean_over_space(net->graph, x);
  }
  x = t->global_means
          ? weir_concat(net->graph, mean, t->n_blocks, 1)
          : weir_reshape(net->graph, x, &((weir_reshape_spec){.rank = 2, .shape = {n, -1}}));
  if (t->drop_first) {
    x = drop(net, t, 0, x);
  }
  for (int k = 1; k <= t->n_hidden; k++) {
    x = drop(net, t, k, dense(net, t, k, outputs, x));
  }
  x = dense(net, t, t->n_hidden + 1, outputs, x);
  return t->scale > 0 ? weir_scale(net->graph, x, t->scale) : x;
}
