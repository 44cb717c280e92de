/* gathers.c - windows and interpolations whose indices depend on conditions and divisions, and
 * their derivatives, channels last: every group against a copy of the bytes that it moves, on one
 * thread.
 *
 *   gathers [z y x channels] */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/resample/weir_resize_op.h"
#include "pass/autodiff/weir_gradients.h"
#include "weir_bench.h"

enum { RUNS = 5, COPY = 1 << 24, MOST = 64 };

typedef weir_value (*builder)(weir_graph *g, weir_value x);

static weir_value linear(weir_graph *g, weir_value x)
{
  const weir_resize_spec s = {.linear = true,
                              .factor = {2, 2, 2},
                              .border = {WEIR_BORDER_NEVER, WEIR_BORDER_NEVER, WEIR_BORDER_WRAP}};

  return weir_resize(g, &s, x);
}

static weir_value linear_thirds(weir_graph *g, weir_value x)
{
  const int64_t *from = weir_value_desc(g, x)->shape + 1;
  const weir_resize_spec s = {.linear = true,
                              .size = {from[0] * 3 / 2, from[1] * 3 / 2, from[2] * 3 / 2}};

  return weir_resize(g, &s, x);
}

static weir_value nearest(weir_graph *g, weir_value x)
{
  const weir_resize_spec s = {.factor = {2, 2, 2}};

  return weir_resize(g, &s, x);
}

static weir_value maximum(weir_graph *g, weir_value x)
{
  return weir_pool_max(g, &((const weir_pool_spec){.kernel_size = {2, 2, 2}}), x);
}

static weir_value maximum_overlapping(weir_graph *g, weir_value x)
{
  return weir_pool_max(g,
                       &((const weir_pool_spec){.kernel_size = {3, 3, 3},
                                                .stride = {2, 2, 2},
                                                .pad_before = {1, 1, 1},
                                                .pad_after = {1, 1, 1}}),
                       x);
}

static weir_value mean(weir_graph *g, weir_value x)
{
  return weir_pool_mean(g, &((const weir_pool_spec){.kernel_size = {2, 2, 2}}), x);
}

static weir_value mean_overlapping(weir_graph *g, weir_value x)
{
  return weir_pool_mean(g,
                        &((const weir_pool_spec){.kernel_size = {3, 3, 3},
                                                 .stride = {1, 1, 1},
                                                 .pad_before = {1, 1, 1},
                                                 .pad_after = {1, 1, 1}}),
                        x);
}

static const struct {
  const char *name;
  builder build;
  bool up; /* the result is the larger one */
} cases[] = {
    {"linear x2", linear, true},
    {"linear x3/2", linear_thirds, true},
    {"nearest x2", nearest, true},
    {"maximum of 2^3", maximum, false},
    {"maximum of 3^3 by 2", maximum_overlapping, false},
    {"mean of 2^3", mean, false},
    {"mean of 3^3 by 1", mean_overlapping, false},
};

static double copy_rate(void)
{
  void *from = NULL, *to = NULL;
  double best = INFINITY;

  bench_must(weir_alloc(COPY, sizeof(float), &from));
  bench_must(weir_alloc(COPY, sizeof(float), &to));
  memset(from, 1, COPY * sizeof(float));
  for (int i = 0; i < RUNS + 1; i++) {
    const double start = weir_clock();

    memcpy(to, from, COPY * sizeof(float));
    best = fmin(best, weir_clock() - start);
  }
  weir_free(&from);
  weir_free(&to);
  return 2.0 * COPY * sizeof(float) / best;
}

static void fill(weir_tensor *t, const weir_array_desc *d, uint64_t seed)
{
  bench_must(weir_tensor_init(t, d->dtype, d->rank, d->shape));
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    ((float *)t->data)[i] = (float)(2 * weir_random_uniform(seed, 0, 0, (uint64_t)i) - 1);
  }
}

/* y = build(x), and what the gradient of sum(w y) by x is made of. */
static weir_graph *declare(builder build, const weir_array_desc *d, weir_array_desc *of_w)
{
  weir_graph *g;
  weir_value grad;

  bench_must(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", d), y = build(g, x);

  bench_must(weir_graph_status(g));
  *of_w = *weir_value_desc(g, y);
  const weir_value w = weir_input(g, "w", of_w);
  const weir_value loss = weir_sum(g, weir_mul(g, y, w), -1);

  bench_must(weir_gradients(g, loss, &x, 1, &grad));
  weir_output(g, "y", y);
  weir_output(g, "dx", grad);
  bench_must(weir_graph_status(g));
  return g;
}

static void measure(int which, const int64_t extent[4], double rate)
{
  const bool up = cases[which].up;
  const weir_array_desc d = {.dtype = WEIR_F32,
                             .rank = 5,
                             .shape = {1, up ? extent[0] / 2 : extent[0],
                                       up ? extent[1] / 2 : extent[1],
                                       up ? extent[2] / 2 : extent[2], extent[3]}};
  weir_array_desc of_w;
  weir_tensor x, w;
  weir_exec_cfg cfg;
  weir_plan *plan;
  double total[MOST] = {0}, best[MOST];
  weir_graph *g = declare(cases[which].build, &d, &of_w);

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.explain = true;
  const weir_plan_opts opts = {.exec = &cfg, .threads = 1};

  bench_must(weir_plan_create(g, NULL, &opts, &plan));
  fill(&x, &d, 1);
  fill(&w, &of_w, 2);
  const weir_binding bindings[] = {{"x", &x}, {"w", &w}};
  const int32_t n = weir_plan_groups(plan);

  for (int run = 0; run < RUNS + 1; run++) {
    bench_must(weir_plan_run(plan, bindings, 2));
    for (int32_t k = 0; k < n && k < MOST; k++) {
      const weir_group_report r = weir_plan_group(plan, k);
      const double sum = r.measured_s * (double)r.calls;

      best[k] = run < 2 ? sum - total[k] : fmin(best[k], sum - total[k]);
      total[k] = sum;
    }
  }
  for (int32_t k = 0; k < n && k < MOST; k++) {
    const weir_group_report r = weir_plan_group(plan, k);
    char work[160];

    snprintf(work, sizeof work, "%s %lld: %s: %.3g GB/s", cases[which].name, (long long)extent[3],
             r.members, 1e-9 * r.bytes / best[k]);
    for (char *c = work; *c != 0; c++) {
      *c = (char)(*c == ',' ? ';' : *c);
    }
    if (strstr(r.members, "resample") != NULL || strstr(r.members, "pool") != NULL) {
      bench_row(work, "copy", r.bytes / rate, best[k], "s", 0, 0);
    }
  }
  weir_tensor_fini(&x);
  weir_tensor_fini(&w);
  weir_plan_destroy(&plan);
  weir_graph_destroy(&g);
}

int main(int argc, char **argv)
{
  int64_t extents[3][4] = {{16, 128, 256, 16}, {8, 128, 128, 64}, {32, 32, 32, 128}};
  const bool given = argc > 4;

  (void)bench_pin();
  for (int k = 0; k < 4 && given; k++) {
    extents[0][k] = strtoll(argv[k + 1], NULL, 10);
  }
  const double rate = copy_rate();

  for (int e = 0; e < (given ? 1 : 3); e++) {
    for (int k = 0; k < (int)(sizeof cases / sizeof cases[0]); k++) {
      measure(k, extents[e], rate);
    }
  }
  return 0;
}
