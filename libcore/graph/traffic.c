/* traffic.c - exact bytes and flops of nodes and groups. */
#include "graph/graph_priv.h"
#include "graph/weir_members.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"

/* A chunk stands for all of a stream, so it begins where no window reaches back to its start. */
#define MIDDLE ((int64_t)1 << 32)

/* The whole iteration box, unbounded dimensions `slots` long. */
static weir_box clipped(const weir_access *a, int64_t slots)
{
  weir_box b = weir_iterations(a);

  for (int k = 0; k < b.rank; k++) {
    if (b.hi[k] == WEIR_UNBOUNDED) {
      b.lo[k] += MIDDLE;
      b.hi[k] = b.lo[k] + slots;
    }
  }
  return b;
}

/* Members of a group, or one node, the iterations that each runs, and how fast each is. */
struct members {
  const weir_graph *g;
  const int32_t *nodes;
  int32_t n;
  weir_member *of;
  weir_box *boxes;
  const weir_rate *rates; /* NULL: all streams are as fast as one another */
  int64_t slots;          /* of the fastest input                         */
};

/* True when every writer of the array is a member: reading it moves nothing. */
static bool made_inside(const struct members *m, int32_t array)
{
  const int32_t inside = weir_members_writers(m->of, m->n, array);

  return inside > 0 && inside == weir_graph_writers(m->g, array, NULL, 0);
}

/* Distinct bytes of one array that the members read (or write). */
static int64_t array_bytes(const struct members *m, int32_t array, bool write)
{
  return weir_saturating_mul(weir_members_distinct(m->g, m->of, m->n, m->boxes, array, write),
                             (int64_t)weir_dtype_size(m->g->arrays[array]->desc.dtype));
}

static weir_traffic sum(const struct members *m, const weir_group *group)
{
  weir_traffic t = {0};

  for (int32_t i = 0; i < m->n; i++) {
    const weir_node *node = m->g->nodes[m->nodes[i]];
    const weir_access *a = &node->access;
    const int64_t alive = weir_surviving(a, &m->boxes[i]);
    t.flops += weir_flops(a, &m->boxes[i]);
    for (int k = 0; k < node->n_in; k++) {
      if (made_inside(m, node->in[k])) {
        continue;
      }
      /* What a library or a call loads is not known beyond its elements. */
      const bool elements = a->maker != WEIR_MADE_BY_BODY || a->in[k].role == WEIR_ROLE_STATE;
      const int64_t loads = elements ? weir_distinct(a, k, &m->boxes[i]) : alive;
      t.volume_bytes = weir_saturating_add(
          t.volume_bytes, weir_saturating_mul(loads, (int64_t)weir_dtype_size(a->in[k].dtype)));
      if (weir_members_first(m->of, i, k, false)) {
        t.read_bytes = weir_saturating_add(t.read_bytes, array_bytes(m, node->in[k], false));
      }
    }
    for (int k = 0; k < node->n_out; k++) {
      if ((group != NULL && weir_group_is_local(m->g, group, node->out[k])) ||
          !weir_members_first(m->of, i, k, true)) {
        continue;
      }
      const int64_t bytes = array_bytes(m, node->out[k], true);
      t.write_bytes = weir_saturating_add(t.write_bytes, bytes);
      t.volume_bytes = weir_saturating_add(t.volume_bytes, bytes);
    }
  }
  return t;
}

/* Iterations of member i along time in `slots` of the fastest input, rounded down; *rest: the share
 * of one more. */
static int64_t iterations_of(const struct members *m, int32_t i, double *rest)
{
  const weir_rate none = {.base = -1};
  const weir_rate r =
      m->rates == NULL ? none : weir_node_rate(m->g, m->g->nodes[m->nodes[i]], m->rates);

  *rest = 0;
  if (r.base < 0) {
    return m->slots;
  }
  const weir_wide all = (weir_wide)m->slots * r.up;

  *rest = (double)(all % r.down) / (double)r.down;
  return (int64_t)(all / r.down);
}

/* Iterations of member i that the later members, whose boxes are known, ask for. An output that
 * leaves the group is made whole, but for unbounded dimensions. */
static weir_box member_box(const struct members *m, const weir_group *group, int32_t i)
{
  const weir_access *a = m->of[i].access;
  bool leaves = false;
  double rest;
  weir_box box;

  for (int o = 0; o < a->n_out; o++) {
    leaves = leaves || !weir_group_is_local(m->g, group, m->of[i].out[o]);
  }
  const bool some = weir_members_asked(m->of, m->n, i, m->boxes, &box);
  const int64_t slots = iterations_of(m, i, &rest);
  const weir_box whole = clipped(a, slots + (rest > 0));
  for (int k = 0; k < a->n_dims; k++) {
    const bool open = a->dim[k].hi == WEIR_UNBOUNDED;
    if (!some || (leaves && !open)) {
      box.lo[k] = whole.lo[k];
      box.hi[k] = whole.hi[k];
    }
  }
  return box;
}

/* Of the members when the last one, the anchor, runs `slots` iterations along time. */
static weir_traffic run_of(const struct members *m, const weir_group *group, int64_t slots)
{
  m->boxes[m->n - 1] = clipped(m->of[m->n - 1].access, slots);
  for (int32_t i = m->n - 2; i >= 0; i--) {
    m->boxes[i] = member_box(m, group, i);
  }
  return sum(m, group);
}

static int64_t mix(int64_t a, int64_t b, double share)
{
  return llround((double)a * (1 - share) + (double)b * share);
}

/* Mean over chunks: one that is no whole number of the anchor's slots long has one more now and
 * then, and none where its slots are longer than the chunk. */
static weir_traffic mean_of(const struct members *m, const weir_group *group)
{
  double share;
  const int64_t slots = iterations_of(m, m->n - 1, &share);

  if (share == 0) {
    return run_of(m, group, slots);
  }
  const weir_traffic none = {0}, less = slots > 0 ? run_of(m, group, slots) : none;
  const weir_traffic more = run_of(m, group, slots + 1);

  return (weir_traffic){.read_bytes = mix(less.read_bytes, more.read_bytes, share),
                        .write_bytes = mix(less.write_bytes, more.write_bytes, share),
                        .volume_bytes = mix(less.volume_bytes, more.volume_bytes, share),
                        .flops = less.flops * (1 - share) + more.flops * share};
}

static weir_member member_of(const weir_node *node)
{
  return (weir_member){&node->access, node->in, node->out};
}

weir_traffic weir_node_traffic(const weir_graph *g, int32_t node, int64_t slots,
                               const weir_rate *rates)
{
  const weir_node *n = weir_graph_node(g, node);
  weir_member of = member_of(n);
  weir_box box;

  if (n->op == NULL || n->dead) {
    return (weir_traffic){0};
  }
  const struct members m = {g, &node, 1, &of, &box, rates, slots};
  return mean_of(&m, NULL);
}

/* Without fusion: an upper bound. */
static weir_traffic apart(const weir_graph *g, const weir_group *group, int64_t slots,
                          const weir_rate *rates)
{
  weir_traffic t = {0};

  for (int64_t i = 0; i < group->n_nodes; i++) {
    const weir_traffic one = weir_node_traffic(g, group->nodes[i], slots, rates);
    t.read_bytes = weir_saturating_add(t.read_bytes, one.read_bytes);
    t.write_bytes = weir_saturating_add(t.write_bytes, one.write_bytes);
    t.volume_bytes = weir_saturating_add(t.volume_bytes, one.volume_bytes);
    t.flops += one.flops;
  }
  return t;
}

weir_traffic weir_group_traffic(const weir_graph *g, const weir_group *group, int64_t slots,
                                const weir_rate *rates)
{
  void *boxes = NULL, *of = NULL;
  weir_traffic t;

  if (weir_alloc(group->n_nodes, sizeof(weir_box), &boxes) == WEIR_OK &&
      weir_alloc(group->n_nodes, sizeof(weir_member), &of) == WEIR_OK) {
    const struct members m = {g, group->nodes, (int32_t)group->n_nodes, of, boxes, rates, slots};

    for (int32_t i = 0; i < m.n; i++) {
      m.of[i] = member_of(g->nodes[group->nodes[i]]);
    }
    t = mean_of(&m, group);
  } else {
    t = apart(g, group, slots, rates);
  }
  weir_free(&boxes);
  weir_free(&of);
  return t;
}
