/* norm.c - normalisation by the moments of what is taken together. */
#include "nn/weir_norm.h"

#include <string.h>

#include "nn/nn_priv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"

/* Mean and variance, shaped to broadcast to what they normalise. */
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

/* (x - mean) / sqrt(variance + epsilon). */
static weir_value standardise(const site *s, weir_value x, const moments *m)
{
  const double epsilon = s->spec->epsilon > 0 ? s->spec->epsilon : 1e-5;
  const weir_value off = weir_binary_at(s->g, WEIR_CODE_SUB, x, m->mean, s->where);
  const weir_value sum = weir_right_at(s->g, WEIR_CODE_ADD, m->variance, epsilon, s->where);
  const weir_value root = weir_unary_at(s->g, WEIR_CODE_SQRT, sum, s->where);

  return weir_binary_at(s->g, WEIR_CODE_MUL, off,
                        weir_left_at(s->g, WEIR_CODE_DIV, 1, root, s->where), s->where);
}

/* Times scale, plus offset: parameters of the last `dims` dimensions of x. */
static weir_value affine(const site *s, weir_value y, const weir_array_desc *x, int dims)
{
  weir_param_spec p = {.rank = dims, .init = {.kind = WEIR_INIT_CONSTANT, .value = 1}};

  memcpy(p.shape, x->shape + x->rank - dims, (size_t)dims * sizeof *p.shape);
  if (!s->spec->no_scale) {
    y = weir_binary_at(s->g, WEIR_CODE_MUL, y, weir_param_at(s->net, "scale", &p, s->where),
                       s->where);
  }
  p.init = (weir_init){.kind = WEIR_INIT_ZEROS};
  if (!s->spec->no_offset) {
    y = weir_binary_at(s->g, WEIR_CODE_ADD, y, weir_param_at(s->net, "offset", &p, s->where),
                       s->where);
  }
  return y;
}

/* stored <- stored + momentum (value - stored). */
static void follow(const site *s, weir_value stored, weir_value value)
{
  const double momentum = s->spec->momentum > 0 ? s->spec->momentum : 0.1;
  const weir_value step = weir_right_at(
      s->g, WEIR_CODE_MUL, weir_binary_at(s->g, WEIR_CODE_SUB, value, stored, s->where), momentum,
      s->where);

  if (weir_params_store(s->net->params) != NULL) {
    weir_update(s->g, stored, weir_binary_at(s->g, WEIR_CODE_ADD, stored, step, s->where));
  }
}

static weir_value batch(const site *s, weir_value x, const weir_array_desc *d)
{
  const int64_t *channels = &d->shape[d->rank - 1];
  const moments kept = {
      weir_statistic_at(s->net, "mean", 1, channels, 0, s->where),
      weir_statistic_at(s->net, "variance", 1, channels, 1, s->where),
  };
  weir_reduce_spec over = {.combine = WEIR_COMBINE_MOMENTS, .n_dims = d->rank - 1};
  weir_value sum;
  double count;

  if (!s->net->train) {
    return standardise(s, x, &kept);
  }
  for (int k = 0; k < d->rank - 1; k++) {
    over.dim[k] = k;
  }
  const moments m = measure(s, x, &over, &sum, &count);

  follow(s, kept.mean, m.mean);
  follow(s, kept.variance,
         weir_right_at(s->g, WEIR_CODE_MUL, sum, 1 / (count > 1 ? count - 1 : 1), s->where));
  return standardise(s, x, &m);
}

/* Over dimensions [first, end) of x, and the last one if `last`, sample by sample. */
static weir_value by_sample(const site *s, weir_value x, int first, int end, bool last)
{
  const weir_array_desc *d = weir_value_desc(s->g, x);
  weir_reduce_spec over = {.combine = WEIR_COMBINE_MOMENTS, .keep = true};
  weir_value sum;
  double count;

  for (int k = first; k < end; k++) {
    over.dim[over.n_dims++] = k;
  }
  if (last) {
    over.dim[over.n_dims++] = d->rank - 1;
  }
  const moments m = measure(s, x, &over, &sum, &count);

  return standardise(s, x, &m);
}

static int64_t groups_of(const weir_nn_norm_spec *spec)
{
  return spec->groups > 0 ? spec->groups : 32;
}

/* Channels become [groups, channels of each] for the while. */
static weir_value group(const site *s, weir_value x, const weir_array_desc *d)
{
  weir_reshape_spec split = {.rank = d->rank + 1}, back = {.rank = d->rank};

  memcpy(split.shape, d->shape, sizeof split.shape);
  memcpy(back.shape, d->shape, sizeof back.shape);
  split.shape[d->rank - 1] = groups_of(s->spec);
  split.shape[d->rank] = d->shape[d->rank - 1] / groups_of(s->spec);
  const weir_value parts = weir_reshape_at(s->g, x, &split, s->where);

  if (parts.node < 0) {
    return parts;
  }
  return weir_reshape_at(s->g, by_sample(s, parts, 1, d->rank - 1, true), &back, s->where);
}

/* What the kind needs of x, or NULL. */
static const char *complaint(const weir_nn_norm_spec *s, const weir_array_desc *d)
{
  if (d == NULL || d->rank < 1 || d->time > 0) {
    return "takes an array of floats without time";
  }
  switch (s->kind) {
  case WEIR_NORM_BATCH:
    return d->rank < 2 ? "batch takes [n, .., channels]" : NULL;
  case WEIR_NORM_INSTANCE:
    return d->rank < 3 ? "instance takes [n, dimensions of space, channels]" : NULL;
  case WEIR_NORM_LAYER:
    return s->dims < 0 || s->dims > d->rank ? "layer: more dimensions than there are" : NULL;
  case WEIR_NORM_GROUP:
    return d->rank < 2 || d->rank == WEIR_MAX_RANK || s->groups < 0 ||
                   d->shape[d->rank - 1] % groups_of(s) != 0
               ? "group takes [n, .., channels], which the groups divide"
               : NULL;
  default:
    return "this kind does not exist";
  }
}

static weir_value normalise(const site *s, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(s->g, x);
  const char *wrong = complaint(s->spec, d);
  const int dims = (int)(s->spec->kind == WEIR_NORM_LAYER && s->spec->dims > 0 ? s->spec->dims : 1);
  weir_value y = WEIR_NO_VALUE;

  if (wrong != NULL) {
    return nn_fail(s->net, s->where, "norm: %s (rank %d, %lld channels, %lld groups)", wrong,
                   d != NULL ? d->rank : -1,
                   (long long)(d != NULL && d->rank > 0 ? d->shape[d->rank - 1] : 0),
                   (long long)groups_of(s->spec));
  }
  const weir_array_desc shape = *d;

  switch (s->spec->kind) {
  case WEIR_NORM_BATCH:
    y = batch(s, x, &shape);
    break;
  case WEIR_NORM_INSTANCE:
    y = by_sample(s, x, 1, shape.rank - 1, false);
    break;
  case WEIR_NORM_LAYER:
    y = by_sample(s, x, shape.rank - dims, shape.rank, false);
    break;
  default:
    y = group(s, x, &shape);
  }
  return affine(s, y, &shape, dims);
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

/* ---- By name ---- */

#define EPSILON_ROW                                              \
  WEIR_OPT_REAL(weir_nn_norm_spec, epsilon, 1e-5, 1e-12, 1, "1", \
                "added to the variance, in its unit")

static const weir_opt batch_rows[] = {
    EPSILON_ROW,
    WEIR_OPT_REAL(weir_nn_norm_spec, momentum, 0.1, 1e-6, 1, "1",
                  "share of the running mean and variance that a batch brings"),
    WEIR_OPT_END,
};
static const weir_opt instance_rows[] = {
    EPSILON_ROW,
    WEIR_OPT_END,
};
static const weir_opt layer_rows[] = {
    EPSILON_ROW,
    WEIR_OPT_INT(weir_nn_norm_spec, dims, 1, 1, WEIR_MAX_RANK - 1, "1",
                 "last dimensions that are taken together"),
    WEIR_OPT_END,
};
static const weir_opt group_rows[] = {
    EPSILON_ROW,
    WEIR_OPT_INT(weir_nn_norm_spec, groups, 32, 1, 65536, "1",
                 "groups of channels; default of Wu and He, ECCV 2018"),
    WEIR_OPT_END,
};

/* In the order of weir_norm_kind. */
static const weir_opt_choice choices[WEIR_NORM_KINDS] = {
    {.name = "none", .help = "no normalisation"},
    {.name = "batch",
     .help = "per channel, over the batch",
     .table = batch_rows,
     .size = sizeof(weir_nn_norm_spec)},
    {.name = "instance",
     .help = "per sample and channel",
     .table = instance_rows,
     .size = sizeof(weir_nn_norm_spec)},
    {.name = "layer",
     .help = "per sample and place, over the last dimensions",
     .table = layer_rows,
     .size = sizeof(weir_nn_norm_spec)},
    {.name = "group",
     .help = "per sample and group of channels",
     .table = group_rows,
     .size = sizeof(weir_nn_norm_spec)},
};

bool weir_norm_list(int64_t i, weir_opt_choice *entry)
{
  if (i < 0 || i >= WEIR_NORM_KINDS) {
    return false;
  }
  *entry = choices[i];
  return true;
}

weir_nn_norm_spec weir_norm_of(const weir_one_of *choice)
{
  weir_nn_norm_spec s = {.kind = WEIR_NORM_NONE};

  for (int k = 0; choice->name != NULL && k < WEIR_NORM_KINDS; k++) {
    if (strcmp(choices[k].name, choice->name) == 0) {
      s = choice->opts != NULL ? *(const weir_nn_norm_spec *)choice->opts : s;
      s.kind = (weir_norm_kind)k;
    }
  }
  return s;
}
