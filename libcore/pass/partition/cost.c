/* cost.c - see weir_cost.h: one rank's schedule walked with a clock and a queue of messages. */
#include "pass/partition/weir_cost.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_signal.h"
#include "comm/weir_request.h"
#include "graph/kernel/weir_kernel_use.h"
#include "ops/call/weir_call.h"
#include "pass/partition/weir_spmd.h"
#include "pass/schedule/weir_schedule.h"

enum { COORDS = 5 };

void weir_cost_add_allreduce(const weir_machine *m, int ranks, int64_t bytes, weir_cost *sum)
{
  const double seconds = ranks > 1 ? weir_allreduce_seconds(m, ranks, bytes) : 0;

  if (ranks > 1) {
    sum->messages += weir_allreduce_way_of(ranks, bytes, m->tree).steps;
    sum->sum_bytes += bytes;
    sum->waited_s += seconds;
    sum->seconds += seconds;
  }
}

/* ---- The queue of messages ---- */

/* A rank on its way through its schedule. Messages are sent one after the other in the order in
 * which they start; while the rank computes, they move on for a share of the time. */
typedef struct walk {
  const weir_spmd_graph *local;
  const weir_machine *machine;
  const weir_grid *grid;
  double *left;   /* [moves] seconds that each still takes */
  int64_t *queue; /* [moves] started, in order             */
  int64_t n, done;
  weir_cost cost;
} walk;

/* Lets messages move on for so many seconds; returns those that they took of them. */
static double drain(walk *w, double seconds)
{
  double used = 0;

  while (w->done < w->n && (used < seconds || w->left[w->queue[w->done]] <= 0)) {
    double *left = &w->left[w->queue[w->done]];
    const double now = *left < seconds - used ? *left : seconds - used;

    used += now;
    *left = now < *left ? *left - now : 0;
    w->done += *left <= 0;
  }
  return used;
}

static void compute(walk *w, double seconds)
{
  w->cost.compute_s += seconds;
  (void)drain(w, seconds * w->machine->overlap);
}

static void wait_for(walk *w, int64_t move)
{
  while (w->left[move] > 0) {
    w->cost.waited_s += drain(w, w->left[w->queue[w->done]]);
  }
}

/* ---- Moves ---- */

/* What the group was measured to take, else `otherwise`. */
static weir_status measured_or(walk *w, const weir_group *group, double otherwise, double *seconds)
{
  const weir_profile *times = w->machine->times;
  char digest[65] = "";

  *seconds = otherwise;
  if (times != NULL) {
    WEIR_TRY(weir_spmd_graph_digest(w->local->g, group, digest));
  }
  if (digest[0] != 0) {
    const double known = weir_profile_find(times, weir_profile_key(times, digest));

    w->cost.untimed += known < 0;
    *seconds = known < 0 ? otherwise : known;
  }
  return WEIR_OK;
}

/* Bytes in both directions between this rank and the peer of message i, 0 where an earlier one has
 * counted them; *received grows by what comes from there. */
static double between(const weir_comm_op *m, int64_t i, int64_t *sent, int64_t *received)
{
  int64_t in = 0, out = 0;

  for (int64_t k = 0; k < i; k++) {
    if (m->messages[k].peer == m->messages[i].peer) {
      return 0;
    }
  }
  for (int64_t k = i; k < m->n_messages; k++) {
    if (m->messages[k].peer == m->messages[i].peer) {
      *(m->messages[k].receive ? &in : &out) += weir_box_bytes(&m->messages[k].box, m->dtype);
    }
  }
  *sent += out;
  *received += in;
  return (double)(in > out ? in : out);
}

static int group_size(const weir_grid *g, unsigned dims)
{
  int size = 1;

  for (int d = 0; d < g->dims; d++) {
    size *= (dims >> d & 1) != 0 ? g->extent[d] : 1;
  }
  return size;
}

static weir_status start(walk *w, int64_t number, const weir_group *group)
{
  const weir_comm_op *m = w->local->moves[number];
  int64_t sent = m->bytes, received = 0;
  double seconds = 0, pack;

  if (m->kind == WEIR_COMM_OP_ALLREDUCE) {
    const int ranks = group_size(w->grid, m->dims);

    seconds = weir_allreduce_seconds(w->machine, ranks, m->bytes);
    w->cost.sum_bytes += m->bytes;
    w->cost.messages += weir_allreduce_way_of(ranks, m->bytes, w->machine->tree).steps;
  } else {
    sent = 0;
    for (int64_t i = 0; i < m->n_messages; i++) {
      const double bytes = between(m, i, &sent, &received);

      seconds += bytes > 0 ? weir_message_seconds(w->machine, bytes) : 0;
      w->cost.messages += bytes > 0;
    }
    w->cost.halo_bytes += received;
    seconds += m->kind == WEIR_COMM_OP_EXCHANGE ? 0 : (double)received / w->machine->reduce_bw;
  }
  WEIR_TRY(measured_or(
      w, group, w->machine->group_overhead + 2 * (double)sent / w->machine->bandwidth, &pack));
  compute(w, pack);
  w->left[number] = seconds;
  w->queue[w->n++] = number;
  return WEIR_OK;
}

/* What the rank has itself is copied next to what came. */
static weir_status finish(walk *w, int64_t number, const weir_group *group)
{
  const weir_comm_op *m = w->local->moves[number];
  double bytes = (double)m->bytes, unpack;

  if (m->kind != WEIR_COMM_OP_ALLREDUCE) {
    bytes = (double)weir_box_bytes(&m->to, m->dtype);
  }
  wait_for(w, number);
  WEIR_TRY(measured_or(w, group, w->machine->group_overhead + 2 * bytes / w->machine->bandwidth,
                       &unpack));
  compute(w, unpack);
  return WEIR_OK;
}

/* Number of the move that the group starts or finishes, -1: it computes. */
static int64_t move_of(const walk *w, const weir_node *node)
{
  if (node->op != &weir_op_call) {
    return -1;
  }
  for (int32_t i = 0; i < w->local->n; i++) {
    if (((const weir_call_spec *)node->spec)->context == w->local->moves[i]) {
      return i;
    }
  }
  return -1;
}

/* ---- The walk ---- */

static weir_status run_group(walk *w, const weir_group *group)
{
  const weir_node *node = weir_graph_node(w->local->g, group->nodes[0]);
  const int64_t move = move_of(w, node);

  if (move >= 0) {
    WEIR_TRY(node->priority < 0 ? start(w, move, group) : finish(w, move, group));
  } else {
    const weir_traffic t = weir_group_traffic(w->local->g, group, 1, NULL);
    const weir_machine *m = w->machine;
    const weir_group_rates rates = {m->bandwidth, m->flops, m->kernels, m->group_overhead};
    double seconds;

    WEIR_TRY(measured_or(w, group, weir_group_seconds(w->local->g, group, &rates), &seconds));
    w->cost.flops += t.flops;
    compute(w, seconds);
  }
  return WEIR_OK;
}

weir_status weir_cost_of_rank(const weir_partition *p, int rank, const weir_machine *m,
                              const weir_pass_opts *passes, weir_cost *out)
{
  weir_spmd_graph local = {.n = 0};
  weir_schedule schedule = {.n_arrays = 0};
  walk w = {.local = &local, .machine = m, .grid = weir_partition_grid(p)};
  weir_status status;

  WEIR_TRY(weir_spmd_lower(p, rank, &local));
  WEIR_TRY_GOTO(weir_passes_run(local.g, passes, NULL, NULL), done);
  WEIR_TRY_GOTO(weir_schedule_make(local.g, NULL, NULL, &schedule), done);
  WEIR_TRY_GOTO(weir_alloc(local.n, sizeof *w.left, (void **)&w.left), done);
  WEIR_TRY_GOTO(weir_alloc(local.n, sizeof *w.queue, (void **)&w.queue), done);
  for (int32_t i = 0; i < schedule.n_groups; i++) {
    WEIR_TRY_GOTO(run_group(&w, weir_graph_group(local.g, schedule.order[i])), done);
  }
  w.cost.arena = schedule.arena_bytes;
  w.cost.seconds = w.cost.compute_s + w.cost.waited_s;
  w.cost.slowest = rank;
  *out = w.cost;
done:
  weir_free(&w.left);
  weir_free(&w.queue);
  weir_schedule_fini(&schedule);
  weir_spmd_graph_fini(&local);
  return status;
}

/* ---- A grid ---- */

/* Places along a dimension of n that are examined, ascending: how many. */
static int coords_along(int n, int coords[COORDS])
{
  const int some[COORDS] = {0, 1, n / 2, n - 2, n - 1};

  for (int k = 0; k < COORDS; k++) {
    coords[k] = n > COORDS ? some[k] : k;
  }
  return n < COORDS ? n : COORDS;
}

static void take_larger(weir_cost *all, const weir_cost *one)
{
  all->slowest = one->seconds > all->seconds ? one->slowest : all->slowest;
#define LARGER(field) all->field = one->field > all->field ? one->field : all->field
  LARGER(seconds);
  LARGER(compute_s);
  LARGER(waited_s);
  LARGER(flops);
  LARGER(halo_bytes);
  LARGER(sum_bytes);
  LARGER(messages);
  LARGER(arena);
  LARGER(untimed);
#undef LARGER
}

weir_status weir_cost_of_grid(const weir_partition *p, const weir_machine *m,
                              const weir_pass_opts *passes, weir_cost *out)
{
  const weir_grid *grid = weir_partition_grid(p);
  int along[WEIR_GRID_DIMS][COORDS], n[WEIR_GRID_DIMS] = {0}, all = 1;

  memset(out, 0, sizeof *out);
  for (int d = 0; d < grid->dims; d++) {
    n[d] = coords_along(grid->extent[d], along[d]);
    all *= n[d];
  }
  for (int i = 0; i < all; i++) {
    int coords[WEIR_GRID_DIMS] = {0};
    weir_cost one;

    for (int d = grid->dims - 1, rest = i; d >= 0; rest /= n[d], d--) {
      coords[d] = along[d][rest % n[d]];
    }
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d during the prediction of grid costs",
                       weir_stop_signal());
    }
    WEIR_TRY(weir_cost_of_rank(p, weir_grid_rank(grid, coords), m, passes, &one));
    take_larger(out, &one);
  }
  return WEIR_OK;
}
