/* transposed.c - the adjoint of a strided convolution as a layer. */
#include "nn/nn_priv.h"
#include "nn/weir_resize.h"
#include "ops/conv_transposed/weir_conv_transposed.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/transpose/weir_transpose.h"

/* Finds the padding of dimension k; false where the layer has no such
 * border. */
static bool fit(const weir_nn_conv_spec *spec, int k, weir_conv_transposed_spec *to)
{
  const weir_conv_spec *conv = &spec->conv;
  const int64_t stride = weir_or_one(conv->stride[k]);
  const int64_t reach =
      weir_or_one(conv->dilation[k]) * (weir_or_one(spec->kernel_size[k]) - 1) + 1;
  const int64_t over = reach - stride;
  const bool same = spec->padding == WEIR_NN_SAME, given = spec->padding == WEIR_NN_GIVEN;
  const weir_border b = conv->border[k];

  to->stride[k] = stride;
  to->dilation[k] = conv->dilation[k];
  to->border[k] = b;
  to->pad_before[k] = given ? conv->pad_before[k] : same && over > 0 ? over / 2 : 0;
  to->pad_after[k] = given ? conv->pad_after[k] : same && over > 0 ? over - over / 2 : 0;
  to->output_padding[k] = same && over < 0 ? -over : 0;
  return b == WEIR_BORDER_NEVER || b == WEIR_BORDER_ZERO || (b == WEIR_BORDER_WRAP && same);
}

/* [kernel size.., channels / groups, filters] as the operator has it: [kernel size.., filters /
 * groups, channels].
 */
static weir_value permuted_weight(weir_graph *g, const weir_param_spec *weight, int64_t groups,
                                  weir_value w, const char *where)
{
  const int dims = weight->rank - 2;
  const int64_t in = weight->shape[dims], filters = weight->shape[dims + 1];
  weir_reshape_spec apart = {.rank = dims + 3}, back = {.rank = dims + 2};
  weir_transpose_spec turned;

  for (int k = 0; k < dims; k++) {
    apart.shape[k] = back.shape[k] = weight->shape[k];
    turned.order[k] = k;
  }
  apart.shape[dims] = in;
  apart.shape[dims + 1] = groups;
  apart.shape[dims + 2] = filters / groups;
  turned.order[dims] = dims + 2;
  turned.order[dims + 1] = dims + 1;
  turned.order[dims + 2] = dims;
  back.shape[dims] = filters / groups;
  back.shape[dims + 1] = groups * in;
  w = weir_transpose_at(g, weir_reshape_at(g, w, &apart, where), &turned, where);
  return weir_reshape_at(g, w, &back, where);
}

static weir_value transposed(weir_net *net, const weir_nn_conv_spec *spec, weir_value x,
                             const char *where)
{
  weir_conv_transposed_spec to = {.groups = weir_or_one(spec->conv.groups)};

  if (!nn_conv_check(net, "transposed", spec, x, where)) {
    return WEIR_NO_VALUE;
  }
  const weir_array_desc *d = weir_value_desc(net->graph, x);
  const int dims = d->rank - 2;
  weir_param_spec weight = {.rank = dims + 2,
                            .init = nn_init_or(spec->weight, WEIR_INIT_GLOROT_UNIFORM),
                            .decay = !spec->no_decay};

  for (int k = 0; k < dims; k++) {
    weight.shape[k] = weir_or_one(spec->kernel_size[k]);
    if (!fit(spec, k, &to)) {
      return nn_fail(net, where, "transposed: padding must be zero or, with `same`, wrap");
    }
  }
  weight.shape[dims] = d->shape[dims + 1] / to.groups;
  weight.shape[dims + 1] = spec->filters;
  const weir_value w = weir_param_at(net, "weight", &weight, where);
  const weir_value y = weir_conv_transposed_at(
      net->graph, &to, x, permuted_weight(net->graph, &weight, to.groups, w, where), where);

  return nn_conv_finish(net, spec, y, 0, where);
}

weir_value weir_nn_conv_transposed_at(weir_net *net, const char *name,
                                      const weir_nn_conv_spec *spec, weir_value x,
                                      const char *where)
{
  weir_net_push(net, name);
  const weir_value y = transposed(net, spec, x, where);

  weir_net_pop(net);
  return y;
}
