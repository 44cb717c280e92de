/* dim_split.c - a dimension followed from array to node to array, both ways. */
#include "pass/weir_dim_split.h"

#include <string.h>
#include "base/weir_alloc.h"
#include "pass/weir_depend.h"

/* What is being found. queue: arrays whose users are still to be visited. */
typedef struct finding {
  const weir_graph *g;
  weir_dim_split s;
  bool *barred; /* [nodes] that cannot be split */
  int32_t *queue, n_queue;
} finding;

static bool merges(weir_monoid m)
{
  return m == WEIR_COMBINE_SUM || m == WEIR_COMBINE_PROD || m == WEIR_COMBINE_MAX ||
         m == WEIR_COMBINE_MIN;
}

/* True when the node may be repeated for pieces of its iteration dimension k. */
static bool can_split(const finding *f, int32_t number, int k)
{
  const weir_node *node = weir_graph_node(f->g, number);
  const weir_access *a = &node->access;
  const weir_dim *dim = &a->dim[k];
  const bool parallel = dim->kind == WEIR_PARALLEL;
  bool yes = !f->barred[number] && a->maker != WEIR_MADE_BY_CALL && a->n_states == 0 &&
             !dim->time && dim->lo == 0 && dim->hi == f->s.extent;

  yes = yes && !weir_body_uses(&a->body, WEIR_CODE_RANDOM); /* numbered over all iterations */
  yes = yes && (parallel || (dim->kind == WEIR_REDUCED && a->n_out == 1 && merges(a->combine)));
  for (int i = 0; i < a->n_in && yes; i++) {
    yes = weir_operand_pieces(&a->in[i], a, k) >= -1;
  }
  for (int o = 0; o < a->n_out && yes; o++) {
    const int at = weir_operand_pieces(&a->out[o], a, k);

    yes = parallel ? at >= 0 : at == -1;
  }
  return yes;
}

static void split_array(finding *f, int32_t array, int dim)
{
  if (dim >= 0 && f->s.array[array] < 0) {
    f->s.array[array] = (int8_t)dim;
    f->queue[f->n_queue++] = array;
  }
}

static void split_node(finding *f, int32_t number, int k)
{
  const weir_node *node = weir_graph_node(f->g, number);

  f->s.node[number] = (int8_t)k;
  for (int i = 0; i < node->n_in; i++) {
    split_array(f, node->in[i], weir_operand_follows(&node->access.in[i], &node->access, k));
  }
  for (int o = 0; o < node->n_out; o++) {
    split_array(f, node->out[o], weir_operand_follows(&node->access.out[o], &node->access, k));
  }
}

/* Splits the users of a split array that follow its dimension. */
static void follow(finding *f, int32_t array)
{
  const int d = f->s.array[array];

  for (int32_t i = 0; i < f->s.n_nodes; i++) {
    const weir_node *node = weir_graph_node(f->g, i);
    const weir_access *a = &node->access;

    for (int k = 0; k < node->n_in + node->n_out && node->op != NULL && !node->dead; k++) {
      const bool in = k < node->n_in;
      const weir_operand *x = in ? &a->in[k] : &a->out[k - node->n_in];
      const int at = (in ? node->in[k] : node->out[k - node->n_in]) != array
                         ? -1
                         : weir_index_follows(&x->index[d], a->n_dims);

      if (at >= 0 && f->s.node[i] < 0 && can_split(f, i, at)) {
        split_node(f, i, at);
      }
    }
  }
}

/* True when the split node takes every array as it is split, or whole where it is not. */
static bool agrees(const finding *f, int32_t number)
{
  const weir_node *node = weir_graph_node(f->g, number);
  const weir_access *a = &node->access;
  const int k = f->s.node[number];
  bool yes = true;

  for (int i = 0; i < node->n_in; i++) {
    yes = yes && f->s.array[node->in[i]] == weir_operand_follows(&a->in[i], a, k);
  }
  for (int o = 0; o < node->n_out; o++) {
    yes = yes && f->s.array[node->out[o]] == weir_operand_follows(&a->out[o], a, k);
  }
  return yes;
}

/* Bars split nodes that do not agree with the others, and those that share what they write with
 * nodes that are not split; true when there were any. */
static bool bar(finding *f)
{
  bool any = false;

  for (int32_t i = 0; i < f->s.n_nodes; i++) {
    const weir_node *node = weir_graph_node(f->g, i);

    if (node->op == NULL || node->dead || f->s.node[i] < 0) {
      continue;
    }
    bool good = agrees(f, i);

    for (int o = 0; o < node->n_out; o++) {
      for (int32_t j = 0; j < f->s.n_nodes && good; j++) {
        const weir_node *other = weir_graph_node(f->g, j);

        for (int q = 0; q < other->n_out && !other->dead && good; q++) {
          good = other->out[q] != node->out[o] || f->s.node[j] >= 0;
        }
      }
    }
    f->barred[i] = !good;
    any = any || !good;
  }
  return any;
}

/* Finds the blocker. order, after: [nodes], scratch. */
static weir_status find_blocker(finding *f, const weir_depend *depend, int32_t *order, bool *after)
{
  int32_t n = 0;

  f->s.blocker = -1;
  memset(after, 0, (size_t)f->s.n_nodes * sizeof *after);
  WEIR_TRY(weir_graph_order(f->g, order, &n));
  for (int32_t i = 0; i < n; i++) {
    for (int32_t k = depend->first[order[i]]; k < depend->first[order[i] + 1]; k++) {
      const int32_t from = depend->before[k];

      if (f->s.node[order[i]] < 0) {
        after[order[i]] = after[order[i]] || after[from] || f->s.node[from] >= 0;
      } else if (after[from] || weir_dim_split_is_partial(f->g, &f->s, from)) {
        f->s.blocker = from;
        return WEIR_OK;
      }
    }
  }
  return WEIR_OK;
}

static void find(finding *f, int32_t array, int dim)
{
  do {
    memset(f->s.array, -1, (size_t)f->s.n_arrays);
    memset(f->s.node, -1, (size_t)f->s.n_nodes);
    f->n_queue = 0;
    split_array(f, array, dim);
    for (int32_t i = 0; i < f->n_queue; i++) {
      follow(f, f->queue[i]);
    }
  } while (bar(f));
}

/* Bars the split nodes that the blocker waits for, and itself: they run once, before the pieces.
 * order, needed: [nodes], scratch. */
static weir_status bar_before(finding *f, const weir_depend *depend, int32_t *order, bool *needed)
{
  int32_t n = 0;

  WEIR_TRY(weir_graph_order(f->g, order, &n));
  memset(needed, 0, (size_t)f->s.n_nodes * sizeof *needed);
  needed[f->s.blocker] = true;
  for (int32_t i = n - 1; i >= 0; i--) {
    const int32_t node = order[i];

    for (int32_t k = depend->first[node]; k < depend->first[node + 1] && needed[node]; k++) {
      needed[depend->before[k]] = true;
    }
    f->barred[node] = f->barred[node] || (needed[node] && f->s.node[node] >= 0);
  }
  return WEIR_OK;
}

/* A total that pieces wait for (such as the sum of the weights of a loss) is made before them, of
 * whole arrays, where that leaves most of what can be split. Else nothing is split but what was at
 * first, and the blocker stands. */
static weir_status unblock(finding *f, const weir_depend *depend, int32_t array, int dim,
                           int32_t *order, bool *scratch)
{
  const double bytes = weir_dim_split_bytes(f->g, &f->s);
  bool most = true;

  while (f->s.blocker >= 0 && most) {
    WEIR_TRY(bar_before(f, depend, order, scratch));
    find(f, array, dim);
    most = weir_dim_split_bytes(f->g, &f->s) >= WEIR_DIM_SPLIT_MIN_SHARE * bytes;
    WEIR_TRY(find_blocker(f, depend, order, scratch));
  }
  if (!most) {
    memset(f->barred, 0, (size_t)f->s.n_nodes * sizeof *f->barred);
    find(f, array, dim);
    WEIR_TRY(find_blocker(f, depend, order, scratch));
  }
  return WEIR_OK;
}

weir_status weir_dim_split_find(const weir_graph *g, int32_t array, int dim, weir_dim_split *out)
{
  enum { BUFFERS = 6 };
  weir_status status = WEIR_OK;
  const int32_t arrays = weir_graph_arrays(g), nodes = weir_graph_nodes(g);
  const int64_t count[BUFFERS] = {arrays, nodes, nodes, arrays, nodes, nodes};
  const size_t size[BUFFERS] = {1, 1, sizeof(bool), sizeof(int32_t), sizeof(int32_t), sizeof(bool)};
  finding f = {.g = g, .s = {.n_arrays = arrays, .n_nodes = nodes, .blocker = -1}};
  weir_depend depend = {.n = 0};
  void *memory[BUFFERS] = {NULL};

  for (int i = 0; i < BUFFERS; i++) {
    WEIR_TRY_GOTO(weir_alloc(count[i], size[i], &memory[i]), out);
  }
  f.s.array = memory[0];
  f.s.node = memory[1];
  f.barred = memory[2];
  f.queue = memory[3];
  f.s.extent = weir_graph_get_array(g, array)->desc.shape[dim];
  find(&f, array, dim);
  WEIR_TRY_GOTO(weir_depend_make(g, &depend), out);
  WEIR_TRY_GOTO(find_blocker(&f, &depend, memory[4], memory[5]), out);
  WEIR_TRY_GOTO(unblock(&f, &depend, array, dim, memory[4], memory[5]), out);
  *out = f.s;
  memory[0] = memory[1] = NULL;
out:
  weir_depend_fini(&depend);
  for (int i = 0; i < BUFFERS; i++) {
    weir_free(&memory[i]);
  }
  return status;
}

void weir_dim_split_fini(weir_dim_split *s)
{
  weir_free(&s->array);
  weir_free(&s->node);
  memset(s, 0, sizeof *s);
}

bool weir_dim_split_is_partial(const weir_graph *g, const weir_dim_split *s, int32_t node)
{
  return s->node[node] >= 0 &&
         weir_graph_node(g, node)->access.dim[s->node[node]].kind == WEIR_REDUCED;
}

double weir_dim_split_bytes(const weir_graph *g, const weir_dim_split *s)
{
  double bytes = 0;

  for (int32_t i = 0; i < s->n_nodes; i++) {
    const weir_node *node = weir_graph_node(g, i);

    for (int o = 0; o < node->n_out && s->node[i] >= 0; o++) {
      const weir_array_desc *d = &weir_graph_get_array(g, node->out[o])->desc;

      bytes += s->array[node->out[o]] >= 0 ? (double)weir_desc_bytes(d) : 0;
    }
  }
  return bytes;
}
