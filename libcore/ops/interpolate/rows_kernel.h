/* rows_kernel.h - the sum of rows, for one instruction set: V_* are its vectors, V_IN and V_OUT the
 * elements of x and of results, f32 unless defined. Included by rows_avx2.c and the like. */
#include "base/weir_bf16.h"
#include "ops/interpolate/rows.h"

#ifndef V_IN
#define V_VECTORS sum_vectors
#define V_IN float
#define V_WIDEN(x) (x)
#define V_OUT float
#define V_ROUND(x) (x)
#endif

/* `count` vectors from `at` on. */
static inline __attribute__((always_inline)) void V_VECTORS(V_OUT *out, const V_IN *x,
                                                            const int64_t *offset,
                                                            const float *coefficient, int64_t terms,
                                                            float start, int64_t at, int count)
{
  V sum[V_SUMS];

  for (int v = 0; v < count; v++) {
    sum[v] = V_SET(start);
  }
  for (int64_t i = 0; i < terms; i++) {
    const V_IN *from = x + offset[i] + at;
    const V c = V_SET(coefficient[i]);

    for (int v = 0; v < count; v++) {
      sum[v] = V_FMA(c, V_LOAD(from + v * V_LANES), sum[v]);
    }
  }
  for (int v = 0; v < count; v++) {
    V_STORE(out + at + v * V_LANES, sum[v]);
  }
}

void V_NAME(void *to, const void *from, const int64_t *offset, const float *coefficient,
            int64_t terms, float start, int64_t n)
{
  const V_IN *x = from;
  V_OUT *out = to;
  int64_t at = 0;

  for (; at + V_SUMS * V_LANES <= n; at += V_SUMS * V_LANES) {
    V_VECTORS(out, x, offset, coefficient, terms, start, at, V_SUMS);
  }
  for (; at + V_LANES <= n; at += V_LANES) {
    V_VECTORS(out, x, offset, coefficient, terms, start, at, 1);
  }
  for (; at < n; at++) {
    float sum = start;

    for (int64_t i = 0; i < terms; i++) {
      sum = __builtin_fmaf(coefficient[i], V_WIDEN(x[offset[i] + at]), sum);
    }
    out[at] = V_ROUND(sum);
  }
}
