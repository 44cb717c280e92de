/* multiply_add.h - f32 multiply-adds a second that one core of this machine does from registers,
 * with the instructions that exec.machine allows. */
#ifndef MULTIPLY_ADD_H
#define MULTIPLY_ADD_H
#include <string.h>
#include "device/weir_parallel.h"
#include "weir_bench.h"

enum { BENCH_ROUNDS = 1 << 20, BENCH_CHAINS = 8, BENCH_WIDEST = 16 };

#ifdef __clang__
#define BENCH_CONTRACT
#define BENCH_CONTRACT_HERE _Pragma("clang fp contract(fast)")
#else
#define BENCH_CONTRACT __attribute__((optimize("fp-contract=fast")))
#define BENCH_CONTRACT_HERE
#endif

/* Rounds of multiply-adds of `lanes` elements, in enough independent chains to hide the latency of
 * one; both they and the factors stay in registers. context: scale, step, result, each
 * BENCH_WIDEST. */
#define BENCH_MULTIPLY_ADD(name, lanes, attributes)                   \
  BENCH_CONTRACT attributes static void name(void *context)           \
  {                                                                   \
    BENCH_CONTRACT_HERE                                               \
    typedef float vector __attribute__((vector_size(4 * (lanes))));   \
    float *const numbers = context;                                   \
    vector sum[BENCH_CHAINS], scale, step;                            \
                                                                      \
    memcpy(&scale, numbers, sizeof scale);                            \
    memcpy(&step, numbers + BENCH_WIDEST, sizeof step);               \
    /* Chains that begin alike would be one chain to the compiler. */ \
    for (int k = 0; k < BENCH_CHAINS; k++) {                          \
      sum[k] = step * (float)k;                                       \
    }                                                                 \
    for (int i = 0; i < BENCH_ROUNDS; i++) {                          \
      for (int k = 0; k < BENCH_CHAINS; k++) {                        \
        sum[k] = sum[k] * scale + step;                               \
      }                                                               \
    }                                                                 \
    for (int k = 1; k < BENCH_CHAINS; k++) {                          \
      sum[0] += sum[k];                                               \
    }                                                                 \
    memcpy(numbers + 2 * BENCH_WIDEST, &sum[0], sizeof sum[0]);       \
  }
BENCH_MULTIPLY_ADD(bench_chains_base, 4, )
#ifdef __x86_64__
BENCH_MULTIPLY_ADD(bench_chains_avx2, 8, __attribute__((target("avx2,fma"))))
BENCH_MULTIPLY_ADD(bench_chains_avx512, 16, __attribute__((target("avx512f"))))
#endif

/* Operations a second, two a multiply-add: the best of `runs` runs. */
static inline double bench_multiply_adds(int runs)
{
  const weir_cpu *const cpu = weir_cpu_get();
  float numbers[3 * BENCH_WIDEST];
  void (*chains)(void *) = bench_chains_base;
  int lanes = 4;

#ifdef __x86_64__
  if (cpu->avx512) {
    chains = bench_chains_avx512;
    lanes = 16;
  } else if (cpu->avx2 && cpu->fma) {
    chains = bench_chains_avx2;
    lanes = 8;
  }
#else
  (void)cpu;
#endif
  for (int l = 0; l < BENCH_WIDEST; l++) {
    numbers[l] = 0.5F;
    numbers[BENCH_WIDEST + l] = 1.0F;
  }
  return 2.0 * BENCH_ROUNDS * BENCH_CHAINS * lanes / bench_best(runs, chains, numbers);
}
#endif
