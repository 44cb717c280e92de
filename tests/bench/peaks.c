/* peaks.c - what one core of this machine can do: bytes copied and f32 multiply-adds a second.
 * With a file name it writes them as exec.peaks reads them. */
#include <string.h>
#include "base/weir_file.h"
#include "weir_bench.h"

enum { COPY = 256 << 20, ROUNDS = 1 << 20, RUNS = 9, LANES = 16, CHAINS = 8 };

typedef float lanes __attribute__((vector_size(4 * LANES)));

typedef struct arrays {
  char *from, *to;
} arrays;

static void copy(void *context)
{
  const arrays *a = context;

  memcpy(a->to, a->from, COPY);
}

/* Enough independent chains to hide the latency of a multiply-add; the widest unit that this
 * processor has is chosen when the program starts. */
#ifndef __clang__
__attribute__((optimize("fp-contract=fast")))
#endif
__attribute__((target_clones("avx512f", "fma", "default"))) static void
multiply_add(void *context)
{
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
  lanes sum[CHAINS], scale, step;

  memcpy(&scale, context, sizeof scale);
  memcpy(&step, (char *)context + sizeof scale, sizeof step);
  /* Chains that begin alike would be one chain to the compiler. */
  for (int k = 0; k < CHAINS; k++) {
    sum[k] = step * (float)k;
  }
  for (int i = 0; i < ROUNDS; i++) {
    for (int k = 0; k < CHAINS; k++) {
      sum[k] = sum[k] * scale + step;
    }
  }
  for (int k = 1; k < CHAINS; k++) {
    sum[0] += sum[k];
  }
  memcpy((char *)context + 2 * sizeof scale, &sum[0], sizeof scale);
}

int main(int argc, char **argv)
{
  arrays a = {malloc(COPY), malloc(COPY)};
  lanes numbers[3];

  (void)bench_pin();
  if (a.from == NULL || a.to == NULL) {
    fprintf(stderr, "peaks: no memory\n");
    return 5;
  }
  memset(a.from, 1, COPY);
  memset(a.to, 2, COPY);
  for (int l = 0; l < LANES; l++) {
    numbers[0][l] = 0.5F;
    numbers[1][l] = 1.0F;
  }
  const double bandwidth = 2.0 * COPY / bench_best(RUNS, copy, &a);
  const double flops = 2.0 * ROUNDS * CHAINS * LANES / bench_best(RUNS, multiply_add, numbers);

  free(a.from);
  free(a.to);
  bench_row("copy", "limit", bandwidth * 1e-9, bandwidth * 1e-9, "GB/s", 1, 0);
  bench_row("f32 multiply-add", "limit", flops * 1e-9, flops * 1e-9, "Gflop/s", 1, 0);
  if (argc > 1) {
    weir_writer *w = NULL;
    if (weir_writer_open(argv[1], &w) != WEIR_OK ||
        weir_writer_printf(w, "bandwidth: %.4g\nflop_rate: %.4g\n", bandwidth, flops) != WEIR_OK ||
        weir_writer_commit(&w) != WEIR_OK) {
      weir_writer_destroy(&w);
      weir_print_trace(stderr);
      return 3;
    }
  }
  return 0;
}
