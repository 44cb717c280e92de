/* overlap.c - interiors that are computed while halos travel.
 *
 * A node that reads what an exchange makes is run in pieces: those iterations that read own
 * elements alone, from the rank's own array, before the wait; then those next to other ranks. Nodes
 * that follow it element by element, and pools between whose windows it can be split, continue
 * piece by piece, so that the kernels that claim such chains claim their pieces. What others read
 * is written by all pieces, each its own box. */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/overlap/overlap_priv.h"
#include "pass/partition/weir_spmd.h"
#include "pass/weir_pass.h"

/* Own elements are wherever the halo is not; its dimensions are those along which there is some. */
static bool find_halo(overlap_split *s, const weir_comm_op *m, const weir_node *finish)
{
  if (m->carries_own) {
    return false;
  }
  s->made = finish->out[0];
  s->own = finish->in[1];
  s->owned = weir_box_intersect(&m->from, &m->to);
  s->n_axes = 0;
  for (int d = 0; d < m->to.rank; d++) {
    s->owned.lo[d] -= m->to.lo[d];
    s->owned.hi[d] -= m->to.lo[d];
    s->shift[d] = m->to.lo[d] - m->from.lo[d];
    if (s->owned.lo[d] > 0 || s->owned.hi[d] < m->to.hi[d] - m->to.lo[d]) {
      if (s->n_axes == OVERLAP_AXES) {
        return false;
      }
      s->axis[s->n_axes++] = d;
    }
  }
  return s->n_axes > 0 && m->n_messages > 0 && !weir_box_empty(&s->owned);
}

/* Seconds that a kernel says the node takes by itself, -1: none claims it. */
static double seconds_of(const weir_graph *g, const weir_pass_opts *opts, int32_t node)
{
  const weir_group alone = {.nodes = &node, .n_nodes = 1};
  double seconds = -1;

  return opts->kernels != NULL && weir_kernel_best(g, &alone, opts, &seconds) != NULL ? seconds
                                                                                      : -1;
}

static double received_bytes(const weir_comm_op *m)
{
  double bytes = 0;

  for (int64_t i = 0; i < m->n_messages; i++) {
    bytes += m->messages[i].receive ? (double)weir_box_bytes(&m->messages[i].box, m->dtype) : 0;
  }
  return bytes;
}

/* Whether it pays: the node was there before any derivative (gradients
 * by data wait for those by weights as it is), a kernel claims it and every piece, and the
 * additional time of the pieces is less than half of the time that they hide. */
static bool pays(const weir_graph *g, const weir_pass_opts *opts, const weir_comm_op *m,
                 int32_t node, const int32_t first[OVERLAP_PIECES])
{
  const double whole = seconds_of(g, opts, node), inside = seconds_of(g, opts, first[0]);
  const weir_constants *c = weir_pass_constants(opts);
  const double travel = c->latency + received_bytes(m) / c->link_bw;
  bool claimed = whole >= 0;
  double all = 0;

  for (int piece = 0; piece < OVERLAP_PIECES && claimed; piece++) {
    const double here = first[piece] >= 0 ? seconds_of(g, opts, first[piece]) : 0;

    claimed = here >= 0;
    all += here;
  }
  return claimed && weir_graph_node(g, node)->derived == 0 &&
         all - whole < 0.5 * (travel < inside ? travel : inside);
}

/* Runs the node and its followers in pieces, where that is possible and pays. */
static weir_status split(weir_graph *g, const weir_pass_opts *opts, overlap_split *s,
                         const weir_comm_op *m, int32_t node)
{
  const int32_t before = weir_graph_nodes(g);
  int32_t first[OVERLAP_PIECES];

  if (!overlap_find(s, node)) {
    return WEIR_OK;
  }
  WEIR_TRY(overlap_build(g, s, first));
  const bool keep =
      first[0] >= 0 && (opts->overlap == WEIR_OVERLAP_ON || pays(g, opts, m, node, first));

  for (int32_t i = before; i < weir_graph_nodes(g); i++) {
    weir_graph_node_mut(g, i)->dead = !keep;
  }
  for (int i = 0; i < s->n; i++) {
    weir_graph_node_mut(g, s->member[i].node)->dead = keep;
  }
  return WEIR_OK;
}

/* position: [nodes] scratch. */
static weir_status order_nodes(const weir_graph *g, int32_t *order, int32_t *position)
{
  int32_t n = 0;

  WEIR_TRY(weir_graph_order(g, order, &n));
  for (int32_t i = 0; i < n; i++) {
    position[order[i]] = i;
  }
  return WEIR_OK;
}

/* All readers of what one exchange makes, one after the other. */
static weir_status split_readers(weir_graph *g, const weir_pass_opts *opts, int32_t finish,
                                 const weir_comm_op *m)
{
  weir_status status = WEIR_OK;
  const int32_t nodes = weir_graph_nodes(g); /* as they are now */
  void *memory[2] = {NULL};
  weir_users users = {.readers = NULL};
  overlap_split s = {.g = g};

  if (!find_halo(&s, m, weir_graph_node(g, finish))) {
    return WEIR_OK;
  }
  for (int32_t i = 0; i < nodes; i++) {
    const weir_node *node = weir_graph_node(g, i);
    bool reads = false;

    for (int k = 0; k < node->n_in && node->op != NULL && !node->dead; k++) {
      reads = reads || node->in[k] == s.made;
    }
    if (!reads) {
      continue;
    }
    WEIR_TRY_GOTO(weir_alloc(weir_graph_nodes(g), sizeof(int32_t), &memory[0]), out);
    WEIR_TRY_GOTO(weir_alloc(weir_graph_nodes(g), sizeof(int32_t), &memory[1]), out);
    WEIR_TRY_GOTO(order_nodes(g, memory[0], memory[1]), out);
    WEIR_TRY_GOTO(weir_users_make(g, &users), out);
    s.position = memory[1];
    s.users = &users;
    WEIR_TRY_GOTO(split(g, opts, &s, m, i), out);
    weir_users_fini(&users);
    weir_free(&memory[0]);
    weir_free(&memory[1]);
  }
out:
  weir_users_fini(&users);
  weir_free(&memory[0]);
  weir_free(&memory[1]);
  return status;
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  const int32_t nodes = weir_graph_nodes(g);

  for (int32_t i = 0; i < nodes && opts->overlap != WEIR_OVERLAP_OFF; i++) {
    const weir_comm_op *m = weir_spmd_graph_finishes(g, i);

    if (m != NULL && m->kind == WEIR_COMM_OP_EXCHANGE) {
      WEIR_TRY(split_readers(g, opts, i, m));
    }
  }
  return WEIR_OK;
}

const weir_pass weir_pass_overlap = {
    .name = "overlap",
    .cite = "Dryden et al., Improving strong-scaling of CNN training by exploiting finer-grained "
            "parallelism, IPDPS 2019 (arXiv:1903.06681), section III",
    .order = 17,
    .run = run,
};
