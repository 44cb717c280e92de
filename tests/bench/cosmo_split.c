/* cosmo_split.c - a training step of the CosmoFlow network (kernel 3) on one sample of 128^3 x 4,
 * f32, with momentum, as weir_train_run makes it: its depth sharded over two ranks of one thread
 * each, against one rank of two threads. The program starts itself by mpiexec. Rank 0 runs either
 * step in turn; the other one sleeps in the kernel, and does not poll, while the step of two
 * threads runs. Losses and parameters are compared before anything is timed.
 *
 *   cosmo_split [SIDE] [groups]
 *   cosmo_split counts
 *
 * counts: the bytes of messages alone; groups: every group of either step with its time, and what
 * moves. */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "group_times.h"
#include "model/nets.h"
#include "nn/weir_loss.h"
#include "reference.h"
#include "train/grid/rank_arrays.h"
#include "train/grid/ranks.h"
#include "train/options.h"
#include "train/run_open.h"
#include "train/state.h"
#include "train/step/batch.h"
#include "train/step/plan.h"
#include "weir_bench.h"

enum { RANKS = 2, CHANNELS = 4, OUTPUTS = 4, CHECKED = 3, RUNS = 9 };

#define RATE 0.001
#define TOLERANCE 1e-4 /* sums in another order */
#define KIB 0x1p-10

/* One of the two steps: a training that begins, of which it is the only plan. */
typedef struct subject {
  weir_train_input input[2];
  weir_train_task task;
  weir_train_cfg cfg;
  weir_config *config;
  weir_exec_cfg exec;
  cf_mlperf_opts net;
  weir_params *params;
  weir_store *store;
  train_run run;
  weir_plan *plan;
  group_times groups;
  double loss, seconds; /* of the last step, of the best */
  double busy;          /* of the processor, in all steps that are timed */
} subject;

typedef struct pair {
  weir_comm *comm;
  int lock; /* a file that rank 0 locks while it runs alone */
  int64_t side;
  subject alone, split; /* alone: on rank 0 */
} pair;

static weir_status network(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  const weir_value made = cf_mlperf(net, opts, OUTPUTS, in[0]);

  *loss = weir_loss_mse(net->graph, made, in[1], WEIR_NO_VALUE);
  return weir_graph_status(net->graph);
}

/* Inputs are sharded along their first dimension alone: random numbers depend on the index there.
 */
static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  (void)context;
  for (int k = 0; k < 2; k++) {
    const weir_box *box = &want->box[k];
    const int64_t count = weir_tensor_numel(tensor[k]);
    const int64_t first = count / (box->hi[0] - box->lo[0]) * box->lo[0];
    float *data = tensor[k]->data;

    for (int64_t i = 0; i < count; i++) {
      const uint64_t index = (uint64_t)(first + i);

      data[i] = (float)(2 * weir_random_uniform(1, (uint32_t)k, 0, index) - 1);
    }
  }
  return WEIR_OK;
}

static void choose(subject *s, int64_t side, bool explain)
{
  static const char *const sets[] = {"batch=1", "optim.rule=momentum", "check_nan=false"};

  bench_must(
      weir_config_load(weir_train_opts, sizeof s->cfg, NULL, 0, sets, 3, &s->cfg, &s->config));
  weir_opts_default(weir_exec_opts, sizeof s->exec, &s->exec);
  weir_opts_default(cf_mlperf_options, sizeof s->net, &s->net);
  s->exec.explain = explain;
  s->net.dropout = 0;
  s->input[0] = (weir_train_input){.name = "x",
                                   .dtype = WEIR_F32,
                                   .rank = 4,
                                   .shape = {side, side, side, CHANNELS},
                                   .along = {WEIR_ALONG_DEPTH}};
  s->input[1] = (weir_train_input){.name = "y", .dtype = WEIR_F32, .rank = 1, .shape = {OUTPUTS}};
  s->task = (weir_train_task){.name = "CosmoFlow",
                              .dtype = WEIR_F32,
                              .input = s->input,
                              .n_inputs = 2,
                              .n_train = 1,
                              .opts = &s->net,
                              .build = network,
                              .fetch = fetch};
}

static weir_status open_run(train_run *r)
{
  WEIR_TRY(train_check_options(r));
  WEIR_TRY(train_ranks_open(r));
  WEIR_TRY(train_state_open(r));
  WEIR_TRY(train_alloc_batch(r));
  train_choose(r, 0, 1);
  return train_fetch(r, WEIR_TRAIN_SAMPLES, 1);
}

/* comm NULL: alone. */
static void begin(subject *s, int64_t side, weir_comm *comm, int threads, bool explain)
{
  const weir_dist dist = {.comm = comm, .grid = {2, {1, RANKS}}};

  *s = (subject){.seconds = INFINITY};
  choose(s, side, explain);
  bench_must(weir_params_create(s->task.dtype, &s->params));
  bench_must(weir_store_create(&s->store));
  bench_must(weir_train_prepare(&s->task, s->cfg.seed, s->params, s->store));
  const weir_plan_opts exec = {
      .exec = &s->exec, .threads = threads, .dist = comm != NULL ? &dist : NULL};

  s->run = train_run_of(&s->task, &s->cfg, &exec, s->params, s->store);
  bench_must(open_run(&s->run));
  bench_must(train_find_plan(&s->run, TRAIN_STEP, 1, &s->plan));
}

static void end(subject *s)
{
  train_run_close(&s->run);
  weir_params_destroy(&s->params);
  weir_store_destroy(&s->store);
  weir_config_destroy(&s->config);
}

/* Seconds of the processor that this process has had. */
static double busy_so_far(void)
{
  struct rusage u;

  (void)getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void step(subject *s, weir_comm *until)
{
  const double start = weir_clock(), busy = busy_so_far();
  const train_numbers numbers = {.draw = s->groups.runs, .step = s->groups.runs + 1, .lr = RATE};

  bench_must(train_run_plan(&s->run, TRAIN_STEP, 1, &numbers, &s->plan));
  bench_must(train_number(s->plan, "loss", &s->loss));
  if (until != NULL) {
    bench_must(weir_comm_barrier(until));
  }
  s->seconds = fmin(s->seconds, weir_clock() - start);
  s->busy += busy_so_far() - busy;
  group_times_take(&s->groups, s->plan);
}

/* A step of either kind. */
static void both(pair *p)
{
  const bool first = weir_comm_rank(p->comm) == 0;

  if (first) {
    (void)flock(p->lock, LOCK_EX);
  }
  bench_must(weir_comm_barrier(p->comm));
  if (first) {
    step(&p->alone, NULL);
  } else {
    (void)flock(p->lock, LOCK_EX);
  }
  (void)flock(p->lock, LOCK_UN);
  bench_must(weir_comm_barrier(p->comm));
  step(&p->split, p->comm);
}

/* Losses of a few steps and the parameters after them. */
static weir_status compare(pair *p)
{
  const subject *a = &p->alone, *s = &p->split;
  const bool first = weir_comm_rank(p->comm) == 0;

  for (int i = 0; i < CHECKED; i++) {
    both(p);
    if (first && !(fabs(s->loss - a->loss) <= TOLERANCE * fabs(a->loss))) {
      return weir_fail(WEIR_ERR_NUMERIC, "loss %d is %.9g over ranks, %.9g on one", i, s->loss,
                       a->loss);
    }
  }
  const weir_tensor *split = NULL, *alone = NULL;

  WEIR_TRY(train_allgather(&s->run));
  WEIR_TRY(weir_store_read(s->run.store, WEIR_PARAMS_FLAT, &split));
  WEIR_TRY(first ? weir_store_read(a->run.store, WEIR_PARAMS_FLAT, &alone) : WEIR_OK);
  if (first &&
      weir_compare("parameters", WEIR_F32, split->data, alone->data, weir_tensor_numel(alone),
                   (weir_tolerance){TOLERANCE, TOLERANCE}) != 0) {
    return weir_fail(WEIR_ERR_NUMERIC, "parameters are others over ranks");
  }
  return WEIR_OK;
}

/* Bytes that a rank sends to its neighbour: a plane of what every convolution reads and, but for
 * the first, of the gradient of what it makes; sparse: of the maxima, with their argmax, a byte
 * each. */
static double planes(const pair *p, bool sparse)
{
  const cf_mlperf_opts *c = &p->split.net;
  const int64_t blocks = cf_mlperf_blocks(c, p->side);
  int64_t side = p->side, in = CHANNELS, out = c->base;
  double bytes = 0;

  for (int64_t l = 0; l < blocks; l++) {
    const double plane = (double)(side * side), maxima = (double)(side / 2 * (side / 2));

    bytes += 4 * plane * (double)in;
    bytes += l == 0 ? 0 : (sparse ? 5 * maxima : 4 * plane) * (double)out;
    in = out;
    out = 2 * out < c->max_filters ? 2 * out : c->max_filters;
    side /= 2;
  }
  return bytes;
}

/* Bytes of all exchanges, or that are given to merges. */
static double sent(const weir_plan *plan, bool merged)
{
  double bytes = 0;

  for (int32_t m = 0; m < weir_plan_moves(plan); m++) {
    const weir_comm_op_report r = weir_plan_move(plan, m);

    bytes += r.merge == merged ? (double)r.bytes : 0;
  }
  return bytes;
}

static bool is_picked(const weir_plan *plan)
{
  bool yes = false;

  for (int32_t i = 0; i < weir_plan_groups(plan); i++) {
    yes = yes || strcmp(weir_plan_group(plan, i).kernel, "conv.pool_sparse") == 0;
  }
  return yes;
}

static void row(const pair *p, const char *what, const char *reference, double theirs, double own,
                const char *unit, double goal)
{
  char work[256];

  (void)snprintf(work, sizeof work, "CosmoFlow %lld^3 x 4: %s", (long long)p->side, what);
  bench_row(work, reference, theirs, own, unit, 0, goal);
}

/* What this rank sends in a step. */
static weir_status count_rows(const pair *p)
{
  const weir_plan *plan = p->split.plan;
  const double form = planes(p, is_picked(plan)), halos = sent(plan, false);
  char work[256];

  if (halos != form) {
    return weir_fail(WEIR_ERR_NUMERIC, "halos are %g bytes, the closed form says %g", halos, form);
  }
  (void)snprintf(work, sizeof work, "CosmoFlow %lld^3 x 4: halos of a step", (long long)p->side);
  bench_count(work, "planes of what is not pooled", KIB * planes(p, false), KIB * halos, "KiB", 1);
  (void)snprintf(work, sizeof work, "CosmoFlow %lld^3 x 4: sums of a step over ranks",
                 (long long)p->side);
  bench_count(work, "halos", KIB * halos, KIB * sent(plan, true), "KiB", 0);
  return WEIR_OK;
}

static weir_status rows(const pair *p, const double *measured)
{
  double both_s = 0, most = 0;

  WEIR_TRY(count_rows(p));
  for (int r = 0; r < RANKS; r++) {
    both_s += measured[2 * r + 1];
    most = fmax(most, measured[2 * r]);
  }
  row(p, "a step on 2 ranks", "1 rank of 2 threads", p->alone.seconds, p->split.seconds, "s", 0.95);
  row(p, "processor time of a step on 2 ranks", "1 rank of 2 threads", p->alone.busy / RUNS, both_s,
      "s", 0);
  row(p, "waited in a step", "the step", p->split.seconds, most, "s", 0);
  return WEIR_OK;
}

static double waited_so_far(const subject *s)
{
  double sum = 0;

  for (int32_t m = 0; m < weir_plan_moves(s->plan); m++) {
    sum += weir_plan_move(s->plan, m).waited_s;
  }
  return sum;
}

static void list(const pair *p)
{
  group_times_print(&p->alone.groups, p->alone.plan, false);
  group_times_print(&p->split.groups, p->split.plan, false);
  weir_plan_print(p->split.plan, stderr);
}

static weir_status run_counts(pair *p)
{
  begin(&p->split, p->side, p->comm, 1, false);
  const weir_status status = weir_comm_rank(p->comm) == 0 ? count_rows(p) : WEIR_OK;

  end(&p->split);
  return status;
}

static weir_status run(pair *p, bool groups)
{
  const bool first = weir_comm_rank(p->comm) == 0;
  void *all = NULL;
  int64_t bytes;

  if (first) {
    begin(&p->alone, p->side, NULL, RANKS, groups);
  }
  begin(&p->split, p->side, p->comm, 1, groups);
  WEIR_TRY(weir_comm_agree(p->comm, compare(p)));
  const double before = waited_so_far(&p->split);

  p->alone.busy = p->split.busy = 0;
  p->alone.seconds = p->split.seconds = INFINITY;
  for (int i = 0; i < RUNS; i++) {
    both(p);
  }
  const double own[] = {(waited_so_far(&p->split) - before) / RUNS, p->split.busy / RUNS};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_comm_gather(p->comm, own, sizeof own, &all, &bytes));
  if (first && groups) {
    list(p);
  }
  if (first) {
    status = rows(p, all);
    end(&p->alone);
  }
  weir_free(&all);
  end(&p->split);
  return status;
}

/* This program again, as ranks. Returns where that cannot be. */
static int start(char **argv)
{
  const char *const side = argv[1] != NULL ? argv[1] : "128";
  const char *const groups = argv[1] != NULL ? argv[2] : NULL;

  /* Of Open MPI; others know no such names. */
  (void)setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  (void)setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  (void)setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  (void)setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
  (void)setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
  (void)execlp("mpiexec", "mpiexec", "-n", "2", argv[0], "ranks", side, groups, (char *)NULL);
  fprintf(stderr, "cosmo_split: there is no mpiexec\n");
  return REFERENCE_SKIP;
}

int main(int argc, char **argv)
{
  const bool ranks = argc > 1 && strcmp(argv[1], "ranks") == 0;
  char **const args = ranks ? argv + 1 : argv;
  const int n = ranks ? argc - 1 : argc;
  const bool groups = n > 2 && strcmp(args[2], "groups") == 0;
  const bool counts = bench_counts_only(n, args);
  pair p = {.side = n > 1 && !counts ? strtoll(args[1], NULL, 10) : 128};

  if (p.side < 8 || p.side > 512 || n > 3 || (n == 3 && !groups)) {
    fprintf(stderr, "cosmo_split: a side from 8 to 512, then groups or nothing\n");
    return 2;
  }
  if (!ranks) {
    return start(argv);
  }
  weir_status status = weir_comm_open(&p.comm);

  if (status == WEIR_ERR_UNSUPPORTED) {
    fprintf(stderr, "cosmo_split: this build has no MPI\n");
    return REFERENCE_SKIP;
  }
  bench_must(status);
  p.lock = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (weir_comm_size(p.comm) != RANKS || p.lock < 0) {
    fprintf(stderr, "cosmo_split: mpiexec started no two ranks\n");
    return REFERENCE_SKIP;
  }
  status = counts ? run_counts(&p) : run(&p, groups);
  if (status != WEIR_OK) {
    weir_print_failure(stderr);
  }
  (void)close(p.lock);
  weir_comm_close(&p.comm);
  return (int)status;
}
