/* lanes_kernel.h - sorts cases side by side, for the instruction set that the including file is
 * compiled for, as sort_lanes NAME. Minimum and maximum are named, because what compilers make of
 * comparisons takes two to four times as long, or is no vector. With 512 bits at a time it is not
 * faster: stores take as long (Zen 4). */
#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include "eval/sort/sort_priv.h"

#if defined(__AVX__)
enum { WIDE = 4 };
typedef __m256d wide;
#define LOAD(p) _mm256_loadu_pd(p)
#define STORE(p, v) _mm256_storeu_pd(p, v)
#define MIN(a, b) _mm256_min_pd(a, b)
#define MAX(a, b) _mm256_max_pd(a, b)
#elif defined(__SSE2__)
enum { WIDE = 2 };
typedef __m128d wide;
#define LOAD(p) _mm_loadu_pd(p)
#define STORE(p, v) _mm_storeu_pd(p, v)
#define MIN(a, b) _mm_min_pd(a, b)
#define MAX(a, b) _mm_max_pd(a, b)
#else
enum { WIDE = 1 };
typedef double wide;
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define MIN(a, b) ((a) < (b) ? (a) : (b)) /* the second where they are equal or one is NaN */
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

/* Exchanges the numbers of those cases where that of b is smaller. */
static inline void compare_exchange(double *a, double *b)
{
  for (int l = 0; l < WX_LANES; l += WIDE) {
    const wide u = LOAD(a + l), v = LOAD(b + l);

    STORE(a + l, MIN(v, u));
    STORE(b + l, MAX(u, v));
  }
}

/* Numbers i and i + d, for all i < n - d that have bit p as r has it. */
static inline void pass(double *x, int64_t n, int64_t p, int64_t r, int64_t d)
{
  for (int64_t from = r; from < n - d; from += 2 * p) {
    const int64_t to = from + p < n - d ? from + p : n - d;

    for (int64_t i = from; i < to; i++) {
      compare_exchange(x + i * WX_LANES, x + (i + d) * WX_LANES);
    }
  }
}

void NAME(double *x, int64_t n)
{
  int64_t half = 1; /* the greatest power of 2 below n */

  while (2 * half < n) {
    half *= 2;
  }
  for (int64_t p = half; p > 0; p /= 2) {
    pass(x, n, p, 0, p);
    for (int64_t q = half; q > p; q /= 2) {
      pass(x, n, p, p, q - p);
    }
  }
}
