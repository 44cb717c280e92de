/* weir_tensor_copy.c - copies between any two views, line by line. */
#include <inttypes.h>
#include <string.h>

#include "tensor/weir_tensor.h"

/* Elements `stride` elements apart. */
struct line {
  weir_dtype dtype;
  void *data;
  int64_t stride;
};

typedef void (*line_copy)(const struct line *from, const struct line *to, int64_t n);

/* Separate loops for the pairs that carry signals and for each size of unconverted element; the
 * compiler makes vectors of them where both strides are 1. */
#define TYPED_COPY(name, from_type, to_type)                                  \
  static void name(const struct line *from, const struct line *to, int64_t n) \
  {                                                                           \
    const from_type *const in = from->data;                                   \
    to_type *const out = to->data;                                            \
    const int64_t a = from->stride, b = to->stride;                           \
                                                                              \
    if (a == 1 && b == 1) {                                                   \
      for (int64_t i = 0; i < n; i++) {                                       \
        out[i] = (to_type)in[i];                                              \
      }                                                                       \
      return;                                                                 \
    }                                                                         \
    for (int64_t i = 0; i < n; i++) {                                         \
      out[i * b] = (to_type)in[i * a];                                        \
    }                                                                         \
  }
TYPED_COPY(copy_1, uint8_t, uint8_t)
TYPED_COPY(copy_2, uint16_t, uint16_t)
TYPED_COPY(copy_4, uint32_t, uint32_t)
TYPED_COPY(copy_8, uint64_t, uint64_t)
TYPED_COPY(copy_16, unsigned __int128, unsigned __int128)
TYPED_COPY(copy_i16_f32, int16_t, float)
TYPED_COPY(copy_i16_f64, int16_t, double)
TYPED_COPY(copy_i32_f32, int32_t, float)
TYPED_COPY(copy_i32_f64, int32_t, double)
TYPED_COPY(copy_f32_f64, float, double)
TYPED_COPY(copy_f64_f32, double, float)

/* Integers do not pass through double, which holds 53 bits of them. */
static void copy_any_ints(const struct line *from, const struct line *to, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    weir_dtype_store_int(to->dtype, to->data, i * to->stride,
                         weir_dtype_load_int(from->dtype, from->data, i * from->stride));
  }
}

static void copy_any_reals(const struct line *from, const struct line *to, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    weir_dtype_store_real(to->dtype, to->data, i * to->stride,
                          weir_dtype_load_real(from->dtype, from->data, i * from->stride));
  }
}

static void copy_any_complex(const struct line *from, const struct line *to, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    weir_dtype_store_complex(to->dtype, to->data, i * to->stride,
                             weir_dtype_load_complex(from->dtype, from->data, i * from->stride));
  }
}

static line_copy choose(weir_dtype from, weir_dtype to)
{
  static const struct {
    weir_dtype from, to;
    line_copy copy;
  } pairs[] = {
      {WEIR_I16, WEIR_F32, copy_i16_f32}, {WEIR_I16, WEIR_F64, copy_i16_f64},
      {WEIR_I32, WEIR_F32, copy_i32_f32}, {WEIR_I32, WEIR_F64, copy_i32_f64},
      {WEIR_F32, WEIR_F64, copy_f32_f64}, {WEIR_F64, WEIR_F32, copy_f64_f32},
  };

  if (from == to) {
    switch (weir_dtype_size(from)) {
    case 1:
      return copy_1;
    case 2:
      return copy_2;
    case 4:
      return copy_4;
    case 8:
      return copy_8;
    default:
      WEIR_ASSERT(weir_dtype_size(from) == 16);
      return copy_16;
    }
  }
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    if (pairs[i].from == from && pairs[i].to == to) {
      return pairs[i].copy;
    }
  }
  return weir_dtype_is_complex(to)  ? copy_any_complex
         : weir_dtype_is_real(from) ? copy_any_reals
                                    : copy_any_ints;
}

static weir_status same_shape(const weir_tensor *from, const weir_tensor *to)
{
  if (from->rank != to->rank) {
    return weir_fail(WEIR_ERR_SHAPE, "copy: rank %d to rank %d", from->rank, to->rank);
  }
  for (int d = 0; d < from->rank; d++) {
    if (from->shape[d] != to->shape[d]) {
      return weir_fail(WEIR_ERR_SHAPE, "copy: extent %" PRId64 " to %" PRId64 " in dimension %d",
                       from->shape[d], to->shape[d], d);
    }
  }
  return WEIR_OK;
}

static void *line_start(const weir_tensor *t, const int64_t *index)
{
  int64_t offset = 0;

  for (int d = 0; d < t->rank - 1; d++) {
    offset += index[d] * t->stride[d];
  }
  return (char *)t->data + offset * (int64_t)weir_dtype_size(t->dtype);
}

weir_status weir_tensor_copy(const weir_tensor *from, weir_tensor *to)
{
  const int64_t count = weir_tensor_numel(from);
  const line_copy copy = choose(from->dtype, to->dtype);
  const bool whole = weir_tensor_is_contiguous(from) && weir_tensor_is_contiguous(to);
  const int last = from->rank - 1;
  int64_t index[WEIR_MAX_RANK] = {0};

  WEIR_TRY(same_shape(from, to));
  if (weir_dtype_is_complex(from->dtype) && !weir_dtype_is_complex(to->dtype)) {
    return weir_fail(WEIR_ERR_SHAPE, "copy: %s to %s would drop the imaginary part",
                     weir_dtype_name(from->dtype), weir_dtype_name(to->dtype));
  }
  if (count == 0) {
    return WEIR_OK;
  }
  if (whole && from->dtype == to->dtype) {
    memmove(to->data, from->data, (size_t)count * weir_dtype_size(to->dtype));
    return WEIR_OK;
  }
  struct line a = {.dtype = from->dtype, .data = from->data, .stride = 1};
  struct line b = {.dtype = to->dtype, .data = to->data, .stride = 1};
  if (whole || last < 0) {
    copy(&a, &b, count);
    return WEIR_OK;
  }
  a.stride = from->stride[last];
  b.stride = to->stride[last];
  for (int d = 0; d >= 0;) {
    a.data = line_start(from, index);
    b.data = line_start(to, index);
    copy(&a, &b, from->shape[last]);
    for (d = last - 1; d >= 0 && ++index[d] == from->shape[d]; d--) {
      index[d] = 0;
    }
  }
  return WEIR_OK;
}
