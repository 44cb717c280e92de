/* transposed.c - the adjoint of a strided convolution as a layer. */
#include <string.h>

#include "nn/nn_priv.h"
#include "nn/weir_resize.h"
#include "ops/contract/weir_contract.h"
#include "ops/pad/weir_pad.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"
#include "ops/transpose/weir_transpose.h"

/* A transposed convolution in the making; arrays per dimension of space. */
typedef struct site {
  weir_net *net;
  weir_graph *g;
  const weir_nn_conv_spec *spec;
  const char *where;
  int dims;
  int64_t n, channels, groups;
  int64_t in[WEIR_CONV_DIMS], out[WEIR_CONV_DIMS];
  int64_t taps[WEIR_CONV_DIMS], stride[WEIR_CONV_DIMS], dilation[WEIR_CONV_DIMS];
  int64_t lo[WEIR_CONV_DIMS]; /* cut off before */
} site;

static int64_t or_one(int64_t x)
{
  return x == 0 ? 1 : x;
}

/* Fills the site; false where nothing is left of y. */
static bool measure(site *s, const weir_array_desc *d)
{
  const weir_nn_conv_spec *spec = s->spec;
  bool good = true;

  s->dims = d->rank - 2;
  s->n = d->shape[0];
  s->channels = d->shape[d->rank - 1];
  s->groups = or_one(spec->conv.groups);
  for (int k = 0; k < s->dims; k++) {
    s->in[k] = d->shape[k + 1];
    s->taps[k] = or_one(spec->taps[k]);
    s->stride[k] = or_one(spec->conv.stride[k]);
    s->dilation[k] = or_one(spec->conv.dilation[k]);
    const int64_t reach = s->dilation[k] * (s->taps[k] - 1) + 1;
    const int64_t over = reach - s->stride[k], whole = s->stride[k] * (s->in[k] - 1) + reach;
    const bool same = spec->padding == WEIR_NN_SAME, given = spec->padding == WEIR_NN_GIVEN;
    const weir_border b = spec->conv.border[k];

    s->lo[k] = given ? spec->conv.lo[k] : same && over > 0 ? over / 2 : 0;
    s->out[k] = same ? s->stride[k] * s->in[k] : whole - (given ? s->lo[k] + spec->conv.hi[k] : 0);
    good = good && s->in[k] > 0 && s->out[k] > 0 && s->lo[k] >= 0 &&
           (!given || spec->conv.hi[k] >= 0) &&
           (b == WEIR_BORDER_NEVER || b == WEIR_BORDER_ZERO || (b == WEIR_BORDER_WRAP && same));
  }
  return good;
}

/* As many taps as the stride, so that every output is one sum over channels. */
static bool is_apart(const site *s)
{
  bool apart = s->groups == 1;

  for (int k = 0; k < s->dims; k++) {
    apart = apart && s->taps[k] == s->stride[k] && s->dilation[k] == 1 &&
            s->out[k] == s->stride[k] * s->in[k] && s->lo[k] == 0;
  }
  return apart;
}

static weir_value reshape(const site *s, weir_value v, const weir_reshape_spec *to)
{
  return weir_reshape_at(s->g, v, to, s->where);
}

/* [n, out.., filters]. */
static weir_value to_places(const site *s, weir_value v, int64_t channels)
{
  weir_reshape_spec to = {.rank = s->dims + 2};

  to.shape[0] = s->n;
  for (int k = 0; k < s->dims; k++) {
    to.shape[k + 1] = s->stride[k] * s->in[k];
  }
  to.shape[s->dims + 1] = channels;
  return reshape(s, v, &to);
}

/* One matrix product: [n in.., channels] x [channels, taps.. filters]; the taps then go beside
 * their places. */
static weir_value product(const site *s, weir_value x, weir_value w)
{
  const int dims = s->dims;
  const weir_reshape_spec flat = {.rank = 2, .shape = {-1, s->channels}};
  const weir_reshape_spec matrix = {.rank = 2, .shape = {s->channels, -1}};
  weir_reshape_spec apart = {.rank = 2 * dims + 2};
  weir_transpose_spec first, beside;

  first.order[0] = dims; /* channels in before the taps */
  apart.shape[0] = s->n;
  beside.order[0] = 0;
  for (int k = 0; k < dims; k++) {
    first.order[k + 1] = k;
    apart.shape[k + 1] = s->in[k];
    apart.shape[dims + k + 1] = s->taps[k];
    beside.order[2 * k + 1] = k + 1;
    beside.order[2 * k + 2] = dims + k + 1;
  }
  first.order[dims + 1] = dims + 1;
  apart.shape[2 * dims + 1] = s->spec->filters;
  beside.order[2 * dims + 1] = 2 * dims + 1;
  w = reshape(s, weir_transpose_at(s->g, w, &first, s->where), &matrix);
  x = reshape(s, weir_contract2_at(s->g, "mk,kn->mn", reshape(s, x, &flat), w, s->where), &apart);
  return to_places(s, weir_transpose_at(s->g, x, &beside, s->where), s->spec->filters);
}

/* stride - 1 zeros behind every place: [n, stride in.., channels]. */
static weir_value spread(const site *s, weir_value x)
{
  weir_reshape_spec single = {.rank = 2 * s->dims + 2};
  weir_pad_spec zeros = {.border = WEIR_BORDER_ZERO};

  single.shape[0] = s->n;
  for (int k = 0; k < s->dims; k++) {
    single.shape[2 * k + 1] = s->in[k];
    single.shape[2 * k + 2] = 1;
    zeros.after[2 * k + 2] = s->stride[k] - 1;
  }
  single.shape[2 * s->dims + 1] = s->channels;
  return to_places(s, weir_pad_at(s->g, reshape(s, x, &single), &zeros, s->where), s->channels);
}

/* Dimension d of v from `start` on, `count` elements. */
static weir_value part(const site *s, weir_value v, int d, int64_t start, int64_t count)
{
  const weir_slice_spec cut = {.dim = d, .start = start, .stop = start + count};

  return weir_slice_at(s->g, v, &cut, s->where);
}

/* A convolution of the spread x with the taps in reverse. */
static weir_value convolve(const site *s, weir_value x, weir_value w)
{
  weir_conv_spec conv = {.groups = s->spec->conv.groups};

  x = spread(s, x);
  for (int k = 0; k < s->dims; k++) {
    const weir_slice_spec reverse = {.dim = k, .start = -1, .stop = WEIR_SLICE_END, .step = -1};
    const int64_t reach = s->dilation[k] * (s->taps[k] - 1) + 1, all = s->stride[k] * s->in[k];
    /* Output 0 sees the spread x from -before on, output out - 1 up to all + behind. */
    const int64_t before = reach - 1 - s->lo[k];
    const int64_t behind = s->out[k] + reach - 1 - before - all;

    conv.dilation[k] = s->dilation[k];
    conv.border[k] = s->spec->conv.border[k];
    conv.lo[k] = before > 0 ? before : 0;
    conv.hi[k] = behind > 0 ? behind : 0;
    if (before < 0 || behind < 0) {
      const int64_t start = before < 0 ? -before : 0;

      x = part(s, x, k + 1, start, all + (behind < 0 ? behind : 0) - start);
    }
    w = weir_slice_at(s->g, w, &reverse, s->where);
  }
  return weir_conv_at(s->g, &conv, x, w, s->where);
}

static weir_value transposed(weir_net *net, const weir_nn_conv_spec *spec, weir_value x,
                             const char *where)
{
  site s = {.net = net, .g = net->graph, .spec = spec, .where = where};

  if (!nn_conv_check(net, "transposed", spec, x, where)) {
    return WEIR_NO_VALUE;
  }
  if (!measure(&s, weir_value_desc(s.g, x))) {
    return nn_fail(net, where,
                   "transposed: nothing is left of the output, or what lies beyond the "
                   "edge is neither zero nor, with `same`, wrap");
  }
  weir_param_spec weight = {.rank = s.dims + 2,
                            .init = nn_init_or(spec->weight, WEIR_INIT_GLOROT_UNIFORM),
                            .decay = !spec->no_decay};

  memcpy(weight.shape, s.taps, (size_t)s.dims * sizeof *weight.shape);
  weight.shape[s.dims] = s.channels / s.groups;
  weight.shape[s.dims + 1] = spec->filters;
  const weir_value w = weir_param_at(net, "weight", &weight, where);

  if (w.node < 0) {
    return w;
  }
  return nn_conv_finish(net, spec, is_apart(&s) ? product(&s, x, w) : convolve(&s, x, w), 0, where);
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
