/* fir_kernel.h - the direct form for one instruction set. Before it, a source defines V_LANES, the
 * type V, V_ZERO, V_SET, V_ADD, V_FMA, V_LOAD and V_STORE of a vector, V_LOADN and V_STOREN of its
 * first n elements, V_ROWS (how many vectors of outputs, 16 apart, are made at once), and TABLE. */
#include "stream/op/filter/fir_priv.h"

#define LOAD(p) (whole ? V_LOAD(p) : V_LOADN(p, lanes))

/* Outputs [0, lanes) and those 16, 32, ... later: `rows` vectors. Samples of the earlier and of the
 * later half of the pairs slide through registers, one way and the other. */
static inline __attribute__((always_inline)) void outputs(const weir_fir *m, const float *x,
                                                          float *y, const int rows, int64_t lanes)
{
  const bool whole = lanes == V_LANES;
  V sum[V_ROWS], late[V_ROWS], early[V_ROWS];

  for (int k = 0; k < rows; k++) {
    sum[k] = V_ZERO;
  }
  for (int r = 0; r < FIR_STEP && r < m->pairs; r++) {
    const float *h = m->h + r * FIR_PHASE, *newer = x - r, *older = x - (m->taps - 1) + r;
    const int64_t n = (m->pairs - r + FIR_STEP - 1) / FIR_STEP;

    for (int k = 0; k < rows; k++) {
      late[k] = LOAD(newer + FIR_STEP * k);
      early[k] = LOAD(older + FIR_STEP * k);
      sum[k] = V_FMA(V_SET(h[0]), V_ADD(late[k], early[k]), sum[k]);
    }
    for (int64_t q = 1; q < n; q++) {
      const V tap = V_SET(h[q]);

      for (int k = 1; k < rows; k++) {
        late[rows - k] = late[rows - k - 1];
        early[k - 1] = early[k];
      }
      late[0] = LOAD(newer - FIR_STEP * q);
      early[rows - 1] = LOAD(older + FIR_STEP * (q + rows - 1));
      for (int k = 0; k < rows; k++) {
        sum[k] = V_FMA(tap, V_ADD(late[k], early[k]), sum[k]);
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
    for (int lane = 0; lane < FIR_STEP; lane += V_LANES) {
      outputs(m, x + t + lane, y + t + lane, V_ROWS, V_LANES);
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
