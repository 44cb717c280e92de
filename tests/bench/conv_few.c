/* conv_few.c - convolutions with few channels on one side, f32, one thread: the share of this
 * core's multiply-adds that the products take (those with padding are not counted), and plans with
 * this kernel against plans with oneDNN's, where the build has it; with AVX-512, then with AVX2
 * alone. Times are the processor's. */
#include <string.h>

#include "base/weir_log.h"
#include "conv_plans.h"
#include "fields.h"
#include "instruction_sets.h"
#include "multiply_add.h"
#include "ops/conv/few_priv.h"

enum { RUNS = 30 };

/* Multiplications and additions, those with padding left out. */
static double work_of(const few_conv *s)
{
  double n = 2.0 * (double)(s->few * s->many);

  for (int d = 0; d < 3; d++) {
    int64_t inside = 0;

    for (int64_t o = 0; o < s->out[d]; o++) {
      for (int64_t t = 0; t < s->kernel_size[d]; t++) {
        inside += o + t - s->lo[d] >= 0 && o + t - s->lo[d] < s->in[d];
      }
    }
    n *= (double)inside;
  }
  return n;
}

/* What one core does at most. */
typedef struct limits {
  double flops, bytes; /* multiply-adds from registers, bytes read from memory; a second */
} limits;

typedef struct numbers {
  const uint64_t *at;
  int64_t count;
  uint64_t sum;
} numbers;

static void read_all(void *context)
{
  numbers *n = context;
  uint64_t sum[8] = {0};

  for (int64_t i = 0; i < n->count; i += 8) {
    for (int k = 0; k < 8; k++) {
      sum[k] += n->at[i + k];
    }
  }
  for (int k = 0; k < 8; k++) {
    n->sum += sum[k];
  }
}

static limits measure_limits(void)
{
  const int64_t bytes = 256 << 20;
  float *field = bench_field(bytes / 4);
  numbers n = {.at = (const uint64_t *)(const void *)field, .count = bytes / 8};
  const limits l = {bench_multiply_adds(9), (double)bytes / bench_best(9, read_all, &n)};

  if (n.sum == 0) { /* so that it is read at all */
    fprintf(stderr, "conv_few: a sum of bits is 0\n");
  }
  free(field);
  return l;
}

/* `goal`: of the share of multiply-adds. Fields larger than the caches are read once at least: a
 * second row says at which rate this is, compared with that of reading alone. */
static void row(const char *name, few_kind kind, int64_t few, int64_t many, const int64_t extent[3],
                const limits *limit, double goal)
{
  few_conv s = {.batch = 1, .few = few, .many = many};
  few_sum f = {.kind = kind, .k = few_kernels_get(), .s = &s};
  double best = INFINITY;
  char bytes[96];

  for (int d = 0; d < 3; d++) {
    s.in[d] = s.out[d] = extent[d];
    s.kernel_size[d] = 3;
    s.lo[d] = s.stride[d] = 1;
  }
  float *in = bench_field(bench_steps(s.in, kind == FEW_NARROW ? many : few, s.in_step));
  float *out = bench_field(bench_steps(s.out, kind == FEW_NARROW ? few : many, s.out_step));
  float *w = bench_field(27 * few * many);

  s.w_step[4] = 1;
  s.w_step[3] = many;
  for (int d = 2; d >= 0; d--) {
    s.w_step[d] = d == 2 ? few * many : 3 * s.w_step[d + 1];
  }
  f.a = in;
  f.b = kind == FEW_WEIGHTS ? out : w;
  f.out = kind == FEW_WEIGHTS ? w : out;
  f.workspace = bench_field(few_workspace(kind, f.k, &s) / 4);
  few_run(&f, 1);
  for (int i = 0; i < RUNS; i++) {
    const double start = bench_processor_seconds();

    few_run(&f, 1);
    best = fmin(best, bench_processor_seconds() - start);
  }
  bench_row(bench_set_row(name), "limit", limit->flops * 1e-9, work_of(&s) / best * 1e-9, "Gflop/s",
            1, goal);
  (void)snprintf(bytes, sizeof bytes, "%s: field from memory", name);
  bench_row(bench_set_row(bytes), "limit", limit->bytes * 1e-9,
            4e-9 * (double)(s.in_step[0] + s.out_step[0]) / best, "GB/s", 1, 0);
  free(in);
  free(out);
  free(w);
  free(f.workspace);
}

static int rows(void)
{
  const char *kernel = "conv.few_channels";
  const int64_t cube[] = {64, 64, 64}, field_2d[] = {8, 192, 384};

  if (few_kernels_get() == NULL) {
    fprintf(stderr, "conv_few: skipped: this processor has no vector kernels\n");
    return 77;
  }
  const limits limit = measure_limits();

  row("weights 4->32 64^3", FEW_WEIGHTS, 4, 32, cube, &limit, 0.85);
  row("weights 5->16 8x192x384", FEW_WEIGHTS, 5, 16, field_2d, &limit, 0.85);
  row("head 16->5 8x192x384", FEW_NARROW, 5, 16, field_2d, &limit, 0.6);
  row("head 16->1 8x192x384", FEW_NARROW, 1, 16, field_2d, &limit, 0.6);
  row("data 4<-32 64^3", FEW_NARROW, 4, 32, cube, &limit, 0.6);
  row("data 14<-32 64^3", FEW_NARROW, 14, 32, cube, &limit, 0.6);
  row("forward 4->32 64^3", FEW_WIDEN, 4, 32, cube, &limit, 0);
  row("forward 5->16 8x192x384", FEW_WIDEN, 5, 16, field_2d, &limit, 0);
  bench_conv_against("plan: weights 4->32 64^3", kernel,
                     &(bench_conv){BENCH_CONV_WEIGHTS, 4, 32, {64, 64, 64}, false}, RUNS, 1);
  bench_conv_against("plan: weights 5->16 8x192x384", kernel,
                     &(bench_conv){BENCH_CONV_WEIGHTS, 5, 16, {8, 192, 384}, false}, RUNS, 1);
  bench_conv_against("plan: weights of head 16->5 8x192x384", kernel,
                     &(bench_conv){BENCH_CONV_WEIGHTS, 16, 5, {8, 192, 384}, false}, RUNS, 1);
  bench_conv_against("plan: head 16->5 8x192x384", kernel,
                     &(bench_conv){BENCH_CONV_FORWARD, 16, 5, {8, 192, 384}, false}, RUNS, 1);
  bench_conv_against("plan: head 16->1 8x192x384", kernel,
                     &(bench_conv){BENCH_CONV_FORWARD, 16, 1, {8, 192, 384}, false}, RUNS, 1);
  bench_conv_against("plan: data 4->32 64^3", kernel,
                     &(bench_conv){BENCH_CONV_DATA, 4, 32, {64, 64, 64}, false}, RUNS, 1);
  bench_conv_against("plan: data of head 16->5 8x192x384", kernel,
                     &(bench_conv){BENCH_CONV_DATA, 16, 5, {8, 192, 384}, false}, RUNS, 0);
  bench_conv_against("plan: forward 4->32 64^3", kernel,
                     &(bench_conv){BENCH_CONV_FORWARD, 4, 32, {64, 64, 64}, false}, RUNS, 0);
  bench_conv_against("plan: forward 14->32 64^3", kernel,
                     &(bench_conv){BENCH_CONV_FORWARD, 14, 32, {64, 64, 64}, false}, RUNS, 0);
  bench_conv_against("plan: forward 5->16 8x192x384", kernel,
                     &(bench_conv){BENCH_CONV_FORWARD, 5, 16, {8, 192, 384}, false}, RUNS, 0);
  return 0;
}

int main(void)
{
  (void)bench_pin();
  weir_log_set_level(WEIR_LOG_WARN);
  return bench_each_set(rows);
}
