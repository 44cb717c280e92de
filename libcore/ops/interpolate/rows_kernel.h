/* rows_kernel.h - the sum of rows, for one instruction set: V_* are its vectors. Included by
 * rows_avx2.c and rows_avx512.c. */
#include "base/weir_bf16.h"
#include "ops/interpolate/rows.h"

#ifndef V_OUT
#define V_OUT float
#define V_ROUND(x) (x)
#endif

/* `count` vectors from `at` on. */
static inline __attribute__((always_inline)) void
sum_vectors(V_OUT *out, const float *x, const int64_t *offset, const float *coefficient,
            int64_t terms, float start, int64_t at, int count)
{
  V sum[V_SUMS];

  for (int v = 0; v < count; v++) {
    sum[v] = V_SET(start);
  }
  for (int64_t i = 0; i < terms; i++) {
    const float *from = x + offset[i] + at;
    const V c = V_SET(coefficient[i]);

    for (int v = 0; v < count; v++) {
      sum[v] = V_FMA(c, V_LOAD(from + v * V_LANES), sum[v]);
    }
  }
  for (int v = 0; v < count; v++) {
    V_STORE(out + at + v * V_LANES, sum[v]);
  }
}

void V_NAME(void *to, const float *x, const int64_t *offset, const float *coefficient,
            int64_t terms, float start, int64_t n)
{
  V_OUT *out = to;
  int64_t at = 0;

  for (; at + V_SUMS * V_LANES <= n; at += V_SUMS * V_LANES) {
    sum_vectors(out, x, offset, coefficient, terms, start, at, V_SUMS);
  }
  for (; at + V_LANES <= n; at += V_LANES) {
    sum_vectors(out, x, offset, coefficient, terms, start, at, 1);
  }
  for (; at < n; at++) {
    float sum = start;

    for (int64_t i = 0; i < terms; i++) {
      sum = __builtin_fmaf(coefficient[i], x[offset[i] + at], sum);
    }
    out[at] = V_ROUND(sum);
  }
}
