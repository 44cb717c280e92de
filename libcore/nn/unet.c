/* unet.c - down, across and up again, made of layers. */
#include "nn/weir_unet.h"
#include <stdio.h>
#include "nn/weir_resize.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/slice/weir_slice.h"

enum { DIMS = WEIR_CONV_DIMS, LEVELS = 8, NAME = 32 };

static const weir_opt axis_options[] = {
    WEIR_OPT_INT(weir_unet_axis, kernel, 3, 1, 15, "1",
                 "kernel size of the convolutions of blocks"),
    WEIR_OPT_INT(weir_unet_axis, pool, 2, 1, 8, "1", "window size and stride of pooling"),
    WEIR_OPT_INT(weir_unet_axis, up, 0, 0, 15, "1",
                 "kernel size of the convolution after an interpolation; 0: as kernel"),
    WEIR_OPT_END,
};

const weir_opt weir_unet_options[] = {
    WEIR_OPT_ENUM(weir_unet_opts, preset, WEIR_UNET_LITE, "tiny|lite|paper",
                  "size preset (levels and base): tiny: 1 and 4 (tests); lite: 2 and 16 (CPU); "
                  "paper: 3 and 32 (UNET3 of arXiv:2005.08748, GPU)"),
    WEIR_OPT_INT(weir_unet_opts, levels, -1, -1, LEVELS, "1",
                 "number of pooling levels; -1: value of the preset"),
    WEIR_OPT_INT(weir_unet_opts, base, 0, 0, 4096, "1",
                 "filters of the first convolution; 0: value of the preset"),
    WEIR_OPT_INT(weir_unet_opts, filter_factor, 2, 1, 8, "1",
                 "ratio of the number of filters from level to level", .alias = "growth"),
    WEIR_OPT_INT(weir_unet_opts, max_filters, 65536, 1, 65536, "1",
                 "maximum number of filters of a convolution", .alias = "most"),
    WEIR_OPT_INT(weir_unet_opts, convs, 2, 1, 8, "1", "convolutions per block"),
    WEIR_OPT_INT(weir_unet_opts, bottleneck_convs, 0, 0, 16, "1",
                 "convolutions of the bottleneck block; 0: as convs", .alias = "bottom_convs"),
    WEIR_OPT_ENUM(
        weir_unet_opts, widen, WEIR_UNET_WIDEN_SECOND, "second|first",
        "encoder widening: second: the second convolution of a block has twice the filters of the "
        "first; first: all convolutions of a block have the same number (Ronneberger et al. 2015)"),
    WEIR_OPT_ENUM(
        weir_unet_opts, form, WEIR_UNET_FULL, "full|separable|affine",
        "convolutions of blocks over z, y and x: full: one kernel; separable: one of y and x, then "
        "one of z; affine: one of y and x for every z, then a scale and an offset for every z and "
        "filter (arXiv:1911.00630)"),
    WEIR_OPT_BOOL(weir_unet_opts, narrow, false,
                  "last convolution before upsampling with the filters of the level above"),
    WEIR_OPT_ENUM(weir_unet_opts, upsampling, WEIR_UNET_UP_LINEAR, "linear|nearest|transposed",
                  "upsampling: linear interpolation, nearest neighbour, or transposed convolution "
                  "with kernel size and stride of the pool",
                  .alias = "up"),
    WEIR_OPT_BOOL(weir_unet_opts, up_conv, true, "convolution after an interpolation"),
    WEIR_OPT_ENUM(weir_unet_opts, skip, WEIR_UNET_CONCAT, "concat|sum",
                  "skip connection: concatenation of channels, or sum", .alias = "join"),
    WEIR_OPT_BOOL(weir_unet_opts, residual, false,
                  "residual learning: the last input channels, as many as there are outputs, are "
                  "added to the outputs, so that the network learns a correction of the forecast"),
    WEIR_OPT_INT(weir_unet_opts, locally_connected, 0, 0, 1024, "1",
                 "channels of a locally connected last layer, with separate weights for every "
                 "position, initialised to 0 (arXiv:2005.08748: 7); 0: none",
                 .alias = "local"),
    WEIR_OPT_INT(weir_unet_opts, head_kernel, 1, 1, 15, "1",
                 "kernel size, in every dimension, of the output convolution"),
    WEIR_OPT_TABLE(weir_unet_opts, block, weir_nn_conv_block_options,
                   "normalisation and activation after each convolution of a block"),
    WEIR_OPT_TABLE(weir_unet_opts, border, weir_nn_border_options,
                   "padding by spatial dimension; z, y, x are the last three"),
    WEIR_OPT_TABLE(weir_unet_opts, z, axis_options, "first of three spatial dimensions"),
    WEIR_OPT_TABLE(weir_unet_opts, y, axis_options, "last but one spatial dimension"),
    WEIR_OPT_TABLE(weir_unet_opts, x, axis_options, "last spatial dimension"),
    WEIR_OPT_END,
};

/* Context of the layers of one network. */
typedef struct unet {
  weir_net *net;
  const weir_unet_opts *opts;
  int dims;
  weir_unet_axis axis[DIMS]; /* of the dimensions of space of x, in order */
  int64_t levels, base;
} unet;

static weir_value refuse(weir_net *net, const char *why, int64_t is)
{
  return weir_graph_fail(net->graph,
                         weir_fail(WEIR_ERR_SHAPE, "unet: %s (here %lld)", why, (long long)is));
}

/* Filters of the widest convolutions of level l. */
static int64_t width(const unet *u, int64_t l)
{
  int64_t n = u->base * (u->opts->widen == WEIR_UNET_WIDEN_SECOND ? 2 : 1);

  for (int64_t i = 0; i < l && n < u->opts->max_filters; i++) {
    n *= u->opts->filter_factor;
  }
  return n < u->opts->max_filters ? n : u->opts->max_filters;
}

/* A convolution that keeps the size; kernel_size NULL: one. */
static weir_nn_conv_spec same_size(const unet *u, int64_t filters, const int64_t *kernel_size)
{
  weir_nn_conv_spec s = weir_nn_same(&u->opts->block, &u->opts->border, u->dims, filters, 1);

  for (int d = 0; d < u->dims && kernel_size != NULL; d++) {
    s.kernel_size[d] = kernel_size[d];
  }
  return s;
}

/* A convolution along z alone. */
static weir_value convolve_z(const unet *u, int64_t number, int64_t filters, weir_value v)
{
  const int64_t kernel_size[DIMS] = {u->axis[0].kernel, 1, 1};
  const weir_nn_conv_spec s = same_size(u, filters, kernel_size);
  char name[NAME];

  (void)snprintf(name, sizeof name, "conv%lldz", (long long)number);
  return weir_nn_conv(u->net, name, &s, v);
}

/* A scale and an offset for every z and filter. */
static weir_value rescale(const unet *u, int64_t number, int64_t filters, weir_value v)
{
  const weir_array_desc *const d = weir_value_desc(u->net->graph, v);
  char name[NAME];

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  weir_param_spec spec = {.rank = DIMS + 1,
                          .shape = {d->shape[1], 1, 1, filters},
                          .init = {.kind = WEIR_INIT_CONSTANT, .value = 1}};

  (void)snprintf(name, sizeof name, "affine%lld", (long long)number);
  weir_net_push(u->net, name);
  v = weir_mul(u->net->graph, v, weir_param(u->net, "scale", &spec));
  spec.init = (weir_init){.kind = WEIR_INIT_ZEROS};
  v = weir_add(u->net->graph, v, weir_param(u->net, "offset", &spec));
  weir_net_pop(u->net);
  return v;
}

/* Kernel sizes of blocks: those of forms other than full have 1 along z. */
static void kernel_sizes(const unet *u, int64_t kernel_size[DIMS])
{
  for (int d = 0; d < u->dims; d++) {
    kernel_size[d] = d == 0 && u->opts->form != WEIR_UNET_FULL ? 1 : u->axis[d].kernel;
  }
}

/* Convolution, normalisation, activation. */
static weir_value convolve(const unet *u, int64_t number, int64_t filters, weir_value v)
{
  char conv[NAME], norm[NAME];
  int64_t kernel_size[DIMS] = {0};

  kernel_sizes(u, kernel_size);
  (void)snprintf(conv, sizeof conv, "conv%lld", (long long)number);
  (void)snprintf(norm, sizeof norm, "norm%lld", (long long)number);
  const weir_nn_conv_spec s = same_size(u, filters, kernel_size);

  v = weir_nn_conv(u->net, conv, &s, v);
  if (u->opts->form == WEIR_UNET_SEPARABLE) {
    v = convolve_z(u, number, filters, v);
  } else if (u->opts->form == WEIR_UNET_AFFINE) {
    v = rescale(u, number, filters, v);
  }
  return weir_nn_norm_act(u->net, norm, &u->opts->block, v);
}

/* A block on the way down, or the lowest one. */
static weir_value block_down(const unet *u, int64_t l, weir_value v)
{
  const bool bottom = l == u->levels;
  const int64_t n =
      bottom && u->opts->bottleneck_convs > 0 ? u->opts->bottleneck_convs : u->opts->convs;
  const int64_t wide = width(u, l);
  const bool first_half = u->opts->widen == WEIR_UNET_WIDEN_SECOND && n > 1;

  for (int64_t i = 0; i < n; i++) {
    const bool narrows = u->opts->narrow && bottom && l > 0 && i == n - 1;
    const int64_t half = wide > 1 ? wide / 2 : 1;

    v = convolve(u, i + 1, narrows ? width(u, l - 1) : first_half && i == 0 ? half : wide, v);
  }
  return v;
}

/* A block on the way up. */
static weir_value block_up(const unet *u, int64_t l, weir_value v)
{
  for (int64_t i = 0; i < u->opts->convs; i++) {
    const bool narrows = u->opts->narrow && l > 0 && i == u->opts->convs - 1;

    v = convolve(u, i + 1, width(u, narrows ? l - 1 : l), v);
  }
  return v;
}

/* Labels what has no parameters. */
static weir_value named(const unet *u, const char *name, weir_value v)
{
  char scoped[WEIR_NET_NAME];

  return v.node >= 0 && weir_net_name(u->net, name, scoped) ? weir_label(u->net->graph, v, scoped)
                                                            : v;
}

static weir_value shrink(const unet *u, weir_value v)
{
  weir_pool_spec s = {.combine = WEIR_COMBINE_MAX};

  for (int d = 0; d < u->dims; d++) {
    s.kernel_size[d] = u->axis[d].pool;
  }
  return named(u, "pool", weir_pool_max(u->net->graph, &s, v));
}

/* Interpolation or repetition to the extents of `goal`; a longitude has no ends. */
static weir_nn_resize_spec resize(const unet *u, const weir_array_desc *goal)
{
  const bool linear = u->opts->upsampling == WEIR_UNET_UP_LINEAR;
  weir_nn_resize_spec s = {.method = linear ? WEIR_NN_LINEAR : WEIR_NN_NEAREST};

  for (int d = 0; d < u->dims; d++) {
    const weir_border border = weir_nn_border_of(&u->opts->border, u->dims, d);

    s.size[d] = goal->shape[d + 1];
    s.border[d] = border == WEIR_BORDER_WRAP ? WEIR_BORDER_WRAP : WEIR_BORDER_NEVER;
  }
  return s;
}

/* A transposed convolution whose kernel size and stride are those of the pool. */
static weir_value transpose(const unet *u, int64_t filters, weir_value v, weir_value skip)
{
  const weir_array_desc *have = weir_value_desc(u->net->graph, v);
  const weir_array_desc *goal = weir_value_desc(u->net->graph, skip);
  weir_nn_conv_spec s = same_size(u, filters, NULL);

  for (int d = 0; d < u->dims; d++) {
    const int64_t pool = u->axis[d].pool;

    if (have->shape[d + 1] * pool != goal->shape[d + 1]) {
      return refuse(u->net,
                    "a transposed convolution needs extents divisible by the pooling factors",
                    goal->shape[d + 1]);
    }
    s.kernel_size[d] = s.conv.stride[d] = pool;
    s.conv.border[d] = WEIR_BORDER_ZERO;
  }
  s.padding = WEIR_NN_VALID;
  return weir_nn_conv_transposed(u->net, "up", &s, v);
}

/* To the extents of `skip`; filters: as v has, or, where the two are added, as skip has. */
static weir_value enlarge(const unet *u, weir_value v, weir_value skip)
{
  const weir_array_desc *have = weir_value_desc(u->net->graph, v);
  const weir_array_desc *like = weir_value_desc(u->net->graph, skip);
  int64_t kernel_size[DIMS] = {0};

  if (have == NULL || like == NULL) {
    return WEIR_NO_VALUE;
  }
  const int last = u->dims + 1;
  const int64_t filters = u->opts->skip == WEIR_UNET_SUM ? like->shape[last] : have->shape[last];

  kernel_sizes(u, kernel_size);
  if (u->opts->upsampling == WEIR_UNET_UP_TRANSPOSED) {
    return transpose(u, filters, v, skip);
  }
  for (int d = 0; d < u->dims; d++) {
    kernel_size[d] = u->axis[d].up > 0 ? u->axis[d].up : kernel_size[d];
  }
  const weir_nn_resize_spec larger = resize(u, like);

  if (!u->opts->up_conv) {
    return weir_nn_resize(u->net->graph, &larger, v);
  }
  const weir_nn_conv_spec s = same_size(u, filters, kernel_size);

  return weir_nn_resize_conv(u->net, "up", &larger, &s, v);
}

/* A level's way up: enlarged, joined with the skip, convolved. */
static weir_value rise(const unet *u, int64_t l, weir_value v, weir_value skip)
{
  v = enlarge(u, v, skip);
  if (u->opts->skip == WEIR_UNET_SUM) {
    v = weir_add(u->net->graph, skip, v);
  } else {
    const weir_value operands[] = {skip, v};

    v = named(u, "join", weir_concat(u->net->graph, operands, 2, u->dims + 1));
  }
  return block_up(u, l, v);
}

/* Names what follows "enc2" or the like. */
static void enter(const unet *u, const char *section, int64_t l)
{
  char name[NAME];

  (void)snprintf(name, sizeof name, l < 0 ? "%s" : "%s%lld", section, (long long)l);
  weir_net_push(u->net, name);
}

/* Down to the lowest block and up again. */
static weir_value body(const unet *u, weir_value v)
{
  weir_value skip[LEVELS];

  for (int64_t l = 0; l < u->levels; l++) {
    enter(u, "enc", l);
    skip[l] = v = block_down(u, l, v);
    v = shrink(u, v);
    weir_net_pop(u->net);
  }
  enter(u, "bottom", -1);
  v = block_down(u, u->levels, v);
  weir_net_pop(u->net);
  for (int64_t l = u->levels - 1; l >= 0; l--) {
    enter(u, "dec", l);
    v = rise(u, l, v, skip[l]);
    weir_net_pop(u->net);
  }
  return v;
}

/* A convolution to the outputs; or, with `local`, to that many channels, then a linear map to the
 * outputs with separate weights at every position, times a gain. */
static weir_value head(const unet *u, int64_t outputs, weir_value v)
{
  const int64_t local = u->opts->locally_connected, k = u->opts->head_kernel,
                kernel_size[DIMS] = {k, k, k};
  const weir_nn_conv_spec s = same_size(u, local > 0 ? local : outputs, kernel_size);
  const weir_nn_conv_spec own = {
      .filters = outputs, .weight = {.kind = WEIR_INIT_ZEROS}, .bias = {.kind = WEIR_INIT_ZEROS}};
  const weir_param_spec gain = {
      .rank = 1, .shape = {outputs}, .init = {.kind = WEIR_INIT_CONSTANT, .value = 1}};

  v = weir_nn_conv(u->net, "head", &s, v);
  if (local == 0) {
    return v;
  }
  v = weir_nn_local(u->net, "local", &own, v);
  return weir_mul(u->net->graph, v, weir_param(u->net, "gain", &gain));
}

/* The last `outputs` channels of x are added. */
static weir_value add_input(const unet *u, int64_t outputs, weir_value x, weir_value v)
{
  const int last = u->dims + 1;
  const int64_t channels = weir_value_desc(u->net->graph, x)->shape[last];

  if (channels < outputs) {
    return refuse(u->net, "residual needs at least as many input channels as outputs", channels);
  }
  return weir_add(u->net->graph, v,
                  weir_slice(u->net->graph, x, last, channels - outputs, channels, 1));
}

weir_value weir_unet(weir_net *net, const weir_unet_opts *opts, int64_t outputs, weir_value x)
{
  static const struct {
    int64_t levels, base;
  } presets[] = {{1, 4}, {2, 16}, {3, 32}};
  const weir_unet_axis axes[DIMS] = {opts->z, opts->y, opts->x};
  const weir_array_desc *in = weir_value_desc(net->graph, x);
  unet u = {.net = net,
            .opts = opts,
            .levels = opts->levels >= 0 ? opts->levels : presets[opts->preset].levels,
            .base = opts->base > 0 ? opts->base : presets[opts->preset].base};

  if (in == NULL) {
    return WEIR_NO_VALUE;
  }
  if (in->rank < 3 || in->rank > DIMS + 2) {
    return refuse(net, "the input is [n, 1 to 3 dimensions, channels]; dimensions", in->rank);
  }
  if (opts->form != WEIR_UNET_FULL && in->rank < DIMS + 2) {
    return refuse(net, "form separable or affine needs three spatial dimensions", in->rank - 2);
  }
  u.dims = in->rank - 2;
  for (int d = 0; d < u.dims; d++) {
    u.axis[d] = axes[DIMS - u.dims + d];
  }
  const weir_value v = head(&u, outputs, body(&u, x));

  return opts->residual && v.node >= 0 ? add_input(&u, outputs, x, v) : v;
}
