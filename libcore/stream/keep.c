/* keep.c - the sink that keeps a result whole. */
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif
#include "stream/weir_stream.h"

/* Results of more bytes are written past the caches, which they would only empty. */
#define CACHED ((int64_t)2 << 20)

#ifdef __SSE2__
static void copy_past(char *to, const char *from, int64_t bytes)
{
  const int64_t before = (int64_t)(-(uintptr_t)to & 63), head = before < bytes ? before : bytes;
  const int64_t body = (bytes - head) / 64 * 64;

  memcpy(to, from, (size_t)head);
  for (int64_t i = head; i < head + body; i += 64) { /* whole lines */
    for (int64_t k = i; k < i + 64; k += 16) {
      _mm_stream_si128((__m128i *)(void *)(to + k),
                       _mm_loadu_si128((const __m128i *)(const void *)(from + k)));
    }
  }
  _mm_sfence();
  memcpy(to + head + body, from + head + body, (size_t)(bytes - head - body));
}
#else
static void copy_past(char *to, const char *from, int64_t bytes)
{
  memcpy(to, from, (size_t)bytes);
}
#endif

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
  if (hi > lo && k->capacity * size > CACHED) {
    copy_past(data + lo * size, weir_view_at(view, &lo), (hi - lo) * size);
  } else if (hi > lo) {
    memcpy(data + lo * size, weir_view_at(view, &lo), (size_t)((hi - lo) * size));
  }
  k->n = hi > k->n ? hi : k->n;
  return WEIR_OK;
}
