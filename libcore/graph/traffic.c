/* traffic.c - exact bytes and flops of nodes and groups. */
#include "graph/graph_priv.h"

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
  int64_t n;
  weir_box *boxes;
  const weir_rate *rates; /* NULL: all streams are as fast as one another */
  int64_t slots;          /* of the fastest input                         */
};

static const weir_node *member(const struct members *m, int64_t i)
{
  return m->g->nodes[m->nodes[i]];
}

/* True when every writer of the array is a member: reading it moves nothing. */
static bool made_inside(const struct members *m, int32_t array)
{
  int32_t inside = 0;

  for (int64_t i = 0; i < m->n; i++) {
    const weir_node *node = member(m, i);
    for (int k = 0; k < node->n_out; k++) {
      inside += node->out[k] == array;
      if (node->out[k] == array) {
        break;
      }
    }
  }
  return inside > 0 && inside == weir_graph_writers(m->g, array, NULL, 0);
}

/* Distinct bytes of one array that the members read (or write). */
static int64_t array_bytes(const struct members *m, int32_t array, bool write)
{
  enum { CHUNK = 64 };
  const weir_access *access[CHUNK] = {NULL};
  weir_box box[CHUNK] = {{0}};
  int operand[CHUNK] = {0}, n = 0;
  int64_t elements = 0;

  for (int64_t i = 0; i < m->n; i++) {
    const weir_node *node = member(m, i);
    const int32_t *list = write ? node->out : node->in;
    for (int k = 0; k < (write ? node->n_out : node->n_in); k++) {
      if (list[k] != array) {
        continue;
      }
      if (n == CHUNK) {
        elements = weir_saturating_add(elements, weir_distinct_union(access, operand, box, n));
        n = 0;
      }
      access[n] = &node->access;
      operand[n] = write ? -1 - k : k;
      box[n++] = m->boxes[i];
    }
  }
  elements = weir_saturating_add(elements, weir_distinct_union(access, operand, box, n));
  return weir_saturating_mul(elements, (int64_t)weir_dtype_size(m->g->arrays[array]->desc.dtype));
}

/* True when an earlier operand of the members, in order, is the same array. */
static bool counted(const struct members *m, int64_t upto, int operand, bool write)
{
  const weir_node *last = member(m, upto);
  const int32_t array = write ? last->out[operand] : last->in[operand];

  for (int64_t i = 0; i <= upto; i++) {
    const weir_node *node = member(m, i);
    const int32_t *list = write ? node->out : node->in;
    const int n = i == upto ? operand : write ? node->n_out : node->n_in;
    for (int k = 0; k < n; k++) {
      if (list[k] == array) {
        return true;
      }
    }
  }
  return false;
}

static weir_traffic sum(const struct members *m, const weir_group *group)
{
  weir_traffic t = {0};

  for (int64_t i = 0; i < m->n; i++) {
    const weir_node *node = member(m, i);
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
      if (!counted(m, i, k, false)) {
        t.read_bytes = weir_saturating_add(t.read_bytes, array_bytes(m, node->in[k], false));
      }
    }
    for (int k = 0; k < node->n_out; k++) {
      if ((group != NULL && weir_group_is_local(m->g, group, node->out[k])) ||
          counted(m, i, k, true)) {
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
static int64_t iterations_of(const struct members *m, int64_t i, double *rest)
{
  const weir_rate none = {.base = -1};
  const weir_rate r = m->rates == NULL ? none : weir_node_rate(m->g, member(m, i), m->rates);

  *rest = 0;
  if (r.base < 0) {
    return m->slots;
  }
  const weir_wide all = (weir_wide)m->slots * r.up;

  *rest = (double)(all % r.down) / (double)r.down;
  return (int64_t)(all / r.down);
}

static void join(weir_box *sum_box, bool *some, const weir_box *more)
{
  if (!*some) {
    *sum_box = *more;
    *some = true;
    return;
  }
  for (int k = 0; k < more->rank; k++) {
    sum_box->lo[k] = more->lo[k] < sum_box->lo[k] ? more->lo[k] : sum_box->lo[k];
    sum_box->hi[k] = more->hi[k] > sum_box->hi[k] ? more->hi[k] : sum_box->hi[k];
  }
}

/* Iterations of member i that the later members, whose boxes are known, ask for. An output that
 * leaves the group is made whole, but for unbounded dimensions. */
static weir_box member_box(const struct members *m, const weir_group *group, int64_t i)
{
  const weir_node *node = member(m, i);
  const weir_access *a = &node->access;
  weir_box box = {.rank = a->n_dims};
  bool some = false, leaves = false;
  double rest;

  for (int o = 0; o < node->n_out; o++) {
    leaves = leaves || !weir_group_is_local(m->g, group, node->out[o]);
    for (int64_t j = i + 1; j < m->n; j++) {
      const weir_node *reader = member(m, j);
      for (int k = 0; k < reader->n_in; k++) {
        if (reader->in[k] != node->out[o]) {
          continue;
        }
        const weir_region need = weir_needed(&reader->access, k, &m->boxes[j]);
        const weir_box elements = weir_region_hull(&need);
        const weir_box more = weir_iterations_of(a, o, &elements);
        const weir_box seen = weir_output_box(a, &a->out[o], &more);
        if (!weir_box_empty(&seen)) {
          join(&box, &some, &more);
        }
      }
    }
  }
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
  const int64_t last = m->n - 1;

  m->boxes[last] = clipped(&member(m, last)->access, slots);
  for (int64_t i = last - 1; i >= 0; i--) {
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

weir_traffic weir_node_traffic(const weir_graph *g, int32_t node, int64_t slots,
                               const weir_rate *rates)
{
  const weir_node *n = weir_graph_node(g, node);
  weir_box box;

  if (n->op == NULL || n->dead) {
    return (weir_traffic){0};
  }
  const struct members m = {g, &node, 1, &box, rates, slots};
  return mean_of(&m, NULL);
}

weir_traffic weir_group_traffic(const weir_graph *g, const weir_group *group, int64_t slots,
                                const weir_rate *rates)
{
  void *memory;
  weir_traffic t = {0};

  if (weir_alloc(group->n_nodes, sizeof(weir_box), &memory) != WEIR_OK) {
    for (int64_t i = 0; i < group->n_nodes; i++) { /* without fusion: an upper bound */
      const weir_traffic one = weir_node_traffic(g, group->nodes[i], slots, rates);
      t.read_bytes = weir_saturating_add(t.read_bytes, one.read_bytes);
      t.write_bytes = weir_saturating_add(t.write_bytes, one.write_bytes);
      t.volume_bytes = weir_saturating_add(t.volume_bytes, one.volume_bytes);
      t.flops += one.flops;
    }
    return t;
  }
  const struct members m = {g, group->nodes, group->n_nodes, memory, rates, slots};
  t = mean_of(&m, group);
  weir_free(&memory);
  return t;
}
