/* train_step.c - a whole training step (forward, loss, backward, momentum), f32, two threads, batch
 * of two: against PyTorch on the same bank and data, and, where the network is one of convolutions,
 * against the sum of what oneDNN's own primitives take for those of that step. Losses and
 * parameters after the last step are compared with PyTorch in double precision before any row is
 * printed; so are those of the same step within a budget of memory (exec.memory), whose time is
 * printed next to its measurement.
 *
 * A step whose products are made in bf16 is compared with the one in f32, and with PyTorch's in
 * bf16. PyTorch runs in the fastest of its forms (layout, compiled or not), which the row names.
 *
 *   train_step [lite] [transformer] [cosmoflow] [SIDE] [groups] [bf16] [texts=DIR]
 *
 * lite, transformer, cosmoflow: those networks alone; SIDE: CosmoFlow's, instead of 64; bf16: its
 * rows alone, without PyTorch; groups: nothing is compared, but every group of the step is listed
 * in the order in which it runs, with bf16 in that; texts: nothing runs, but the kernels of a
 * device for the step are written to DIR. */
#include <string.h>
#include "support/graph/store_check.h"
#include "conf/weir_opt.h"
#include "pass/weir_pass.h"
#include "reference.h"
#include "layers.h"
#include "layers_dnnl.h"
#include "group_times.h"
#include "peak_memory.h"
#include "train_jobs.h"
#include "weir_bench.h"

enum {
  THREADS = 2,
  RUNS = 12, /* enough for one that the host does not disturb */
  STEPS = RUNS + 1,
  TURNS = RUNS, /* of f32 and bf16 */
  LONGEST = 512,
  LAYERS = 64
};

/* Agreement of losses and parameters: sums in another order. */
#define TOLERANCE 1e-4
/* Of losses in bf16: its numbers are 2^-8 apart, and a loss is a mean of many of them. */
#define HALF_TOLERANCE 0x1p-6
/* Of PyTorch's growth: what the step within a budget may take in all. */
#define BUDGET 0.55

/* A network, and the function of train_step.py that is its reference. */
typedef struct subject {
  const char *name, *function;
  char arguments[LONGEST];
  learner_job job;
  double goal, goal_half; /* against PyTorch, in f32 and in bf16 */
  bool convolutions;      /* its products are convolutions of stride 1 */
} subject;

typedef struct measured {
  learner net;
  double losses[STEPS];
  int n;
  layer_conv layer[LAYERS]; /* convolutions of the network */
  int n_layers;
  double seconds, growth, predicted; /* of a step; bytes */
  group_times groups;
} measured;

/* What the arguments ask for. */
typedef struct request {
  bool lite, transformer, cosmoflow, groups, half, with_torch;
  int64_t side;
  const char *texts;
} request;

static void step(void *context)
{
  measured *m = context;

  bench_must(learner_step(&m->net, &m->losses[m->n % STEPS]));
  group_times_take(&m->groups, m->net.plan);
  m->n++;
}

/* Lists the convolutions, and lets go of the graph, which a plan does not need. */
static void keep_layers(measured *m)
{
  m->n_layers = layers_of(m->net.graph, m->net.forward_nodes, m->layer, LAYERS);
  weir_graph_destroy(&m->net.graph);
}

/* Weir's side; the bank as it began goes to `bank`. */
static void measure(const subject *s, measured *m, float **bank)
{
  *m = (measured){.n = 0};
  peak_forget();
  const double before = peak_memory("VmRSS");

  bench_must(learner_open(&s->job, &m->net));
  keep_layers(m);
  const size_t size = (size_t)peak_bytes(&m->net.bank);

  *bank = malloc(size);
  if (*bank == NULL) {
    exit(5);
  }
  memcpy(*bank, m->net.bank.data, size);
  m->seconds = bench_best(RUNS, step, m);
  m->growth = peak_memory("VmHWM") - before - (double)size;
  m->predicted = peak_predict(&m->net);
}

static void compare(const subject *s, const measured *m, const reference_result *r)
{
  const double *theirs = r->data[0];

  if (r->bytes[0] != STEPS * (int64_t)sizeof *theirs) {
    fprintf(stderr, "train_step: %s: %lld bytes of losses\n", s->name, (long long)r->bytes[0]);
    exit(6);
  }
  for (int i = 0; i < STEPS; i++) {
    if (!(fabs(m->losses[i] - theirs[i]) <= TOLERANCE * fabs(theirs[i]))) {
      fprintf(stderr, "train_step: %s: loss %d is %.9g, in double precision by PyTorch %.9g\n",
              s->name, i, m->losses[i], theirs[i]);
      exit(6);
    }
  }
  reference_same_f32(s->name, r, 1, m->net.bank.data, weir_tensor_numel(&m->net.bank), TOLERANCE);
}

static void row(const subject *s, const char *what, const char *reference, double theirs,
                double own, const char *unit, double goal)
{
  char work[LONGEST];

  (void)snprintf(work, sizeof work, "train %s: %s", s->name, what);
  bench_row(work, reference, theirs, own, unit, 0, goal);
}

static void row_torch(const subject *s, const char *what, const reference_result *r, double own,
                      double goal)
{
  char work[LONGEST];

  (void)snprintf(work, sizeof work, "train %s: %s", s->name, what);
  bench_row_of(work, "PyTorch", r->version, r->seconds, own, "s", 0, goal);
}

/* Growths of memory in bytes, PyTorch's without its compiler. */
static void row_memory(const subject *s, const char *what, const reference_result *r, double own,
                       double goal)
{
  char work[LONGEST], version[sizeof r->version + 8];

  (void)snprintf(work, sizeof work, "train %s: %s", s->name, what);
  (void)snprintf(version, sizeof version, "%.*s eager", (int)strcspn(r->version, " "), r->version);
  bench_row_of(work, "PyTorch", version, *(const double *)r->data[2] * 0x1p-20, own * 0x1p-20,
               "MiB", 0, goal);
}

/* What the plan foresees and the peak that was measured. */
static void row_foreseen(const subject *s, const measured *m, const char *when)
{
  char what[LONGEST];

  (void)snprintf(what, sizeof what, "memory foreseen%s", when);
  row(s, what, "peak", m->growth * 0x1p-20, m->predicted * 0x1p-20, "MiB", 0);
  (void)snprintf(what, sizeof what, "memory foreseen or not%s", when);
  row(s, what, "limit", 0.1, fabs(m->growth / m->predicted - 1), "share", 1);
}

/* Whether a step can be planned within exec.memory. */
static bool fits(const subject *s)
{
  learner_job job = s->job;
  learner probe;

  job.sizes_only = true;
  const weir_status status = learner_open(&job, &probe);

  learner_close(&probe);
  return status == WEIR_OK;
}

/* The same step again with an arena that keeps it within BUDGET of PyTorch's growth, if there is
 * one. Closes m. */
static void within_budget(subject *s, weir_exec_cfg *exec, measured *m, const reference_result *r)
{
  const double theirs = *(const double *)r->data[2], seconds = m->seconds;
  const double other_bytes = m->predicted - (double)weir_plan_arena_bytes(m->net.plan);
  float *bank = NULL;

  exec->memory = (int64_t)fmax(BUDGET * theirs - other_bytes, 1);
  if (!fits(s)) {
    fprintf(stderr, "train_step: %s: %s\n", s->name, weir_last_message());
    row_memory(s, "peak memory within a budget", r, m->growth, 1 / 0.6);
    return;
  }
  learner_close(&m->net);
  measure(s, m, &bank);
  compare(s, m, r);
  row_memory(s, "peak memory within a budget", r, m->growth, 1 / 0.6);
  row_torch(s, "a step within the budget", r, m->seconds, 0);
  row(s, "a step within the budget", "without one", seconds, m->seconds, "s", 0);
  row_foreseen(s, m, " within the budget");
  free(bank);
}

/* PyTorch's steps from the same bank, its fastest form; half: in bf16. */
static reference_result run_torch(const subject *s, const measured *m, const float *bank, bool half)
{
  char arguments[LONGEST + 32];
  const reference_input in[] = {{"bank", "f4", bank, weir_tensor_numel(&m->net.bank)},
                                {"x", "f4", m->net.x.data, weir_tensor_numel(&m->net.x)},
                                {"y", "f4", m->net.y.data, weir_tensor_numel(&m->net.y)}};

  (void)snprintf(arguments, sizeof arguments, "%s best=1 half=%d", s->arguments, half);
  return reference_run("train_step.py", s->function, arguments, RUNS, THREADS, in, 3);
}

static reference_result against_torch(const subject *s, const measured *m, const float *bank)
{
  reference_result r = run_torch(s, m, bank, false);

  compare(s, m, &r);
  row_torch(s, "a step", &r, m->seconds, s->goal);
  row_memory(s, "peak memory", &r, m->growth, 0);
  return r;
}

/* The sum over the convolutions of the network. */
static void against_primitives(const subject *s, const measured *m)
{
#ifdef BENCH_WITH_DNNL
  double sum = 0;

  for (int i = 0; i < m->n_layers; i++) {
    sum += layer_dnnl_seconds(&m->layer[i], RUNS);
  }
  char work[LONGEST];

  (void)snprintf(work, sizeof work, "train %s: a step", s->name);
  bench_row_of(work, "convolutions of oneDNN alone", layer_dnnl_version(), sum, m->seconds, "s", 0,
               1 / 1.1);
#else
  fprintf(stderr, "train_step: %s: this build has no oneDNN to compare with (%g s)\n", s->name,
          m->seconds);
#endif
}

/* Losses, each alone, and times of the two in bf16. */
static void against_torch_half(const subject *s, const measured *half, const float *bank)
{
  reference_result r = run_torch(s, half, bank, true);
  const double *theirs = r.data[0];

  for (int i = 0; i < STEPS; i++) {
    if (!(fabs(half->losses[i] / theirs[i] - 1) <= 2 * HALF_TOLERANCE)) {
      fprintf(stderr, "train_step: %s: loss %d in bf16 is %.9g, PyTorch's %.9g\n", s->name, i,
              half->losses[i], theirs[i]);
      exit(6);
    }
  }
  row_torch(s, "a step in bf16", &r, half->seconds, s->goal_half);
  reference_free(&r);
}

/* The same steps with products in bf16, in turns with more steps in f32. */
static void against_half(const subject *s, measured *m, bool with_torch)
{
  weir_exec_cfg exec = *s->job.exec;
  subject own = *s;
  float *bank = NULL;
  measured half;
  double seconds[2];

  exec.precision = WEIR_PRECISION_BF16;
  own.job.exec = &exec;
  measure(&own, &half, &bank);
  for (int i = 0; i < STEPS; i++) {
    const double off = fabs(half.losses[i] / m->losses[i] - 1);

    if (!(off <= HALF_TOLERANCE)) {
      fprintf(stderr, "train_step: %s: loss %d is %.9g in bf16, %.9g in f32\n", s->name, i,
              half.losses[i], m->losses[i]);
      exit(6);
    }
  }
  if (with_torch) {
    against_torch_half(s, &half, bank);
  }
  bench_best_pair(TURNS, step, m, step, &half, seconds);
  row(s, "a step in bf16", "f32", seconds[0], seconds[1], "s", 1.7);
  learner_close(&half.net);
  free(bank);
}

static void list_groups(const subject *s, const measured *m)
{
  fprintf(stderr, "%s: a step %.4g s\n", s->name, m->seconds);
  group_times_print(&m->groups, m->net.plan, false);
  weir_plan_print(m->net.plan, stderr);
}

/* The kernels that the step is on a GPU. */
static void write_texts(learner_job job, const request *r)
{
  weir_exec_cfg exec;
  learner net;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.device = "emulated";
  exec.kernel_dir = r->texts;
  exec.precision = r->half;
  job.exec = &exec;
  job.sizes_only = true;
  if (learner_open(&job, &net) != WEIR_OK) {
    fprintf(stderr, "train_step: %s\n", weir_last_message());
    exit(1);
  }
  learner_close(&net);
}

static void run(subject *s, const request *r)
{
  if (r->texts != NULL) {
    write_texts(s->job, r);
    return;
  }
  weir_exec_cfg exec;
  float *bank = NULL;
  measured m;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.explain = r->groups;
  exec.precision = r->groups && r->half;
  s->job.exec = &exec;
  measure(s, &m, &bank);
  if (r->groups) {
    list_groups(s, &m);
  } else if (r->half) {
    against_half(s, &m, false);
  } else {
    reference_result reference = {0};

    if (r->with_torch) {
      reference = against_torch(s, &m, bank);
    }
    if (s->convolutions) {
      against_primitives(s, &m);
    }
    row_foreseen(s, &m, "");
    against_half(s, &m, r->with_torch);
    if (r->with_torch) {
      within_budget(s, &exec, &m, &reference);
      reference_free(&reference);
    }
  }
  learner_close(&m.net);
  free(bank);
}

static void measure_unet(const request *r)
{
  weir_unet_opts opts;
  subject s = {.name = "U-Net lite 8x64x128",
               .function = "unet",
               .goal = 1.5,
               .goal_half = 2,
               .convolutions = true};

  s.job = train_job_unet(&opts);
  s.job.threads = THREADS;
  train_job_unet_arguments(&s.job, s.arguments, sizeof s.arguments);
  run(&s, r);
}

static void measure_transformer(const request *r)
{
  weir_transformer_opts opts;
  subject s = {.name = "transformer lite 64x128", .function = "transformer"};

  s.job = train_job_transformer(&opts);
  s.job.threads = THREADS;
  train_job_transformer_arguments(&s.job, s.arguments, sizeof s.arguments);
  run(&s, r);
}

static void measure_cosmoflow(const request *r)
{
  const int64_t side = r->side;
  char name[64];
  cf_mlperf_opts cfg;
  subject s = {
      .name = name, .function = "cosmoflow", .goal = 3, .goal_half = 2.2, .convolutions = true};

  s.job = train_job_cosmoflow(&cfg, side);
  s.job.threads = THREADS;
  (void)snprintf(name, sizeof name, "CosmoFlow %lld^3", (long long)side);
  train_job_cosmoflow_arguments(&s.job, s.arguments, sizeof s.arguments);
  run(&s, r);
}

/* False with a message for an argument that is none. */
static bool read_arguments(int argc, char **argv, request *r)
{
  for (int i = 1; i < argc; i++) {
    char *end = NULL;
    const int64_t side = strtoll(argv[i], &end, 10);

    if (strcmp(argv[i], "groups") == 0) {
      r->groups = true;
    } else if (strcmp(argv[i], "bf16") == 0) {
      r->half = true;
    } else if (strcmp(argv[i], "lite") == 0) {
      r->lite = true;
    } else if (strcmp(argv[i], "transformer") == 0) {
      r->transformer = true;
    } else if (strcmp(argv[i], "cosmoflow") == 0) {
      r->cosmoflow = true;
    } else if (strncmp(argv[i], "texts=", 6) == 0) {
      r->texts = argv[i] + 6;
    } else if (*end == 0 && side >= 4 && side <= 512) {
      r->side = side;
    } else {
      fprintf(
          stderr,
          "train_step: lite, transformer, cosmoflow, groups, bf16, texts=DIR or a side from 4 to "
          "512, not %s\n",
          argv[i]);
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv)
{
  request r = {.side = 64};

  if (!read_arguments(argc, argv, &r)) {
    return 2;
  }
  const bool compared = !r.groups && !r.half && r.texts == NULL;

  r.with_torch = compared && reference_ready("torch");
#ifndef BENCH_WITH_DNNL
  if (compared && !r.with_torch) {
    return REFERENCE_SKIP;
  }
#endif
  const bool all = !r.lite && !r.transformer && !r.cosmoflow;

  if (r.lite || all) {
    measure_unet(&r);
  }
  if (r.transformer || all) {
    measure_transformer(&r);
  }
  if (r.cosmoflow || all) {
    measure_cosmoflow(&r);
  }
  return 0;
}
