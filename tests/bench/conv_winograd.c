/* conv_winograd.c - convolutions of kernel size 3 with fewer products (conv.winograd), of f32
 * and of bf16, one thread, against oneDNN's: times of the processor, and errors against sums in
 * double. The shapes are those of U-Net lite. With AVX-512, then with AVX2 alone. */
#include "base/weir_log.h"
#include "conv_plans.h"
#include "instruction_sets.h"
#include "ops/conv/winograd/winograd_priv.h"
#include "weir_bench.h"

enum { RUNS = 15 };

/* Forward, by data and by weights. */
static void rows_of(bool half, const char *shape, int64_t in, int64_t out, const int64_t e[3],
                    double goal)
{
  static const char *const tasks[] = {"forward", "data", "weights"};
  const char *of = half ? " bf16" : "";

  for (int k = 0; k < 3; k++) {
    const bench_conv c = {(bench_conv_task)k, in, out, {e[0], e[1], e[2]}, half};
    const bench_conv small = {(bench_conv_task)k, in, out, {8, 16, 32}, half};
    char name[96];

    snprintf(name, sizeof name, "winograd%s: %s %s", of, tasks[k], shape);
    bench_conv_against(name, "conv.winograd", &c, RUNS, goal);
    if (goal > 0) {
      snprintf(name, sizeof name, "winograd%s: error of %s %lld->%lld 8x16x32", of, tasks[k],
               (long long)in, (long long)out);
      bench_conv_errors(name, "conv.winograd", &small);
    }
  }
}

static void shape_rows(const char *shape, int64_t in, int64_t out, const int64_t e[3], double goal)
{
  rows_of(false, shape, in, out, e, goal);
  if (winograd_kernels_get(WEIR_BF16) != NULL) {
    rows_of(true, shape, in, out, e, goal);
  }
}

static int rows(void)
{
  if (winograd_kernels_get(WEIR_F32) == NULL) {
    fprintf(stderr, "conv_winograd: skipped: this processor has no vector kernels\n");
    return 77;
  }
  shape_rows("96->32 8x64x128", 96, 32, (const int64_t[]){8, 64, 128}, 1.5);
  shape_rows("32->32 8x64x128", 32, 32, (const int64_t[]){8, 64, 128}, 1.5);
  shape_rows("192->64 4x32x64", 192, 64, (const int64_t[]){4, 32, 64}, 0);
  shape_rows("64->64 4x32x64", 64, 64, (const int64_t[]){4, 32, 64}, 0);
  shape_rows("128->128 2x16x32", 128, 128, (const int64_t[]){2, 16, 32}, 0);
  return 0;
}

int main(void)
{
  (void)bench_pin();
  weir_log_set_level(WEIR_LOG_WARN);
  return bench_each_set(rows);
}
