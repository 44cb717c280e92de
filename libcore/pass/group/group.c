/* group.c - vertical fusion: producers join their consumers' groups where no tile computes a value
 * of another tile's part, or only a thin border of it.
 *
 * A group's tiles must write exactly their own part of every array that is visible outside;
 * tile-local arrays may be recomputed at tile borders. Traffic that a merge saves is the
 * intermediate's write and reads. */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/weir_pass.h"

#define MAX_NODES 48
/* Elements of an intermediate that one point of its consumer may need, and still be kept in a tile.
 */
#define MAX_TAPS 4096

typedef struct grouping {
  weir_graph *g;
  const weir_pass_opts *opts;
  int32_t *order, n; /* live nodes, topological */
  int32_t *group;    /* by node: number of its group, that of its anchor's node; -1: none */
  int32_t *mark;     /* by node, for searches */
  double *saved;     /* by group */
  const weir_kernel **kernel; /* by node */
} grouping;

static bool fusable(const grouping *s, int32_t node)
{
  const weir_access *a = &weir_graph_node(s->g, node)->access;

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_BACKWARD) {
      return false;
    }
  }
  return !a->opaque && s->kernel[node] == NULL;
}

static bool is_identity(const weir_operand *o, const weir_access *a)
{
  int points = 0;

  for (int k = 0; k < a->n_dims; k++) {
    points += a->dim[k].kind != WEIR_REDUCED;
  }
  if (o->rank != a->n_dims || points != a->n_dims) {
    return false;
  }
  for (int d = 0; d < o->rank; d++) {
    const weir_index *x = &o->index[d];

    if (x->offset != 0 || x->div > 1 || x->gather != 0 || a->dim[d].lo != 0 ||
        a->dim[d].hi != o->extent[d]) {
      return false;
    }
    for (int k = 0; k < a->n_dims; k++) {
      if (x->coef[k] != (k == d)) {
        return false;
      }
    }
  }
  return true;
}

/* Elements that one point of the iterations needs of an operand; MAX_TAPS + 1 when that is not
 * bounded. */
static int64_t taps(const weir_operand *o, const weir_access *a)
{
  int64_t n = 1;

  for (int d = 0; d < o->rank; d++) {
    const weir_index *x = &o->index[d];
    int64_t span = 1;

    if (x->gather != 0 || x->border == WEIR_BORDER_WRAP || x->border == WEIR_BORDER_REFLECT ||
        x->offset > MAX_TAPS || x->offset < -MAX_TAPS) {
      return MAX_TAPS + 1;
    }
    for (int k = 0; k < a->n_dims; k++) {
      if (a->dim[k].kind == WEIR_REDUCED && x->coef[k] != 0) {
        const int64_t c = x->coef[k] < 0 ? -x->coef[k] : x->coef[k];

        span += c * (a->dim[k].hi - a->dim[k].lo - 1);
      }
    }
    n = span > MAX_TAPS || n * span > MAX_TAPS ? MAX_TAPS + 1 : n * span;
  }
  return n;
}

/* A reduction absorbs the element-wise node that feeds it alone (pass/lower): no buffer at all. */
static bool absorbs(const grouping *s, const weir_node *producer, const weir_node *consumer,
                    int operand)
{
  const weir_access *p = &producer->access, *c = &consumer->access;
  const weir_operand *o = &c->in[operand];
  unsigned used = 0;
  int32_t readers[2];

  if (c->combine == WEIR_COMBINE_NONE || p->combine != WEIR_COMBINE_NONE || p->n_states > 0 ||
      o->rank != c->n_dims || weir_graph_readers(s->g, consumer->in[operand], readers, 2) != 1) {
    return false;
  }
  for (int i = 0; i < c->n_in; i++) {
    if (i != operand && consumer->in[i] == consumer->in[operand]) {
      return false;
    }
  }
  for (int32_t i = 0; i < p->body.n; i++) {
    if (p->body.exprs[i].code == WEIR_CODE_RANDOM) {
      return false;
    }
  }
  for (int d = 0; d < o->rank; d++) {
    const weir_index *x = &o->index[d];

    for (int k = 0; k < c->n_dims; k++) {
      if (x->coef[k] != 0) {
        if (x->coef[k] != 1 || (used >> k & 1) != 0 || c->dim[k].hi != o->extent[d]) {
          return false;
        }
        used |= 1u << k;
      }
    }
    if (x->offset != 0 || x->div > 1 || x->gather != 0) {
      return false;
    }
  }
  return used == (1u << c->n_dims) - 1;
}

/* Maps whose position moves with the iteration one to one: several of them on one array keep a
 * bounded distance, whatever the tile. */
static bool keeps_step(const weir_operand *o, const weir_access *a)
{
  for (int d = 0; d < o->rank; d++) {
    for (int k = 0; k < a->n_dims; k++) {
      if (o->index[d].div > 1 || (a->dim[k].kind != WEIR_REDUCED && o->index[d].coef[k] != 0 &&
                                  (o->index[d].coef[k] != 1 || k != d))) {
        return false;
      }
    }
  }
  return true;
}

static bool in_merged(const grouping *s, int32_t node, int32_t a, int32_t b)
{
  return s->group[node] == a || s->group[node] == b;
}

static bool array_is_visible(const grouping *s, int32_t array, int32_t a, int32_t b)
{
  const weir_array *x = weir_graph_get_array(s->g, array);
  int32_t readers[MAX_NODES * 4], writer;

  if (x->output != NULL || weir_graph_writers(s->g, array, &writer, 1) != 1) {
    return true;
  }
  for (int32_t i = 0; i < weir_graph_arrays(s->g); i++) {
    if (weir_graph_get_array(s->g, i)->update == array) {
      return true;
    }
  }
  const int32_t n = weir_graph_readers(s->g, array, readers, MAX_NODES * 4);

  for (int32_t i = 0; i < n; i++) {
    if (i >= MAX_NODES * 4 || !in_merged(s, readers[i], a, b)) {
      return true;
    }
  }
  return false;
}

/* True when every edge inside the union of groups a and b is one that tiles can serve. */
static bool edges_fit(grouping *s, int32_t a, int32_t b, int32_t anchor)
{
  /* aligned: the node's box is the anchor's tile itself. Filled backwards. */
  int32_t *aligned = s->mark;

  memset(aligned, 0, (size_t)weir_graph_nodes(s->g) * sizeof(*aligned));
  for (int32_t i = s->n - 1; i >= 0; i--) {
    const int32_t number = s->order[i];
    const weir_node *node = weir_graph_node(s->g, number);
    bool same = true, read = false, visible = false;
    int uses = 0, steps = 0;

    if (!in_merged(s, number, a, b)) {
      continue;
    }
    for (int o = 0; o < node->n_out; o++) {
      for (int32_t j = i + 1; j < s->n; j++) {
        const weir_node *reader = weir_graph_node(s->g, s->order[j]);

        for (int k = 0; k < reader->n_in && in_merged(s, s->order[j], a, b); k++) {
          if (reader->in[k] != node->out[o]) {
            continue;
          }
          const weir_operand *operand = &reader->access.in[k];
          const bool identity = is_identity(operand, &reader->access) &&
                                aligned[s->order[j]] != 0 &&
                                is_identity(&node->access.out[o], &node->access);

          read = true;
          same = same && identity;
          uses++;
          steps += keeps_step(operand, &reader->access);
          if (operand->role == WEIR_ROLE_STATE ||
              (!identity && taps(operand, &reader->access) > MAX_TAPS &&
               !absorbs(s, node, reader, k))) {
            return false;
          }
        }
      }
      visible = visible || array_is_visible(s, node->out[o], a, b);
    }
    if (uses > 1 && steps < uses) {
      return false;
    }
    aligned[number] = number == anchor || (read && same);
    if (aligned[number] == 0 && (visible || node->access.n_states > 0)) {
      return false;
    }
  }
  return true;
}

/* True when a path leaves the union of a and b and comes back. */
static bool closes_cycle(grouping *s, int32_t a, int32_t b)
{
  /* mark: groups downstream of the union, by group number, reached through nodes outside it. */
  int32_t *tainted = s->mark;

  memset(tainted, 0, (size_t)weir_graph_nodes(s->g) * sizeof(*tainted));
  for (int pass = 0; pass < 2; pass++) {
    /* Groups are not contiguous in node order: a second sweep settles what the first one missed. */
    for (int32_t i = 0; i < s->n; i++) {
      const weir_node *node = weir_graph_node(s->g, s->order[i]);
      const int32_t mine = s->group[s->order[i]];

      for (int k = 0; k < node->n_in; k++) {
        int32_t writers[MAX_NODES];
        const int32_t n = weir_graph_writers(s->g, node->in[k], writers, MAX_NODES);

        for (int32_t w = 0; w < n && w < MAX_NODES; w++) {
          const int32_t from = s->group[writers[w]];
          const bool from_union = from == a || from == b;

          if (mine == a || mine == b) {
            if (!from_union && tainted[from] != 0) {
              return true;
            }
          } else if (from_union || tainted[from] != 0) {
            tainted[mine] = 1;
          }
        }
      }
    }
  }
  return false;
}

static int64_t members(const grouping *s, int32_t group)
{
  int64_t n = 0;

  for (int32_t i = 0; i < s->n; i++) {
    n += s->group[s->order[i]] == group;
  }
  return n;
}

static double array_bytes(const grouping *s, int32_t array)
{
  const weir_array_desc *d = &weir_graph_get_array(s->g, array)->desc;
  double n = (double)weir_dtype_size(d->dtype);

  for (int k = 0; k < d->rank; k++) {
    n *= k == d->time - 1 ? (double)(s->opts->slots > 0 ? s->opts->slots : 4096)
                          : (double)d->shape[k];
  }
  return n;
}

/* Merges the group of the writer of `array` into that of `consumer` when it fits. */
static void try_merge(grouping *s, int32_t array, int32_t consumer)
{
  int32_t writer = -1;

  if (weir_graph_get_array(s->g, array)->kind != WEIR_ARRAY_TEMPORARY ||
      weir_graph_writers(s->g, array, &writer, 1) != 1) {
    return;
  }
  const int32_t a = s->group[writer], b = s->group[consumer];

  if (a == b || !fusable(s, a) || !fusable(s, b) || members(s, a) + members(s, b) > MAX_NODES ||
      closes_cycle(s, a, b) || !edges_fit(s, a, b, b)) {
    return;
  }
  for (int32_t i = 0; i < s->n; i++) {
    if (s->group[s->order[i]] == a) {
      s->group[s->order[i]] = b;
    }
  }
  s->saved[b] += s->saved[a] + (array_is_visible(s, array, b, b) ? 1 : 2) * array_bytes(s, array);
}

/* Offers a node to the kernels; the cheapest that matches claims it. */
static weir_status offer(grouping *s, int32_t node)
{
  const char *wanted = s->opts->kernel != NULL ? s->opts->kernel : "auto";
  const weir_group alone = {.nodes = &node, .n_nodes = 1};
  double best = -1;

  for (int i = 0; s->opts->kernels != NULL && s->opts->kernels[i] != NULL; i++) {
    const weir_kernel *k = s->opts->kernels[i];

    if (strcmp(wanted, "auto") != 0 && strcmp(wanted, k->name) != 0) {
      continue;
    }
    const double cost = k->match(s->g, &alone);

    if (cost >= 0 && (best < 0 || cost < best)) {
      best = cost;
      s->kernel[node] = k;
    }
  }
  return WEIR_OK;
}

/* Adds the groups in an order in which every group comes after those it reads from. */
static weir_status add_groups(grouping *s)
{
  int32_t *done = s->mark;
  int32_t left = 0;

  memset(done, 0, (size_t)weir_graph_nodes(s->g) * sizeof(*done));
  for (int32_t i = 0; i < s->n; i++) {
    left += s->group[s->order[i]] == s->order[i];
  }
  while (left > 0) {
    const int32_t before = left;

    for (int32_t i = 0; i < s->n; i++) {
      const int32_t anchor = s->order[i];
      int32_t nodes[MAX_NODES];
      int64_t n = 0;
      bool ready = true;

      if (s->group[anchor] != anchor || done[anchor] != 0) {
        continue;
      }
      for (int32_t j = 0; j < s->n; j++) {
        const weir_node *node = weir_graph_node(s->g, s->order[j]);

        if (s->group[s->order[j]] != anchor) {
          continue;
        }
        nodes[n++] = s->order[j];
        for (int k = 0; k < node->n_in; k++) {
          int32_t writers[MAX_NODES];
          const int32_t m = weir_graph_writers(s->g, node->in[k], writers, MAX_NODES);

          for (int32_t w = 0; w < m && w < MAX_NODES; w++) {
            ready = ready && (s->group[writers[w]] == anchor || done[s->group[writers[w]]] != 0);
          }
        }
      }
      if (ready) {
        WEIR_TRY(weir_graph_add_group(s->g, nodes, n));
        weir_group *made = weir_graph_group_mut(s->g, weir_graph_groups(s->g) - 1);

        made->saved_bytes = s->saved[anchor];
        made->kernel = s->kernel[anchor];
        done[anchor] = 1;
        left--;
      }
    }
    if (left == before) {
      return weir_fail(WEIR_ERR_SHAPE, "group: the groups close a cycle");
    }
  }
  return WEIR_OK;
}

static weir_status form(grouping *s)
{
  WEIR_TRY(weir_graph_order(s->g, s->order, &s->n));
  for (int32_t i = 0; i < s->n; i++) {
    s->group[s->order[i]] = s->order[i];
    WEIR_TRY(offer(s, s->order[i]));
  }
  for (int32_t i = 0; i < s->n && !s->opts->no_fusion; i++) {
    const weir_node *node = weir_graph_node(s->g, s->order[i]);

    for (int k = 0; k < node->n_in; k++) {
      try_merge(s, node->in[k], s->order[i]);
    }
  }
  return add_groups(s);
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  weir_status status = WEIR_OK;
  grouping s = {.g = g, .opts = opts};
  const int64_t n = weir_graph_nodes(g);
  void *memory[5] = {NULL};

  weir_graph_clear_groups(g);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(int32_t), &memory[0]), out);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(int32_t), &memory[1]), out);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(int32_t), &memory[2]), out);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(double), &memory[3]), out);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(void *), &memory[4]), out);
  s.order = memory[0];
  s.group = memory[1];
  s.mark = memory[2];
  s.saved = memory[3];
  s.kernel = memory[4];
  WEIR_TRY_GOTO(form(&s), out);
out:
  for (int i = 0; i < 5; i++) {
    weir_free(&memory[i]);
  }
  return status;
}

const weir_pass weir_pass_group = {
    .name = "group",
    .cite = "vertical fusion; Ivanov et al., MLSys 2021 (arXiv:2007.00072)",
    .order = 20,
    .run = run,
};
