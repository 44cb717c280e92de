/* conv.c - y = activation(conv(x, weight) + bias), with weights shared by all positions or not. */
#include <string.h>

#include "nn/nn_priv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/locally_connected/weir_locally_connected.h"

/* Elements that one output sees of dimension k, holes included. */
static int64_t reach_of(const weir_nn_conv_spec *s, int k)
{
  return weir_or_one(s->conv.dilation[k]) * (weir_or_one(s->kernel_size[k]) - 1) + 1;
}

/* Padding of dimension k, which has `extent` elements. */
static void pad(const weir_nn_conv_spec *s, int k, int64_t extent, weir_conv_spec *conv)
{
  const int64_t stride = weir_or_one(s->conv.stride[k]);
  const int64_t out = (extent + stride - 1) / stride;
  const int64_t total = (out - 1) * stride + reach_of(s, k) - extent;

  conv->pad_before[k] = s->padding == WEIR_NN_SAME && total > 0 ? total / 2 : 0;
  conv->pad_after[k] = s->padding == WEIR_NN_SAME && total > 0 ? total - total / 2 : 0;
}

/* Scalars of the spec that weir_conv does not judge. */
static bool is_possible(const weir_nn_conv_spec *s, int dims)
{
  bool good = s->filters >= 1 && s->filters < WEIR_UNBOUNDED &&
              (unsigned)s->padding <= WEIR_NN_GIVEN && s->conv.groups >= 0;

  for (int k = 0; good && k < dims; k++) {
    const int64_t max_value = INT64_C(1) << 20;

    good = s->kernel_size[k] >= 0 && s->kernel_size[k] <= max_value && s->conv.stride[k] >= 0 &&
           s->conv.stride[k] <= max_value && s->conv.dilation[k] >= 0 &&
           s->conv.dilation[k] <= max_value;
  }
  return good;
}

bool nn_conv_check(weir_net *net, const char *layer, const weir_nn_conv_spec *s, weir_value x,
                   const char *where)
{
  const weir_array_desc *d = weir_value_desc(net->graph, x);
  const int dims = d != NULL ? d->rank - 2 : -1;

  if (dims < 1 || dims > WEIR_CONV_DIMS || d->time > 0 || !is_possible(s, dims)) {
    (void)nn_fail(net, where,
                  "%s: %lld filters on an input of rank %d; takes [n, 1 to %d dimensions, "
                  "channels], and counts that are not negative",
                  layer, (long long)s->filters, dims + 2, WEIR_CONV_DIMS);
    return false;
  }
  const int64_t channels = d->shape[dims + 1], groups = weir_or_one(s->conv.groups);

  if (channels % groups != 0 || s->filters % groups != 0) {
    (void)nn_fail(net, where, "%s: %lld groups of %lld channels in and %lld filters", layer,
                  (long long)groups, (long long)channels, (long long)s->filters);
    return false;
  }
  return true;
}

weir_value nn_conv_finish(weir_net *net, const weir_nn_conv_spec *s, weir_value y, int n_spatial,
                          const char *where)
{
  const weir_array_desc *d = weir_value_desc(net->graph, y);

  if (d != NULL && !s->no_bias) {
    weir_param_spec bias = {.rank = 1 + n_spatial, .init = nn_init_or(s->bias, WEIR_INIT_ZEROS)};

    memcpy(bias.shape, d->shape + d->rank - bias.rank, (size_t)bias.rank * sizeof *bias.shape);
    y = weir_binary_at(net->graph, WEIR_CODE_ADD, y, weir_param_at(net, "bias", &bias, where),
                       where);
  }
  return nn_label(net, weir_activation_at(net->graph, &s->activation, y, where));
}

weir_param_spec nn_conv_weight(const weir_nn_conv_spec *s, const weir_array_desc *d,
                               weir_conv_spec *conv)
{
  const int dims = d->rank - 2;
  weir_param_spec w = {.rank = d->rank,
                       .init = nn_init_or(s->weight, WEIR_INIT_GLOROT_UNIFORM),
                       .decay = !s->no_decay};

  *conv = s->conv;
  for (int k = 0; k < dims; k++) {
    w.shape[k] = weir_or_one(s->kernel_size[k]);
    if (s->padding != WEIR_NN_GIVEN) {
      pad(s, k, d->shape[k + 1], conv);
    }
  }
  w.shape[dims] = d->shape[dims + 1] / weir_or_one(s->conv.groups);
  w.shape[dims + 1] = s->filters;
  return w;
}

weir_value weir_nn_conv_at(weir_net *net, const char *name, const weir_nn_conv_spec *spec,
                           weir_value x, const char *where)
{
  weir_value y = WEIR_NO_VALUE;

  weir_net_push(net, name);
  if (nn_conv_check(net, "conv", spec, x, where)) {
    weir_conv_spec conv;
    const weir_param_spec w = nn_conv_weight(spec, weir_value_desc(net->graph, x), &conv);

    y = weir_conv_at(net->graph, &conv, x, weir_param_at(net, "weight", &w, where), where);
    y = nn_conv_finish(net, spec, y, 0, where);
  }
  weir_net_pop(net);
  return y;
}

/* The weights of a position, for every position; *fits is false where there is none. A fan is that
 * of one position. */
static weir_param_spec with_positions(const weir_nn_conv_spec *s, const weir_array_desc *d,
                                      const weir_param_spec *one, const weir_conv_spec *conv,
                                      bool *fits)
{
  const int dims = d->rank - 2;
  weir_param_spec w = *one;
  int64_t window_size = 1;

  *fits = true;
  for (int k = 0; k < dims; k++) {
    const int64_t range =
        d->shape[k + 1] + conv->pad_before[k] + conv->pad_after[k] - reach_of(s, k);

    *fits = *fits && range >= 0;
    w.shape[k] = range / weir_or_one(s->conv.stride[k]) + 1;
    window_size *= one->shape[k];
  }
  memcpy(w.shape + dims, one->shape, (size_t)one->rank * sizeof *w.shape);
  w.rank += dims;
  w.init.fan_in = w.init.fan_in > 0 ? w.init.fan_in : window_size * one->shape[dims];
  w.init.fan_out = w.init.fan_out > 0 ? w.init.fan_out : window_size * one->shape[dims + 1];
  return w;
}

static weir_value local(weir_net *net, const weir_nn_conv_spec *s, weir_value x, const char *where)
{
  const weir_array_desc *d = weir_value_desc(net->graph, x);
  weir_conv_spec conv;
  bool fits;
  const weir_param_spec one = nn_conv_weight(s, d, &conv);
  const weir_param_spec w = with_positions(s, d, &one, &conv, &fits);

  if (!fits) {
    return nn_fail(net, where,
                   "local: the kernel is larger than the padded input: increase the padding");
  }
  const int n_spatial = d->rank - 2;
  const weir_value y = weir_locally_connected_at(net->graph, &conv, x,
                                                 weir_param_at(net, "weight", &w, where), where);

  return nn_conv_finish(net, s, y, n_spatial, where);
}

weir_value weir_nn_local_at(weir_net *net, const char *name, const weir_nn_conv_spec *spec,
                            weir_value x, const char *where)
{
  weir_value y = WEIR_NO_VALUE;

  weir_net_push(net, name);
  if (nn_conv_check(net, "local", spec, x, where)) {
    y = local(net, spec, x, where);
  }
  weir_net_pop(net);
  return y;
}
