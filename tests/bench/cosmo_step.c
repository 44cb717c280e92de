/* cosmo_step.c - a training step of the CosmoFlow network (kernel 3) on one sample of 128^3 x 4,
 * f32, two threads: against the sum of what oneDNN's dense primitives take for its convolutions,
 * channels last, in the same run. Behind each of its maxima one voxel in eight has a gradient
 * (pass/pool_sparsity); losses and parameters are compared with those of the step that makes all of
 * them, before anything is timed. PyTorch's step with two samples, in its fastest form, is printed
 * as well, and what is kept from the forward pass to the derivative.
 *
 *   cosmo_step [SIDE] [groups]
 *   cosmo_step counts
 *
 * groups: every group of either step is listed with its time. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "conf/weir_opt.h"
#include "group_times.h"
#include "layers.h"
#include "layers_dnnl.h"
#include "learner.h"
#include "model/nets.h"
#include "pass/autodiff/autodiff_priv.h"
#include "pass/weir_pass.h"
#include "reference.h"
#include "weir_bench.h"

enum {
  THREADS = 2,
  CHANNELS = 4,
  OUTPUTS = 4,
  CHECKED = 3,
  RUNS = 5,
  REFERENCE_RUNS = 6,
  LAYERS = 16
};

#define RATE 0.001
#define MOMENTUM 0.9
#define TOLERANCE 1e-4 /* sums in another order */
#define GIB 0x1p-30

/* A step of the network on `batch` samples. */
typedef struct subject {
  learner net;
  weir_exec_cfg exec;
  cf_mlperf_opts cfg;
  group_times groups;
  double losses[REFERENCE_RUNS + 1];
  int n;
} subject;

static weir_value network(weir_net *net, const void *opts, weir_value x)
{
  return cf_mlperf(net, opts, OUTPUTS, x);
}

static void begin(subject *s, int64_t side, int64_t batch, const char *skip, bool explain)
{
  *s = (subject){.n = 0};
  weir_opts_default(weir_exec_opts, sizeof s->exec, &s->exec);
  weir_opts_default(cf_mlperf_options, sizeof s->cfg, &s->cfg);
  s->exec.skip = skip != NULL ? skip : s->exec.skip;
  s->exec.explain = explain;
  s->cfg.dropout = 0; /* whose random numbers are each program's own */
  const learner_job job = {.build = network,
                           .opts = &s->cfg,
                           .x = {WEIR_F32, 5, {batch, side, side, side, CHANNELS}, 0},
                           .y = {WEIR_F32, 2, {batch, OUTPUTS}, 0},
                           .rate = RATE,
                           .seed = 1,
                           .exec = &s->exec,
                           .threads = THREADS};

  bench_must(learner_open(&job, &s->net));
}

static void step(void *context)
{
  subject *s = context;

  bench_must(learner_step(&s->net, &s->losses[s->n % (REFERENCE_RUNS + 1)]));
  group_times_take(&s->groups, s->net.plan);
  s->n++;
}

static void row(int64_t side, const char *what, const char *reference, double theirs, double own,
                const char *unit, double goal)
{
  char work[256];

  (void)snprintf(work, sizeof work, "CosmoFlow %lld^3 x 4: %s", (long long)side, what);
  bench_row(work, reference, theirs, own, unit, 0, goal);
}

static void differ(const char *what, int i, double own, double theirs)
{
  if (!(fabs(own - theirs) <= TOLERANCE * fabs(theirs))) {
    fprintf(stderr, "cosmo_step: loss %d is %.9g, %s %.9g\n", i, own, what, theirs);
    exit(6);
  }
}

/* Losses of a few steps and the parameters after them. */
static void compare(subject *sparse, subject *dense)
{
  for (int i = 0; i < CHECKED; i++) {
    step(sparse);
    step(dense);
    differ("of the dense gradients", i, sparse->losses[i], dense->losses[i]);
  }
  if (weir_compare("parameters", WEIR_F32, sparse->net.bank.data, dense->net.bank.data,
                   weir_tensor_numel(&sparse->net.bank),
                   (weir_tolerance){TOLERANCE, TOLERANCE}) != 0) {
    exit(6);
  }
}

/* GiB that the derivative finds from the forward pass, once the passes have run. */
static double kept(const weir_graph *built)
{
  const weir_pass_opts opts = {.kernels = weir_kernel_table};
  weir_graph *g;
  derive_saved *list;
  int32_t n;
  double bytes = 0;

  bench_must(weir_graph_copy(built, &g));
  bench_must(weir_passes_run(g, &opts, NULL, NULL));
  bench_must(derive_find_saved(g, &list, &n));
  for (int32_t i = 0; i < n; i++) {
    bytes += (double)list[i].bytes;
  }
  weir_free(&list);
  weir_graph_destroy(&g);
  return bytes * GIB;
}

/* GiB of the results of all convolutions, activations and maxima. */
static double results(const layer_conv *layer, int n)
{
  double bytes = 0;

  for (int i = 0; i < n; i++) {
    const layer_conv *c = &layer[i];

    bytes += 4 * (2 + 1 / 8.) * (double)(c->batch * c->co * c->out[0] * c->out[1] * c->out[2]);
  }
  return bytes * GIB;
}

/* Against the sum over the convolutions of the network, where the build has oneDNN. */
static void against_primitives(int64_t side, const layer_conv *layer, int n, double own)
{
#ifdef BENCH_WITH_DNNL
  double sum = 0;
  char work[256];

  for (int i = 0; i < n; i++) {
    sum += layer_dnnl_seconds(&layer[i], RUNS);
  }
  (void)snprintf(work, sizeof work, "CosmoFlow %lld^3 x 4: a step", (long long)side);
  bench_row_of(work, "dense convolutions of oneDNN alone", layer_dnnl_version(), sum, own, "s", 0,
               1 / 0.7);
#else
  (void)side;
  (void)layer;
  (void)n;
  (void)own;
#endif
}

static void one_sample(int64_t side, bool list)
{
  layer_conv layer[LAYERS];
  subject sparse, dense;
  double seconds[2];

  begin(&sparse, side, 1, NULL, list);
  begin(&dense, side, 1, "pool_sparsity", list);
  const int n = layers_of(sparse.net.graph, sparse.net.forward_nodes, layer, LAYERS);

  compare(&sparse, &dense);
  bench_best_pair(RUNS, step, &dense, step, &sparse, seconds);
  if (list) {
    group_times_print(&dense.groups, dense.net.plan, false);
    group_times_print(&sparse.groups, sparse.net.plan, false);
  }
  learner_close(&dense.net);
  const double own = fmin(bench_best(RUNS, step, &sparse), seconds[1]);

  against_primitives(side, layer, n, own);
  row(side, "a step", "with dense gradients", seconds[0], own, "s", 0);
  learner_close(&sparse.net);
}

/* What is kept from the forward pass. */
static void counts(int64_t side)
{
  layer_conv layer[LAYERS];
  char work[256];
  subject s;

  begin(&s, side, 1, NULL, false);
  const int n = layers_of(s.net.graph, s.net.forward_nodes, layer, LAYERS);

  (void)snprintf(work, sizeof work, "CosmoFlow %lld^3 x 4: kept for the derivative",
                 (long long)side);
  bench_count(work, "limit", 0.2, kept(s.net.graph), "GiB", 1);
  bench_count(work, "results of all layers", results(layer, n), kept(s.net.graph), "GiB", 0);
  learner_close(&s.net);
}

static void against_torch(int64_t side)
{
  char arguments[512];
  subject s;

  begin(&s, side, 2, NULL, false);
  (void)snprintf(arguments, sizeof arguments,
                 "batch=2 channels=%d outputs=%d size=%d kernel=%d blocks=%d base=%d most=%d "
                 "hidden1=%d hidden2=%d rate=%g momentum=%g threads=%d steps=1 best=1",
                 CHANNELS, OUTPUTS, (int)side, (int)s.cfg.kernel,
                 (int)cf_mlperf_blocks(&s.cfg, side), (int)s.cfg.base, (int)s.cfg.max_filters,
                 (int)s.cfg.hidden1, (int)s.cfg.hidden2, RATE, MOMENTUM, THREADS);
  const reference_input in[] = {{"bank", "f4", s.net.bank.data, weir_tensor_numel(&s.net.bank)},
                                {"x", "f4", s.net.x.data, weir_tensor_numel(&s.net.x)},
                                {"y", "f4", s.net.y.data, weir_tensor_numel(&s.net.y)}};
  reference_result r =
      reference_run("train_step.py", "cosmoflow", arguments, REFERENCE_RUNS, THREADS, in, 3);
  const double own = bench_best(REFERENCE_RUNS, step, &s), *theirs = r.data[0];

  for (int i = 0; i <= REFERENCE_RUNS; i++) {
    differ("PyTorch's", i, s.losses[i], theirs[i]);
  }
  reference_same_f32("parameters", &r, 1, s.net.bank.data, weir_tensor_numel(&s.net.bank),
                     TOLERANCE);
  char work[256];

  (void)snprintf(work, sizeof work, "CosmoFlow %lld^3 x 4: a step of two samples", (long long)side);
  bench_row_of(work, "PyTorch", r.version, r.seconds, own, "s", 0, 4);
  reference_free(&r);
  learner_close(&s.net);
}

int main(int argc, char **argv)
{
  if (bench_counts_only(argc, argv)) {
    counts(128);
    return 0;
  }
  const int64_t side = argc > 1 ? strtoll(argv[1], NULL, 10) : 128;
  const bool list = argc > 2 && strcmp(argv[2], "groups") == 0;

  if (side < 8 || side > 512 || argc > 3 || (argc == 3 && !list)) {
    fprintf(stderr, "cosmo_step: a side from 8 to 512, then groups or nothing\n");
    return 2;
  }
  one_sample(side, list);
  counts(side);
  if (!list && reference_ready("torch")) {
    against_torch(side);
  }
  return 0;
}
