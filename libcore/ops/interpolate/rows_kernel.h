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

/* `count` vectors from `at` on, of point q. */
static inline __attribute__((always_inline)) void
V_VECTORS(V_OUT *out, const V_IN *x, const rows_entries *e, int64_t q, int64_t at, int count)
{
  const int64_t *offset = e->offset + q * e->terms, terms = e->count[q];
  const float *coefficient = e->coefficient + q * e->terms;
  V sum[V_SUMS];

  for (int v = 0; v < count; v++) {
    sum[v] = V_SET(e->others[q]);
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

void V_NAME(void *to, int64_t out_step, const void *from, const rows_entries *e, int64_t first,
            int64_t end, int64_t n)
{
  const V_IN *x = from;

  for (int64_t q = first; q < end; q++) {
    V_OUT *out = (V_OUT *)((char *)to + (q - first) * out_step);
    int64_t at = 0;

    for (; at + V_SUMS * V_LANES <= n; at += V_SUMS * V_LANES) {
      V_VECTORS(out, x, e, q, at, V_SUMS);
    }
    for (; at + 4 * V_LANES <= n; at += 4 * V_LANES) {
      V_VECTORS(out, x, e, q, at, 4);
    }
    for (; at + V_LANES <= n; at += V_LANES) {
      V_VECTORS(out, x, e, q, at, 1);
    }
    for (; at < n; at++) {
      float sum = e->others[q];

      for (int64_t i = 0; i < e->count[q]; i++) {
        sum = __builtin_fmaf(e->coefficient[q * e->terms + i],
                             V_WIDEN(x[e->offset[q * e->terms + i] + at]), sum);
      }
      out[at] = V_ROUND(sum);
    }
  }
}
