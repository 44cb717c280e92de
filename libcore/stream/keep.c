/* keep.c - the sink that keeps a result whole. */
#include <string.h>
#include "device/weir_copy.h"
#include "stream/weir_stream.h"

weir_status weir_stream_keep(void *context, const weir_view *view, int64_t lo, int64_t hi,
                             bool last)
{
  weir_stream_kept *k = context;
  const int64_t size = (int64_t)weir_dtype_size(view->dtype);
  char *data = k->data;

  (void)last;
  if (hi > k->capacity) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "stream: a result has %lld slots or more, but the buffer holds %lld",
                     (long long)hi, (long long)k->capacity);
  }
  const bool in_place = view->data == k->data && view->origin[0] == 0;

  if (in_place) { /* the plan has written it there */
  } else if (hi > lo && k->capacity * size > WEIR_COPY_PAST_BYTES) {
    weir_copy_past(data + lo * size, weir_view_at(view, &lo), (hi - lo) * size);
    weir_copy_fence();
  } else if (hi > lo) {
    memcpy(data + lo * size, weir_view_at(view, &lo), (size_t)((hi - lo) * size));
  }
  k->n = hi > k->n ? hi : k->n;
  return WEIR_OK;
}
