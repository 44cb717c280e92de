/* weir_tensor.c - memory, views and converting copies. */
#include "tensor/weir_tensor.h"

#include <inttypes.h>
#include <string.h>

#include "base/weir_alloc.h"

/* Checks extents; *count is their product, also checked in bytes so that strides cannot overflow.
 */
static weir_status check_shape(weir_dtype dtype, int rank, const int64_t *shape, int64_t *count)
{
  int64_t product = 1, bytes;

  if (rank < 0 || rank > WEIR_MAX_RANK) {
    return weir_fail(WEIR_ERR_SHAPE, "rank %d is outside [0, %d]", rank, WEIR_MAX_RANK);
  }
  for (int d = 0; d < rank; d++) {
    if (shape[d] < 0) {
      return weir_fail(WEIR_ERR_SHAPE, "extent %" PRId64 " of dimension %d is negative", shape[d],
                       d);
    }
    /* Extents of an empty tensor are bounded too: its strides are products of the others. */
    const int64_t extent = shape[d] > 0 ? shape[d] : 1;
    if (!weir_mul_ok(product, extent, &product) ||
        !weir_mul_ok(product, (int64_t)weir_dtype_size(dtype), &bytes)) {
      return weir_fail(WEIR_ERR_SHAPE, "the extents up to dimension %d overflow", d);
    }
  }
  *count = product;
  for (int d = 0; d < rank; d++) {
    *count = shape[d] == 0 ? 0 : *count;
  }
  return WEIR_OK;
}

static void set_contiguous(weir_tensor *t, int rank, const int64_t *shape)
{
  int64_t stride = 1;

  t->rank = rank;
  for (int d = rank - 1; d >= 0; d--) {
    t->shape[d] = shape[d];
    t->stride[d] = stride;
    stride *= shape[d] > 0 ? shape[d] : 1;
  }
}

weir_status weir_tensor_init(weir_tensor *t, weir_dtype dtype, int rank, const int64_t *shape)
{
  int64_t count;

  *t = (weir_tensor){.dtype = dtype};
  WEIR_TRY(check_shape(dtype, rank, shape, &count));
  WEIR_TRY(weir_alloc(count, weir_dtype_size(dtype), &t->owned));
  t->data = t->owned;
  set_contiguous(t, rank, shape);
  return WEIR_OK;
}

weir_tensor weir_tensor_wrap(void *data, weir_dtype dtype, int rank, const int64_t *shape)
{
  weir_tensor t = {.data = data, .dtype = dtype};

  WEIR_ASSERT(rank >= 0 && rank <= WEIR_MAX_RANK);
  set_contiguous(&t, rank, shape);
  return t;
}

void weir_tensor_fini(weir_tensor *t)
{
  weir_free(&t->owned);
  *t = (weir_tensor){.dtype = t->dtype};
}

int64_t weir_tensor_numel(const weir_tensor *t)
{
  int64_t count = 1;

  for (int d = 0; d < t->rank; d++) {
    count *= t->shape[d];
  }
  return count;
}

size_t weir_tensor_bytes(const weir_tensor *t)
{
  return (size_t)weir_tensor_numel(t) * weir_dtype_size(t->dtype);
}

bool weir_tensor_is_contiguous(const weir_tensor *t)
{
  int64_t expected = 1;

  if (weir_tensor_numel(t) == 0) {
    return true;
  }
  for (int d = t->rank - 1; d >= 0; d--) {
    if (t->shape[d] != 1 && t->stride[d] != expected) {
      return false;
    }
    expected *= t->shape[d];
  }
  return true;
}

static void *element(const weir_tensor *t, int64_t offset)
{
  return (char *)t->data + offset * (int64_t)weir_dtype_size(t->dtype);
}

weir_status weir_tensor_slice(const weir_tensor *t, int dim, int64_t lo, int64_t hi, int64_t step,
                              weir_tensor *view)
{
  if (dim < 0 || dim >= t->rank) {
    return weir_fail(WEIR_ERR_SHAPE, "slice: dimension %d is outside a tensor of rank %d", dim,
                     t->rank);
  }
  if (lo < 0 || hi < lo || hi > t->shape[dim] || step == 0 || step == INT64_MIN) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "slice: [%" PRId64 ", %" PRId64 ") step %" PRId64
                     " does not fit extent %" PRId64 " of dimension %d",
                     lo, hi, step, t->shape[dim], dim);
  }
  weir_tensor v = *t;
  const int64_t stride = step > 0 ? step : -step, length = hi - lo;
  const int64_t count = length == 0 ? 0 : (length - 1) / stride + 1;
  /* A step beyond the slice is never taken: clamped, so that it cannot overflow the stride. */
  const int64_t taken = count > 1 ? step : (step > 0 ? 1 : -1);
  v.owned = NULL;
  v.shape[dim] = count;
  v.stride[dim] = t->stride[dim] * taken;
  if (count > 0) {
    v.data = element(t, (step > 0 ? lo : hi - 1) * t->stride[dim]);
  }
  *view = v;
  return WEIR_OK;
}

weir_status weir_tensor_transpose(const weir_tensor *t, const int *order, weir_tensor *view)
{
  weir_tensor v = *t;
  unsigned seen = 0;

  for (int d = 0; d < t->rank; d++) {
    if (order[d] < 0 || order[d] >= t->rank || (seen & (1u << order[d])) != 0) {
      return weir_fail(WEIR_ERR_SHAPE, "transpose: the order is not a permutation of %d dimensions",
                       t->rank);
    }
    seen |= 1u << order[d];
    v.shape[d] = t->shape[order[d]];
    v.stride[d] = t->stride[order[d]];
  }
  v.owned = NULL;
  *view = v;
  return WEIR_OK;
}
