/* conv.c - y = activation(conv(x, weight) + bias). */
#include "nn/nn_priv.h"
#include "nn/weir_layer.h"
#include "ops/elementwise/weir_elementwise.h"

static int64_t or_one(int64_t x)
{
  return x == 0 ? 1 : x;
}

/* Padding of dimension k, which has `extent` elements. */
static void pad(const weir_nn_conv_spec *s, int k, int64_t extent, weir_conv_spec *conv)
{
  const int64_t stride = or_one(s->conv.stride[k]), dilation = or_one(s->conv.dilation[k]);
  const int64_t reach = dilation * (or_one(s->taps[k]) - 1) + 1;
  const int64_t out = (extent + stride - 1) / stride;
  const int64_t total = (out - 1) * stride + reach - extent;

  conv->lo[k] = s->padding == WEIR_NN_SAME && total > 0 ? total / 2 : 0;
  conv->hi[k] = s->padding == WEIR_NN_SAME && total > 0 ? total - total / 2 : 0;
}

/* Scalars of the spec that weir_conv does not judge. */
static bool is_possible(const weir_nn_conv_spec *s, int dims)
{
  bool good = s->filters >= 1 && s->filters < WEIR_UNBOUNDED &&
              (unsigned)s->padding <= WEIR_NN_GIVEN && s->conv.groups >= 0;

  for (int k = 0; good && k < dims; k++) {
    const int64_t most = INT64_C(1) << 20;

    good = s->taps[k] >= 0 && s->taps[k] <= most && s->conv.stride[k] >= 0 &&
           s->conv.stride[k] <= most && s->conv.dilation[k] >= 0 && s->conv.dilation[k] <= most;
  }
  return good;
}

static weir_value conv(weir_net *net, const weir_nn_conv_spec *s, weir_value x, const char *where)
{
  const weir_array_desc *d = weir_value_desc(net->graph, x);
  const int dims = d != NULL ? d->rank - 2 : -1;

  if (dims < 1 || dims > WEIR_CONV_DIMS || d->time > 0 || !is_possible(s, dims)) {
    return nn_fail(net, where,
                   "conv: %lld filters on an input of rank %d; takes [n, 1 to %d dimensions, "
                   "channels], and counts that are not negative",
                   (long long)s->filters, dims + 2, WEIR_CONV_DIMS);
  }
  const int64_t channels = d->shape[dims + 1], groups = or_one(s->conv.groups);
  weir_conv_spec spec = s->conv;
  weir_param_spec weight = {
      .rank = dims + 2, .init = nn_init_or(s->weight, WEIR_INIT_GLOROT_UNIFORM), .decay = true};

  if (channels % groups != 0 || s->filters % groups != 0) {
    return nn_fail(net, where, "conv: %lld groups of %lld channels in and %lld filters",
                   (long long)groups, (long long)channels, (long long)s->filters);
  }
  for (int k = 0; k < dims; k++) {
    weight.shape[k] = or_one(s->taps[k]);
    if (s->padding != WEIR_NN_GIVEN) {
      pad(s, k, d->shape[k + 1], &spec);
    }
  }
  weight.shape[dims] = channels / groups;
  weight.shape[dims + 1] = s->filters;
  weir_value y =
      weir_conv_at(net->graph, &spec, x, weir_param_at(net, "weight", &weight, where), where);

  if (!s->no_bias) {
    const weir_value bias =
        nn_vector(net, "bias", s->filters, nn_init_or(s->bias, WEIR_INIT_ZEROS), where);

    y = weir_binary_at(net->graph, WEIR_CODE_ADD, y, bias, where);
  }
  return nn_label(net, weir_activation_at(net->graph, &s->activation, y, where));
}

weir_value weir_nn_conv_at(weir_net *net, const char *name, const weir_nn_conv_spec *spec,
                           weir_value x, const char *where)
{
  weir_net_push(net, name);
  const weir_value y = conv(net, spec, x, where);

  weir_net_pop(net);
  return y;
}
