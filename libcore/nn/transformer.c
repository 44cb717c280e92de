/* transformer.c - patches to tokens, encoder layers, tokens to patches, made of layers. */
#include "nn/weir_transformer.h"
#include <stdio.h>
#include <string.h>
#include "nn/weir_block.h"
#include "nn/weir_resize.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/transpose/weir_transpose.h"

enum { DIMS = WEIR_CONV_DIMS, NAME = 32, TEXT = 160 };

static const weir_opt patch_options[] = {
    WEIR_OPT_INT(weir_transformer_patch, z, 1, 1, 1024, "1",
                 "grid points of a patch along the first of three dimensions"),
    WEIR_OPT_INT(weir_transformer_patch, y, 4, 1, 1024, "1",
                 "grid points of a patch along the last but one dimension"),
    WEIR_OPT_INT(weir_transformer_patch, x, 4, 1, 1024, "1",
                 "grid points of a patch along the last dimension"),
    WEIR_OPT_END,
};

const weir_opt weir_transformer_options[] = {
    WEIR_OPT_ENUM(weir_transformer_opts, preset, WEIR_TRANSFORMER_LITE, "tiny|lite|paper",
                  "size preset (width, heads and layers): tiny: 32, 2 and 2 (tests); lite: 128, 4 "
                  "and 4 (CPU); paper: 1024, 16 and 24 (BERT-large of arXiv:2007.00072, GPU)"),
    WEIR_OPT_INT(weir_transformer_opts, width, 0, 0, 65536, "1",
                 "channels of a token; 0: value of the preset"),
    WEIR_OPT_INT(weir_transformer_opts, heads, 0, 0, 1024, "1",
                 "heads of the attention, which divide the width; 0: value of the preset"),
    WEIR_OPT_INT(weir_transformer_opts, layers, 0, 0, 256, "1",
                 "number of encoder layers; 0: value of the preset"),
    WEIR_OPT_INT(weir_transformer_opts, hidden, 0, 0, 1048576, "1",
                 "units of the feed-forward part of a layer; 0: four times the width"),
    WEIR_OPT_TABLE(weir_transformer_opts, patch, patch_options,
                   "grid points that are one token; they divide the extents of the grid"),
    WEIR_OPT_ENUM(weir_transformer_opts, position, WEIR_TRANSFORMER_LEARNED, "learned|none",
                  "what tells tokens apart by position: a learned vector for each patch; or "
                  "nothing, so that only the inputs do (data.position)"),
    WEIR_OPT_BOOL(weir_transformer_opts, norm_first, true,
                  "normalisation before attention and feed-forward part (trains without warm-up) "
                  "instead of after each of them (Vaswani et al. 2017)"),
    WEIR_OPT_REAL(weir_transformer_opts, epsilon, 1e-5, 1e-12, 1, "1",
                  "term added to the variance in the denominator of the layer normalisation"),
    WEIR_OPT_REAL(weir_transformer_opts, dropout, 0.1, 0, 0.99, "1",
                  "dropout rate of tokens, of attention weights and in every layer in training"),
    WEIR_OPT_ONE_OF(weir_transformer_opts, activation, weir_activation_list,
                    "activation of the feed-forward part; empty: gelu"),
    WEIR_OPT_BOOL(weir_transformer_opts, skip, true,
                  "skip connection: the outputs are a convolution of the patches and of the "
                  "inputs, which crosses the edges of patches; false: of the patches alone"),
    WEIR_OPT_INT(weir_transformer_opts, features, 16, 1, 4096, "1",
                 "skip: channels of a grid point that the tokens make"),
    WEIR_OPT_INT(weir_transformer_opts, head_kernel, 3, 1, 15, "1",
                 "skip: kernel size, in every dimension, of the output convolution"),
    WEIR_OPT_TABLE(weir_transformer_opts, border, weir_nn_border_options,
                   "skip: padding by spatial dimension; z, y, x are the last three"),
    WEIR_OPT_END,
};

/* A network in the making. */
typedef struct transformer {
  weir_net *net;
  const weir_transformer_opts *opts;
  int dims;
  int64_t patch[DIMS], width, heads, layers, hidden, members;
} transformer;

/* Writes "1, 2, 4" of the divisors of n, as many as there is space for. */
static void list_divisors(int64_t n, char text[TEXT])
{
  size_t used = 0;

  text[0] = 0;
  for (int64_t d = 1; d <= n && used < TEXT - NAME; d++) {
    if (n % d == 0) {
      used +=
          (size_t)snprintf(text + used, TEXT - used, "%s%lld", used > 0 ? ", " : "", (long long)d);
    }
  }
}

static weir_status check(const transformer *t, const weir_array_desc *in)
{
  static const char *const axis[DIMS] = {"z", "y", "x"};
  char text[TEXT];

  for (int d = 0; d < t->dims; d++) {
    const int64_t extent = in->shape[d + 1];

    if (extent % t->patch[d] != 0) {
      list_divisors(extent, text);
      return weir_fail(WEIR_ERR_SHAPE,
                       "transformer: patches of %lld do not divide the %lld points of dimension "
                       "%s: set transformer.patch.%s to one of %s",
                       (long long)t->patch[d], (long long)extent, axis[DIMS - t->dims + d],
                       axis[DIMS - t->dims + d], text);
    }
  }
  if (t->width % t->heads != 0) {
    list_divisors(t->width, text);
    return weir_fail(WEIR_ERR_SHAPE,
                     "transformer: %lld heads do not divide the width of %lld: set "
                     "transformer.heads to one of %s, or another transformer.width",
                     (long long)t->heads, (long long)t->width, text);
  }
  return t->members == 0 || (t->members > 0 && in->shape[0] % t->members == 0)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_SHAPE,
                         "transformer: %lld inputs are not a multiple of %lld "
                         "members: give whole sets, or 0 members for no sets",
                         (long long)in->shape[0], (long long)t->members);
}

/* A convolution of patches, apart from one another, to `filters` channels; or its transpose. */
static weir_nn_conv_spec of_patches(const transformer *t, int64_t filters)
{
  weir_nn_conv_spec s = {.filters = filters, .padding = WEIR_NN_VALID};

  for (int d = 0; d < t->dims; d++) {
    s.kernel_size[d] = s.conv.stride[d] = t->patch[d];
  }
  return s;
}

/* A vector of its own is added to every token. */
static weir_value add_position(const transformer *t, weir_value v)
{
  const weir_array_desc *d = weir_value_desc(t->net->graph, v);
  weir_param_spec p = {
      .rank = 2,
      .shape = {d != NULL ? d->shape[1] : 1, t->width},
      .init = {.kind = WEIR_INIT_GLOROT_NORMAL, .gain = 0.02, .fan_in = 1, .fan_out = 1}};

  if (t->opts->position == WEIR_TRANSFORMER_NO_POSITION || d == NULL) {
    return v;
  }
  weir_net_push(t->net, "position");
  v = weir_add(t->net->graph, v, weir_param(t->net, "weight", &p));
  weir_net_pop(t->net);
  return v;
}

/* Appends [sets a, b, width], as b blocks of a rows: [sets b, a, width]. */
static weir_value exchange(const transformer *t, int64_t a, int64_t b, weir_value v)
{
  weir_graph *g = t->net->graph;
  const weir_transpose_spec order = {.order = {0, 2, 1, 3}};
  const weir_reshape_spec apart = {.rank = 4, .shape = {-1, a, b, t->width}};
  const weir_reshape_spec rows = {.rank = 3, .shape = {-1, a, t->width}};

  v = weir_transpose_at(g, weir_reshape_at(g, v, &apart, WEIR_WHERE), &order, WEIR_WHERE);
  return weir_reshape_at(g, v, &rows, WEIR_WHERE);
}

/* Tokens of the same patch attend to one another, those of a set: [n, patches, width]. */
static weir_value encode_members(const transformer *t, const char *name,
                                 const weir_nn_encoder_spec *layer, weir_value v)
{
  const weir_array_desc *d = weir_value_desc(t->net->graph, v);
  const int64_t patches = d != NULL ? d->shape[1] : 1;

  v = weir_nn_encoder(t->net, name, layer, exchange(t, t->members, patches, v));
  return exchange(t, patches, t->members, v);
}

/* Tokens [n, patches, width]. */
static weir_value encode(const transformer *t, weir_value v)
{
  weir_nn_encoder_spec layer = {.attention = {.heads = t->heads},
                                .hidden = t->hidden,
                                .activation = {.kind = WEIR_ACTIVATION_GELU},
                                .dropout = t->opts->dropout,
                                .epsilon = t->opts->epsilon,
                                .norm_first = t->opts->norm_first};
  char name[NAME];

  if (t->opts->activation.name != NULL) {
    layer.activation = weir_activation_of(&t->opts->activation);
  }
  v = weir_nn_dropout(t->net, "dropout", &(weir_nn_dropout_spec){.rate = t->opts->dropout},
                      add_position(t, v));
  for (int64_t i = 1; i <= t->layers; i++) {
    (void)snprintf(name, sizeof name, "layer%lld", (long long)i);
    v = weir_nn_encoder(t->net, name, &layer, v);
    if (t->members > 0) {
      (void)snprintf(name, sizeof name, "members%lld", (long long)i);
      v = encode_members(t, name, &layer, v);
    }
  }
  const weir_nn_norm_spec norm = {.kind = WEIR_NORM_LAYER, .epsilon = t->opts->epsilon};

  return t->opts->norm_first ? weir_nn_norm(t->net, "norm", &norm, v) : v;
}

/* What the tokens make of each grid point, and x, to the outputs. */
static weir_value head(const transformer *t, int64_t outputs, weir_value v, weir_value x)
{
  weir_nn_conv_spec s = {.filters = outputs};
  const weir_value operands[] = {v, x};

  for (int d = 0; d < t->dims; d++) {
    s.kernel_size[d] = t->opts->head_kernel;
    s.conv.border[d] = weir_nn_border_of(&t->opts->border, t->dims, d);
  }
  return weir_nn_conv(t->net, "head", &s, weir_concat(t->net->graph, operands, 2, t->dims + 1));
}

static weir_value body(const transformer *t, int64_t outputs, weir_value x)
{
  weir_graph *g = t->net->graph;
  const weir_nn_conv_spec in = of_patches(t, t->width);
  const weir_nn_conv_spec out = of_patches(t, t->opts->skip ? t->opts->features : outputs);
  weir_value v = weir_nn_conv(t->net, "patch", &in, x);
  const weir_array_desc *d = weir_value_desc(g, v);

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const weir_reshape_spec tokens = {.rank = 3, .shape = {d->shape[0], -1, t->width}};
  weir_reshape_spec grid = {.rank = d->rank};

  memcpy(grid.shape, d->shape, sizeof grid.shape);
  v = encode(t, weir_reshape_at(g, v, &tokens, WEIR_WHERE));
  v = weir_nn_conv_transposed(t->net, "unpatch", &out, weir_reshape_at(g, v, &grid, WEIR_WHERE));
  return t->opts->skip ? head(t, outputs, v, x) : v;
}

static int64_t or_preset(int64_t given, int64_t of_preset)
{
  return given > 0 ? given : of_preset;
}

weir_value weir_transformer(weir_net *net, const weir_transformer_opts *opts, int64_t members,
                            int64_t outputs, weir_value x)
{
  static const struct {
    int64_t width, heads, layers;
  } presets[] = {{32, 2, 2}, {128, 4, 4}, {1024, 16, 24}};
  const int64_t patch[DIMS] = {opts->patch.z, opts->patch.y, opts->patch.x};
  const weir_array_desc *in = weir_value_desc(net->graph, x);
  transformer t = {.net = net,
                   .opts = opts,
                   .width = or_preset(opts->width, presets[opts->preset].width),
                   .heads = or_preset(opts->heads, presets[opts->preset].heads),
                   .layers = or_preset(opts->layers, presets[opts->preset].layers),
                   .members = members};

  t.hidden = or_preset(opts->hidden, 4 * t.width);
  if (in == NULL) {
    return WEIR_NO_VALUE;
  }
  if (in->rank < 3 || in->rank > DIMS + 2) {
    return weir_graph_fail(
        net->graph, weir_fail(WEIR_ERR_SHAPE,
                              "transformer: the input is [n, 1 to 3 dimensions, channels], not of "
                              "rank %d",
                              in->rank));
  }
  t.dims = in->rank - 2;
  memcpy(t.patch, patch + DIMS - t.dims, (size_t)t.dims * sizeof *patch);
  const weir_status status = check(&t, in);

  return status == WEIR_OK ? body(&t, outputs, x) : weir_graph_fail(net->graph, status);
}
