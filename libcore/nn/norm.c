/* norm.c - normalisation by moments over groups of elements. */
#include "nn/weir_norm.h"

#include <string.h>

#include "nn/nn_priv.h"
#include "ops/broadcast/weir_broadcast.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"

/* Mean and variance, shaped to broadcast to the normalised array. */
typedef struct moments {
  weir_value mean, variance;
} moments;

/* A normalisation in the making. */
typedef struct site {
  weir_net *net;
  weir_graph *g;
  const weir_nn_norm_spec *spec;
  const char *where;
} site;

/* Over the dimensions of `over`; *sum receives M2, *count how many elements are taken together. */
static moments measure(const site *s, weir_value x, const weir_reduce_spec *over, weir_value *sum,
                       double *count)
{
  const weir_array_desc *d = weir_value_desc(s->g, x);
  const weir_value v = weir_reduce_at(s->g, over, x, WEIR_NO_VALUE, s->where);

  *sum = (weir_value){v.node, 2};
  *count = 1;
  for (int k = 0; k < over->n_dims && d != NULL; k++) {
    *count *= (double)d->shape[over->dim[k]];
  }
  return (moments){
      .mean = {v.node, 1},
      .variance = weir_right_at(s->g, WEIR_CODE_MUL, *sum, 1 / *count, s->where),
  };
}

/* 1 / sqrt(variance + epsilon). */
static weir_value inverse_root(const site *s, weir_value variance)
{
  const double epsilon = s->spec->epsilon > 0 ? s->spec->epsilon : 1e-5;
  const weir_value sum = weir_right_at(s->g, WEIR_CODE_ADD, variance, epsilon, s->where);

  return weir_left_at(s->g, WEIR_CODE_DIV, 1, weir_unary_at(s->g, WEIR_CODE_SQRT, sum, s->where),
                      s->where);
}

static weir_value times(const site *s, weir_value a, weir_value b)
{
  return weir_binary_at(s->g, WEIR_CODE_MUL, a, b, s->where);
}

/* (x - mean) / sqrt(variance + epsilon), times scale, plus offset: parameters of the last `dims`
 * dimensions of x. Where they and the moments are small relative to x, the factors of x are made
 * one first: its gradient then needs no product of their size by itself. */
static weir_value standardise(const site *s, weir_value x, const moments *m, int dims)
{
  const weir_array_desc *d = weir_value_desc(s->g, x);
  weir_param_spec p = {.rank = dims, .init = {.kind = WEIR_INIT_CONSTANT, .value = 1}};
  weir_value factor = inverse_root(s, m->variance), y;

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  memcpy(p.shape, d->shape + d->rank - dims, (size_t)dims * sizeof *p.shape);
  const weir_value off = weir_binary_at(s->g, WEIR_CODE_SUB, x, m->mean, s->where);
  const weir_value scale =
      s->spec->no_scale ? WEIR_NO_VALUE : weir_param_at(s->net, "scale", &p, s->where);

  if (s->spec->no_scale) {
    y = times(s, off, factor);
  } else if (s->spec->kind == WEIR_NORM_LAYER) {
    y = times(s, times(s, off, factor), scale);
  } else {
    y = times(s, off, times(s, factor, scale));
  }
  p.init = (weir_init){.kind = WEIR_INIT_ZEROS};
  return s->spec->no_offset
             ? y
             : weir_binary_at(s->g, WEIR_CODE_ADD, y, weir_param_at(s->net, "offset", &p, s->where),
                              s->where);
}

/* stored + momentum (value - stored); where the caller sets the momentum, the sum of both shares:
 * of a momentum of 1, the value to the bit. */
static weir_value followed(const site *s, weir_value stored, weir_value value)
{
  const double momentum = s->spec->momentum > 0 ? s->spec->momentum : 0.1;
  const weir_array_desc *d = weir_value_desc(s->g, value);

  if (s->net->momentum.node < 0 || d == NULL) {
    const weir_value off = weir_binary_at(s->g, WEIR_CODE_SUB, value, stored, s->where);
    const weir_value step = weir_right_at(s->g, WEIR_CODE_MUL, off, momentum, s->where);

    return weir_binary_at(s->g, WEIR_CODE_ADD, stored, step, s->where);
  }
  const weir_value share = weir_cast(s->g, d->dtype, s->net->momentum);
  const weir_value rest = weir_left_at(s->g, WEIR_CODE_SUB, 1, share, s->where);

  return weir_binary_at(s->g, WEIR_CODE_ADD, times(s, stored, rest), times(s, value, share),
                        s->where);
}

static void follow(const site *s, weir_value stored, weir_value value)
{
  const weir_value next = followed(s, stored, value);

  if (weir_params_store(s->net->params) != NULL) {
    weir_update(s->g, stored, next);
  }
}

static weir_value batch(const site *s, weir_value x, const weir_array_desc *d)
{
  const int64_t *channels = &d->shape[d->rank - 1];
  const moments kept = {
      weir_buffer_at(s->net, "mean", 1, channels, 0, s->where),
      weir_buffer_at(s->net, "variance", 1, channels, 1, s->where),
  };
  weir_reduce_spec over = {.combine = WEIR_COMBINE_MOMENTS, .n_dims = d->rank - 1};
  weir_value sum;
  double count;

  if (!s->net->train) {
    return standardise(s, x, &kept, 1);
  }
  for (int k = 0; k < d->rank - 1; k++) {
    over.dim[k] = k;
  }
  const moments m = measure(s, x, &over, &sum, &count);

  follow(s, kept.mean, m.mean);
  follow(s, kept.variance,
         weir_right_at(s->g, WEIR_CODE_MUL, sum, 1 / (count > 1 ? count - 1 : 1), s->where));
  return standardise(s, x, &m, 1);
}

/* Of dimensions [first, end) of x, sample by sample. */
static moments by_sample(const site *s, weir_value x, int first, int end, weir_value *sum,
                         double *count)
{
  weir_reduce_spec over = {.combine = WEIR_COMBINE_MOMENTS, .keep = true};

  for (int k = first; k < end; k++) {
    over.dim[over.n_dims++] = k;
  }
  return measure(s, x, &over, sum, count);
}

static int64_t groups_of(const weir_nn_norm_spec *spec)
{
  return spec->groups > 0 ? spec->groups : 32;
}

/* Expands values of groups to each of their channels: [n, 1.., groups, 1] to [n, 1.., channels]. */
static weir_value expand(const site *s, weir_value v, const weir_array_desc *grouped,
                         const weir_array_desc *d)
{
  weir_broadcast_spec wide = {.rank = d->rank + 1};
  weir_reshape_spec back = {.rank = d->rank};

  for (int k = 0; k < d->rank + 1; k++) {
    const bool inner = k > 0 && k < d->rank - 1;

    wide.shape[k] = inner ? 1 : grouped->shape[k];
    back.shape[k < d->rank ? k : 0] = inner ? 1 : d->shape[k < d->rank ? k : 0];
  }
  return weir_reshape_at(s->g, weir_broadcast_at(s->g, v, &wide, s->where), &back, s->where);
}

/* The moments of groups are those of their channels, taken together: with as many elements in
 * each, the mean of the means, and the sum of all M2 plus, for every element, the square of how far
 * its channel's mean is off. Nothing of the size of x is processed other than channel by channel.
 */
static moments by_group(const site *s, weir_value x, const weir_array_desc *d)
{
  const int last = d->rank;
  weir_reshape_spec split = {.rank = d->rank + 1};
  weir_array_desc grouped = {.rank = d->rank + 1};
  double of_channel = 1, channels;
  weir_value sum = WEIR_NO_VALUE, between;
  moments m = {x, WEIR_NO_VALUE};

  if (d->rank > 2) {
    m = by_sample(s, x, 1, d->rank - 1, &sum, &of_channel);
  }
  for (int k = 0; k < d->rank; k++) {
    grouped.shape[k] = k > 0 && k < d->rank - 1 ? 1 : d->shape[k];
  }
  grouped.shape[last - 1] = groups_of(s->spec);
  grouped.shape[last] = d->shape[last - 1] / groups_of(s->spec);
  memcpy(split.shape, grouped.shape, sizeof split.shape);
  m = by_sample(s, weir_reshape_at(s->g, m.mean, &split, s->where), last, last + 1, &between,
                &channels);
  if (d->rank > 2) {
    const weir_value within =
        weir_reduce_at(s->g, &(weir_reduce_spec){WEIR_COMBINE_SUM, 1, {last}, true, 0},
                       weir_reshape_at(s->g, sum, &split, s->where), WEIR_NO_VALUE, s->where);

    m.variance = weir_binary_at(
        s->g, WEIR_CODE_ADD,
        weir_right_at(s->g, WEIR_CODE_MUL, within, 1 / (of_channel * channels), s->where),
        m.variance, s->where);
  }
  return (moments){expand(s, m.mean, &grouped, d), expand(s, m.variance, &grouped, d)};
}

/* The unmet requirement of the kind on x, or NULL. */
static const char *complaint(const weir_nn_norm_spec *s, const weir_array_desc *d)
{
  if (d == NULL || d->rank < 1 || d->time > 0) {
    return "takes an array of floats without time";
  }
  switch (s->kind) {
  case WEIR_NORM_BATCH:
    return d->rank < 2 ? "batch takes [n, .., channels]" : NULL;
  case WEIR_NORM_INSTANCE:
    return d->rank < 3 ? "instance takes [n, spatial dimensions, channels]" : NULL;
  case WEIR_NORM_LAYER:
    return s->dims < 0 || s->dims > d->rank ? "layer: more dimensions are named than the array has"
                                            : NULL;
  case WEIR_NORM_GROUP:
    return d->rank < 2 || d->rank == WEIR_MAX_RANK || s->groups < 0 ||
                   d->shape[d->rank - 1] % groups_of(s) != 0
               ? "group takes [n, .., channels], with channels divisible by groups"
               : NULL;
  default:
    return "unknown kind of normalisation";
  }
}

static weir_value normalise(const site *s, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(s->g, x);
  const char *wrong = complaint(s->spec, d);
  const int dims = (int)(s->spec->kind == WEIR_NORM_LAYER && s->spec->dims > 0 ? s->spec->dims : 1);
  weir_value sum;
  double count;
  moments m;

  if (wrong != NULL) {
    return nn_fail(s->net, s->where, "norm: %s (rank %d, %lld channels, %lld groups)", wrong,
                   d != NULL ? d->rank : -1,
                   (long long)(d != NULL && d->rank > 0 ? d->shape[d->rank - 1] : 0),
                   (long long)groups_of(s->spec));
  }
  const weir_array_desc shape = *d;

  switch (s->spec->kind) {
  case WEIR_NORM_BATCH:
    return batch(s, x, &shape);
  case WEIR_NORM_INSTANCE:
    m = by_sample(s, x, 1, shape.rank - 1, &sum, &count);
    break;
  case WEIR_NORM_LAYER:
    m = by_sample(s, x, shape.rank - dims, shape.rank, &sum, &count);
    break;
  default:
    m = by_group(s, x, &shape);
  }
  return standardise(s, x, &m, dims);
}

weir_value weir_nn_norm_at(weir_net *net, const char *name, const weir_nn_norm_spec *spec,
                           weir_value x, const char *where)
{
  const site s = {net, net->graph, spec, where};

  if (spec->kind == WEIR_NORM_NONE) {
    return weir_activation_at(net->graph, &spec->activation, x, where);
  }
  weir_net_push(net, name);
  const weir_value y = normalise(&s, x);
  const weir_value v = nn_label(net, weir_activation_at(net->graph, &spec->activation, y, where));

  weir_net_pop(net);
  return v;
}
