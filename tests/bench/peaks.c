/* peaks.c - what one core of this machine can do: bytes copied and f32 multiply-adds a second.
 * With a file name it writes them as exec.machine reads them. */
#include <string.h>
#include "base/weir_file.h"
#include "weir_bench.h"
#include "multiply_add.h"

enum { COPY = 256 << 20, RUNS = 9 };

typedef struct arrays {
  char *from, *to;
} arrays;

static void copy(void *context)
{
  const arrays *a = context;

  memcpy(a->to, a->from, COPY);
}

int main(int argc, char **argv)
{
  arrays a = {malloc(COPY), malloc(COPY)};

  (void)bench_pin();
  if (a.from == NULL || a.to == NULL) {
    fprintf(stderr, "peaks: no memory\n");
    return 5;
  }
  memset(a.from, 1, COPY);
  memset(a.to, 2, COPY);
  const double bandwidth = 2.0 * COPY / bench_best(RUNS, copy, &a);
  const double flops = bench_multiply_adds(RUNS);

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
