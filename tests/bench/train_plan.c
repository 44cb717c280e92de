/* train_plan.c - what a training step costs in addition to its convolutions: bias, activation,
 * pooling, normalisation and their derivatives, against a copy of the bytes that they move; and the
 * memory of its plan.
 *
 *   train_plan [cosmo|unet [side [channels [batch [passes left out]]]]]
 *   train_plan counts: the memory alone
 *   with arguments: every group, slowest first */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "support/exec/train_nets.h"
#include "exec/weir_plan.h"
#include "group_times.h"
#include "weir_bench.h"

enum { RUNS = 4, COPY = 1 << 25 };

typedef struct bench {
  train_net net;
  weir_plan *plan;
  weir_tensor x, target;
  group_times times;
} bench;

static weir_tensor input(const weir_graph *g, const char *name)
{
  weir_tensor t = {0};

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if (array->kind == WEIR_ARRAY_INPUT && strcmp(array->name, name) == 0) {
      bench_must(weir_tensor_init(&t, WEIR_F32, array->desc.rank, array->desc.shape));
      for (int64_t i = 0; i < weir_tensor_numel(&t); i++) {
        ((float *)t.data)[i] = (float)(2 * weir_random_uniform(5, 0, 0, (uint64_t)i) - 1);
      }
    }
  }
  return t;
}

static void step(bench *b)
{
  weir_binding bindings[] = {{"x", &b->x}, {"target", &b->target}};

  bench_must(weir_plan_run(b->plan, bindings, 2));
  group_times_take(&b->times, b->plan);
}

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

static void count(const bench *b, const char *which, int64_t side)
{
  char work[96];

  snprintf(work, sizeof work, "%s %lld^3 arena", which, (long long)side);
  bench_count(work, "bound", (double)weir_plan_arena_bound(b->plan),
              (double)weir_plan_arena_bytes(b->plan), "bytes", 0.9);
}

/* Runs the steps, and prints the row of what is not convolutions. */
static void measure_steps(bench *b, const char *which, int64_t side, bool table)
{
  double dense = 0, rest = 0, bytes = 0;
  char work[96];

  b->x = input(b->net.g, "x");
  b->target = input(b->net.g, "target");
  for (int i = 0; i < RUNS + 1; i++) {
    step(b);
  }
  for (int32_t i = 0; i < weir_plan_groups(b->plan); i++) {
    const weir_group_report r = weir_plan_group(b->plan, i);

    const bool is_dense = group_is_dense(&r);

    dense += is_dense ? group_times_best(&b->times, i) : 0;
    rest += is_dense ? 0 : group_times_best(&b->times, i);
    bytes += is_dense ? 0 : r.bytes;
  }
  if (table) {
    group_times_print(&b->times, b->plan, true);
    weir_plan_print(b->plan, stderr);
  }
  fprintf(stderr, "%s %lld^3: dense groups %.4g s, the others %.4g s for %.4g MB\n", which,
          (long long)side, dense, rest, 1e-6 * bytes);
  snprintf(work, sizeof work, "%s %lld^3 step but for dense groups", which, (long long)side);
  bench_row(work, "copy", bytes / copy_rate(), rest, "s", 0, 0);
  weir_tensor_fini(&b->x);
  weir_tensor_fini(&b->target);
}

/* What is measured besides the memory. */
typedef enum amount { COUNTS, ROWS, TABLE } amount;

static void measure(const char *which, int64_t side, int64_t channels, int64_t batch,
                    const char *skip, amount what)
{
  weir_exec_cfg cfg;
  bench b = {.plan = NULL};

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.explain = true;
  cfg.skip = skip;
  const weir_plan_opts opts = {.exec = &cfg, .threads = 1};

  bench_must(strcmp(which, "unet") == 0 ? train_unet(&b.net, batch, side, channels)
                                        : train_cosmo(&b.net, batch, side, channels));
  bench_must(weir_plan_create(b.net.g, b.net.store, &opts, &b.plan));
  if (what != COUNTS) {
    measure_steps(&b, which, side, what == TABLE);
  }
  count(&b, which, side);
  weir_plan_destroy(&b.plan);
  train_fini(&b.net);
}

static int64_t number(int argc, char **argv, int k, int64_t otherwise)
{
  return argc > k ? strtoll(argv[k], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
  const amount what = bench_counts_only(argc, argv) ? COUNTS : argc > 1 ? TABLE : ROWS;

  (void)bench_pin();
  if (what == TABLE) {
    measure(argv[1], number(argc, argv, 2, 32), number(argc, argv, 3, 16), number(argc, argv, 4, 1),
            argc > 5 ? argv[5] : "", what);
    return 0;
  }
  measure("cosmo", 32, 16, 1, "", what);
  measure("unet", 32, 8, 1, "", what);
  return 0;
}
