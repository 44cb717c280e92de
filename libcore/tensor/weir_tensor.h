/* weir_tensor.h - strided n-dimensional arrays with a dtype; owned or a view. */
#ifndef WEIR_TENSOR_H
#define WEIR_TENSOR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_dtype.h"
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_MAX_RANK 10

typedef struct weir_tensor {
  void *data; /* element [0, 0, ...]                              */
  weir_dtype dtype;
  int rank;                      /* 0..WEIR_MAX_RANK; rank 0 holds one element       */
  int64_t shape[WEIR_MAX_RANK];  /* extents, 0 allowed                               */
  int64_t stride[WEIR_MAX_RANK]; /* in elements; views: negative, or 0 if only read */
  void *owned;                   /* memory freed by weir_tensor_fini, NULL in a view */
} weir_tensor;

/* Allocates a zeroed contiguous array (last dimension fastest). Fails: WEIR_ERR_SHAPE (rank,
 * negative or overflowing extent), WEIR_ERR_MEMORY. */
weir_status weir_tensor_init(weir_tensor *t, weir_dtype dtype, int rank,
                             const int64_t *shape) WEIR_CHECKED;
/* Makes a contiguous view of the caller's memory. */
weir_tensor weir_tensor_wrap(void *data, weir_dtype dtype, int rank, const int64_t *shape);
void weir_tensor_fini(weir_tensor *t);
int64_t weir_tensor_numel(const weir_tensor *t);
/* Returns the bytes of all elements, stored contiguously. */
size_t weir_tensor_bytes(const weir_tensor *t);
bool weir_tensor_is_contiguous(const weir_tensor *t);

/* Views: no copy; the source must outlive them. Fail: WEIR_ERR_SHAPE; *view is then unchanged. */
/* Selects elements lo, lo + step, ... below hi of dimension `dim`; a negative step starts at hi - 1
 * and descends to lo. */
weir_status weir_tensor_slice(const weir_tensor *t, int dim, int64_t lo, int64_t hi, int64_t step,
                              weir_tensor *view) WEIR_CHECKED;
/* Permutes dimensions: dimension d of the view is dimension order[d] of t. */
weir_status weir_tensor_transpose(const weir_tensor *t, const int *order,
                                  weir_tensor *view) WEIR_CHECKED;

/* Copies elements between two views of one shape, converting dtype; the two must not overlap.
 * Fails: WEIR_ERR_SHAPE (also complex numbers to a dtype without an imaginary part). */
weir_status weir_tensor_copy(const weir_tensor *from, weir_tensor *to) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
