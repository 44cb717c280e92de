/* conv_block.c - the layers of a block, with the options that a network's blocks share. */
#include "nn/weir_conv_block.h"

const weir_opt weir_nn_conv_block_options[] = {
    WEIR_OPT_ENUM(weir_nn_conv_block_opts, norm, WEIR_NORM_GROUP, WEIR_NORM_CHOICES,
                  "normalisation between convolution and activation; group is independent of the "
                  "rest of the batch"),
    WEIR_OPT_INT(weir_nn_conv_block_opts, groups, 8, 1, 1024, "1",
                 "channel groups of norm = group; reduced where they do not divide the channels"),
    WEIR_OPT_REAL(weir_nn_conv_block_opts, epsilon, 1e-5, 1e-12, 1, "1",
                  "term added to the variance in the denominator of norm"),
    WEIR_OPT_REAL(weir_nn_conv_block_opts, momentum, 0.1, 1e-6, 1, "1",
                  "weight of the current batch in the running statistics of norm = batch"),
    WEIR_OPT_ONE_OF(weir_nn_conv_block_opts, activation, weir_activation_list,
                    "activation after the normalisation; empty: relu"),
    WEIR_OPT_ENUM(weir_nn_conv_block_opts, init, WEIR_INIT_DEFAULT, WEIR_INIT_CHOICES,
                  "weight initialisation of convolutions; default: glorot_uniform"),
    WEIR_OPT_BOOL(weir_nn_conv_block_opts, bias, true, "convolutions with bias"),
    WEIR_OPT_END,
};

#define BORDER_HELP \
  "padding of convolutions at the boundary: wrap for longitude, replicate for latitude"

const weir_opt weir_nn_border_options[] = {
    WEIR_OPT_ENUM(weir_nn_borders, z, 0, WEIR_NN_BORDER_CHOICES, BORDER_HELP),
    WEIR_OPT_ENUM(weir_nn_borders, y, 0, WEIR_NN_BORDER_CHOICES, BORDER_HELP),
    WEIR_OPT_ENUM(weir_nn_borders, x, 0, WEIR_NN_BORDER_CHOICES, BORDER_HELP),
    WEIR_OPT_END,
};

weir_border weir_nn_border_of(const weir_nn_borders *b, int dims, int d)
{
  static const weir_border borders[] = {WEIR_BORDER_ZERO, WEIR_BORDER_WRAP, WEIR_BORDER_REPLICATE,
                                        WEIR_BORDER_REFLECT};
  const int all[WEIR_CONV_DIMS] = {b->z, b->y, b->x};

  return borders[all[WEIR_CONV_DIMS - dims + d]];
}

weir_nn_conv_spec weir_nn_same(const weir_nn_conv_block_opts *o, const weir_nn_borders *b, int dims,
                               int64_t filters, int64_t kernel_size)
{
  weir_nn_conv_spec s = {
      .filters = filters, .no_bias = !o->bias, .weight = {.kind = (weir_init_kind)o->init}};

  for (int d = 0; d < dims; d++) {
    s.kernel_size[d] = kernel_size;
    s.conv.border[d] = weir_nn_border_of(b, dims, d);
  }
  return s;
}

weir_value weir_nn_norm_act(weir_net *net, const char *name, const weir_nn_conv_block_opts *o,
                            weir_value v)
{
  const weir_array_desc *d = weir_value_desc(net->graph, v);
  weir_nn_norm_spec s = {.kind = (weir_norm_kind)o->norm,
                         .epsilon = o->epsilon,
                         .momentum = o->momentum,
                         .groups = o->groups,
                         .activation = {.kind = WEIR_ACTIVATION_RELU}};

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const int64_t channels = d->shape[d->rank - 1];

  s.groups = s.groups < channels ? s.groups : channels;
  while (channels % s.groups != 0) {
    s.groups--;
  }
  if (o->activation.name != NULL) {
    s.activation = weir_activation_of(&o->activation);
  }
  return weir_nn_norm(net, name, &s, v);
}
