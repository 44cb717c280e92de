/* picked_kernel.h - the vector code of picked_priv.h for one instruction set. Before it, a source
 * defines V_LANES, V_VECTORS, the type V, V_ZERO, V_SET, V_ADD, V_FMA, V_LOAD and V_STORE of a
 * vector, ALL_ADD (calls ADD(vectors, rows) for every pair, all PICKED_ROWS of 1 vector first, NONE
 * where there is none), V_MOST_ROWS (the most rows of 1, 2, .. vectors), and TABLE. */
#include "ops/conv/picked_priv.h"

#define INLINE static inline __attribute__((always_inline))

INLINE void add_rows(const picked_add *a, const int vectors, const int rows)
{
  V sum[32];
  int64_t run[PICKED_ROWS];

#pragma GCC unroll 9
  for (int r = 0; r < rows; r++) {
    run[r] = a->run[r];
#pragma GCC unroll 6
    for (int v = 0; v < vectors; v++) {
      sum[r * vectors + v] = V_ZERO;
    }
  }
  for (int64_t k = 0; k < a->count; k++) {
    const float *from = a->from + a->at[k];
    const V by = V_SET(a->by[k]);

#pragma GCC unroll 9
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 6
      for (int v = 0; v < vectors; v++) {
        sum[r * vectors + v] = V_FMA(by, V_LOAD(from + run[r] + V_LANES * v), sum[r * vectors + v]);
      }
    }
  }
#pragma GCC unroll 9
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 6
    for (int v = 0; v < vectors; v++) {
      float *at = a->sums + a->sum_step * r + V_LANES * v;

      V_STORE(at, V_ADD(V_LOAD(at), sum[r * vectors + v]));
    }
  }
}

#define NONE(vectors, rows)
#define ADD(vectors, rows)                                \
  static void add_##vectors##_##rows(const picked_add *a) \
  {                                                       \
    add_rows(a, vectors, rows);                           \
  }
ALL_ADD
#undef ADD
#undef NONE

#define NONE(vectors, rows) NULL,
#define ADD(vectors, rows) add_##vectors##_##rows,
static picked_add_run *const add_table[] = {ALL_ADD};
static const int64_t most_rows[] = V_MOST_ROWS;

const picked_kernels TABLE = {
    .lanes = V_LANES, .vectors = V_VECTORS, .rows = most_rows, .add = add_table};
