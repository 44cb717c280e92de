/* conv_fused.c - convolution, bias, leaky ReLU and maximum over 2^3 with its argmax as one group,
 * against the convolution alone by the same kernel: one thread, f32, kernel size 3^3. Results are
 * first compared with those of the same operators one after the other, bit by bit. Times are the
 * processor's.
 *
 *   conv_fused [side] */
#include <string.h>
#include <time.h>

#include "base/weir_log.h"
#include "exec/weir_plan.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "weir_bench.h"

enum { RUNS = 12, X, W, B, ALONE, MOST, AT, SIGN, ARRAYS };

static const char *const names[ARRAYS] = {
    [X] = "x",       [W] = "w",   [B] = "b",      [ALONE] = "alone",
    [MOST] = "most", [AT] = "at", [SIGN] = "sign"};

typedef struct side {
  weir_graph *g;
  weir_plan *plan;
  weir_tensor of[ARRAYS];
} side;

static double processor_seconds(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tensor(side *s, int k, const weir_array_desc *d)
{
  bench_must(weir_tensor_init(&s->of[k], d->dtype, d->rank, d->shape));
  for (int64_t i = 0; k <= B && i < weir_tensor_numel(&s->of[k]); i++) {
    ((float *)s->of[k].data)[i] = (float)((uint64_t)i * 2654435761u % 65536) * 0x1p-15F - 1;
  }
}

static weir_value input(side *s, int k, const weir_array_desc *d)
{
  tensor(s, k, d);
  return weir_input(s->g, names[k], d);
}

static void result(side *s, int k, weir_value v)
{
  tensor(s, k, weir_value_desc(s->g, v));
  weir_output(s->g, names[k], v);
}

/* What follows the convolution: nothing, what inference asks for, or training (signs too). */
typedef enum task { BARE, INFERENCE, TRAINING } task;

static void build(side *s, task what, int64_t n, int64_t in, int64_t out)
{
  const weir_array_desc x = {WEIR_F32, 5, {1, n, n, n, in}, .time = 0};
  const weir_array_desc w = {WEIR_F32, 5, {3, 3, 3, in, out}, .time = 0};
  const weir_array_desc b = {WEIR_F32, 1, {out}, .time = 0};
  const weir_conv_spec conv = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  const weir_pool_spec pool = {.kernel_size = {2, 2, 2}};

  *s = (side){.g = NULL};
  bench_must(weir_graph_create(&s->g));
  const weir_value from = input(s, X, &x), weights = input(s, W, &w);
  weir_value y = weir_conv(s->g, &conv, from, weights);

  if (what == BARE) {
    result(s, ALONE, y);
    return;
  }
  y = weir_add(s->g, y, input(s, B, &b));
  const weir_value below = weir_lt_scalar(s->g, y, 0);
  const weir_value most =
      weir_pool_max(s->g, &pool, weir_select(s->g, below, weir_scale(s->g, y, 0.3), y));

  result(s, MOST, most);
  result(s, AT, (weir_value){most.node, 1});
  if (what == TRAINING) {
    result(s, SIGN, below);
  }
}

/* The kernel's name where it has a group of the plan (followed: of several members), or NULL. */
static const char *make_plan(side *s, const char *kernel, bool fused, bool followed)
{
  const char *found = NULL;
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.kernel = kernel;
  cfg.fusion = fused;
  bench_must(weir_plan_create(s->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &s->plan));
  for (int32_t i = 0; i < weir_plan_groups(s->plan); i++) {
    const weir_group_report r = weir_plan_group(s->plan, i);

    if (strncmp(r.kernel, "conv", 4) == 0 && (!followed || strchr(r.members, ',') != NULL)) {
      found = r.kernel;
    }
  }
  return found;
}

static double run(side *s)
{
  weir_binding bindings[ARRAYS];
  int n = 0;

  for (int k = X; k < ARRAYS; k++) {
    if (s->of[k].data != NULL) {
      bindings[n++] = (weir_binding){names[k], &s->of[k]};
    }
  }
  const double start = processor_seconds();

  bench_must(weir_plan_run(s->plan, bindings, n));
  return processor_seconds() - start;
}

static void end(side *s)
{
  weir_plan_destroy(&s->plan);
  weir_graph_destroy(&s->g);
  for (int k = X; k < ARRAYS; k++) {
    weir_tensor_fini(&s->of[k]);
  }
}

/* True when both have the same bits. */
static bool agree(const side *a, const side *b)
{
  bool same = true;

  for (int k = MOST; k < ARRAYS; k++) {
    same = same && (a->of[k].data == NULL || memcmp(a->of[k].data, b->of[k].data,
                                                    (size_t)weir_tensor_numel(&a->of[k]) *
                                                        weir_dtype_size(a->of[k].dtype)) == 0);
  }
  return same;
}

static void row(const char *kernel, task what, int64_t n, int64_t in, int64_t out, double goal)
{
  side alone, fused, apart;
  char name[96];
  double best[] = {INFINITY, INFINITY, INFINITY};

  build(&alone, BARE, n, in, out);
  build(&fused, what, n, in, out);
  build(&apart, what, n, in, out);
  const char *own = make_plan(&alone, kernel, true, false);
  const char *found = make_plan(&fused, kernel, true, true);

  (void)make_plan(&apart, kernel, false, false);
  if (own != NULL && found != NULL && strcmp(own, found) == 0) {
    (void)run(&alone);
    (void)run(&fused);
    (void)run(&apart);
    if (!agree(&fused, &apart)) {
      fprintf(stderr, "conv_fused: %s: results differ\n", found);
      exit(1);
    }
    for (int i = 0; i < RUNS; i++) {
      best[0] = fmin(best[0], run(&alone));
      best[1] = fmin(best[1], run(&fused));
      best[2] = fmin(best[2], i < 3 ? run(&apart) : INFINITY);
    }
    snprintf(name, sizeof name, "%s %lld->%lld %lld^3 %s by %s",
             what == TRAINING ? "training" : "inference", (long long)in, (long long)out,
             (long long)n, "block", found);
    bench_row(name, "alone", best[0] * 1e3, best[1] * 1e3, "ms", 0, goal);
    bench_row(name, "apart", best[2] * 1e3, best[1] * 1e3, "ms", 0, 0);
  }
  end(&alone);
  end(&fused);
  end(&apart);
}

int main(int argc, char **argv)
{
  static const char *const kernels[] = {"auto", "conv.few_channels", "conv_forward.dnnl"};
  const int64_t n = argc > 1 ? strtoll(argv[1], NULL, 10) : 64;

  (void)bench_pin();
  weir_log_set_level(WEIR_LOG_WARN);
  for (int i = 0; i < 3; i++) {
    row(kernels[i], INFERENCE, n, 4, 32, i == 0 ? 1 / 1.05 : 0);
    row(kernels[i], TRAINING, n, 4, 32, 0);
  }
  row("auto", INFERENCE, n / 2, 32, 64, 1 / 1.05);
  row("auto", TRAINING, n / 2, 32, 64, 0);
  return 0;
}
