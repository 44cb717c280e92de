/* conv_plans.c - the same graph with one kernel and with another. */
#include "conv_plans.h"

#include <math.h>
#include <string.h>

#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "fields.h"
#include "instruction_sets.h"
#include "layers_dnnl.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

#ifdef BENCH_WITH_DNNL
#define VERSION_OF_DNNL layer_dnnl_version()
#else
#define VERSION_OF_DNNL NULL /* no plan has its kernels */
#endif

enum { X, W, T, OUT, ARRAYS };

typedef struct side {
  weir_plan *plan;
  weir_tensor of[ARRAYS];
} side;

/* oneDNN's plan, and the other; `both` are there. */
typedef struct pair {
  weir_graph *g;
  side of[2];
  bool both;
} pair;

static const char *const names[ARRAYS] = {"x", "w", "t", "out"};

/* With t on the outputs where a gradient is made. */
static weir_graph *graph_of(const bench_conv *c)
{
  const weir_conv_spec spec = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  const int64_t *e = c->extent;
  weir_array_desc x = {WEIR_F32, 5, {1, e[0], e[1], e[2], c->in}, .time = 0}, t = x;
  const weir_array_desc w = {WEIR_F32, 5, {3, 3, 3, c->in, c->out}, .time = 0};
  weir_graph *g = NULL;

  bench_must(weir_graph_create(&g));
  t.shape[4] = c->out;
  const weir_value from[] = {weir_input(g, names[X], &x), weir_input(g, names[W], &w)};
  const weir_value y = weir_conv(g, &spec, from[0], from[1]);
  weir_value loss = weir_mul(g, y, weir_input(g, names[T], &t)), grads[2];

  if (c->task == BENCH_CONV_FORWARD) {
    weir_output(g, names[OUT], y);
    return g;
  }
  for (int k = 4; k >= 0; k--) {
    loss = weir_sum(g, loss, k);
  }
  bench_must(weir_gradients(g, loss, from, 2, grads));
  weir_output(g, names[OUT], grads[c->task == BENCH_CONV_DATA ? 0 : 1]);
  return g;
}

/* A plan with one kernel and its arrays; false: the kernel has no group of it. */
static bool make_side(const weir_graph *g, const char *kernel, const bench_conv *c, side *s)
{
  const int64_t *e = c->extent;
  const int64_t x[] = {1, e[0], e[1], e[2], c->in}, t[] = {1, e[0], e[1], e[2], c->out};
  const int64_t w[] = {3, 3, 3, c->in, c->out};
  const int64_t *shape[] = {x, w, t,
                            c->task == BENCH_CONV_FORWARD ? t
                            : c->task == BENCH_CONV_DATA  ? x
                                                          : w};
  weir_exec_cfg cfg;
  bool claimed = false;

  *s = (side){.plan = NULL};
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.kernel = kernel;
  cfg.precision = c->half;
  bench_must(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &s->plan));
  for (int32_t i = 0; i < weir_plan_groups(s->plan); i++) {
    claimed = claimed || strcmp(weir_plan_group(s->plan, i).kernel, kernel) == 0;
  }
  for (int k = 0; claimed && k < ARRAYS; k++) {
    bench_must(weir_tensor_init(&s->of[k], WEIR_F32, 5, shape[k]));
    for (int64_t i = 0; i < weir_tensor_numel(&s->of[k]); i++) {
      ((float *)s->of[k].data)[i] =
          (float)weir_dtype_rounded(c->half ? WEIR_BF16 : WEIR_F32,
                                    2 * weir_random_uniform(1, (uint32_t)k, 0, (uint64_t)i) - 1);
    }
  }
  return claimed;
}

static double run_side(side *s)
{
  weir_binding bindings[ARRAYS];
  const double start = bench_processor_seconds();

  for (int k = 0; k < ARRAYS; k++) {
    bindings[k] = (weir_binding){names[k], &s->of[k]};
  }
  bench_must(weir_plan_run(s->plan, bindings, ARRAYS));
  return bench_processor_seconds() - start;
}

/* Both have run once. */
static pair make_pair(const char *kernel, const bench_conv *c)
{
  static const char *const references[] = {"conv_forward.dnnl", "conv_data.dnnl",
                                           "conv_weights.dnnl"};
  pair p = {.g = graph_of(c)};
  const bool first = make_side(p.g, references[c->task], c, &p.of[0]);

  p.both = make_side(p.g, kernel, c, &p.of[1]) && first;
  for (int i = 0; i < 2 && p.both; i++) {
    (void)run_side(&p.of[i]);
  }
  return p;
}

static void end_pair(pair *p)
{
  for (int i = 0; i < 2; i++) {
    weir_plan_destroy(&p->of[i].plan);
    for (int k = 0; k < ARRAYS; k++) {
      weir_tensor_fini(&p->of[i].of[k]);
    }
  }
  weir_graph_destroy(&p->g);
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

void bench_conv_against(const char *name, const char *kernel, const bench_conv *c, int runs,
                        double goal)
{
  pair p = make_pair(kernel, c);
  double best[] = {INFINITY, INFINITY};

  if (p.both && !(difference(&p.of[1], &p.of[0]) < (c->half ? 0.02 : 1e-4))) {
    fprintf(stderr, "%s: results differ by %g\n", name, difference(&p.of[1], &p.of[0]));
    exit(1);
  }
  for (int i = 0; i < runs && p.both; i++) {
    best[0] = fmin(best[0], run_side(&p.of[0]));
    best[1] = fmin(best[1], run_side(&p.of[1]));
  }
  if (p.both) {
    bench_row_of(bench_set_row(name), "oneDNN", VERSION_OF_DNNL, best[0] * 1e3, best[1] * 1e3, "ms",
                 0, goal);
  }
  end_pair(&p);
}

/* x at output p and tap t, its channels; NULL: beyond its ends. By data, of t (the array) at
 * element p of x. */
static const float *field_at(const float *field, const bench_conv *c, int64_t channels, int64_t p,
                             int64_t tap, bool back)
{
  const int64_t *e = c->extent;
  const int64_t at[] = {p / e[2] / e[1], p / e[2] % e[1], p % e[2]};
  const int64_t t[] = {tap / 9, tap / 3 % 3, tap % 3};
  int64_t place = 0;

  for (int d = 0; d < 3; d++) {
    const int64_t i = back ? at[d] - t[d] + 1 : at[d] + t[d] - 1;

    if (i < 0 || i >= e[d]) {
      return NULL;
    }
    place = place * e[d] + i;
  }
  return field + place * channels;
}

/* Result number i in double. */
static double exact(const side *s, const bench_conv *c, int64_t i)
{
  const float *x = s->of[X].data, *w = s->of[W].data, *t = s->of[T].data;
  const int64_t points = c->extent[0] * c->extent[1] * c->extent[2];
  const bool back = c->task == BENCH_CONV_DATA;
  const int64_t read = back ? c->out : c->in, made = back ? c->in : c->out;
  double sum = 0;

  if (c->task == BENCH_CONV_WEIGHTS) {
    for (int64_t p = 0; p < points; p++) {
      const float *from = field_at(x, c, c->in, p, i / c->out / c->in, false);

      sum +=
          from != NULL ? (double)from[i / c->out % c->in] * (double)t[p * c->out + i % c->out] : 0;
    }
    return sum;
  }
  for (int64_t tap = 0; tap < 27; tap++) {
    const float *from = field_at(back ? t : x, c, read, i / made, tap, back);

    for (int64_t r = 0; r < read && from != NULL; r++) {
      const int64_t in = back ? i % made : r, out = back ? r : i % made;

      sum += (double)from[r] * (double)w[(tap * c->in + in) * c->out + out];
    }
  }
  return sum;
}

void bench_conv_errors(const char *name, const char *kernel, const bench_conv *c)
{
  pair p = make_pair(kernel, c);
  const int64_t n = p.both ? weir_tensor_numel(&p.of[0].of[OUT]) : 0, step = n / 3001 + 1;
  double errors[2] = {0, 0}, squares = 0;

  for (int64_t i = 0; i < n; i += step) {
    const double e = exact(&p.of[0], c, i);

    squares += e * e;
    for (int k = 0; k < 2; k++) {
      const double off = (double)((const float *)p.of[k].of[OUT].data)[i] - e;

      errors[k] += off * off;
    }
  }
  if (p.both) {
    bench_row_of(bench_set_row(name), "oneDNN", VERSION_OF_DNNL, sqrt(errors[0] / squares) * 1e7,
                 sqrt(errors[1] / squares) * 1e7, "1e-7", 0, 0);
  }
  end_pair(&p);
}
