/* residual.c - two convolutions in parallel with a shortcut. */
#include <string.h>

#include "nn/nn_priv.h"
#include "nn/weir_block.h"
#include "ops/elementwise/weir_elementwise.h"

/* A block in the making. */
typedef struct site {
  weir_net *net;
  const weir_nn_residual_spec *spec;
  const char *where;
} site;

static weir_value convolve(const site *s, const char *name, bool strided, weir_value x)
{
  weir_nn_conv_spec conv = s->spec->conv;

  conv.activation = (weir_activation){.kind = WEIR_ACTIVATION_IDENTITY};
  if (!strided) {
    memset(conv.conv.stride, 0, sizeof conv.conv.stride);
  }
  return weir_nn_conv_at(s->net, name, &conv, x, s->where);
}

static weir_value normalise(const site *s, const char *name, bool activated, weir_value x)
{
  weir_nn_norm_spec norm = s->spec->norm;

  norm.activation =
      activated ? s->spec->conv.activation : (weir_activation){.kind = WEIR_ACTIVATION_IDENTITY};
  return weir_nn_norm_at(s->net, name, &norm, x, s->where);
}

static weir_value branch(const site *s, weir_value x)
{
  if (s->spec->pre_activated) {
    x = convolve(s, "conv1", true, normalise(s, "norm1", true, x));
    return convolve(s, "conv2", false, normalise(s, "norm2", true, x));
  }
  x = normalise(s, "norm1", true, convolve(s, "conv1", true, x));
  return normalise(s, "norm2", false, convolve(s, "conv2", false, x));
}

static bool same_shape(const weir_array_desc *a, const weir_array_desc *b)
{
  return a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

/* x in the shape of y. */
static weir_value shortcut(const site *s, weir_value x, weir_value y)
{
  const weir_array_desc *from = weir_value_desc(s->net->graph, x);
  const weir_array_desc *to = weir_value_desc(s->net->graph, y);
  weir_nn_conv_spec conv = {.filters = s->spec->conv.filters,
                            .padding = WEIR_NN_VALID,
                            .no_bias = true,
                            .weight = s->spec->conv.weight};

  if (from == NULL || to == NULL || same_shape(from, to)) {
    return x;
  }
  memcpy(conv.conv.stride, s->spec->conv.conv.stride, sizeof conv.conv.stride);
  x = weir_nn_conv_at(s->net, "shortcut", &conv, x, s->where);
  from = weir_value_desc(s->net->graph, x);
  return from == NULL || same_shape(from, to)
             ? x
             : nn_fail(s->net, s->where,
                       "residual: the convolutions do not preserve the extents expected from their "
                       "stride: use padding `same`");
}

weir_value weir_nn_residual_at(weir_net *net, const char *name, const weir_nn_residual_spec *spec,
                               weir_value x, const char *where)
{
  const site s = {net, spec, where};

  weir_net_push(net, name);
  const weir_value y = branch(&s, x);
  weir_value v = weir_binary_at(net->graph, WEIR_CODE_ADD, shortcut(&s, x, y), y, where);

  if (!spec->pre_activated) {
    v = weir_activation_at(net->graph, &spec->conv.activation, v, where);
  }
  nn_label(net, v);
  weir_net_pop(net);
  return v;
}
