/* inception.c - the network for the standard deviation of deep-weather (RESNET2D.py), as its code
 * has it. */
#include "nn/weir_inception.h"
#include <stdio.h>
#include "ops/concat/weir_concat.h"
#include "ops/slice/weir_slice.h"

enum { NAME = 32, PATHS = 4, HEAD = 8, TAIL = 4 };

const weir_opt weir_inception_options[] = {
    WEIR_OPT_ENUM(weir_inception_opts, preset, WEIR_INCEPTION_LITE, "tiny|lite|paper",
                  "size preset (base and blocks): tiny: 4 and 2 (tests); lite: 16 and 4 (CPU); "
                  "paper: 64 and 10 (RESNET2D of arXiv:2005.08748, GPU)"),
    WEIR_OPT_INT(weir_inception_opts, base, 0, 0, 4096, "1",
                 "filters of the first block; 0: value of the preset"),
    WEIR_OPT_INT(weir_inception_opts, blocks, 0, 0, 64, "1",
                 "number of blocks of parallel convolutions; 0: value of the preset"),
    WEIR_OPT_INT(weir_inception_opts, growth, 4, 0, 1024, "1",
                 "increase of filters from block to block"),
    WEIR_OPT_INT(weir_inception_opts, paths, 3, 1, PATHS, "1",
                 "number of parallel convolutions: kernel sizes 3, 5, 7 and 9"),
    WEIR_OPT_INT(weir_inception_opts, control, 21, 0, 4096, "1",
                 "number of leading input channels that hold the control run; 0: none"),
    WEIR_OPT_INT(
        weir_inception_opts, squeeze, 3, 1, 1024, "1",
        "channels to which the control run is reduced before it is concatenated with the others"),
    WEIR_OPT_INT(weir_inception_opts, carry, -1, -1, 4096, "1",
                 "input channel that is passed to the last convolution: raw ensemble spread of the "
                 "predictand; -1: the last"),
    WEIR_OPT_TABLE(weir_inception_opts, block, weir_nn_conv_block_options,
                   "normalisation and activation after the convolutions"),
    WEIR_OPT_TABLE(weir_inception_opts, border, weir_nn_border_options,
                   "padding by spatial dimension; z, y, x are the last three"),
    WEIR_OPT_END,
};

/* Context of the blocks of one network. */
typedef struct inception {
  weir_net *net;
  const weir_inception_opts *opts;
  int dims;
} inception;

static weir_value refuse(const inception *n, const char *why, int64_t is)
{
  return weir_graph_fail(
      n->net->graph, weir_fail(WEIR_ERR_SHAPE, "inception: %s (here %lld)", why, (long long)is));
}

static weir_value convolve(const inception *n, const char *name, int64_t filters,
                           int64_t kernel_size, weir_value v)
{
  const weir_nn_conv_spec s =
      weir_nn_same(&n->opts->block, &n->opts->border, n->dims, filters, kernel_size);

  return weir_nn_conv(n->net, name, &s, v);
}

/* A convolution of kernel size 3, normalisation and activation. */
static weir_value block(const inception *n, const char *name, int64_t filters, weir_value v)
{
  weir_net_push(n->net, name);
  v = weir_nn_norm_act(n->net, "norm", &n->opts->block, convolve(n, "conv", filters, 3, v));
  weir_net_pop(n->net);
  return v;
}

static weir_value join(const inception *n, weir_value a, weir_value b)
{
  const weir_value operands[] = {a, b};

  return weir_concat(n->net->graph, operands, 2, n->dims + 1);
}

static weir_value channels(const inception *n, weir_value x, int64_t lo, int64_t hi)
{
  return weir_slice(n->net->graph, x, n->dims + 1, lo, hi, 1);
}

/* Appends parallel convolutions of u, and a convolution of their results and u. */
static weir_value parallel(const inception *n, int64_t number, int64_t filters, weir_value u)
{
  weir_value path[PATHS];
  char name[NAME];

  (void)snprintf(name, sizeof name, "block%lld", (long long)number);
  weir_net_push(n->net, name);
  for (int64_t k = 0; k < n->opts->paths; k++) {
    (void)snprintf(name, sizeof name, "conv%lld", (long long)(2 * k + 3));
    path[k] = convolve(n, name, filters, 2 * k + 3, u);
  }
  weir_value v = weir_concat(n->net->graph, path, (int)n->opts->paths, n->dims + 1);

  v = weir_nn_norm_act(n->net, "norm", &n->opts->block, v);
  v = convolve(n, "mix", filters, 1, join(n, v, u));
  weir_net_pop(n->net);
  return v;
}

/* The control's channels become few, and follow the others. */
static weir_value inputs(const inception *n, int64_t count, weir_value x)
{
  const int64_t control = n->opts->control;

  if (control == 0) {
    return x;
  }
  return join(n, channels(n, x, control, count),
              block(n, "control", n->opts->squeeze, channels(n, x, 0, control)));
}

weir_value weir_inception(weir_net *net, const weir_inception_opts *opts, int64_t outputs,
                          weir_value x)
{
  static const int64_t bases[] = {4, 16, 64}, counts[] = {2, 4, 10};
  const weir_array_desc *in = weir_value_desc(net->graph, x);
  const int64_t base = opts->base > 0 ? opts->base : bases[opts->preset];
  const int64_t blocks = opts->blocks > 0 ? opts->blocks : counts[opts->preset];
  inception n = {.net = net, .opts = opts};

  if (in == NULL) {
    return WEIR_NO_VALUE;
  }
  if (in->rank < 3 || in->rank > WEIR_CONV_DIMS + 2) {
    return refuse(&n, "the input is [n, 1 to 3 dimensions, channels]; dimensions", in->rank);
  }
  n.dims = in->rank - 2;
  const int64_t count = in->shape[n.dims + 1];
  const int64_t carry = opts->carry >= 0 ? opts->carry : count - 1;

  if (opts->control >= count || carry >= count) {
    return refuse(
        &n, "the input needs channels besides those of the control run and the carried one", count);
  }
  const weir_value x0 = inputs(&n, count, x), first = block(&n, "first", base, x0);
  weir_value h = first;

  for (int64_t i = 0; i < blocks; i++) {
    h = parallel(&n, i + 1, base + opts->growth * i, join(&n, h, x0));
  }
  h = block(&n, "last", HEAD, join(&n, first, h));
  h = convolve(&n, "tail", TAIL, 1, h);
  return convolve(&n, "head", outputs, 1, join(&n, h, channels(&n, x, carry, carry + 1)));
}
