/* chain.c - eight element-wise operators in a row over 64 M floats, made one loop by the plan,
 * against a copy of the same arrays: what is left of the memory's speed. */
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"
#include "weir_bench.h"

enum { COUNT = 1 << 26, RUNS = 9 };

typedef struct bench {
  weir_tensor x, y;
  weir_plan *plan;
} bench;

static void copy(void *context)
{
  bench *b = context;

  memcpy(b->y.data, b->x.data, COUNT * sizeof(float));
}

#ifdef __SSE2__
/* Stores that leave the cache out. */
static void stream(void *context)
{
  const bench *b = context;
  const __m128i *from = b->x.data;
  __m128i *to = b->y.data;

  for (size_t i = 0; i < COUNT * sizeof(float) / sizeof *to; i++) {
    _mm_stream_si128(to + i, _mm_loadu_si128(from + i));
  }
  _mm_sfence();
}
#endif

static void run(void *context)
{
  bench *b = context;
  const weir_binding bindings[] = {{"x", &b->x}, {"y", &b->y}};

  bench_must(weir_plan_run(b->plan, bindings, 2));
}

static weir_value arithmetic(weir_graph *g, weir_value x)
{
  weir_value v = weir_sub_scalar(g, x, 0.25);

  v = weir_scale(g, v, 1.5);
  v = weir_add_scalar(g, v, 0.125);
  v = weir_square(g, v);
  v = weir_min_scalar(g, v, 2.0);
  v = weir_sub(g, v, x);
  v = weir_select(g, weir_lt_scalar(g, v, 0), weir_scale(g, v, 0.01), v);
  return weir_abs(g, v);
}

static weir_value transcendental(weir_graph *g, weir_value x)
{
  return weir_tanh(g, weir_exp(g, x));
}

/* Plan of the chain in one engine; false: it cannot be had here. */
static int make(bench *b, weir_value (*chain)(weir_graph *, weir_value), weir_tier tier)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 1, .shape = {COUNT}};
  weir_exec_cfg cfg;
  weir_graph *g = NULL;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = (int)tier;
  if (weir_graph_create(&g) != WEIR_OK) {
    return 0;
  }
  weir_output(g, "y", chain(g, weir_input(g, "x", &d)));
  const weir_status status =
      weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &b->plan);
  weir_graph_destroy(&g);
  if (status != WEIR_OK) {
    weir_print_trace(stderr);
    return 0;
  }
  return 1;
}

static void compare(bench *b, const char *work, const char *reference, void (*body)(void *),
                    double goal)
{
  const double gigabytes = 2.0 * COUNT * sizeof(float) * 1e-9;
  double seconds[2];

  bench_best_pair(RUNS, body, b, run, b, seconds);
  bench_row(work, reference, gigabytes / seconds[0], gigabytes / seconds[1], "GB/s", 1, goal);
}

int main(void)
{
  const int64_t shape[] = {COUNT};
  bench b = {.plan = NULL};

  (void)bench_pin();
  weir_log_set_level(WEIR_LOG_WARN);
  bench_must(weir_tensor_init(&b.x, WEIR_F32, 1, shape));
  bench_must(weir_tensor_init(&b.y, WEIR_F32, 1, shape));
  for (int64_t i = 0; i < COUNT; i++) {
    ((float *)b.x.data)[i] = (float)((uint64_t)i * 2654435761u % 65536) * 0x1p-15f - 1;
  }
  if (make(&b, arithmetic, WEIR_TIER_NATIVE)) {
    compare(&b, "chain of 8 native", "memcpy", copy, 1.0);
#ifdef __SSE2__
    compare(&b, "chain of 8 native", "streaming copy", stream, 0);
#endif
    weir_plan_destroy(&b.plan);
  }
  if (make(&b, arithmetic, WEIR_TIER_VECTOR)) {
    compare(&b, "chain of 8 vector", "memcpy", copy, 0.5);
    weir_plan_destroy(&b.plan);
  }
  if (make(&b, transcendental, WEIR_TIER_NATIVE)) {
    compare(&b, "exp tanh native", "memcpy", copy, 0);
    weir_plan_destroy(&b.plan);
  }
  weir_tensor_fini(&b.x);
  weir_tensor_fini(&b.y);
  return 0;
}
