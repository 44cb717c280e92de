/* localise_moves.c - which operands need elements of other ranks, which results are to be merged.
 */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/partition/localise_priv.h"

static bool is_empty(const weir_box *b)
{
  return b->rank > 0 && weir_box_empty(b);
}

static bool is_within(const weir_box *inner, const weir_box *outer)
{
  bool yes = true;

  for (int d = 0; d < inner->rank && yes; d++) {
    yes = outer->lo[d] <= inner->lo[d] && inner->hi[d] <= outer->hi[d];
  }
  return yes || is_empty(inner);
}

/* What a rank needs of an operand, in one box; all along dimensions whose ends meet, and as usual
 * along the others where there is one along which it needs nothing. */
static weir_box needed(const localising *l, int32_t node, int operand, int rank)
{
  const weir_access *a = &weir_graph_node(l->p->g, node)->access;
  const weir_operand *x = &a->in[operand];
  const weir_box run = weir_partition_iterations(l->p, node, rank);
  const weir_region r = weir_needed(a, operand, &run);
  weir_box box = {.rank = x->rank};
  int64_t least, most;

  for (int d = 0; d < x->rank && !weir_box_empty(&run); d++) {
    const weir_index *at = &x->index[d];
    const bool slot = x->role == WEIR_ROLE_STATE && d == 0;
    const bool turns = at->border == WEIR_BORDER_WRAP || at->border == WEIR_BORDER_REFLECT;

    if (!slot) {
      weir_index_range(at, &run, &least, &most);
    }
    if (slot || (turns && (least < 0 || most >= x->extent[d]))) {
      box.hi[d] = x->extent[d];
    } else if (r.n[d] > 0) {
      box.lo[d] = r.part[d][0].lo;
      box.hi[d] = r.part[d][r.n[d] - 1].hi;
    }
  }
  return box;
}

static const char *name_of(const localising *l, int32_t array)
{
  const weir_array *a = weir_graph_get_array(l->p->g, array);
  const weir_value v = weir_array_value(l->p->g, array);
  const weir_node *node = v.node >= 0 ? weir_graph_node(l->p->g, v.node) : NULL;

  return a->name != NULL       ? a->name
         : node == NULL        ? "array"
         : node->label != NULL ? node->label
         : node->op != NULL    ? node->op->name
                               : "constant";
}

/* Place of the last node that writes the array, -1: a source. */
static int32_t last_writer(const localising *l, int32_t array)
{
  for (int32_t i = l->p->n_order - 1; i >= 0; i--) {
    const weir_node *node = weir_graph_node(l->p->g, l->p->order[i]);

    for (int o = 0; o < node->n_out; o++) {
      if (node->out[o] == array) {
        return i;
      }
    }
  }
  return -1;
}

static weir_status push(localising *l, int32_t array, weir_move_kind kind, localise_move **out)
{
  WEIR_TRY(weir_reserve(&l->moves, &l->capacity, l->n_moves + 1, sizeof *l->moves));
  localise_move *x = &l->moves[l->n_moves];

  *x = (localise_move){.array = array, .node = -1, .after = last_writer(l, array), .local = -1};
  l->n_moves++;
  WEIR_TRY(weir_alloc(1, sizeof *x->move, (void **)&x->move));
  x->owned = true;
  x->move->kind = kind;
  x->move->name = name_of(l, array);
  x->move->array = array;
  x->move->dtype = weir_graph_get_array(l->p->g, array)->desc.dtype;
  x->move->n = 1;
  *out = x;
  return WEIR_OK;
}

static weir_status add_part(localise_move *x, int64_t *capacity, int peer, bool receive,
                            const weir_box *box)
{
  weir_move *m = x->move;

  WEIR_TRY(weir_reserve(&m->parts, capacity, m->n_parts + 1, sizeof *m->parts));
  m->parts[m->n_parts++] = (weir_move_part){peer, receive, *box};
  m->bytes += receive ? 0 : weir_box_volume(box) * (int64_t)weir_dtype_size(m->dtype);
  return WEIR_OK;
}

/* Boxes that one rank sends another. */
static int pieces(const localising *l, const localise_move *x, int from, int to,
                  weir_box boxes[WEIR_PARTITION_BOXES])
{
  if (x->node >= 0) {
    return weir_partition_halo(l->p, x->node, x->operand, from, to, boxes);
  }
  const weir_box owned = weir_partition_owned(l->p, x->array, from);

  boxes[0] = weir_box_intersect(&owned, &x->get[to]);
  return partition_share_copy(l->p, x->array, from, to) && !is_empty(&boxes[0]);
}

/* What this rank sends and receives, pair by pair in the order of all. */
static weir_status fill_exchange(const localising *l, localise_move *x)
{
  weir_box boxes[WEIR_PARTITION_BOXES];
  int64_t capacity = 0;

  x->move->from = weir_partition_owned(l->p, x->array, l->rank);
  x->move->to = x->get[l->rank];
  for (int other = 0; other < l->ranks; other++) {
    for (int turn = 0; turn < 2 && other != l->rank; turn++) {
      const int from = turn == 0 ? l->rank : other, to = turn == 0 ? other : l->rank;
      const int n = pieces(l, x, from, to, boxes);

      for (int i = 0; i < n; i++) {
        WEIR_TRY(add_part(x, &capacity, other, turn == 1, &boxes[i]));
      }
    }
  }
  return WEIR_OK;
}

/* An exchange that gives rank r what get[r] says, which it takes. */
static weir_status add_exchange(localising *l, int32_t array, int32_t node, int operand,
                                weir_box **get, int32_t *number)
{
  localise_move *x;

  WEIR_TRY(push(l, array, WEIR_MOVE_EXCHANGE, &x));
  x->node = node;
  x->operand = operand;
  x->get = *get;
  *get = NULL;
  *number = l->n_moves - 1;
  return fill_exchange(l, x);
}

/* An earlier exchange of the array that leaves all that is needed on every rank, -1: none. */
static int32_t find_exchange(const localising *l, int32_t array, const weir_box *get)
{
  for (int32_t m = 0; m < l->n_moves; m++) {
    const localise_move *x = &l->moves[m];
    bool covers = x->move->kind == WEIR_MOVE_EXCHANGE && x->array == array;

    for (int r = 0; r < l->ranks && covers; r++) {
      covers = is_within(&get[r], &x->get[r]);
    }
    if (covers) {
      return m;
    }
  }
  return -1;
}

/* Whether every rank owns all of that. */
static bool is_local(const localising *l, int32_t array, const weir_box *get)
{
  bool yes = true;

  for (int r = 0; r < l->ranks && yes; r++) {
    const weir_box owned = weir_partition_owned(l->p, array, r);

    yes = is_within(&get[r], &owned);
  }
  return yes;
}

static weir_status find_exchanges_of(localising *l, int32_t node)
{
  weir_status status = WEIR_OK;
  weir_box *get = NULL;

  for (int k = 0; k < weir_graph_node(l->p->g, node)->n_in; k++) {
    const int32_t array = weir_graph_node(l->p->g, node)->in[k];
    int32_t *choice = &l->choice[(int64_t)node * WEIR_MAX_OPERANDS + k];

    *choice = -1;
    if (get == NULL) {
      WEIR_TRY_GOTO(weir_alloc(l->ranks, sizeof *get, (void **)&get), out);
    }
    for (int r = 0; r < l->ranks; r++) {
      get[r] = needed(l, node, k, r);
    }
    if (!is_local(l, array, get)) {
      *choice = find_exchange(l, array, get);
      if (*choice < 0) {
        WEIR_TRY_GOTO(add_exchange(l, array, node, k, &get, choice), out);
      }
    }
  }
out:
  weir_free(&get);
  return status;
}

static weir_status find_merge_of(localising *l, int32_t number)
{
  const weir_node *node = weir_graph_node(l->p->g, number);
  localise_move *x;

  if (weir_partition_partial(l->p, number) == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(push(l, node->out[0], WEIR_MOVE_MERGE, &x));
  x->node = number;
  x->move->n = node->n_out;
  x->move->monoid = node->access.combine;
  x->move->dims = weir_partition_partial(l->p, number);
  x->move->bytes = weir_partition_partial_bytes(l->p, number, l->rank);
  for (int o = 0; o < node->n_out; o++) {
    l->merge[node->out[o]] = l->n_moves - 1;
  }
  return WEIR_OK;
}

/* A stored array takes its new value in its own box. */
static weir_status find_update_of(localising *l, int32_t stored)
{
  const int32_t from = weir_graph_get_array(l->p->g, stored)->update;
  weir_status status = WEIR_OK;
  weir_box *get = NULL;
  bool same = true;

  l->updated[stored] = -1;
  if (from < 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(l->ranks, sizeof *get, (void **)&get));
  for (int r = 0; r < l->ranks; r++) {
    const weir_box owned = weir_partition_owned(l->p, from, r);

    get[r] = weir_partition_owned(l->p, stored, r);
    same = same && is_within(&get[r], &owned) && is_within(&owned, &get[r]);
  }
  if (!same) {
    WEIR_TRY_GOTO(add_exchange(l, from, -1, 0, &get, &l->updated[stored]), out);
  }
out:
  weir_free(&get);
  return status;
}

static bool draws(const weir_access *a)
{
  for (int32_t i = 0; i < a->body.n; i++) {
    if (a->body.exprs[i].code == WEIR_CODE_RANDOM) {
      return true;
    }
  }
  return false;
}

/* Whether some rank has less than all of it. */
static bool is_cut(const localising *l, int32_t array)
{
  for (int d = 0; d < weir_graph_get_array(l->p->g, array)->desc.rank; d++) {
    if (l->p->array[array].along[d] > 0 && l->p->grid.extent[l->p->array[array].along[d] - 1] > 1) {
      return true;
    }
  }
  return false;
}

/* Nodes that go by all their iterations run them all; the partition cuts them only when told to. */
static weir_status check_node(const localising *l, int32_t number)
{
  const weir_node *node = weir_graph_node(l->p->g, number);

  for (int o = 0; o < node->n_out; o++) {
    if (is_cut(l, node->out[o]) && (node->access.opaque || draws(&node->access))) {
      return weir_fail(
          WEIR_ERR_UNSUPPORTED,
          "partition: node %d '%s' %s, and its output %d is cut: leave it whole and cut "
          "what reads it",
          (int)number, node->label != NULL ? node->label : node->op->name,
          node->access.opaque ? "is a call" : "counts random numbers over all of it", o);
    }
  }
  return WEIR_OK;
}

static weir_status check_array(const localising *l, int32_t array)
{
  const weir_array *a = weir_graph_get_array(l->p->g, array);
  const char *why = a->desc.time > 0                 ? "has time"
                    : !is_cut(l, array)              ? NULL
                    : a->kind == WEIR_ARRAY_CONSTANT ? "is a constant"
                    : a->in_place                    ? "is changed in place by a call"
                                                     : NULL;

  return why == NULL ? WEIR_OK
                     : weir_fail(WEIR_ERR_UNSUPPORTED,
                                 "partition: array %d '%s' %s and cannot be cut over ranks",
                                 (int)array, name_of(l, array), why);
}

weir_status localise_find_moves(localising *l)
{
  const int64_t nodes = l->p->n_nodes, arrays = l->p->n_arrays;

  WEIR_TRY(weir_alloc(nodes * WEIR_MAX_OPERANDS, sizeof *l->choice, (void **)&l->choice));
  WEIR_TRY(weir_alloc(arrays, sizeof *l->merge, (void **)&l->merge));
  WEIR_TRY(weir_alloc(arrays, sizeof *l->now, (void **)&l->now));
  WEIR_TRY(weir_alloc(arrays, sizeof *l->updated, (void **)&l->updated));
  for (int32_t a = 0; a < arrays; a++) {
    l->merge[a] = -1;
    WEIR_TRY(check_array(l, a));
  }
  for (int32_t i = 0; i < l->p->n_order; i++) {
    WEIR_TRY(check_node(l, l->p->order[i]));
    WEIR_TRY(find_merge_of(l, l->p->order[i]));
    WEIR_TRY(find_exchanges_of(l, l->p->order[i]));
  }
  for (int32_t a = 0; a < arrays; a++) {
    WEIR_TRY(find_update_of(l, a));
  }
  return WEIR_OK;
}
