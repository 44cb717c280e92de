/* train_encoder.c - data movement of a training step of one layer of a transformer's encoder, with
 * dropout, after arXiv:2007.00072, and of the transformer `lite` of weather_ensemble: bytes of all
 * groups of the plan with and without the passes `fuse` and `layout`. One layer has the paper's
 * shape (BERT-large); the steps of a smaller one and of `lite` are timed: memory usage efficiency
 * of each plan.
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
#include "train_jobs.h"
#include "weir_bench.h"

enum { RUNS = 5, COPY = 1 << 25, SETTINGS = 4, NAME = 96 };

typedef struct subject {
  const char *name;
  learner_job job;
  double goal; /* bytes without the passes over those with them */
} subject;

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

static learner_job layer_of(const weir_nn_encoder_spec *layer, int64_t n, int64_t channels)
{
  const weir_array_desc d = {WEIR_F32, 3, {n, 512, channels}, 0};

  return (learner_job){.build = build, .opts = layer, .x = d, .y = d, .rate = 1e-3, .seed = 1};
}

static void plan(const subject *s, setting *to, bool runs)
{
  weir_exec_cfg exec;
  learner_job job = s->job;

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
static void print_times(const subject *s, setting *all)
{
  const double peak = copy_rate(), least = all[SETTINGS - 1].products;
  char work[NAME];

  (void)snprintf(work, sizeof work, "%s: a step", s->name);
  for (int k = 0; k < SETTINGS; k++) {
    const double rate = all[k].bytes / all[k].seconds;

    fprintf(stderr, "%s %s: %.4g ms, %.4g MB, Q/D %.3f, B/B_peak %.3f, MUE %.2f %%\n", work,
            all[k].name, 1e3 * all[k].seconds, 1e-6 * all[k].bytes, least / all[k].bytes,
            rate / peak, 100 * least / all[k].seconds / peak);
  }
  for (int k = 1; k < SETTINGS; k++) {
    bench_row(work, all[k].name, all[k].seconds, all[0].seconds, "s", 0, 0);
  }
  (void)snprintf(work, sizeof work, "%s: memory usage efficiency", s->name);
  bench_row(work, all[SETTINGS - 1].name, 100 * least / all[SETTINGS - 1].seconds / peak,
            100 * least / all[0].seconds / peak, "%", 1, 0);
}

static void measure(const subject *s, bool timed)
{
  setting all[SETTINGS] = {{"with fuse and layout", "", .bytes = 0},
                           {"without layout", "layout", .bytes = 0},
                           {"without fuse", "fuse", .bytes = 0},
                           {"without fuse and layout", "fuse,layout", .bytes = 0}};
  char work[NAME];

  (void)snprintf(work, sizeof work, "%s: bytes of a step", s->name);
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
  const weir_nn_encoder_spec paper = {
      .attention = {.heads = 16}, .activation = {.kind = WEIR_ACTIVATION_RELU}, .dropout = 0.1};
  weir_nn_encoder_spec small = paper;
  weir_transformer_opts opts;
  const double published = 1 / (1 - 0.2291);

  small.attention.heads = 4;
  (void)bench_pin();
  measure(&(subject){"encoder 8x512x1024", layer_of(&paper, 8, 1024), published}, false);
  measure(&(subject){"encoder 2x512x128", layer_of(&small, 2, 128), published}, !counts);
  measure(&(subject){"transformer lite 64x128", train_job_transformer(&opts), published}, !counts);
  return 0;
}
