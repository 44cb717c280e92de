/* conv_few.c - convolutions with few channels on one side, f32, one thread: the share of this
 * core's multiply-adds that the products take (those with padding are not counted), and plans with
 * this kernel against plans with oneDNN's, where the build has it. Times are the processor's. */
#include <string.h>

#include "base/weir_log.h"
#include "exec/weir_plan.h"
#include "fields.h"
#include "layers_dnnl.h"
#include "multiply_add.h"
#include "ops/conv/few_priv.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

#ifdef BENCH_WITH_DNNL
#define VERSION_OF_DNNL layer_dnnl_version()
#else
#define VERSION_OF_DNNL NULL /* no plan has its kernels */
#endif

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

static void row(const char *name, few_kind kind, int64_t few, int64_t many, const int64_t extent[3],
                double peak, double goal)
{
  few_conv s = {.batch = 1, .few = few, .many = many};
  few_sum f = {.kind = kind, .k = few_kernels_get(), .s = &s};
  double best = INFINITY;

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
  bench_row(name, "limit", peak * 1e-9, work_of(&s) / best * 1e-9, "Gflop/s", 1, goal);
  free(in);
  free(out);
  free(w);
  free(f.workspace);
}

enum { X, W, T, OUT, ARRAYS };

/* The convolution with kernel size 3, or one of its gradients with t on the outputs. */
typedef enum task { FORWARD, BY_DATA, BY_WEIGHTS } task;

typedef struct side {
  weir_plan *plan;
  weir_tensor of[ARRAYS];
} side;

static const char *const names[ARRAYS] = {"x", "w", "t", "out"};

static weir_graph *graph_of(task direction, int64_t in, int64_t out, const int64_t extent[3])
{
  const weir_conv_spec spec = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  weir_array_desc x = {WEIR_F32, 5, {1, extent[0], extent[1], extent[2], in}, .time = 0}, t = x;
  const weir_array_desc w = {WEIR_F32, 5, {3, 3, 3, in, out}, .time = 0};
  weir_graph *g = NULL;

  bench_must(weir_graph_create(&g));
  t.shape[4] = out;
  const weir_value from[] = {weir_input(g, names[X], &x), weir_input(g, names[W], &w)};
  const weir_value y = weir_conv(g, &spec, from[0], from[1]);
  weir_value loss = weir_mul(g, y, weir_input(g, names[T], &t)), grads[2];

  if (direction == FORWARD) {
    weir_output(g, names[OUT], y);
    return g;
  }
  for (int k = 4; k >= 0; k--) {
    loss = weir_sum(g, loss, k);
  }
  bench_must(weir_gradients(g, loss, from, 2, grads));
  weir_output(g, names[OUT], grads[direction == BY_DATA ? 0 : 1]);
  return g;
}

/* A plan with one kernel and its arrays; false: the kernel has no group of it. */
static bool make_side(const weir_graph *g, const char *kernel, task direction, int64_t in,
                      int64_t out, const int64_t extent[3], side *s)
{
  const int64_t x[] = {1, extent[0], extent[1], extent[2], in};
  const int64_t t[] = {1, extent[0], extent[1], extent[2], out}, w[] = {3, 3, 3, in, out};
  const int64_t *shape[] = {x, w, t, direction == FORWARD ? t : direction == BY_DATA ? x : w};
  weir_exec_cfg cfg;
  bool claimed = false;

  *s = (side){.plan = NULL};
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.kernel = kernel;
  bench_must(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &s->plan));
  for (int32_t i = 0; i < weir_plan_groups(s->plan); i++) {
    claimed = claimed || strcmp(weir_plan_group(s->plan, i).kernel, kernel) == 0;
  }
  for (int k = 0; claimed && k < ARRAYS; k++) {
    bench_must(weir_tensor_init(&s->of[k], WEIR_F32, 5, shape[k]));
    for (int64_t i = 0; i < weir_tensor_numel(&s->of[k]); i++) {
      ((float *)s->of[k].data)[i] = (float)((uint64_t)i * 2654435761u % 65536) * 0x1p-15F - 1;
    }
  }
  return claimed;
}

static void run_side(side *s)
{
  weir_binding bindings[ARRAYS];

  for (int k = 0; k < ARRAYS; k++) {
    bindings[k] = (weir_binding){names[k], &s->of[k]};
  }
  bench_must(weir_plan_run(s->plan, bindings, ARRAYS));
}

static void end_side(side *s)
{
  weir_plan_destroy(&s->plan);
  for (int k = 0; k < ARRAYS; k++) {
    weir_tensor_fini(&s->of[k]);
  }
}

/* Largest difference of the results over the largest of them. */
static double difference(const side *a, const side *b)
{
  const float *p = a->of[OUT].data, *q = b->of[OUT].data;
  double worst = 0, largest = 0;

  for (int64_t i = 0; i < weir_tensor_numel(&a->of[OUT]); i++) {
    worst = fmax(worst, fabs((double)p[i] - (double)q[i]));
    largest = fmax(largest, fabs((double)q[i]));
  }
  return worst / largest;
}

static double seconds_of(side *s)
{
  const double start = bench_processor_seconds();

  run_side(s);
  return bench_processor_seconds() - start;
}

static void against(const char *name, task direction, int64_t in, int64_t out,
                    const int64_t extent[3], double goal)
{
  static const char *const references[] = {"conv_forward.dnnl", "conv_data.dnnl",
                                           "conv_weights.dnnl"};
  weir_graph *g = graph_of(direction, in, out, extent);
  side reference, own;
  double best[] = {INFINITY, INFINITY};
  const bool first = make_side(g, references[direction], direction, in, out, extent, &reference);
  const bool second = make_side(g, "conv.few_channels", direction, in, out, extent, &own);

  if (first && second) {
    run_side(&reference);
    run_side(&own);
    if (!(difference(&own, &reference) < 1e-4)) {
      fprintf(stderr, "conv_few: %s: results differ by %g\n", name, difference(&own, &reference));
      exit(1);
    }
    for (int i = 0; i < RUNS; i++) {
      best[0] = fmin(best[0], seconds_of(&reference));
      best[1] = fmin(best[1], seconds_of(&own));
    }
    bench_row_of(name, "oneDNN", VERSION_OF_DNNL, best[0] * 1e3, best[1] * 1e3, "ms", 0, goal);
  }
  end_side(&reference);
  end_side(&own);
  weir_graph_destroy(&g);
}

int main(void)
{
  const int64_t cube[] = {64, 64, 64}, field_2d[] = {8, 192, 384};

  (void)bench_pin();
  weir_log_set_level(WEIR_LOG_WARN);
  if (few_kernels_get() == NULL) {
    fprintf(stderr, "conv_few: skipped: this processor has no vector kernels\n");
    return 77;
  }
  const double peak = bench_multiply_adds(9);

  row("weights 4->32 64^3", FEW_WEIGHTS, 4, 32, cube, peak, 0.85);
  row("weights 5->16 8x192x384", FEW_WEIGHTS, 5, 16, field_2d, peak, 0.85);
  row("head 16->5 8x192x384", FEW_NARROW, 5, 16, field_2d, peak, 0.6);
  row("head 16->1 8x192x384", FEW_NARROW, 1, 16, field_2d, peak, 0.6);
  row("data 4<-32 64^3", FEW_NARROW, 4, 32, cube, peak, 0.6);
  row("data 14<-32 64^3", FEW_NARROW, 14, 32, cube, peak, 0.6);
  row("forward 4->32 64^3", FEW_WIDEN, 4, 32, cube, peak, 0);
  row("forward 5->16 8x192x384", FEW_WIDEN, 5, 16, field_2d, peak, 0);
  against("plan: weights 4->32 64^3", BY_WEIGHTS, 4, 32, cube, 1);
  against("plan: weights 5->16 8x192x384", BY_WEIGHTS, 5, 16, field_2d, 1);
  against("plan: weights of head 16->5 8x192x384", BY_WEIGHTS, 16, 5, field_2d, 1);
  against("plan: head 16->5 8x192x384", FORWARD, 16, 5, field_2d, 1);
  against("plan: head 16->1 8x192x384", FORWARD, 16, 1, field_2d, 1);
  against("plan: data 4->32 64^3", BY_DATA, 4, 32, cube, 1);
  against("plan: data of head 16->5 8x192x384", BY_DATA, 16, 5, field_2d, 0);
  against("plan: forward 4->32 64^3", FORWARD, 4, 32, cube, 0);
  against("plan: forward 5->16 8x192x384", FORWARD, 5, 16, field_2d, 0);
  return 0;
}
