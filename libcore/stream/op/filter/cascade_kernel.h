/* cascade_kernel.h - the block form for one instruction set. Before it, a source defines V_LANES,
 * the type V, V_LOAD, V_STORE, V_FROM, V_TO (f32), V_SET,
 * V_PICK (element i of p in all lanes), V_TURN (the lanes reversed), V_MUL, V_FMA, V_ADD, and
 * TABLE. */
#include "stream/op/filter/cascade_priv.h"

enum { PER_BLOCK = CASCADE_BLOCK / V_LANES };

/* In an order that the outputs' bits stand for: see filter_cascade_init. */
static inline __attribute__((always_inline)) void outputs(const weir_cascade *m, const double *z,
                                                          const double *x, V *y, int64_t states)
{
  for (int h = 0; h < PER_BLOCK; h++) {
    V sum = V_MUL(V_LOAD(&m->t[0][V_LANES * h]), V_SET(x[0]));
    V free = V_MUL(V_LOAD(&m->o[0][V_LANES * h]), V_PICK(z, 0));

    for (int j = 1; j < V_LANES * (h + 1); j++) {
      sum = V_FMA(V_LOAD(&m->t[j][V_LANES * h]), V_SET(x[j]), sum);
    }
    for (int64_t i = 1; i < states; i++) {
      free = V_FMA(V_LOAD(&m->o[i][V_LANES * h]), V_PICK(z, i), free);
    }
    y[h] = V_ADD(V_ADD(sum, free), V_SET(0.0)); /* -0 becomes 0 */
  }
}

/* Two sums for even and odd terms: half as long a chain from states to states. */
static inline __attribute__((always_inline)) V moved(const weir_cascade *m, const double *z,
                                                     const double *x, int64_t at, int64_t states)
{
  V even = V_MUL(V_LOAD(&m->c[0][at]), V_SET(x[0])), odd = V_MUL(V_LOAD(&m->c[1][at]), V_SET(x[1]));

  for (int j = 2; j < CASCADE_BLOCK; j += 2) {
    even = V_FMA(V_LOAD(&m->c[j][at]), V_SET(x[j]), even);
    odd = V_FMA(V_LOAD(&m->c[j + 1][at]), V_SET(x[j + 1]), odd);
  }
  for (int64_t i = 0; i < states; i += 2) {
    even = V_FMA(V_LOAD(&m->a[i][at]), V_PICK(z, i), even);
    odd = V_FMA(V_LOAD(&m->a[i + 1][at]), V_PICK(z, i + 1), odd);
  }
  return V_ADD(even, odd);
}

static inline __attribute__((always_inline)) void block(const weir_cascade *m, double *z,
                                                        const double *x, V *y, int64_t states)
{
  V next[CASCADE_STATES / V_LANES];

  outputs(m, z, x, y, states);
  for (int64_t v = 0; v < (states + V_LANES - 1) / V_LANES; v++) {
    next[v] = moved(m, z, x, V_LANES * v, states);
  }
  for (int64_t v = 0; v < (states + V_LANES - 1) / V_LANES; v++) {
    V_STORE(z + V_LANES * v, next[v]);
  }
}

static inline __attribute__((always_inline)) void blocks(const weir_cascade *m, double *z,
                                                         const void *x, void *y, int64_t n,
                                                         bool wide, int64_t states)
{
  for (int64_t b = 0; b < n; b++) {
    _Alignas(64) double samples[CASCADE_BLOCK];
    V out[PER_BLOCK];

    for (int h = 0; h < PER_BLOCK; h++) {
      const int64_t at = CASCADE_BLOCK * b + V_LANES * h;

      V_STORE(samples + V_LANES * h,
              wide ? V_LOAD((const double *)x + at) : V_FROM((const float *)x + at));
    }
    block(m, z, samples, out, states);
    for (int h = 0; h < PER_BLOCK; h++) {
      const int64_t at = CASCADE_BLOCK * b + V_LANES * h;

      if (wide) {
        V_STORE((double *)y + at, out[h]);
      } else {
        V_TO((float *)y + at, out[h]);
      }
    }
  }
}

/* The usual numbers of states as constants, for the compiler. */
static inline __attribute__((always_inline)) void
by_states(const weir_cascade *m, double *z, const void *x, void *y, int64_t n, bool wide)
{
  switch (m->states) {
  case 2:
    blocks(m, z, x, y, n, wide, 2);
    break;
  case 4:
    blocks(m, z, x, y, n, wide, 4);
    break;
  case 8:
    blocks(m, z, x, y, n, wide, 8);
    break;
  default:
    blocks(m, z, x, y, n, wide, m->states);
    break;
  }
}

static void run_f32(const weir_cascade *m, double *z, const float *x, float *y, int64_t n)
{
  by_states(m, z, x, y, n, false);
}

static void run_f64(const weir_cascade *m, double *z, const double *x, double *y, int64_t n)
{
  by_states(m, z, x, y, n, true);
}

static void run_back(const weir_cascade *m, double *z, double *x, int64_t n)
{
  for (int64_t b = 0; b < n; b++) {
    _Alignas(64) double samples[CASCADE_BLOCK];
    V out[PER_BLOCK];

    for (int h = 0; h < PER_BLOCK; h++) {
      V_STORE(samples + V_LANES * h, V_TURN(V_LOAD(x - V_LANES * (h + 1))));
    }
    switch (m->states) {
    case 2:
      block(m, z, samples, out, 2);
      break;
    case 4:
      block(m, z, samples, out, 4);
      break;
    case 8:
      block(m, z, samples, out, 8);
      break;
    default:
      block(m, z, samples, out, m->states);
      break;
    }
    for (int h = 0; h < PER_BLOCK; h++) {
      V_STORE(x - V_LANES * (h + 1), V_TURN(out[h]));
    }
    x -= CASCADE_BLOCK;
  }
}

const weir_cascade_kernels TABLE = {run_f32, run_f64, run_back};
