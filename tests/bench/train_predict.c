/* train_predict.c - wave scaling (exec/weir_predict.h) from one setting of this machine to another:
 * AVX2 or AVX-512, on one or two threads. A training step of U-Net `lite` and of CosmoFlow is
 * measured by kernel class in each setting, each in processes of its own, since libraries choose
 * their instructions once; from the times of one setting those of the others are predicted. A row
 * is a prediction: seconds measured there, seconds predicted, the ratio; signed errors by kernel
 * class go to stderr. Peaks are measured in the same processes. Mean errors are printed next to the
 * bar of Habitat and not judged: other work on the machine changes them.
 *
 *   train_predict [SIDE]       side of CosmoFlow, instead of 64
 *   train_predict SIDE SETTING is what the other call starts, and writes a setting_times to stdout
 */
#include <string.h>
#include <unistd.h>
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "device/weir_parallel.h"
#include "exec/weir_predict.h"
#include "model/nets.h"
#include "nn/weir_unet.h"
#include "group_times.h"
#include "instruction_sets.h"
#include "learner.h"
#include "multiply_add.h"
#include "weir_bench.h"

enum {
  MOST_THREADS = 2,
  SETTINGS = BENCH_SETS * MOST_THREADS,
  NETS = 2,
  BATCH = 2,
  TURNS = 6, /* processes of each setting; the best of each group counts */
  RUNS = 8,
  COPY = 64 << 20,
  GROUPS = 1024,
  TEXT = 256
};

/* Mean absolute error of a whole step that Habitat's authors report to stay below. */
#define BAR 0.15

/* What a process says of a network: its groups, with the seconds of the best run, and the time of a
 * step outside of them. */
typedef struct net_times {
  int32_t n;
  double outside;
  weir_group_report group[GROUPS];
} net_times;

typedef struct setting_times {
  weir_constants peaks;
  net_times net[NETS];
} setting_times;

static int set_of(int setting)
{
  return setting / MOST_THREADS;
}

static int threads_of(int setting)
{
  return setting % MOST_THREADS + 1;
}

/* ---- One setting ---- */

typedef struct arrays {
  char *from, *to;
  int threads;
} arrays;

static void copy_share(void *context, int64_t item, int thread)
{
  const arrays *a = context;
  const int64_t n = COPY / a->threads;

  (void)thread;
  memcpy(a->to + item * n, a->from + item * n, (size_t)n);
}

static void copy(void *context)
{
  const arrays *a = context;

  weir_parallel(a->threads, a->threads, copy_share, context);
}

static weir_constants measure_peaks(int threads)
{
  arrays a = {malloc(COPY), malloc(COPY), threads};
  weir_constants c = weir_cpu_get()->constants;

  if (a.from == NULL || a.to == NULL) {
    exit(5);
  }
  memset(a.from, 1, COPY);
  memset(a.to, 2, COPY);
  c.processors = threads;
  c.total_bandwidth = 2.0 * COPY / bench_best(RUNS, copy, &a);
  a.threads = 1;
  c.bandwidth = threads > 1 ? 2.0 * COPY / bench_best(RUNS, copy, &a) : c.total_bandwidth;
  c.flop_rate = bench_multiply_adds(RUNS);
  free(a.from);
  free(a.to);
  return c;
}

typedef struct timed {
  learner net;
  group_times groups;
} timed;

static void step(void *context)
{
  timed *t = context;
  double loss = 0;

  bench_must(learner_step(&t->net, &loss));
  group_times_take(&t->groups, t->net.plan);
}

static void measure_net(const learner_job *job, net_times *out)
{
  static timed t;
  weir_class_time of[WEIR_CLASSES];

  memset(&t, 0, sizeof t);
  bench_must(learner_open(job, &t.net));
  (void)bench_best(RUNS, step, &t);
  weir_plan_class_times(t.net.plan, of);
  out->outside = of[WEIR_CLASS_OUTSIDE].measured_s;
  out->n = weir_plan_groups(t.net.plan);
  for (int32_t i = 0; i < out->n && i < GROUPS; i++) {
    out->group[i] = weir_plan_group(t.net.plan, i);
    out->group[i].measured_s = group_times_best(&t.groups, i);
  }
  learner_close(&t.net);
}

static weir_value build_unet(weir_net *net, const void *opts, weir_value x)
{
  return weir_unet(net, opts, 7, x);
}

static weir_value build_cosmoflow(weir_net *net, const void *opts, weir_value x)
{
  return cf_mlperf(net, opts, 4, x);
}

static void measure_nets(int threads, int64_t side, setting_times *out)
{
  weir_exec_cfg exec;
  weir_unet_opts unet;
  cf_mlperf_opts cosmoflow;
  const learner_job usual = {.exec = &exec, .rate = 0.001, .seed = 1, .threads = threads};
  learner_job job = usual;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.explain = true;
  weir_opts_default(weir_unet_options, sizeof unet, &unet);
  job.build = build_unet;
  job.opts = &unet;
  job.x = (weir_array_desc){WEIR_F32, 5, {BATCH, 8, 32, 64, 14}, 0};
  job.y = (weir_array_desc){WEIR_F32, 5, {BATCH, 8, 32, 64, 7}, 0};
  measure_net(&job, &out->net[0]);
  weir_opts_default(cf_mlperf_options, sizeof cosmoflow, &cosmoflow);
  job = usual;
  job.build = build_cosmoflow;
  job.opts = &cosmoflow;
  job.x = (weir_array_desc){WEIR_F32, 5, {BATCH, side, side, side, 4}, 0};
  job.y = (weir_array_desc){WEIR_F32, 2, {BATCH, 4}, 0};
  measure_net(&job, &out->net[1]);
}

/* Writes what was measured to stdout; texts of reports mean nothing to others. */
static int measure(int setting, int64_t side)
{
  static setting_times t;

  weir_log_set_level(WEIR_LOG_WARN);
  bench_must(weir_cpu_load(NULL));
  t.peaks = measure_peaks(threads_of(setting));
  measure_nets(threads_of(setting), side, &t);
  return fwrite(&t, sizeof t, 1, stdout) == 1 && fflush(stdout) == 0 ? 0 : 3;
}

/* ---- All settings ---- */

/* False: the processor lacks these instructions, or there is one alone. */
static bool run_setting(int setting, int64_t side, const char *folder, setting_times *out)
{
  const bench_set *const s = &bench_sets[set_of(setting)];
  char machine[TEXT], text[TEXT], program[5 * TEXT], command[6 * TEXT];

  bench_must(weir_path_join(folder, "machine.yaml", machine, sizeof machine));
  (void)snprintf(text, sizeof text, "simd: %s\n", s->name);
  weir_check_write(machine, text, strlen(text));
  if (weir_cpu_load(machine) != WEIR_OK || weir_threads_get() < threads_of(setting)) {
    return false;
  }
  bench_set_command(s, machine, program, sizeof program);
  (void)snprintf(command, sizeof command, "%s %lld %d", program, (long long)side, setting);
  FILE *pipe = popen(command, "r");
  const bool whole = pipe != NULL && fread(out, sizeof *out, 1, pipe) == 1;

  if (pipe == NULL || pclose(pipe) != 0 || !whole) {
    fprintf(stderr, "train_predict: %s failed\n", command);
    exit(8);
  }
  return true;
}

static double larger(double a, double b)
{
  return a > b ? a : b;
}

/* The best of two processes. */
static void merge(setting_times *best, const setting_times *t)
{
  best->peaks.bandwidth = larger(best->peaks.bandwidth, t->peaks.bandwidth);
  best->peaks.total_bandwidth = larger(best->peaks.total_bandwidth, t->peaks.total_bandwidth);
  best->peaks.flop_rate = larger(best->peaks.flop_rate, t->peaks.flop_rate);
  for (int k = 0; k < NETS; k++) {
    net_times *const b = &best->net[k];

    b->outside = fmin(b->outside, t->net[k].outside);
    for (int32_t i = 0; i < b->n; i++) {
      b->group[i].measured_s = fmin(b->group[i].measured_s, t->net[k].group[i].measured_s);
    }
  }
}

/* Seconds by kernel class, and of a whole step, which is the last. */
static void sum(const net_times *n, const weir_constants *here, const weir_constants *there,
                double of[WEIR_CLASSES + 1])
{
  memset(of, 0, (WEIR_CLASSES + 1) * sizeof *of);
  for (int32_t i = 0; i < n->n; i++) {
    of[n->group[i].kernel_class] += weir_group_predict(&n->group[i], here, there);
  }
  of[WEIR_CLASS_OUTSIDE] = n->outside;
  for (int k = 0; k < WEIR_CLASSES; k++) {
    of[WEIR_CLASSES] += of[k];
  }
}

static const char *const net_names[NETS] = {"U-Net lite 8x32x64", "CosmoFlow"};

/* Sums of absolute errors of whole steps: between instruction sets, between numbers of threads. */
typedef struct tally {
  double error[NETS][2];
  int n[NETS][2];
} tally;

/* Prints the prediction of setting b from a, and its errors by class: predicted over measured,
 * less 1. */
static void compare(const setting_times *all, int a, int b, tally *t)
{
  for (int k = 0; k < NETS; k++) {
    double predicted[WEIR_CLASSES + 1], measured[WEIR_CLASSES + 1];
    char work[TEXT];

    sum(&all[a].net[k], &all[a].peaks, &all[b].peaks, predicted);
    sum(&all[b].net[k], &all[b].peaks, &all[b].peaks, measured);
    (void)snprintf(work, sizeof work, "predict %s: %s %d thread%s from %s %d", net_names[k],
                   bench_sets[set_of(b)].name, threads_of(b), threads_of(b) > 1 ? "s" : "",
                   bench_sets[set_of(a)].name, threads_of(a));
    bench_row(work, "measured", measured[WEIR_CLASSES], predicted[WEIR_CLASSES], "s", 0, 0);
    fprintf(stderr, "%-60s", work);
    for (int c = 0; c <= WEIR_CLASSES; c++) {
      fprintf(stderr, measured[c] > 0 ? " %+7.1f" : "       -",
              100 * (predicted[c] / measured[c] - 1));
    }
    fprintf(stderr, "\n");
    const bool threads = set_of(a) == set_of(b);

    t->error[k][threads] += fabs(predicted[WEIR_CLASSES] / measured[WEIR_CLASSES] - 1);
    t->n[k][threads]++;
  }
}

static void print_settings(const setting_times *all, const bool *there)
{
  for (int s = 0; s < SETTINGS; s++) {
    if (there[s]) {
      fprintf(stderr, "%s, %d threads: %.1f Gflop/s a core, %.1f GB/s a core, %.1f GB/s in all;",
              bench_sets[set_of(s)].name, threads_of(s), 1e-9 * all[s].peaks.flop_rate,
              1e-9 * all[s].peaks.bandwidth, 1e-9 * all[s].peaks.total_bandwidth);
      for (int k = 0; k < NETS; k++) {
        double of[WEIR_CLASSES + 1];

        sum(&all[s].net[k], &all[s].peaks, &all[s].peaks, of);
        fprintf(stderr, " %s %.2f ms:", net_names[k], 1e3 * of[WEIR_CLASSES]);
        for (int c = 0; c < WEIR_CLASSES; c++) {
          fprintf(stderr, " %.2f", 1e3 * of[c]);
        }
      }
      fprintf(stderr, "\n");
    }
  }
}

static void compare_all(const setting_times *all, const bool *there)
{
  tally t = {.n = {{0}}};

  print_settings(all, there);
  fprintf(stderr, "signed errors in %%, of");
  for (int c = 0; c < WEIR_CLASSES; c++) {
    fprintf(stderr, " %s,", weir_kernel_class_name((weir_kernel_class)c));
  }
  fprintf(stderr, " a whole step\n");
  for (int a = 0; a < SETTINGS; a++) {
    for (int b = 0; b < SETTINGS; b++) {
      const bool one = (set_of(a) == set_of(b)) != (threads_of(a) == threads_of(b));

      if (there[a] && there[b] && one) {
        compare(all, a, b, &t);
      }
    }
  }
  for (int k = 0; k < NETS; k++) {
    for (int i = 0; i < 2; i++) {
      char work[TEXT];

      (void)snprintf(work, sizeof work, "predict %s: mean absolute error between %s", net_names[k],
                     i == 0 ? "AVX2 and AVX-512" : "1 and 2 threads");
      if (t.n[k][i] > 0) {
        bench_row(work, "limit", BAR, t.error[k][i] / t.n[k][i], "share", 0, 0);
      }
    }
  }
}

int main(int argc, char **argv)
{
  static setting_times all[SETTINGS], one;
  bool there[SETTINGS];
  char folder[TEXT];
  const int64_t side = argc > 1 ? strtoll(argv[1], NULL, 10) : 64;

  if (side < 8 || side > 512) {
    fprintf(stderr, "train_predict: a side from 8 to 512, not %s\n", argv[1]);
    return 2;
  }
  if (argc > 2) {
    return measure((int)strtol(argv[2], NULL, 10), side);
  }
  weir_check_mkdir(folder, sizeof folder);
  for (int turn = 0; turn < TURNS; turn++) {
    for (int s = 0; s < SETTINGS; s++) {
      there[s] = run_setting(s, side, folder, turn == 0 ? &all[s] : &one);
      if (there[s] && turn > 0) {
        merge(&all[s], &one);
      }
    }
  }
  weir_check_rmdir(folder);
  compare_all(all, there);
  return 0;
}
