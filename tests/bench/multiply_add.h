/* multiply_add.h - f32 multiply-adds a second that one core of this machine does from registers. */
#ifndef MULTIPLY_ADD_H
#define MULTIPLY_ADD_H
#include <string.h>
#include "weir_bench.h"

enum { BENCH_ROUNDS = 1 << 20, BENCH_LANES = 16, BENCH_CHAINS = 8 };

typedef float bench_lanes __attribute__((vector_size(4 * BENCH_LANES)));

/* Enough independent chains to hide the latency of a multiply-add; the widest unit that this
 * processor has is chosen when the program starts. */
#ifndef __clang__
__attribute__((optimize("fp-contract=fast")))
#endif
__attribute__((target_clones("avx512f", "fma", "default"))) static void
bench_chains(void *context)
{
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
  bench_lanes sum[BENCH_CHAINS], scale, step;

  memcpy(&scale, context, sizeof scale);
  memcpy(&step, (char *)context + sizeof scale, sizeof step);
  /* Chains that begin alike would be one chain to the compiler. */
  for (int k = 0; k < BENCH_CHAINS; k++) {
    sum[k] = step * (float)k;
  }
  for (int i = 0; i < BENCH_ROUNDS; i++) {
    for (int k = 0; k < BENCH_CHAINS; k++) {
      sum[k] = sum[k] * scale + step;
    }
  }
  for (int k = 1; k < BENCH_CHAINS; k++) {
    sum[0] += sum[k];
  }
  memcpy((char *)context + 2 * sizeof scale, &sum[0], sizeof scale);
}

/* Operations a second, two a multiply-add: the best of `runs` runs. */
static inline double bench_multiply_adds(int runs)
{
  bench_lanes numbers[3];

  for (int l = 0; l < BENCH_LANES; l++) {
    numbers[0][l] = 0.5F;
    numbers[1][l] = 1.0F;
  }
  return 2.0 * BENCH_ROUNDS * BENCH_CHAINS * BENCH_LANES / bench_best(runs, bench_chains, numbers);
}
#endif
