/* train_encoder.c - data movement of a training step of one layer of a transformer's encoder, with
 * dropout, after arXiv:2007.00072: bytes of all groups of the plan with and without the passes
 * `fuse` and `layout`, on the paper's shape (BERT-large) and on a smaller one, whose steps are
 * timed: memory usage efficiency of each plan.
 *
 *   MUE = 100 Q / D B / B_peak,  B = D / time
 *
 * D: bytes that the groups of the plan move. Q: those that no fusion avoids, of the operands and
 * results of its products of matrices alone, each moved once. B_peak: of a copy.
 *
 *   train_encoder [counts]
 *
 * counts: the bytes alone. */
#include <string.h>
#include "nn/weir_block.h"
#include "learner.h"
#include "group_times.h"
#include "weir_bench.h"

enum { RUNS = 5, COPY = 1 << 25, SETTINGS = 4, NAME = 96 };

typedef struct shape {
  const char *name;
  int64_t n, positions, channels;
  weir_nn_encoder_spec layer;
  double goal; /* bytes without the passes over those with them */
} shape;

/* A plan, and the least time of a step. */
typedef struct setting {
  const char *name, *skip;
  learner net;
  double bytes, products, seconds;
} setting;

static weir_value build(weir_net *net, const void *opts, weir_value x)
{
  return weir_nn_encoder(net, "layer", opts, x);
}

static double copy_rate(void)
{
  float *from = malloc(COPY * sizeof *from), *to = malloc(COPY * sizeof *to);
  double best = INFINITY;

  if (from == NULL || to == NULL) {
    exit(5);
  }
  memset(from, 1, COPY * sizeof *from);
  for (int i = 0; i < RUNS + 1; i++) {
    const double start = weir_clock();

    memcpy(to, from, COPY * sizeof *from);
    best = fmin(best, weir_clock() - start);
  }
  free(from);
  free(to);
  return 2.0 * COPY * sizeof *from / best;
}

static void plan(const shape *s, setting *to, bool runs)
{
  const weir_array_desc d = {WEIR_F32, 3, {s->n, s->positions, s->channels}, 0};
  weir_exec_cfg exec;
  learner_job job = {.build = build, .opts = &s->layer, .x = d, .y = d, .rate = 1e-3, .seed = 1};

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.skip = to->skip;
  job.exec = &exec;
  job.threads = 1;
  job.sizes_only = !runs;
  bench_must(learner_open(&job, &to->net));
  for (int32_t i = 0; i < weir_plan_groups(to->net.plan); i++) {
    const weir_group_report r = weir_plan_group(to->net.plan, i);

    to->bytes += r.bytes;
    to->products += group_is_dense(&r) ? r.bytes : 0;
  }
}

/* Steps of all settings in turns. */
static void time_all(setting *all)
{
  for (int k = 0; k < SETTINGS; k++) {
    all[k].seconds = INFINITY;
  }
  for (int i = 0; i < RUNS + 1; i++) {
    for (int k = 0; k < SETTINGS; k++) {
      const double start = weir_clock();
      double loss;

      bench_must(learner_step(&all[k].net, &loss));
      all[k].seconds = i == 0 ? INFINITY : fmin(all[k].seconds, weir_clock() - start);
    }
  }
}

/* The first setting has both passes, the last one none, whose products have nothing fused. */
static void print_times(const shape *s, setting *all)
{
  const double peak = copy_rate(), least = all[SETTINGS - 1].products;
  char work[NAME];

  (void)snprintf(work, sizeof work, "encoder %s: a step", s->name);
  for (int k = 0; k < SETTINGS; k++) {
    const double rate = all[k].bytes / all[k].seconds;

    fprintf(stderr, "%s %s: %.4g ms, %.4g MB, Q/D %.3f, B/B_peak %.3f, MUE %.2f %%\n", work,
            all[k].name, 1e3 * all[k].seconds, 1e-6 * all[k].bytes, least / all[k].bytes,
            rate / peak, 100 * least / all[k].seconds / peak);
  }
  for (int k = 1; k < SETTINGS; k++) {
    bench_row(work, all[k].name, all[k].seconds, all[0].seconds, "s", 0, 0);
  }
  (void)snprintf(work, sizeof work, "encoder %s: memory usage efficiency", s->name);
  bench_row(work, all[SETTINGS - 1].name, 100 * least / all[SETTINGS - 1].seconds / peak,
            100 * least / all[0].seconds / peak, "%", 1, 0);
}

static void measure(const shape *s, bool timed)
{
  setting all[SETTINGS] = {{"with fuse and layout", "", .bytes = 0},
                           {"without layout", "layout", .bytes = 0},
                           {"without fuse", "fuse", .bytes = 0},
                           {"without fuse and layout", "fuse,layout", .bytes = 0}};
  char work[NAME];

  (void)snprintf(work, sizeof work, "encoder %s: bytes of a step", s->name);
  for (int k = 0; k < SETTINGS; k++) {
    plan(s, &all[k], timed);
  }
  for (int k = 1; k < SETTINGS; k++) {
    bench_count(work, all[k].name, all[k].bytes, all[0].bytes, "bytes",
                k == SETTINGS - 1 ? s->goal : 0);
  }
  bench_count(work, "products alone", all[SETTINGS - 1].products, all[0].bytes, "bytes", 0);
  if (timed) {
    time_all(all);
    print_times(s, all);
  }
  for (int k = 0; k < SETTINGS; k++) {
    learner_close(&all[k].net);
  }
}

int main(int argc, char **argv)
{
  const bool counts = bench_counts_only(argc, argv);
  /* The published reduction is 22.91 %. */
  const shape paper = {.name = "8x512x1024",
                       .n = 8,
                       .positions = 512,
                       .channels = 1024,
                       .layer = {.attention = {.heads = 16},
                                 .activation = {.kind = WEIR_ACTIVATION_RELU},
                                 .dropout = 0.1},
                       .goal = 1 / (1 - 0.2291)};
  shape small = paper;

  small.name = "2x512x128";
  small.n = 2;
  small.channels = 128;
  small.layer.attention.heads = 4;
  (void)bench_pin();
  measure(&paper, false);
  measure(&small, !counts);
  return 0;
}
