/* conv_mend_dnnl.c - sums in which the library multiplied padding, recomputed without it.
 *
 * Some of its primitives have zeros where an array has no element, and 0 times NaN
 * is NaN: the loops leave such products out. Primitives of bf16 take elements in pairs or in
 * tiles, and multiply what fills them, a neighbour or an element after the last, by 0 as well: any
 * of their results may be NaN. */
#include <float.h>
#include <math.h>

#include "ops/conv/conv_dnnl.h"

/* Returns the sum over all positions of channel `in` of x times channel `out` of y, for one tap. */
static double sum_of_tap(const conv_form *f, const void *x, int64_t in, const void *y, int64_t out,
                         const int64_t t[CONV_FORM_DIMS])
{
  const int64_t points = f->y_extent[0] * f->y_extent[1] * f->y_extent[2];
  double sum = 0;

  for (int64_t p = 0; p < f->n * points && !isnan(sum); p++) {
    const int64_t o[] = {p % points / f->y_extent[2] / f->y_extent[1],
                         p / f->y_extent[2] % f->y_extent[1], p % f->y_extent[2]};
    int64_t from = p / points;
    bool inside = true;

    for (int k = 0; k < CONV_FORM_DIMS; k++) {
      const int64_t at = f->stride[k] * o[k] + f->dilation[k] * t[k] - f->lo[k];

      inside = inside && at >= 0 && at < f->x_extent[k];
      from = from * f->x_extent[k] + at;
    }
    if (inside) {
      sum += weir_dtype_load_real(f->x_dtype, x, from * f->groups * f->in + in) *
             weir_dtype_load_real(f->y_dtype, y, p * f->groups * f->out + out);
    }
  }
  return sum;
}

void conv_dnnl_mend(const conv_dnnl *c, int64_t piece, const void *x, const void *y, void *weights)
{
  const conv_form *f = &c->inner;
  const conv_weight_strides *w = &c->w_strides;
  const int64_t g = piece / f->in,
                volume = f->kernel_size[0] * f->kernel_size[1] * f->kernel_size[2];

  for (int64_t tap = 0; tap < volume; tap++) {
    const int64_t t[] = {tap / f->kernel_size[2] / f->kernel_size[1],
                         tap / f->kernel_size[2] % f->kernel_size[1], tap % f->kernel_size[2]};
    const int64_t at = w->base + g * w->group + piece % f->in * w->in + t[0] * w->tap[0] +
                       t[1] * w->tap[1] + t[2] * w->tap[2];

    for (int64_t out = 0; out < f->out; out++) {
      const int64_t to = at + out * w->out;

      if (isnan(weir_dtype_load_real(f->w_dtype, weights, to))) {
        weir_dtype_store_real(f->w_dtype, weights, to,
                              sum_of_tap(f, x, piece, y, g * f->out + out, t));
      }
    }
  }
}

/* Whether one of n elements, f32 or bf16, is NaN, or (or_infinite) infinite. */
static bool some_none(weir_dtype dtype, const void *data, int64_t n, bool or_infinite)
{
  const float *x = data, max = or_infinite ? FLT_MAX : INFINITY;
  const weir_bf16 *half = data, half_max = or_infinite ? 0x7f7f : 0x7f80;
  bool found = false;

  /* Without a way out of the loops: vector code. */
  for (int64_t i = 0; i < n && dtype == WEIR_F32; i++) {
    found |= !(fabsf(x[i]) <= max);
  }
  for (int64_t i = 0; i < n && dtype == WEIR_BF16; i++) {
    found |= (half[i] & 0x7fff) > half_max; /* without the sign, ordered as their bits */
  }
  return found;
}

/* Where tap t of the element `at` along dimension k lies in the array that is read; -1: nowhere. */
static int64_t read_at(const conv_form *f, int k, int64_t at, int64_t t)
{
  if (f->kind == CONV_FORWARD) {
    const int64_t x = f->stride[k] * at + f->dilation[k] * t - f->lo[k];

    return x >= 0 && x < f->x_extent[k] ? x : -1;
  }
  const int64_t y = at + f->lo[k] - f->dilation[k] * t;

  return y >= 0 && y % f->stride[k] == 0 && y / f->stride[k] < f->y_extent[k] ? y / f->stride[k]
                                                                              : -1;
}

typedef struct mending {
  conv_form f; /* of the chunk */
  const conv_weight_strides *w_strides;
  weir_dtype read_dtype;
  const void *read, *weights;
} mending;

/* Element `channel` of group g at one position, of the products that are there. */
static double sum_at(const mending *m, int64_t n, const int64_t at[CONV_FORM_DIMS], int64_t g,
                     int64_t channel)
{
  const conv_form *f = &m->f;
  const conv_weight_strides *w = m->w_strides;
  const bool forward = f->kind == CONV_FORWARD;
  const int64_t *extent = forward ? f->x_extent : f->y_extent;
  const int64_t others = forward ? f->in : f->out,
                volume = f->kernel_size[0] * f->kernel_size[1] * f->kernel_size[2];
  double sum = 0;

  for (int64_t tap = 0; tap < volume && !isnan(sum); tap++) {
    const int64_t t[] = {tap / f->kernel_size[2] / f->kernel_size[1],
                         tap / f->kernel_size[2] % f->kernel_size[1], tap % f->kernel_size[2]};
    const int64_t p = read_at(f, 0, at[0], t[0]), q = read_at(f, 1, at[1], t[1]),
                  r = read_at(f, 2, at[2], t[2]);
    const int64_t from = ((n * extent[0] + p) * extent[1] + q) * extent[2] + r;
    const int64_t weight = w->base + g * w->group + channel * (forward ? w->out : w->in) +
                           t[0] * w->tap[0] + t[1] * w->tap[1] + t[2] * w->tap[2];

    for (int64_t c = 0; c < others && p >= 0 && q >= 0 && r >= 0; c++) {
      sum +=
          weir_dtype_load_real(m->read_dtype, m->read, from * f->groups * others + g * others + c) *
          weir_dtype_load_real(f->w_dtype, m->weights, weight + c * (forward ? w->in : w->out));
    }
  }
  return sum;
}

/* Whether some tap of the position reads nothing. */
static bool meets_padding(const conv_form *f, const int64_t at[CONV_FORM_DIMS])
{
  for (int k = 0; k < CONV_FORM_DIMS; k++) {
    for (int64_t t = 0; t < f->kernel_size[k]; t++) {
      if (read_at(f, k, at[k], t) < 0) {
        return true;
      }
    }
  }
  return false;
}

/* all: not only where padding is met. */
static void mend_points(const mending *m, weir_dtype dtype, void *made, bool all)
{
  const conv_form *f = &m->f;
  const bool forward = f->kind == CONV_FORWARD;
  const int64_t *extent = forward ? f->y_extent : f->x_extent, each = forward ? f->out : f->in;
  const int64_t points = extent[0] * extent[1] * extent[2], channels = f->groups * each;

  for (int64_t p = 0; p < f->n * points; p++) {
    const int64_t at[] = {p % points / extent[2] / extent[1], p / extent[2] % extent[1],
                          p % extent[2]};

    for (int64_t c = 0; c < channels && (all || meets_padding(f, at)); c++) {
      if (isnan(weir_dtype_load_real(dtype, made, p * channels + c))) {
        weir_dtype_store_real(dtype, made, p * channels + c,
                              sum_at(m, p / points, at, c / each, c % each));
      }
    }
  }
}

void conv_dnnl_mend_chunk(const conv_dnnl *c, const conv_chunk *s, void *x, void *y,
                          const void *weights)
{
  const bool forward = c->inner.kind == CONV_FORWARD;
  const weir_dtype x_dtype = conv_dnnl_x(&c->inner, c->padded), y_dtype = c->inner.y_dtype;
  const weir_dtype made = forward ? y_dtype : x_dtype;
  mending m = {.f = c->inner,
               .w_strides = &c->w_strides,
               .read_dtype = forward ? x_dtype : y_dtype,
               .read = forward ? x : y,
               .weights = weights};
  conv_form *f = &m.f;

  f->n = s->n;
  f->x_extent[0] = s->x_rows;
  f->y_extent[0] = s->y_rows;
  f->lo[0] = s->lo;
  f->hi[0] = s->hi;
  const int64_t *extent = forward ? f->y_extent : f->x_extent;
  const int64_t n =
      f->n * extent[0] * extent[1] * extent[2] * f->groups * (forward ? f->out : f->in);
  const int64_t n_weights =
      f->groups * f->in * f->out * f->kernel_size[0] * f->kernel_size[1] * f->kernel_size[2];

  const bool half = m.read_dtype == WEIR_BF16;

  if (some_none(made, forward ? y : x, n, false) &&
      (half || some_none(f->w_dtype, weights, n_weights, true))) {
    mend_points(&m, made, forward ? y : x, half);
  }
}
