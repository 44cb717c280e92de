/* weir_copy.h - copies to memory that is not read again soon: past the caches. */
#ifndef WEIR_COPY_H
#define WEIR_COPY_H
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Results of more bytes than this are worth it. */
#define WEIR_COPY_PAST_BYTES ((int64_t)2 << 20)

/* memcpy whose whole lines of 64 bytes of `to` are neither read nor kept by a cache: results that
 * fill the caches would only empty them. */
static inline void weir_copy_past(void *to, const void *from, int64_t bytes)
{
  char *const t = (char *)to;
  const char *const f = (const char *)from;
#ifdef __SSE2__
  const int64_t before = (int64_t)(-(uintptr_t)t & 63), head = before < bytes ? before : bytes;
  const int64_t body = (bytes - head) / 64 * 64;

  memcpy(t, f, (size_t)head);
  for (int64_t i = head; i < head + body; i += 64) { /* whole lines */
    for (int64_t k = i; k < i + 64; k += 16) {
      _mm_stream_si128((__m128i *)(void *)(t + k),
                       _mm_loadu_si128((const __m128i *)(const void *)(f + k)));
    }
  }
  memcpy(t + head + body, f + head + body, (size_t)(bytes - head - body));
#else
  memcpy(t, f, (size_t)bytes);
#endif
}

/* Has all copies of this thread done before what it stores next, for threads that read it. */
static inline void weir_copy_fence(void)
{
#ifdef __SSE2__
  _mm_sfence();
#endif
}
#endif
