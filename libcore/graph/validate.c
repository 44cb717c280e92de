/* validate.c - what must hold of a whole graph, after building and after every pass. */
#include "graph/graph_priv.h"

#include <string.h>

#include "base/weir_alloc.h"

/* Stands in front of what a check of this node said. */
static weir_status blame(const weir_graph *g, int32_t node, weir_status status)
{
  char text[256];

  weir_node_describe(g, node, text, sizeof text);
  return weir_fail(status, "%s: %s", text, weir_last_message());
}

static bool live(const weir_node *node)
{
  return node->op != NULL && !node->dead;
}

static const char *array_name(const weir_array *a)
{
  return a->name != NULL ? a->name : a->output != NULL ? a->output : "unnamed";
}

/* Box that one output writes. Refused: holes, and iterations that write one element twice (seen on
 * the first slots of unbounded dimensions: the maps are affine). */
static weir_status written_box(const weir_node *node, int output, weir_box *box)
{
  enum { SAMPLE = 64 };
  const weir_access *a = &node->access, *const accesses[1] = {a};
  const weir_operand *x = &a->out[output];
  weir_box some = weir_iterations(a);
  const weir_region r = weir_written(a, output, &some);
  weir_wide points = 1;

  *box = weir_region_hull(&r);
  const weir_box seen = weir_output_box(a, x, &some);
  if (weir_box_empty(&seen)) {
    *box = (weir_box){.rank = x->rank}; /* nothing */
    return WEIR_OK;
  }
  for (int k = 0; k < a->n_dims; k++) {
    const bool once = (a->dim[k].kind == WEIR_REDUCED && weir_operand_step_rate(x, k).dim < 0) ||
                      (x->role == WEIR_ROLE_STATE && a->dim[k].kind != WEIR_PARALLEL);
    if (some.hi[k] == WEIR_UNBOUNDED) {
      some.hi[k] = some.lo[k] + SAMPLE;
    }
    points *= once ? 1 : some.hi[k] - some.lo[k];
  }
  points *= x->role == WEIR_ROLE_STATE ? x->extent[0] : 1;
  const int64_t distinct = weir_distinct_union(accesses, &(int){-1 - output}, &some, 1);
  const weir_region sample = weir_written(a, output, &some);

  if (distinct == INT64_MAX) { /* what memory holds is less */
    return weir_fail(WEIR_ERR_MEMORY, "output %d: out of memory to count its elements", output);
  }
  if (a->maker != WEIR_MADE_BY_CALL && distinct != points) {
    return weir_fail(WEIR_ERR_SHAPE, "output %d: iterations write one element more than once",
                     output);
  }
  if (distinct != weir_region_volume(&sample)) {
    return weir_fail(WEIR_ERR_SHAPE, "output %d: some elements are not written", output);
  }
  return WEIR_OK;
}

static weir_wide wide_volume(const weir_box *b)
{
  weir_wide volume = 1;

  for (int d = 0; d < b->rank; d++) {
    volume *= b->hi[d] > b->lo[d] ? (weir_wide)b->hi[d] - b->lo[d] : 0;
  }
  return volume;
}

/* One node's share of an array. */
struct share {
  int32_t node;
  int output;
  weir_box box; /* set when the array is checked */
};

/* Who writes and reads which array, collected in one traversal of the nodes. */
struct uses {
  struct share *share; /* those of an array one after the other, by nodes */
  int32_t *first;      /* [arrays + 2] in share; the last one is spare */
  int32_t *readers;    /* [arrays] how many nodes */
  int32_t *reader;     /* [arrays] the first of them */
  bool *updates;       /* [arrays] a stored array takes its value */
};

static void uses_free(struct uses *u)
{
  weir_free(&u->share);
  weir_free(&u->first);
  weir_free(&u->readers);
  weir_free(&u->reader);
  weir_free(&u->updates);
}

static weir_status alloc_uses(const weir_graph *g, struct uses *u)
{
  int64_t outputs = 0;

  *u = (struct uses){.share = NULL};
  for (int32_t i = 0; i < g->n_nodes; i++) {
    outputs += g->nodes[i]->n_out;
  }
  WEIR_TRY(weir_alloc(outputs, sizeof *u->share, (void **)&u->share));
  WEIR_TRY(weir_alloc(g->n_arrays + 2, sizeof *u->first, (void **)&u->first));
  WEIR_TRY(weir_alloc(g->n_arrays, sizeof *u->readers, (void **)&u->readers));
  WEIR_TRY(weir_alloc(g->n_arrays, sizeof *u->reader, (void **)&u->reader));
  return weir_alloc(g->n_arrays, sizeof *u->updates, (void **)&u->updates);
}

static void count_readers(const weir_graph *g, int32_t at, struct uses *u)
{
  const weir_node *node = g->nodes[at];

  for (int k = 0; k < node->n_in; k++) {
    const int32_t array = node->in[k];
    bool again = false;

    for (int before = 0; before < k; before++) {
      again = again || node->in[before] == array;
    }
    if (!again) {
      u->reader[array] = u->readers[array]++ == 0 ? at : u->reader[array];
    }
  }
}

/* The nodes were checked: their arrays exist. */
static void collect_uses(const weir_graph *g, struct uses *u)
{
  for (int32_t i = 0; i < g->n_nodes; i++) {
    for (int k = 0; live(g->nodes[i]) && k < g->nodes[i]->n_out; k++) {
      u->first[g->nodes[i]->out[k] + 2]++;
    }
  }
  for (int32_t a = 0; a < g->n_arrays; a++) {
    u->first[a + 2] += u->first[a + 1];
    if (g->arrays[a]->update >= 0 && g->arrays[a]->update < g->n_arrays) {
      u->updates[g->arrays[a]->update] = true;
    }
  }
  /* first[a + 1] is the first place of array a, and moves to its end, where a + 1 begins. */
  for (int32_t i = 0; i < g->n_nodes; i++) {
    for (int k = 0; live(g->nodes[i]) && k < g->nodes[i]->n_out; k++) {
      u->share[u->first[g->nodes[i]->out[k] + 1]++] = (struct share){.node = i, .output = k};
    }
    if (live(g->nodes[i])) {
      count_readers(g, i, u);
    }
  }
}

static weir_status find_boxes(const weir_graph *g, struct share *shares, int32_t n)
{
  for (int32_t i = 0; i < n; i++) {
    const weir_status status =
        written_box(g->nodes[shares[i].node], shares[i].output, &shares[i].box);

    if (status != WEIR_OK) {
      return blame(g, shares[i].node, status);
    }
  }
  return WEIR_OK;
}

/* Boxes inside an array that do not meet cover it when their volumes add up to its own. */
static weir_status prove_cover(const weir_graph *g, int32_t array, const struct share *shares,
                               int32_t n)
{
  const weir_array *a = g->arrays[array];
  weir_box whole = {.rank = a->desc.rank};
  weir_wide sum = 0;

  memcpy(whole.hi, a->desc.shape, (size_t)a->desc.rank * sizeof whole.hi[0]);
  for (int32_t i = 0; i < n; i++) {
    if (wide_volume(&shares[i].box) == 0) {
      continue;
    }
    sum += wide_volume(&shares[i].box);
    for (int32_t k = 0; k < i; k++) {
      const weir_box both = weir_box_intersect(&shares[i].box, &shares[k].box);
      if (wide_volume(&both) > 0) {
        (void)weir_fail(WEIR_ERR_SHAPE, "array %d '%s' is written here and by node %d too", array,
                        array_name(a), shares[k].node);
        return blame(g, shares[i].node, WEIR_ERR_SHAPE);
      }
    }
  }
  if (sum != wide_volume(&whole)) {
    (void)weir_fail(WEIR_ERR_SHAPE, "array %d '%s' is not completely written by its writers", array,
                    array_name(a));
    return blame(g, shares[n - 1].node, WEIR_ERR_SHAPE);
  }
  return WEIR_OK;
}

static weir_status check_temporary(const weir_graph *g, const struct uses *u, int32_t array)
{
  struct share *const shares = u->share + u->first[array];
  const int32_t n = u->first[array + 1] - u->first[array];
  const bool used = g->arrays[array]->output != NULL || u->readers[array] > 0 || u->updates[array];

  if (n == 0) {
    return used ? weir_fail(WEIR_ERR_SHAPE, "array %d '%s' is used but not written by any node",
                            array, array_name(g->arrays[array]))
                : WEIR_OK;
  }
  WEIR_TRY(find_boxes(g, shares, n));
  return prove_cover(g, array, shares, n);
}

static weir_status check_array(const weir_graph *g, const struct uses *u, int32_t array)
{
  const weir_array *a = g->arrays[array];

  if (a->kind == WEIR_ARRAY_TEMPORARY) {
    WEIR_TRY(check_temporary(g, u, array));
    return WEIR_OK;
  }
  if (u->first[array + 1] > u->first[array]) {
    (void)weir_fail(WEIR_ERR_SHAPE, "array %d '%s' is a source and cannot be written", array,
                    array_name(a));
    return blame(g, u->share[u->first[array]].node, WEIR_ERR_SHAPE);
  }
  if (a->update >= g->n_arrays ||
      (a->update >= 0 && !weir_desc_equal(&a->desc, &g->arrays[a->update]->desc))) {
    return weir_fail(WEIR_ERR_SHAPE, "stored '%s' is updated by another dtype or shape",
                     array_name(a));
  }
  if (!a->in_place) {
    return WEIR_OK;
  }
  const int32_t readers = u->readers[array];
  if (readers > 1 ||
      (readers == 1 && g->nodes[u->reader[array]]->access.maker != WEIR_MADE_BY_CALL)) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "stored '%s' is written in place: only one call operator may take it, and no other node",
        array_name(a));
  }
  return WEIR_OK;
}

static weir_status check_arrays(const weir_graph *g)
{
  struct uses u;
  weir_status status = alloc_uses(g, &u);

  if (status == WEIR_OK) {
    collect_uses(g, &u);
  }
  for (int32_t i = 0; i < g->n_arrays && status == WEIR_OK; i++) {
    status = check_array(g, &u, i);
  }
  uses_free(&u);
  return status;
}

static bool reads(const weir_node *node, int32_t array)
{
  for (int k = 0; k < node->n_in; k++) {
    if (node->in[k] == array) {
      return true;
    }
  }
  return false;
}

/* True when node `to` reads something that node `from` writes. */
static bool feeds(const weir_node *from, const weir_node *to)
{
  for (int k = 0; k < from->n_out; k++) {
    if (reads(to, from->out[k])) {
      return true;
    }
  }
  return false;
}

/* group_of[node]: its group, -1 for none. Every live operator is a member once, after the members
 * that it reads from. */
static weir_status check_members(const weir_graph *g, int32_t *group_of)
{
  for (int32_t i = 0; i < g->n_nodes; i++) {
    group_of[i] = -1;
  }
  for (int32_t k = 0; k < g->n_groups; k++) {
    const weir_group *group = &g->groups[k];
    for (int64_t m = 0; m < group->n_nodes; m++) {
      const int32_t node = group->nodes[m];
      if (node < 0 || node >= g->n_nodes || !live(g->nodes[node])) {
        return weir_fail(WEIR_ERR_SHAPE, "group %d: member %d is not a live operator", k, node);
      }
      if (group_of[node] >= 0) {
        (void)weir_fail(WEIR_ERR_SHAPE, "a member of group %d and of group %d", group_of[node], k);
        return blame(g, node, WEIR_ERR_SHAPE);
      }
      group_of[node] = k;
      for (int64_t later = m; later < group->n_nodes; later++) {
        if (group->nodes[later] >= 0 && group->nodes[later] < g->n_nodes &&
            feeds(g->nodes[group->nodes[later]], g->nodes[node])) {
          (void)weir_fail(WEIR_ERR_SHAPE, "group %d runs it before its inputs are computed", k);
          return blame(g, node, WEIR_ERR_SHAPE);
        }
      }
    }
  }
  for (int32_t i = 0; i < g->n_nodes; i++) {
    if (live(g->nodes[i]) && group_of[i] < 0) {
      (void)weir_fail(WEIR_ERR_SHAPE, "a member of no group");
      return blame(g, i, WEIR_ERR_SHAPE);
    }
  }
  return WEIR_OK;
}

/* Groups are taken off as soon as nothing outside them that is left feeds them. */
static weir_status check_group_cycle(const weir_graph *g, const int32_t *group_of, bool *done)
{
  int32_t left = g->n_groups;

  for (bool moved = true; moved && left > 0;) {
    moved = false;
    for (int32_t k = 0; k < g->n_groups; k++) {
      const weir_group *group = &g->groups[k];
      bool waits = done[k];
      for (int32_t i = 0; i < g->n_nodes && !waits; i++) {
        if (group_of[i] < 0 || group_of[i] == k || done[group_of[i]]) {
          continue;
        }
        for (int64_t m = 0; m < group->n_nodes && !waits; m++) {
          waits = feeds(g->nodes[i], g->nodes[group->nodes[m]]);
        }
      }
      if (!waits) {
        done[k] = true;
        moved = true;
        left--;
      }
    }
  }
  for (int32_t k = 0; k < g->n_groups; k++) {
    if (!done[k]) {
      const weir_group *group = &g->groups[k];
      (void)weir_fail(WEIR_ERR_SHAPE, "its group %d closes a cycle with other groups", k);
      return blame(g, group->nodes[group->n_nodes - 1], WEIR_ERR_SHAPE);
    }
  }
  return WEIR_OK;
}

static weir_status check_groups(const weir_graph *g)
{
  void *group_of = NULL, *done = NULL;
  weir_status status;

  if (g->n_groups == 0) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_alloc(g->n_nodes, sizeof(int32_t), &group_of), out);
  WEIR_TRY_GOTO(weir_alloc(g->n_groups, sizeof(bool), &done), out);
  WEIR_TRY_GOTO(check_members(g, group_of), out);
  WEIR_TRY_GOTO(check_group_cycle(g, group_of, done), out);
out:
  weir_free(&group_of);
  weir_free(&done);
  return status;
}

weir_status weir_graph_validate(const weir_graph *g)
{
  void *order;
  int32_t n;

  WEIR_TRY(weir_graph_status(g));
  for (int32_t i = 0; i < g->n_nodes; i++) {
    const weir_node *node = g->nodes[i];
    weir_status status = WEIR_OK;
    if (live(node)) {
      status = weir_access_check(&node->access);
      status = status == WEIR_OK ? weir_node_match(g, node) : status;
    }
    if (status != WEIR_OK) {
      return blame(g, i, status);
    }
  }
  WEIR_TRY(weir_alloc(g->n_nodes, sizeof(int32_t), &order));
  const weir_status acyclic = weir_graph_order(g, order, &n);
  weir_free(&order);
  WEIR_TRY(acyclic);
  WEIR_TRY(check_arrays(g));
  WEIR_TRY(check_groups(g));
  return WEIR_OK;
}
