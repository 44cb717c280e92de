/* train_memory.c - a whole training step under memory budgets (exec.memory): time against memory,
 * next to PyTorch with and without torch.utils.checkpoint on the same parameters and data, f32, two
 * threads, batch of two. Parameters after the last step are compared with those without a budget
 * before a row is printed, PyTorch's too.
 *
 *   train_memory [lite] [transformer] [cosmoflow] [SIDE] [weir | torch]
 *
 * weir, torch: the steps of that side alone, the other's only without a budget.
 * Budgets are shares of the arena without one, and last the least that a step keeps. A line on
 * stderr for each: budget, arena, growth of the peak resident memory and what the plan foresees of
 * it (MiB), seconds of a step, micro-batches, whether element-wise results are recomputed, and
 * how many blocks. */
#include <string.h>
#include "conf/weir_opt.h"
#include "peak_memory.h"
#include "reference.h"
#include "train_jobs.h"
#include "weir_bench.h"

enum { THREADS = 2, RUNS = 4, STEPS = RUNS + 1, LONGEST = 512 };

/* Agreement of parameters: sums in another order. */
#define TOLERANCE 1e-4

typedef struct subject {
  char name[64], arguments[LONGEST];
  const char *function; /* of train_step.py */
  int checkpoints;      /* ways of its to checkpoint the network */
  learner_job job;
  float *start, *end; /* parameters before and after all steps */
  int64_t count;
  double seconds; /* without a budget */
} subject;

static void step(void *context)
{
  double loss;

  bench_must(learner_step(context, &loss));
}

static float *copy_of(const weir_tensor *bank)
{
  const size_t size = (size_t)peak_bytes(bank);
  float *copy = malloc(size);

  if (copy == NULL) {
    exit(5);
  }
  memcpy(copy, bank->data, size);
  return copy;
}

/* Exits unless the parameters are those without a budget. */
static void compare(const subject *s, const float *bank)
{
  for (int64_t i = 0; i < s->count; i++) {
    if (!(fabs(bank[i] - s->end[i]) <= TOLERANCE * fmax(1, fabs(s->end[i])))) {
      fprintf(stderr, "train_memory: %s: parameter %lld is %.9g, without a budget %.9g\n", s->name,
              (long long)i, bank[i], s->end[i]);
      exit(6);
    }
  }
}

/* Steps within that budget, 0: without one. */
static void measure(subject *s, int64_t budget)
{
  weir_exec_cfg exec;
  learner net;
  char work[LONGEST];

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.memory = budget;
  s->job.exec = &exec;
  peak_forget();
  const double before = peak_memory("VmRSS");

  bench_must(learner_open(&s->job, &net));
  weir_graph_destroy(&net.graph);
  s->count = weir_tensor_numel(&net.bank);
  s->start = budget == 0 ? copy_of(&net.bank) : s->start;
  const double seconds = bench_best(RUNS, step, &net);
  const double growth = peak_memory("VmHWM") - before - (budget == 0 ? peak_bytes(&net.bank) : 0);

  if (budget == 0) {
    s->end = copy_of(&net.bank);
    s->seconds = seconds;
  }
  compare(s, net.bank.data);
  fprintf(stderr,
          "%s: budget %.0f, arena %.0f, growth %.0f, foreseen %.0f MiB: %.4g s, %lld micro-"
          "batches, twice:%s %d blocks\n",
          s->name, (double)budget * 0x1p-20, (double)weir_plan_arena_bytes(net.plan) * 0x1p-20,
          growth * 0x1p-20, peak_predict(&net) * 0x1p-20, seconds,
          (long long)weir_plan_microbatches(net.plan),
          weir_plan_recomputes_elementwise(net.plan) ? " element-wise results," : "",
          weir_plan_blocks_again(net.plan));
  if (budget > 0) {
    (void)snprintf(work, sizeof work, "train %s: a step with an arena of %.0f MiB", s->name,
                   (double)budget * 0x1p-20);
    bench_row(work, "without a budget", s->seconds, seconds, "s", 0, 0);
  }
  learner_close(&net);
}

/* Bytes of the arena within a budget; the least that can be kept, negative, where it is refused. */
static int64_t arena_within(subject *s, int64_t budget)
{
  static const char least[] = "the smallest arena that was found is ";
  weir_exec_cfg exec;
  learner probe;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.memory = budget;
  s->job.exec = &exec;
  s->job.sizes_only = true;
  const weir_status status = learner_open(&s->job, &probe);
  const char *text = status == WEIR_OK ? NULL : strstr(weir_last_message(), least);

  if (status != WEIR_OK && text == NULL) {
    bench_must(status);
  }
  const int64_t bytes =
      text != NULL ? -strtoll(text + strlen(least), NULL, 10) : weir_plan_arena_bytes(probe.plan);

  weir_clear_failure();
  learner_close(&probe);
  s->job.sizes_only = false;
  return bytes;
}

static void against_torch(const subject *s, int checkpoint)
{
  char arguments[LONGEST + 64], work[LONGEST];
  learner net;
  learner_job job = s->job;
  weir_exec_cfg exec;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  job.exec = &exec;
  job.sizes_only = true;
  bench_must(learner_open(&job, &net)); /* for its data */
  const reference_input inputs[] = {{"bank", "f4", s->start, s->count},
                                    {"x", "f4", net.x.data, weir_tensor_numel(&net.x)},
                                    {"y", "f4", net.y.data, weir_tensor_numel(&net.y)}};

  (void)snprintf(arguments, sizeof arguments, "%s last=1 checkpoint=%d", s->arguments, checkpoint);
  reference_result r =
      reference_run("train_step.py", s->function, arguments, RUNS, THREADS, inputs, 3);

  reference_same_f32(s->name, &r, 1, s->end, s->count, TOLERANCE);
  fprintf(stderr, "%s: PyTorch, checkpoint %d: growth %.0f MiB: %.4g s\n", s->name, checkpoint,
          *(const double *)r.data[2] * 0x1p-20, r.seconds);
  (void)snprintf(work, sizeof work, "train %s: a step with checkpoint %d", s->name, checkpoint);
  bench_row_of(work, "PyTorch", r.version, r.seconds, s->seconds, "s", 0, 0);
  reference_free(&r);
  learner_close(&net);
}

static void measure_budgets(subject *s)
{
  static const double shares[] = {0.85, 0.7, 0.55, 0.4, 0.25};
  const int64_t whole = arena_within(s, 0), least = -arena_within(s, 1);

  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
    const int64_t budget = (int64_t)(shares[i] * (double)whole);

    if (budget > least) {
      measure(s, budget);
    }
  }
  if (least < whole) {
    measure(s, least);
  }
}

static void run(subject *s, bool with_budgets, bool with_torch)
{
  measure(s, 0);
  if (with_budgets) {
    measure_budgets(s);
  }
  for (int k = 0; k <= s->checkpoints && with_torch; k++) {
    against_torch(s, k);
  }
  free(s->start);
  free(s->end);
}

int main(int argc, char **argv)
{
  bool lite = false, transformer = false, cosmoflow = false, weir = false, torch = false;
  int64_t side = 64;

  for (int i = 1; i < argc; i++) {
    char *end = NULL;
    const int64_t number = strtoll(argv[i], &end, 10);

    lite = lite || strcmp(argv[i], "lite") == 0;
    transformer = transformer || strcmp(argv[i], "transformer") == 0;
    cosmoflow = cosmoflow || strcmp(argv[i], "cosmoflow") == 0;
    weir = weir || strcmp(argv[i], "weir") == 0;
    torch = torch || strcmp(argv[i], "torch") == 0;
    side = *end == 0 && number >= 16 && number <= 512 ? number : side;
  }
  const bool with_torch = !weir && reference_ready("torch");
  const bool all = !lite && !transformer && !cosmoflow;

  if (lite || all) {
    weir_unet_opts opts;
    subject s = {.name = "U-Net lite 8x64x128",
                 .function = "unet",
                 .checkpoints = 2,
                 .job = train_job_unet(&opts)};

    s.job.threads = THREADS;
    train_job_unet_arguments(&s.job, s.arguments, sizeof s.arguments);
    run(&s, !torch, with_torch);
  }
  if (transformer || all) {
    weir_transformer_opts opts;
    subject s = {.name = "transformer lite 64x128",
                 .function = "transformer",
                 .checkpoints = 1,
                 .job = train_job_transformer(&opts)};

    s.job.threads = THREADS;
    train_job_transformer_arguments(&s.job, s.arguments, sizeof s.arguments);
    run(&s, !torch, with_torch);
  }
  if (cosmoflow || all) {
    cf_mlperf_opts opts;
    subject s = {
        .function = "cosmoflow", .checkpoints = 2, .job = train_job_cosmoflow(&opts, side)};

    s.job.threads = THREADS;
    (void)snprintf(s.name, sizeof s.name, "CosmoFlow %lld^3", (long long)side);
    train_job_cosmoflow_arguments(&s.job, s.arguments, sizeof s.arguments);
    run(&s, !torch, with_torch);
  }
  return 0;
}
