/* machine_measure.c - rates of a rank: measured where they are not given, on all ranks at once. The
 * minimum of several times counts, as other load varies. */
#include "place/measure/weir_machine_measure.h"

#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "comm/weir_request.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"
#include "pass/partition/weir_cost.h"

/* Sizes: a convolution that takes milliseconds, additions beyond all caches,
 * messages that are all latency or none of it. */
enum { SIDE = 24, CHANNELS = 16, FILTERS = 32, ADDED = 4194304, LARGE = 1048576, SLICE = 65536 };
enum { CHAIN = 8, LAUNCHES = 32, REPEATS = 7, PINGS = 50, MAX_SLICES = 1000 };
/* Seconds that are spent on one graph beyond the first runs, and after which two runs do. */
#define LONG_ENOUGH 0.2
#define TOO_LONG 2.0
/* Of one machine's memory, where there is no other rank. */
static const double own_latency = 5e-6, own_message = 5e9;

/* ---- Work ---- */

/* Runs of seconds are so long that the rest of the machine evens out in one of them. */
static bool runs_on(int runs, double spent)
{
  return runs < 2 || (spent < TOO_LONG && runs < REPEATS) || (spent < LONG_ENOUGH && runs < PINGS);
}

/* Least seconds of a run of the graph on inputs of zeros; flops and bytes of its groups. */
static weir_status time_graph(const weir_graph *g, const weir_plan_opts *exec, weir_tensor *in,
                              const char *const *name, int n, double *seconds, double *flops,
                              double *bytes)
{
  weir_exec_cfg cfg = *exec->exec;
  const weir_plan_opts own = {.exec = &cfg, .threads = exec->threads, .terse = true};
  weir_binding binding[2];
  weir_store *store = NULL;
  weir_plan *plan = NULL;
  double spent = 0;
  weir_status status;

  cfg.memory = 0;
  cfg.verify = 0;
  cfg.explain = false;
  cfg.predict = "";
  for (int i = 0; i < n; i++) {
    binding[i] = (weir_binding){name[i], &in[i]};
  }
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_plan_create(g, store, &own, &plan), done);
  *seconds = INFINITY;
  for (int i = 0; runs_on(i, spent); i++) {
    const double start = weir_clock();

    WEIR_TRY_GOTO(weir_plan_run(plan, binding, n), done);
    const double taken = weir_clock() - start;

    spent += taken;
    *seconds = fmin(*seconds, taken);
  }
  *flops = *bytes = 0;
  for (int32_t i = 0; i < weir_plan_groups(plan); i++) {
    *flops += weir_plan_group(plan, i).flops;
    *bytes += weir_plan_group(plan, i).bytes;
  }
done:
  weir_plan_destroy(&plan);
  weir_store_destroy(&store);
  return status;
}

/* A graph of two inputs, timed. */
static weir_status time_pair(weir_graph *g, const weir_array_desc desc[2],
                             const weir_plan_opts *exec, double *seconds, double *flops,
                             double *bytes)
{
  static const char *const name[] = {"a", "b"};
  weir_tensor in[2] = {{.data = NULL}};
  weir_status status;

  WEIR_TRY(weir_graph_status(g));
  for (int i = 0; i < 2; i++) {
    WEIR_TRY_GOTO(weir_tensor_init(&in[i], desc[i].dtype, desc[i].rank, desc[i].shape), done);
  }
  WEIR_TRY_GOTO(time_graph(g, exec, in, name, 2, seconds, flops, bytes), done);
done:
  weir_tensor_fini(&in[0]);
  weir_tensor_fini(&in[1]);
  return status;
}

/* A convolution of maps of that side and its gradients by data and weights. */
static weir_status make_products(int64_t side, weir_array_desc desc[2], weir_graph **out)
{
  weir_graph *g = NULL;
  weir_value grad[2];

  desc[0] = (weir_array_desc){WEIR_F32, 5, {1, side, side, side, CHANNELS}, 0};
  desc[1] = (weir_array_desc){WEIR_F32, 5, {3, 3, 3, CHANNELS, FILTERS}, 0};
  WEIR_TRY(weir_graph_create(out));
  g = *out;
  const weir_value in[] = {weir_input(g, "a", &desc[0]), weir_input(g, "b", &desc[1])};
  const weir_value y = weir_conv(
      g, (&(weir_conv_spec){.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}}), in[0], in[1]);

  WEIR_TRY(weir_gradients(g, weir_sum(g, weir_square(g, y), -1), in, 2, grad));
  weir_output(g, "by_data", grad[0]);
  weir_output(g, "by_weights", grad[1]);
  return weir_graph_status(g);
}

/* Seconds of a flop of loops over cached data. */
static weir_status time_loops(const weir_plan_opts *exec, double *of_a_flop)
{
  const weir_array_desc desc[] = {{WEIR_F32, 1, {SLICE}, 0}, {WEIR_F32, 1, {SLICE}, 0}};
  double seconds = 0, flops = 0, bytes = 0;
  weir_graph *g = NULL;
  weir_status status;

  WEIR_TRY(weir_graph_create(&g));
  const weir_value a = weir_input(g, "a", &desc[0]), b = weir_input(g, "b", &desc[1]);
  weir_value x = a;

  for (int i = 0; i < CHAIN; i++) {
    x = weir_add(g, weir_mul(g, x, b), a);
  }
  weir_output(g, "chain", x);
  WEIR_TRY_GOTO(time_pair(g, desc, exec, &seconds, &flops, &bytes), done);
  *of_a_flop = seconds / flops;
done:
  weir_graph_destroy(&g);
  return status;
}

/* The prediction of the model for a graph on one rank. */
static weir_status model_graph(const weir_graph *g, const weir_exec_cfg *exec,
                               const weir_machine *m, double *seconds)
{
  const weir_grid grid = {.dims = 0};
  const weir_pass_opts passes = weir_exec_passes(exec);
  weir_partition *p = NULL;
  weir_graph *own = NULL;
  weir_cost cost = {.seconds = 0};
  weir_status status;

  WEIR_TRY_GOTO(weir_graph_copy(g, &own), done);
  WEIR_TRY_GOTO(weir_pass_run(own, "simplify", &passes), done);
  WEIR_TRY_GOTO(weir_partition_create(own, &grid, NULL, 0, &p), done);
  WEIR_TRY_GOTO(weir_cost_of_rank(p, 0, m, &passes, &cost), done);
  *seconds = cost.seconds;
done:
  weir_partition_destroy(&p);
  weir_graph_destroy(&own);
  return status;
}

/* Seconds that kernels take for one that they predict, with the loops next to them. Where none
 * claims a convolution, loops make it, at their own pace: 1, and *of_a_flop is theirs. */
static weir_status time_kernels(const weir_plan_opts *exec, double *of_a_flop, double *of_a_second)
{
  const weir_machine m = {
      .kernels = 1, .flops = INFINITY, .bandwidth = INFINITY, .link_bw = 1, .reduce_bw = 1};
  double seconds = 0, flops = 0, bytes = 0, said = 0;
  weir_array_desc desc[2];
  weir_graph *g = NULL;
  weir_status status;

  WEIR_TRY_GOTO(make_products(SIDE, desc, &g), done);
  WEIR_TRY_GOTO(time_pair(g, desc, exec, &seconds, &flops, &bytes), done);
  WEIR_TRY_GOTO(model_graph(g, exec->exec, &m, &said), done);
  *of_a_second = said > 0 ? seconds / said : 1;
  *of_a_flop = said > 0 ? *of_a_flop : seconds / flops;
done:
  weir_graph_destroy(&g);
  return status;
}

/* Seconds of a byte of memory. */
static weir_status time_memory(const weir_plan_opts *exec, double *of_a_byte)
{
  const weir_array_desc desc[] = {{WEIR_F32, 1, {ADDED}, 0}, {WEIR_F32, 1, {ADDED}, 0}};
  double seconds = 0, flops = 0, bytes = 0;
  weir_graph *g = NULL;
  weir_status status;

  WEIR_TRY(weir_graph_create(&g));
  weir_output(g, "sum", weir_add(g, weir_input(g, "a", &desc[0]), weir_input(g, "b", &desc[1])));
  WEIR_TRY_GOTO(time_pair(g, desc, exec, &seconds, &flops, &bytes), done);
  *of_a_byte = seconds / bytes;
done:
  weir_graph_destroy(&g);
  return status;
}

/* Seconds of a group that has nearly nothing to do. */
static weir_status time_launch(const weir_plan_opts *exec, double *seconds)
{
  const weir_array_desc desc[] = {{WEIR_F32, 1, {1}, 0}, {WEIR_F32, 1, {1}, 0}};
  weir_exec_cfg apart = *exec->exec;
  const weir_plan_opts own = {.exec = &apart, .threads = exec->threads};
  double whole = 0, flops = 0, bytes = 0;
  weir_graph *g = NULL;
  weir_status status;

  apart.fusion = false;
  WEIR_TRY(weir_graph_create(&g));
  weir_value x = weir_input(g, "a", &desc[0]);
  const weir_value b = weir_input(g, "b", &desc[1]);

  for (int i = 0; i < LAUNCHES; i++) {
    x = weir_add(g, weir_abs(g, x), b);
  }
  weir_output(g, "chain", x);
  WEIR_TRY_GOTO(time_pair(g, desc, &own, &whole, &flops, &bytes), done);
  *seconds = whole / (2 * LAUNCHES);
done:
  weir_graph_destroy(&g);
  return status;
}

/* ---- Messages ---- */

/* A request that is timed: minimum seconds from start to end, all ranks beginning together. */
typedef struct bench {
  weir_comm *comm;
  weir_request *request;
  const float *slice; /* [SLICE] what is computed meanwhile .. */
  int64_t slices;     /* .. so often, 0: nothing */
  float sum;
} bench;

static weir_status work(bench *b)
{
  for (int64_t i = 0; i < b->slices; i++) {
    for (int k = 0; k < SLICE; k++) {
      b->sum += b->slice[k];
    }
    WEIR_TRY(weir_requests_progress(b->comm));
  }
  return WEIR_OK;
}

static weir_status time_request(bench *b, int times, double *seconds)
{
  *seconds = INFINITY;
  for (int i = 0; i < times; i++) {
    WEIR_TRY(weir_comm_barrier(b->comm));
    const double start = weir_clock();

    WEIR_TRY(b->request != NULL ? weir_request_start(b->request) : WEIR_OK);
    WEIR_TRY(work(b));
    WEIR_TRY(b->request != NULL ? weir_request_wait(b->request) : WEIR_OK);
    *seconds = fmin(*seconds, weir_clock() - start);
  }
  return WEIR_OK;
}

/* Both ways between pairs of ranks; the last of an odd number has none. */
static weir_status time_exchange(bench *b, char *buffer, int64_t bytes, double *seconds)
{
  const int peer = weir_comm_rank(b->comm) ^ 1;
  const weir_transfer list[] = {{peer, false, {buffer, 1, 1, {bytes}, {1}}},
                                {peer, true, {buffer + bytes, 1, 1, {bytes}, {1}}}};
  const int n = peer < weir_comm_size(b->comm) ? 2 : 0;

  WEIR_TRY(weir_exchange_create(b->comm, "ping", list, n, &b->request));
  const weir_status status = time_request(b, bytes == LARGE ? REPEATS : PINGS, seconds);

  weir_request_destroy(&b->request);
  return status;
}

/* Times of a large sum over all ranks: alone, of work that takes as long, of both together. */
static weir_status time_sum(bench *b, char *buffer, double seconds[3])
{
  weir_request *request = NULL;
  double slice = 0;
  weir_status status;

  WEIR_TRY(weir_allreduce_create(b->comm, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F32), buffer,
                                 LARGE / (int64_t)sizeof(float), &request));
  b->request = request;
  WEIR_TRY_GOTO(time_request(b, REPEATS, &seconds[0]), done);
  b->request = NULL;
  b->slices = 1;
  WEIR_TRY_GOTO(time_request(b, PINGS, &slice), done);
  const double slices = slice > 0 ? seconds[0] / slice : MAX_SLICES;

  b->slices = slices < 1 ? 1 : slices < MAX_SLICES ? (int64_t)slices : MAX_SLICES;
  WEIR_TRY_GOTO(time_request(b, REPEATS, &seconds[1]), done);
  b->request = request;
  WEIR_TRY_GOTO(time_request(b, REPEATS, &seconds[2]), done);
done:
  weir_request_destroy(&request);
  b->request = NULL;
  return status;
}

/* ---- All of it ---- */

/* Times that are measured; every rank takes the largest. */
typedef enum timed {
  KERNEL,
  FLOP,
  BYTE,
  LAUNCH,
  SMALL_PING,
  LARGE_PING,
  SUM,
  WORK,
  BOTH,
  TIMES
} timed;

static weir_status agree_on(weir_comm *c, double *x)
{
  weir_request *request = NULL;

  WEIR_TRY(weir_allreduce_create(c, "times", weir_reducer_of(WEIR_REDUCE_MAX, WEIR_F64), x, TIMES,
                                 &request));
  WEIR_TRY(weir_request_run_once(&request));
  return WEIR_OK;
}

static weir_status time_messages(weir_comm *c, double *x)
{
  char *buffer = NULL;
  float *slice = NULL;
  bench b = {.comm = c};
  weir_status status = weir_alloc(2 * LARGE, 1, (void **)&buffer);

  if (status == WEIR_OK) {
    status = weir_alloc(SLICE, sizeof *slice, (void **)&slice);
  }
  b.slice = slice;
  WEIR_TRY_GOTO(weir_comm_agree(c, status), done);
  WEIR_TRY_GOTO(time_exchange(&b, buffer, 8, &x[SMALL_PING]), done);
  WEIR_TRY_GOTO(time_exchange(&b, buffer, LARGE, &x[LARGE_PING]), done);
  WEIR_TRY_GOTO(time_sum(&b, buffer, &x[SUM]), done);
  WEIR_TRY_GOTO(agree_on(c, x), done);
done:
  weir_free(&buffer);
  weir_free(&slice);
  return status;
}

static void set(double *to, double x)
{
  *to = *to > 0 ? *to : x;
}

/* Of the times between ranks. */
static void take_messages(const double *x, int ranks, weir_machine *m)
{
  const double beta = (x[LARGE_PING] - x[SMALL_PING]) / LARGE;
  const double shorter = x[SUM] < x[WORK] ? x[SUM] : x[WORK];
  const double share = (double)(ranks - 1) / ranks * LARGE;

  set(&m->latency, x[SMALL_PING]);
  set(&m->link_bw, beta > 0 ? 1 / beta : own_message);
  const int64_t steps = weir_allreduce_way_of(ranks, LARGE, m->tree).steps;
  const double merged = x[SUM] - (double)steps * m->latency - 2 * share / m->link_bw;

  set(&m->reduce_bw, merged > 0 ? share / merged : m->bandwidth / 3);
  if (m->overlap < 0) {
    m->overlap = shorter > 0 ? (x[SUM] + x[WORK] - x[BOTH]) / shorter : 0;
    m->overlap = fmin(1, fmax(0, m->overlap));
  }
}

/* Measures the rates of this rank that are not given. */
static weir_status time_work(const weir_plan_opts *exec, const weir_machine *m, double *x)
{
  x[BYTE] = m->bandwidth > 0 ? 1 / m->bandwidth : 0;
  x[FLOP] = m->flops > 0 ? 1 / m->flops : 0;
  if (!(m->group_overhead > 0)) {
    WEIR_TRY(time_launch(exec, &x[LAUNCH]));
  }
  if (!(m->bandwidth > 0)) {
    WEIR_TRY(time_memory(exec, &x[BYTE]));
  }
  if (!(m->flops > 0)) {
    WEIR_TRY(time_loops(exec, &x[FLOP]));
  }
  if (!(m->kernels > 0)) {
    WEIR_TRY(time_kernels(exec, &x[FLOP], &x[KERNEL]));
  }
  return WEIR_OK;
}

weir_status weir_machine_measure(weir_comm *comm, const weir_comm_cfg *messages,
                                 const weir_plan_opts *exec, weir_machine *m)
{
  const int ranks = comm != NULL ? weir_comm_size(comm) : 1;
  const bool sends =
      ranks > 1 && !(m->latency > 0 && m->link_bw > 0 && m->reduce_bw > 0 && m->overlap >= 0);
  double x[TIMES] = {0};
  weir_status status = WEIR_OK;

  m->tree = messages->tree_max_bytes;
  status = time_work(exec, m, x);
  if (ranks > 1) {
    WEIR_TRY(weir_comm_agree(comm, status));
    WEIR_TRY(sends ? time_messages(comm, x) : agree_on(comm, x));
  }
  WEIR_TRY(status);
  set(&m->kernels, 1 / x[KERNEL]);
  set(&m->flops, 1 / x[FLOP]);
  set(&m->bandwidth, 1 / x[BYTE]);
  set(&m->group_overhead, x[LAUNCH]);
  if (sends) {
    take_messages(x, ranks, m);
  }
  set(&m->latency, own_latency);
  set(&m->link_bw, own_message);
  set(&m->reduce_bw, m->bandwidth / 3); /* two are read and one is written */
  m->overlap = m->overlap < 0 ? 1 : m->overlap;
  return WEIR_OK;
}
