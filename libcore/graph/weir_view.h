/* weir_view.h - a window of an array at run time: memory of a box of the array. */
#ifndef WEIR_VIEW_H
#define WEIR_VIEW_H
#include <stdint.h>
#include "base/weir_dtype.h"
#include "tensor/weir_tensor.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Element `index` of the array is at data + size * sum_d (index[d] - origin[d]) * stride[d], for
 * indices inside the window; extent is the array's logical shape, used by the border rules (time:
 * the stream's length once known, else WEIR_UNBOUNDED). Borrowed memory. */
typedef struct weir_view {
  void *data;
  weir_dtype dtype;
  int rank;
  int64_t origin[WEIR_MAX_RANK], stride[WEIR_MAX_RANK], extent[WEIR_MAX_RANK];
} weir_view;

/* Returns the view of a whole tensor. */
weir_view weir_view_of(const weir_tensor *t);
/* Returns the address of an element. */
static inline void *weir_view_at(const weir_view *v, const int64_t *index)
{
  int64_t at = 0;

  for (int d = 0; d < v->rank; d++) {
    at += (index[d] - v->origin[d]) * v->stride[d];
  }
  return (char *)v->data + at * (int64_t)weir_dtype_size(v->dtype);
}

#ifdef __cplusplus
}
#endif
#endif
