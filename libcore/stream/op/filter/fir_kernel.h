/* fir_kernel.h - the direct form for one instruction set. Before it, a source defines V_LANES, the
 * type V, V_ZERO, V_SET, V_FMA, V_LOAD and V_STORE of a vector, V_LOADN and V_STOREN of its first n
 * elements, V_ROWS (how many vectors of outputs, 16 apart, are made at once), and TABLE. */
#include "stream/op/filter/fir_priv.h"

/* Outputs [0, lanes) and those 16, 32, ... later: `rows` vectors. */
static inline __attribute__((always_inline)) void outputs(const weir_fir *m, const float *x,
                                                          float *y, const int rows, int64_t lanes)
{
  const bool whole = lanes == V_LANES;
  V sum[V_ROWS], w[V_ROWS];

  for (int k = 0; k < rows; k++) {
    sum[k] = V_ZERO;
  }
  for (int r = 0; r < FIR_STEP; r++) {
    const float *h = m->h + r * m->per_phase, *from = x - r;

    for (int k = 0; k < rows; k++) {
      w[k] = whole ? V_LOAD(from + FIR_STEP * k) : V_LOADN(from + FIR_STEP * k, lanes);
      sum[k] = V_FMA(V_SET(h[0]), w[k], sum[k]);
    }
    for (int64_t q = 1; q < m->per_phase; q++) {
      const V tap = V_SET(h[q]);

      for (int k = rows - 1; k > 0; k--) {
        w[k] = w[k - 1];
      }
      from -= FIR_STEP;
      w[0] = whole ? V_LOAD(from) : V_LOADN(from, lanes);
      for (int k = 0; k < rows; k++) {
        sum[k] = V_FMA(tap, w[k], sum[k]);
      }
    }
  }
  for (int k = 0; k < rows; k++) {
    if (whole) {
      V_STORE(y + FIR_STEP * k, sum[k]);
    } else {
      V_STOREN(y + FIR_STEP * k, sum[k], lanes);
    }
  }
}

static void run(const weir_fir *m, const float *x, float *y, int64_t n)
{
  int64_t t = 0;

  for (; t + FIR_STEP * V_ROWS <= n; t += FIR_STEP * V_ROWS) {
    for (int part = 0; part < FIR_STEP; part += V_LANES) {
      outputs(m, x + t + part, y + t + part, V_ROWS, V_LANES);
    }
  }
  for (; t + V_LANES <= n; t += V_LANES) {
    outputs(m, x + t, y + t, 1, V_LANES);
  }
  if (t < n) {
    outputs(m, x + t, y + t, 1, n - t);
  }
}

const weir_fir_kernel TABLE = run;
