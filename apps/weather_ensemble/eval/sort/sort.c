/* sort.c - see sort.h. */
#include <math.h>
#include <stdlib.h>
#include "base/weir_sort.h"
#include "device/weir_parallel.h"
#include "eval/sort/sort_priv.h"

void wx_sort(double *x, int64_t n)
{
  enum { FEW = 128 }; /* up to which insertion is faster than comparisons by calls */

  if (n > FEW) {
    qsort(x, (size_t)n, sizeof *x, weir_compare_f64);
    return;
  }
  for (int64_t i = 1; i < n; i++) {
    const double v = x[i];
    int64_t k = i;

    for (; k > 0 && x[k - 1] > v; k--) {
      x[k] = x[k - 1];
    }
    x[k] = v;
  }
}

void wx_sort_lanes(double *x, int64_t n)
{
#if defined(__x86_64__)
  if (weir_cpu_get()->avx2) {
    sort_lanes_avx2(x, n);
    return;
  }
#endif
  sort_lanes_plain(x, n);
}

/* Infinity where a number is missing; there[l] counts the others. */
static inline void load_fields(const float *field, int64_t m, int64_t stride, int64_t n, float most,
                               double *x, int32_t *there)
{
  for (int64_t k = 0; k < m; k++) {
    for (int64_t l = 0; l < n; l++) {
      const float v = field[k * stride + l];
      const int32_t counts = fabsf(v) <= most;

      x[k * WX_LANES + l] = (double)(counts ? v : INFINITY);
      there[l] += counts;
    }
  }
}

void wx_sort_fields(const float *field, int64_t m, int64_t stride, int64_t n, float most, double *x,
                    int64_t *count)
{
  int32_t there[WX_LANES] = {0};

  if (n == WX_LANES) {
    load_fields(field, m, stride, WX_LANES, most, x, there);
  } else {
    load_fields(field, m, stride, n, most, x, there);
  }
  wx_sort_lanes(x, m);
  for (int64_t l = 0; l < WX_LANES; l++) {
    count[l] = there[l];
  }
}

void wx_lane_copy(const double *x, int64_t n, int64_t lane, double *out)
{
  for (int64_t k = 0; k < n; k++) {
    out[k] = x[k * WX_LANES + lane];
  }
}
