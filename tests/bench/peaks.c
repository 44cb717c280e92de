/* peaks.c - what this machine can do: bytes copied and f32 multiply-adds a second by one core,
 * bytes copied by all that the process may use. With a file name it writes them as exec.machine and
 * exec.predict read them. Instructions are those of exec.machine (WEIR_MACHINE). */
#include <string.h>
#include "base/weir_file.h"
#include "device/weir_parallel.h"
#include "weir_bench.h"
#include "multiply_add.h"

enum { COPY = 256 << 20, RUNS = 9 };

typedef struct arrays {
  char *from, *to;
  int threads;
} arrays;

static void copy(void *context)
{
  const arrays *a = context;

  memcpy(a->to, a->from, COPY);
}

/* Arrays of a share each: pages are of the core that wrote them. */
static void copy_share(void *context, int64_t item, int thread)
{
  const arrays *a = context;
  const int64_t n = COPY / a->threads;

  (void)thread;
  memcpy(a->to + item * n, a->from + item * n, (size_t)n);
}

static void copy_all(void *context)
{
  const arrays *a = context;

  weir_parallel(a->threads, a->threads, copy_share, context);
}

static weir_status write(const char *path, double bandwidth, double total, double flops)
{
  weir_writer *w = NULL;
  weir_status status = weir_writer_open(path, &w);

  if (status == WEIR_OK) {
    status = weir_writer_printf(w,
                                "processors: %d\nbandwidth: %.4g\ntotal_bandwidth: %.4g\n"
                                "flop_rate: %.4g\n",
                                weir_threads_get(), bandwidth, total, flops);
  }
  status = status == WEIR_OK ? weir_writer_commit(&w) : status;
  weir_writer_destroy(&w);
  return status;
}

int main(int argc, char **argv)
{
  arrays a = {malloc(COPY), malloc(COPY), 1};

  bench_must(weir_cpu_load(NULL));
  const cpu_set_t allowed = bench_pin();

  if (a.from == NULL || a.to == NULL) {
    fprintf(stderr, "peaks: no memory\n");
    return 5;
  }
  memset(a.from, 1, COPY);
  memset(a.to, 2, COPY);
  const double bandwidth = 2.0 * COPY / bench_best(RUNS, copy, &a);
  const double flops = bench_multiply_adds(RUNS);

  (void)bench_unpin(&allowed);
  a.threads = weir_threads_get();
  const double total = 2.0 * COPY / bench_best(RUNS, copy_all, &a);

  free(a.from);
  free(a.to);
  bench_row("copy", "limit", bandwidth * 1e-9, bandwidth * 1e-9, "GB/s", 1, 0);
  bench_row("copy by all cores", "limit", total * 1e-9, total * 1e-9, "GB/s", 1, 0);
  bench_row("f32 multiply-add", "limit", flops * 1e-9, flops * 1e-9, "Gflop/s", 1, 0);
  if (argc > 1) {
    bench_must(write(argv[1], bandwidth, total, flops));
  }
  return 0;
}
