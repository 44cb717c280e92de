/* pool_sparse_kernel.h - the vector code of pool_sparse_sum.h for one instruction set. Before it,
 * a source defines V_LANES, V_VECTORS, the type V, V_ZERO, V_SET, V_ADD, V_FMA, V_LOAD and V_STORE
 * of a vector, V_LOW and V_HIGH (the first and the last lanes of two in turns), ALL_ADD (calls
 * ADD(vectors, rows) for every pair, all POOL_SPARSE_ROWS of 1 vector first, NONE where there is
 * none), ALL_ROW (calls ROW(vectors) for every number), V_MAX_ROWS (the most rows of 1, 2, ..
 * vectors), and TABLE. */
#include "ops/conv/pool_sparse_sum.h"

/* Pointers are summed where they stand: else every vector has a separate one, more than there are
 * registers. */
#define P_KEEP(p) __asm__("" : "+r"(p))
#define INLINE static inline __attribute__((always_inline))

INLINE void add_rows(const pool_sparse_add *a, const int vectors, const int rows)
{
  float *sums = a->sums;
  V sum[32];
  int64_t run[POOL_SPARSE_ROWS];

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

    P_KEEP(from);
#pragma GCC unroll 9
    for (int r = 0; r < rows; r++) {
      const float *row = from + run[r];

      P_KEEP(row);
#pragma GCC unroll 6
      for (int v = 0; v < vectors; v++) {
        sum[r * vectors + v] = V_FMA(by, V_LOAD(row + V_LANES * v), sum[r * vectors + v]);
      }
    }
  }
#pragma GCC unroll 9
  for (int r = 0; r < rows; r++, sums += a->sum_step) {
#pragma GCC unroll 6
    for (int v = 0; v < vectors; v++) {
      float *at = sums + V_LANES * v;

      V_STORE(at, V_ADD(V_LOAD(at), sum[r * vectors + v]));
    }
  }
}

#define NONE(vectors, rows)
#define ADD(vectors, rows)                                     \
  static void add_##vectors##_##rows(const pool_sparse_add *a) \
  {                                                            \
    add_rows(a, vectors, rows);                                \
  }
ALL_ADD
#undef ADD
#undef NONE

#define NONE(vectors, rows) NULL,
#define ADD(vectors, rows) add_##vectors##_##rows,
static pool_sparse_add_run *const add_table[] = {ALL_ADD};

INLINE void add_windows(const pool_sparse_row *r, const int vectors)
{
  const int32_t *begin = r->begin, *at = r->at;
  const float *by = r->by;
  float *to = r->to;

  for (int64_t i = 0; i < r->windows; i++) {
    for (int64_t g = 0; g < r->wide; g++, to += r->step) {
      const int32_t end = begin[g + 1];
      V sum[6];

#pragma GCC unroll 6
      for (int v = 0; v < vectors; v++) {
        sum[v] = V_ZERO;
      }
      for (int32_t k = begin[g]; k < end; k++) {
        const float *from = r->from + at[k];
        const V one = V_SET(by[k]);

#pragma GCC unroll 6
        for (int v = 0; v < vectors; v++) {
          sum[v] = V_FMA(one, V_LOAD(from + V_LANES * v), sum[v]);
        }
      }
#pragma GCC unroll 6
      for (int v = 0; v < vectors; v++) {
        V_STORE(to + V_LANES * v, V_ADD(V_LOAD(to + V_LANES * v), sum[v]));
      }
    }
    begin += r->begin_step;
    at += r->channels;
    by += r->channels;
  }
}

#define ROW(vectors)                                  \
  static void row_##vectors(const pool_sparse_row *r) \
  {                                                   \
    add_windows(r, vectors);                          \
  }
ALL_ROW
#undef ROW

/* Rows by halves: each round, the number of a lane in v takes a digit from that of its vector. */
static void tile(const float *from, int64_t from_step, float *to, int64_t to_step)
{
  V v[V_LANES], w[V_LANES];

#pragma GCC unroll 16
  for (int i = 0; i < V_LANES; i++) {
    v[i] = V_LOAD(from + i * from_step);
  }
#pragma GCC unroll 4
  for (int round = 1; round < V_LANES; round *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < V_LANES / 2; i++) {
      w[2 * i] = V_LOW(v[i], v[i + V_LANES / 2]);
      w[2 * i + 1] = V_HIGH(v[i], v[i + V_LANES / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < V_LANES; i++) {
      v[i] = w[i];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < V_LANES; i++) {
    V_STORE(to + i * to_step, v[i]);
  }
}

#define ROW(vectors) row_##vectors,
static pool_sparse_row_run *const row_table[] = {ALL_ROW};
static const int64_t max_rows[] = V_MAX_ROWS;

const pool_sparse_kernels TABLE = {.lanes = V_LANES,
                                   .vectors = V_VECTORS,
                                   .rows = max_rows,
                                   .row = row_table,
                                   .add = add_table,
                                   .tile = tile};
