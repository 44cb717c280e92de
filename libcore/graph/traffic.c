/* traffic.c - exact bytes and flops of nodes and groups. */
#include "graph/graph_priv.h"

#include <string.h>

#include "base/weir_alloc.h"

static int64_t add(int64_t a, int64_t b)
{
  int64_t sum;

  return weir_add_ok(a, b, &sum) ? sum : INT64_MAX;
}

static int64_t mul(int64_t a, int64_t b)
{
  int64_t product;

  return weir_mul_ok(a, b, &product) ? product : INT64_MAX;
}

/* The whole iteration box, unbounded dimensions `slots` long. */
static weir_box clipped(const weir_access *a, int64_t slots)
{
  weir_box b = weir_iterations(a);

  for (int k = 0; k < b.rank; k++) {
    if (b.hi[k] == WEIR_UNBOUNDED) {
      b.hi[k] = b.lo[k] + slots;
    }
  }
  return b;
}

/* Members of a group, or one node, and the iterations that each runs. */
struct members {
  const weir_graph *g;
  const int32_t *nodes;
  int64_t n;
  const weir_box *boxes;
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
        elements = add(elements, weir_distinct_union(access, operand, box, n));
        n = 0;
      }
      access[n] = &node->access;
      operand[n] = write ? -1 - k : k;
      box[n++] = m->boxes[i];
    }
  }
  elements = add(elements, weir_distinct_union(access, operand, box, n));
  return mul(elements, (int64_t)weir_dtype_size(m->g->arrays[array]->desc.dtype));
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
      /* What an opaque body loads is not known beyond its elements. */
      const bool elements = a->opaque || a->in[k].role == WEIR_ROLE_STATE;
      const int64_t loads = elements ? weir_distinct(a, k, &m->boxes[i]) : alive;
      t.volume_bytes = add(t.volume_bytes, mul(loads, (int64_t)weir_dtype_size(a->in[k].dtype)));
      if (!counted(m, i, k, false)) {
        t.read_bytes = add(t.read_bytes, array_bytes(m, node->in[k], false));
      }
    }
    for (int k = 0; k < node->n_out; k++) {
      if ((group != NULL && weir_group_is_local(m->g, group, node->out[k])) ||
          counted(m, i, k, true)) {
        continue;
      }
      const int64_t bytes = array_bytes(m, node->out[k], true);
      t.write_bytes = add(t.write_bytes, bytes);
      t.volume_bytes = add(t.volume_bytes, bytes);
    }
  }
  return t;
}

weir_traffic weir_node_traffic(const weir_graph *g, int32_t node, int64_t slots)
{
  const weir_node *n = weir_graph_node(g, node);

  if (n->op == NULL || n->dead) {
    return (weir_traffic){0};
  }
  const weir_box box = clipped(&n->access, slots);
  const struct members m = {g, &node, 1, &box};
  return sum(&m, NULL);
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
static weir_box member_box(const struct members *m, const weir_group *group, int64_t i,
                           int64_t slots)
{
  const weir_node *node = member(m, i);
  const weir_access *a = &node->access;
  weir_box box = {.rank = a->n_dims};
  bool some = false, leaves = false;

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
  const weir_box whole = clipped(a, slots);
  for (int k = 0; k < a->n_dims; k++) {
    const bool open = a->dim[k].hi == WEIR_UNBOUNDED;
    if (!some || (leaves && !open)) {
      box.lo[k] = whole.lo[k];
      box.hi[k] = whole.hi[k];
    }
  }
  return box;
}

weir_traffic weir_group_traffic(const weir_graph *g, const weir_group *group, int64_t slots)
{
  void *memory;
  weir_traffic t = {0};

  if (weir_alloc(group->n_nodes, sizeof(weir_box), &memory) != WEIR_OK) {
    for (int64_t i = 0; i < group->n_nodes; i++) { /* without fusion: an upper bound */
      const weir_traffic one = weir_node_traffic(g, group->nodes[i], slots);
      t.read_bytes = add(t.read_bytes, one.read_bytes);
      t.write_bytes = add(t.write_bytes, one.write_bytes);
      t.volume_bytes = add(t.volume_bytes, one.volume_bytes);
      t.flops += one.flops;
    }
    return t;
  }
  weir_box *const boxes = memory;
  const struct members m = {g, group->nodes, group->n_nodes, boxes};
  for (int64_t i = group->n_nodes - 1; i >= 0; i--) {
    boxes[i] = member_box(&m, group, i, slots);
  }
  t = sum(&m, group);
  weir_free(&memory);
  return t;
}
