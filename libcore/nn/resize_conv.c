/* resize_conv.c - a convolution of an interpolated field with its products made before the
 * interpolation.
 *
 * Interpolation U acts on positions, a weight w[t] on channels, so that the two commute:
 *
 *   y[o] = sum over t of (U x)[o + t - lo] w[t] = sum over t of (U (x w[t]))[o + t - lo]
 *
 * The right side multiplies at the positions of x, which are fewer where x is enlarged. U and the
 * sum over t are products over dimensions: one dimension after the other, its taps are
 * interpolated, shifted and added. */
#include <stdio.h>
#include <string.h>

#include "nn/nn_priv.h"
#include "nn/weir_resize.h"
#include "ops/concat/weir_concat.h"
#include "ops/contract/weir_contract.h"
#include "ops/interpolate/weir_interpolate.h"
#include "ops/slice/weir_slice.h"
#include "ops/transpose/weir_transpose.h"

/* x [n, from.., in], enlarged to [n, to.., in]. */
typedef struct task {
  weir_net *net;
  const weir_nn_resize_spec *resize;
  const weir_nn_conv_spec *spec;
  int dims;
  int64_t from[WEIR_CONV_DIMS], to[WEIR_CONV_DIMS];
  int64_t in;
  const char *where;
} task;

/* Products of all elements of x [n, extents, in] with all weights [kernel size.., in, filters]: [n,
 * first extent, its taps, extents, taps (the last dimension first), filters]. */
static weir_value products(const task *t, weir_value x, weir_value w)
{
  weir_graph *g = t->net->graph;
  weir_transpose_spec order = {{t->dims}};
  char labels[64], kept[WEIR_CONV_DIMS + 1] = "", taps[WEIR_CONV_DIMS + 1] = "";
  const int last = t->dims - 1;

  order.order[t->dims + 1] = t->dims + 1;
  for (int k = 0; k < t->dims; k++) {
    order.order[1 + k] = t->dims - 1 - k;
    kept[k] = (char)('a' + k);
    taps[k] = (char)('t' + k);
  }
  (void)snprintf(labels, sizeof labels, "n%si,i%so->n%c%c%s%.*so", kept, taps, kept[0], taps[last],
                 kept + 1, last, taps);
  return weir_contract2_at(g, labels, x, weir_transpose_at(g, w, &order, t->where), t->where);
}

/* Where an element beyond the ends of n is read under a rule; -1: nowhere. */
static int64_t inside(int64_t i, int64_t n, weir_border border)
{
  const bool is_zero = border == WEIR_BORDER_NEVER;
  bool read;

  i = weir_index_border(&(weir_index){.border = is_zero ? WEIR_BORDER_ZERO : border}, i, n, &read);
  return read ? i : -1;
}

/* Element `at` of the enlarged dimension k as shares of two elements of x, of which wrapped ones
 * keep counting beyond the ends. False: it is 0. */
static bool neighbours(const task *t, int k, const weir_conv_spec *conv, int64_t at, int64_t *low,
                       int64_t *high, double *share)
{
  const int64_t from = t->from[k], to = t->to[k];
  const bool wraps = conv->border[k] == WEIR_BORDER_WRAP;

  at = wraps ? at : inside(at, to, conv->border[k]);
  if (!wraps && at < 0) {
    return false;
  }
  if (t->resize->method == WEIR_NN_NEAREST) {
    *low = *high = weir_floor_div((2 * at + 1) * from, 2 * to);
    *share = 0;
    return true;
  }
  *low = weir_interpolate_low(from, to, at);
  *share = (double)weir_floor_mod((2 * at + 1) * from - to, 2 * to) / (double)(2 * to);
  *high = *low + (*share > 0);
  if (!wraps) {
    *low = inside(*low, from, WEIR_BORDER_REPLICATE);
    *high = inside(*high, from, WEIR_BORDER_REPLICATE);
  }
  return true;
}

/* Range of neighbours of low(o + tap - pad) that dimension k reads. */
static void band_of(const task *t, int k, const weir_conv_spec *conv, int64_t *before,
                    int64_t *count)
{
  int64_t least = 0, most = 0, low, high;
  double share;

  for (int64_t o = 0; o < t->to[k]; o++) {
    for (int64_t tap = 0; tap < weir_or_one(t->spec->kernel_size[k]); tap++) {
      const int64_t at = o + tap - conv->pad_before[k],
                    base = weir_interpolate_low(t->from[k], t->to[k], at);

      if (neighbours(t, k, conv, at, &low, &high, &share)) {
        least = low - base < least ? low - base : least;
        most = high - base > most ? high - base : most;
      }
    }
  }
  *before = -least;
  *count = most - least + 1;
}

/* The interpolation of dimension k, shifted by every tap: coefficients [to, taps, neighbours]. */
static weir_value coefficients(const task *t, int k, const weir_conv_spec *conv, weir_dtype dtype,
                               int64_t *before)
{
  const int64_t taps = weir_or_one(t->spec->kernel_size[k]);
  weir_graph *g = t->net->graph;
  int64_t count, low, high;
  weir_tensor wide, table;
  double share;

  band_of(t, k, conv, before, &count);
  const int64_t shape[] = {t->to[k], taps, count};
  weir_status status = weir_tensor_init(&wide, WEIR_F64, 3, shape);

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  for (int64_t i = 0; i < t->to[k] * taps; i++) {
    const int64_t at = i / taps + i % taps - conv->pad_before[k];
    const int64_t first = weir_interpolate_low(t->from[k], t->to[k], at) - *before;
    double *row = (double *)wide.data + i * count;

    if (neighbours(t, k, conv, at, &low, &high, &share)) {
      row[low - first] += 1 - share;
      row[high - first] += share;
    }
  }
  status = weir_tensor_init(&table, dtype, 3, shape);
  if (status == WEIR_OK) {
    status = weir_tensor_copy(&wide, &table);
  }
  const weir_value a = status == WEIR_OK ? weir_constant(g, &table) : weir_graph_fail(g, status);

  weir_tensor_fini(&wide);
  weir_tensor_fini(&table);
  return a;
}

/* Sum over the taps of dimension k, which come first (of dimension 0, behind it), each interpolated
 * and shifted. */
static weir_value spread(const task *t, int k, const weir_conv_spec *conv, weir_value v)
{
  const weir_array_desc *d = weir_value_desc(t->net->graph, v);
  weir_interpolate_spec s = {
      .dim = k > 0 ? k + 2 : 1, .taps = k > 0 ? t->dims + 2 : 2, .pad = conv->pad_before[k]};

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  s.border = conv->border[k] == WEIR_BORDER_WRAP ? WEIR_BORDER_WRAP : WEIR_BORDER_ZERO;
  const weir_value a = coefficients(t, k, conv, d->dtype, &s.before);

  return weir_interpolate_at(t->net->graph, &s, v, a, t->where);
}

/* Taps of the first dimension, each of which has products of its own. */
enum { MAX_PARTS = 32 };

/* An element that an interpolation reads or writes takes as long as MOVED multiplications, or as so
 * many of bf16 by tiles: with 64 channels products of the enlarged field are faster then, with 128
 * they are as fast (Xeon with AMX, family 6, model 167). */
enum { MOVED = 16, MOVED_TILES = 200 };

/* True when products at the positions of x save more than what moves between steps costs. */
static bool pays(const task *t)
{
  double x = 1, y = 1, maps = 1, moved = 0;

  for (int k = 0; k < t->dims; k++) {
    if (weir_or_one(t->spec->conv.stride[k]) != 1 || weir_or_one(t->spec->conv.dilation[k]) != 1) {
      return false;
    }
    x *= (double)t->from[k];
    y *= (double)t->to[k];
    maps *= (double)weir_or_one(t->spec->kernel_size[k]);
  }
  const double saved = (y - x) * maps * (double)t->in;
  double positions = x;

  for (int k = t->dims - 1; k >= 0; k--) {
    moved += maps * positions;
    maps /= (double)weir_or_one(t->spec->kernel_size[k]);
    positions *= (double)t->to[k] / (double)t->from[k];
    moved += maps * positions;
  }
  const bool few = t->dims == 1 || weir_or_one(t->spec->kernel_size[0]) <= MAX_PARTS;

  return few && weir_or_one(t->spec->conv.groups) == 1 && t->spec->padding == WEIR_NN_SAME &&
         saved > (t->net->tiles ? MOVED_TILES : MOVED) * moved;
}

/* Reads the shapes; false: not for this layer to judge. */
static bool task_make(task *t, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(t->net->graph, x);

  if (d == NULL || d->rank < 3 || d->rank > WEIR_CONV_DIMS + 2 || d->time > 0) {
    return false;
  }
  t->dims = d->rank - 2;
  t->in = d->shape[d->rank - 1];
  for (int k = 0; k < t->dims; k++) {
    t->from[k] = d->shape[k + 1];
    t->to[k] = t->resize->size[k] > 0 ? t->resize->size[k]
                                      : t->from[k] * weir_or_one(t->resize->factor[k]);
    if (t->from[k] < 1 || t->to[k] < t->from[k] ||
        (t->to[k] > t->from[k] && (t->spec->conv.border[k] == WEIR_BORDER_WRAP) !=
                                      (t->resize->border[k] == WEIR_BORDER_WRAP))) {
      return false;
    }
  }
  return true;
}

/* The sums over all dimensions but the first for some taps of that, [from, to): [n, extent of x,
 * taps, extents of the result.., filters]. */
static weir_value sum_inner(const task *t, const weir_conv_spec *conv, weir_value x, weir_value w,
                            int64_t from, int64_t to)
{
  weir_value v = products(t, x, weir_slice(t->net->graph, w, 0, from, to, 1));

  for (int k = t->dims - 1; k > 0; k--) {
    v = spread(t, k, conv, v);
  }
  return v;
}

/* Tap by tap of the first dimension, so that the products of one alone are in memory. */
static weir_value products_first(const task *t, weir_value x)
{
  weir_net *net = t->net;
  weir_array_desc d = *weir_value_desc(net->graph, x);
  weir_value parts[MAX_PARTS];
  weir_conv_spec conv;

  memcpy(d.shape + 1, t->to, (size_t)t->dims * sizeof *t->to);
  const weir_param_spec weight = nn_conv_weight(t->spec, &d, &conv);
  const weir_value w = weir_param_at(net, "weight", &weight, t->where);
  const int64_t taps = weight.shape[0], n = t->dims > 1 ? taps : 1;

  for (int64_t i = 0; i < n; i++) {
    parts[i] = sum_inner(t, &conv, x, w, taps / n * i, taps / n * (i + 1));
  }
  const weir_value v = n == 1 ? parts[0] : weir_concat_at(net->graph, parts, (int)n, 2, t->where);

  return nn_conv_finish(net, t->spec, spread(t, 0, &conv, v), 0, t->where);
}

weir_value weir_nn_resize_conv_at(weir_net *net, const char *name,
                                  const weir_nn_resize_spec *resize, const weir_nn_conv_spec *spec,
                                  weir_value x, const char *where)
{
  task t = {.net = net, .resize = resize, .spec = spec, .where = where};

  if (!task_make(&t, x) || !pays(&t)) {
    return weir_nn_conv_at(net, name, spec, weir_nn_resize_at(net->graph, resize, x, where), where);
  }
  weir_value y = WEIR_NO_VALUE;

  weir_net_push(net, name);
  if (nn_conv_check(net, "conv", spec, x, where)) {
    y = products_first(&t, x);
  }
  weir_net_pop(net);
  return y;
}
