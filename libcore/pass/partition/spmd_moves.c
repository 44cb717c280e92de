/* spmd_moves.c - which operands need elements of other ranks, which results are to be merged.
 */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/partition/spmd_priv.h"

static const char *name_of(const spmd_lowering *l, int32_t array)
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
static int32_t last_writer(const spmd_lowering *l, int32_t array)
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

weir_status spmd_push(spmd_lowering *l, int32_t array, weir_comm_op_kind kind, spmd_move **out)
{
  WEIR_TRY(weir_reserve(&l->moves, &l->capacity, l->n_moves + 1, sizeof *l->moves));
  spmd_move *x = &l->moves[l->n_moves];

  *x = (spmd_move){.array = array, .node = -1, .after = last_writer(l, array), .local = -1};
  l->n_moves++;
  WEIR_TRY(weir_alloc(1, sizeof *x->move, (void **)&x->move));
  x->owned = true;
  x->move->kind = kind;
  x->move->rank = l->rank;
  x->move->name = name_of(l, array);
  x->move->array = array;
  x->move->dtype = x->move->carried = weir_graph_get_array(l->p->g, array)->desc.dtype;
  x->move->n = 1;
  *out = x;
  return WEIR_OK;
}

static bool same_box(const weir_box *a, const weir_box *b)
{
  return weir_box_within(a, b) && weir_box_within(b, a);
}

/* The newest message that this rank sends, -1: none. */
static int64_t last_sent(const weir_comm_op *m)
{
  int64_t i = m->n_messages - 1;

  while (i >= 0 && m->messages[i].receive) {
    i--;
  }
  return i;
}

weir_status spmd_add_message(spmd_move *x, int64_t *capacity, int peer, bool receive,
                             const weir_box *box)
{
  weir_comm_op *m = x->move;
  const int64_t last = last_sent(m);
  const bool again = !receive && last >= 0 && same_box(&m->messages[last].box, box);

  WEIR_TRY(weir_reserve(&m->messages, capacity, m->n_messages + 1, sizeof *m->messages));
  m->messages[m->n_messages++] =
      (weir_comm_op_message){peer, receive, *box, again ? m->messages[last].at : m->elements};
  m->elements += again ? 0 : weir_box_volume(box);
  m->bytes += receive ? 0 : weir_box_bytes(box, m->dtype);
  return WEIR_OK;
}

void spmd_carry_own(weir_comm_op *m)
{
  const weir_box own = weir_box_intersect(&m->from, &m->to);

  m->carries_own = true;
  m->elements += weir_box_volume(&own);
}

/* A box that goes from one rank to another, or of it the boxes that are read; what goes to one
 * rank is one message. */
static weir_status add_messages(spmd_move *x, int64_t *capacity, int peer, bool receive, int reader,
                                const weir_box *box)
{
  const weir_named *named = x->named != NULL ? &x->named[reader] : NULL;

  if (named == NULL || named->dim < 0) {
    return spmd_add_message(x, capacity, peer, receive, box);
  }
  for (int64_t i = 0; i < named->n; i++) {
    weir_box some = *box;

    some.lo[named->dim] =
        named->interval[i].lo > some.lo[named->dim] ? named->interval[i].lo : some.lo[named->dim];
    some.hi[named->dim] =
        named->interval[i].hi < some.hi[named->dim] ? named->interval[i].hi : some.hi[named->dim];
    if (!weir_box_empty(&some)) {
      WEIR_TRY(spmd_add_message(x, capacity, peer, receive, &some));
    }
  }
  return WEIR_OK;
}

/* What this rank sends and receives, pair by pair: of what another gets, what it owns of the same
 * copy. */
static weir_status fill_exchange(const spmd_lowering *l, spmd_move *x)
{
  int64_t capacity = 0;

  x->move->from = weir_partition_owned(l->p, x->array, l->rank);
  x->move->to = x->get[l->rank];
  for (int other = 0; other < l->ranks; other++) {
    const weir_box theirs = weir_partition_owned(l->p, x->array, other);
    const weir_box boxes[] = {weir_box_intersect(&x->move->from, &x->get[other]),
                              weir_box_intersect(&theirs, &x->move->to)};

    for (int direction = 0; direction < 2; direction++) {
      if (other != l->rank && !weir_box_empty(&boxes[direction]) &&
          partition_share_copy(l->p, x->array, l->rank, other)) {
        WEIR_TRY(add_messages(x, &capacity, other, direction == 1, direction == 0 ? other : l->rank,
                              &boxes[direction]));
      }
    }
  }
  if (2 * x->move->to.rank + 1 > WEIR_MAX_DIMS) {
    spmd_carry_own(x->move);
  }
  return WEIR_OK;
}

/* An exchange that gives rank r what get[r] says, or what is named of it: it takes both. */
static weir_status add_exchange(spmd_lowering *l, int32_t array, weir_box **get, weir_named **named,
                                int32_t *number)
{
  spmd_move *x;

  WEIR_TRY(spmd_push(l, array, WEIR_COMM_OP_EXCHANGE, &x));
  x->after = l->p->fetched[array] ? SPMD_WHEN_NEEDED : x->after;
  x->get = *get;
  x->named = *named;
  *get = NULL;
  *named = NULL;
  *number = l->n_moves - 1;
  return fill_exchange(l, x);
}

/* Whether an array of box `have` serves an operand that needs `get`; states are read from the first
 * element to the last. */
static bool serves(const weir_operand *x, const weir_box *get, const weir_box *have)
{
  return weir_box_within(get, have) && (x->role == WEIR_ROLE_DATA || weir_box_within(have, get));
}

/* Whether what is named of the boxes of an exchange is all of them, or just what is wanted. */
static bool names_all(const spmd_lowering *l, const spmd_move *m, const weir_named *wanted)
{
  bool yes = true;

  for (int r = 0; r < l->ranks && m->named != NULL && yes; r++) {
    yes = wanted != NULL && weir_named_same(&m->named[r], &wanted[r]);
  }
  return yes;
}

/* An earlier exchange of the array that leaves all that is needed on every rank, -1: none. */
static int32_t find_exchange(const spmd_lowering *l, const weir_operand *x, int32_t array,
                             const weir_box *get, const weir_named *named)
{
  for (int32_t m = 0; m < l->n_moves; m++) {
    const spmd_move *move = &l->moves[m];
    bool covers = move->move->kind == WEIR_COMM_OP_EXCHANGE && move->array == array &&
                  names_all(l, move, named);

    for (int r = 0; r < l->ranks && covers; r++) {
      covers = serves(x, &get[r], &move->get[r]);
    }
    if (covers) {
      return m;
    }
  }
  return -1;
}

/* Whether every rank owns all of what an operand needs. */
static bool is_local(const spmd_lowering *l, const weir_operand *x, int32_t array,
                     const weir_box *get)
{
  bool yes = true;

  for (int r = 0; r < l->ranks && yes; r++) {
    const weir_box owned = weir_partition_owned(l->p, array, r);

    yes = serves(x, &get[r], &owned);
  }
  return yes;
}

void spmd_drop_named(weir_named **named, int ranks)
{
  for (int r = 0; r < ranks && *named != NULL; r++) {
    weir_named_fini(&(*named)[r]);
  }
  weir_free(named);
}

/* What each rank reads of an operand whose indices are gathered; NULL where nothing says it. */
static weir_status find_named(const spmd_lowering *l, int32_t number, int operand, weir_named **out)
{
  const weir_node *node = weir_graph_node(l->p->g, number);
  weir_status status = WEIR_OK;
  bool any = false;

  for (int d = 0; d < node->access.in[operand].rank; d++) {
    any = any || node->access.in[operand].index[d].gather > 0;
  }
  if (!any) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(l->ranks, sizeof **out, (void **)out));
  for (int r = 0; r < l->ranks; r++) {
    (*out)[r].dim = -1;
  }
  for (int r = 0; r < l->ranks && status == WEIR_OK; r++) {
    const weir_box run = weir_partition_iterations(l->p, number, r);

    status = weir_node_named(l->p->g, node, operand, &run, &(*out)[r]);
  }
  if (status != WEIR_OK) {
    spmd_drop_named(out, l->ranks);
  }
  return status;
}

void spmd_needed(const spmd_lowering *l, int32_t node, int operand, weir_box *get)
{
  for (int r = 0; r < l->ranks; r++) {
    const weir_box run = weir_partition_iterations(l->p, node, r);

    get[r] = weir_needed_box(&weir_graph_node(l->p->g, node)->access, operand, &run);
  }
}

/* Whether two boxes are together one: along one dimension alone they differ, and meet there. */
static bool join(const weir_box *a, const weir_box *b, weir_box *out)
{
  int differ = 0;
  bool meet = true;

  *out = weir_box_empty(a) ? *b : *a;
  for (int d = 0; d < a->rank && !weir_box_empty(a) && !weir_box_empty(b); d++) {
    differ += a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d];
    meet = meet && a->lo[d] <= b->hi[d] && b->lo[d] <= a->hi[d];
    out->lo[d] = a->lo[d] < b->lo[d] ? a->lo[d] : b->lo[d];
    out->hi[d] = a->hi[d] > b->hi[d] ? a->hi[d] : b->hi[d];
  }
  return differ <= 1 && meet;
}

/* Whether some rank would get elements of others twice, and one exchange of the boxes in `both`
 * brings each once and no more. */
static bool repeats(const spmd_lowering *l, int32_t array, const weir_box *get,
                    const weir_box *more, weir_box *both)
{
  bool twice = false;

  for (int r = 0; r < l->ranks; r++) {
    const weir_box owned = weir_partition_owned(l->p, array, r);
    const weir_box common = weir_box_intersect(&get[r], &more[r]);

    if (!join(&get[r], &more[r], &both[r])) {
      return false;
    }
    twice = twice || (!weir_box_empty(&common) && !weir_box_within(&common, &owned));
  }
  return twice;
}

/* Widens what an exchange for operand k of a node brings by what later readers of the same list
 * need, where they would get some of it again. Halos without a list stay as large as their reader
 * needs: kernels of convolutions claim no array that is larger. scratch: [ranks] twice. */
static weir_status widen(const spmd_lowering *l, int32_t node, const weir_named *named,
                         weir_box *get, int32_t array, weir_box *scratch)
{
  const spmd_move as = {.named = (weir_named *)named};
  weir_box *more = scratch, *both = scratch + l->ranks;
  bool after = false;

  for (int32_t i = 0; i < l->p->n_order; i++) {
    const weir_node *later = weir_graph_node(l->p->g, l->p->order[i]);

    for (int k = 0; k < later->n_in && after; k++) {
      weir_named *names = NULL;

      if (later->in[k] != array || later->access.in[k].role != WEIR_ROLE_DATA) {
        continue;
      }
      spmd_needed(l, l->p->order[i], k, more);
      if (repeats(l, array, get, more, both)) {
        WEIR_TRY(find_named(l, l->p->order[i], k, &names));
        if (names != NULL && names_all(l, &as, names)) {
          memcpy(get, both, (size_t)l->ranks * sizeof *get);
        }
        spmd_drop_named(&names, l->ranks);
      }
    }
    after = after || l->p->order[i] == node;
  }
  return WEIR_OK;
}

static weir_status find_exchanges_of(spmd_lowering *l, int32_t node)
{
  weir_status status = WEIR_OK;
  weir_named *named = NULL;
  weir_box *get = NULL, *scratch = NULL;

  WEIR_TRY(weir_alloc(2 * (int64_t)l->ranks, sizeof *scratch, (void **)&scratch));
  for (int k = 0; k < weir_graph_node(l->p->g, node)->n_in; k++) {
    const int32_t array = weir_graph_node(l->p->g, node)->in[k];
    const weir_operand *x = &weir_graph_node(l->p->g, node)->access.in[k];
    int32_t *choice = &l->choice[(int64_t)node * WEIR_MAX_OPERANDS + k];

    *choice = -1;
    if (get == NULL) {
      WEIR_TRY_GOTO(weir_alloc(l->ranks, sizeof *get, (void **)&get), out);
    }
    spmd_needed(l, node, k, get);
    if (!is_local(l, x, array, get)) {
      WEIR_TRY_GOTO(find_named(l, node, k, &named), out);
      *choice = l->p->fetched[array] ? -1 : find_exchange(l, x, array, get, named);
      if (*choice < 0) {
        WEIR_TRY_GOTO(x->role == WEIR_ROLE_DATA && named != NULL && !l->p->fetched[array]
                          ? widen(l, node, named, get, array, scratch)
                          : WEIR_OK,
                      out);
        WEIR_TRY_GOTO(add_exchange(l, array, &get, &named, choice), out);
      }
      spmd_drop_named(&named, l->ranks);
    }
  }
out:
  spmd_drop_named(&named, l->ranks);
  weir_free(&get);
  weir_free(&scratch);
  return status;
}

/* Elements that the reducer takes and works in; none where it is not known. */
static void count_merged(const weir_partition *p, weir_comm_op *m)
{
  const weir_reducer *reducer = weir_partition_reducer(m->monoid, m->dtype);
  const size_t size = weir_dtype_size(m->dtype);
  const int64_t elements = m->bytes / (int64_t)size / m->n;

  if (reducer != NULL && (m->n > 1 || reducer->size != size)) {
    m->carried = WEIR_F64;
    m->elements = elements * (int64_t)(reducer->size / sizeof(double));
  } else {
    m->elements = reducer != NULL ? elements : 0;
  }
  const int64_t per = elements > 0 ? m->elements / elements : 0; /* of one that is merged */

  m->elements += per * weir_allreduce_scratch(partition_pieces(p, m->dims), elements);
}

static weir_status find_merge_of(spmd_lowering *l, int32_t number)
{
  const weir_node *node = weir_graph_node(l->p->g, number);
  spmd_move *x;

  if (weir_partition_partial(l->p, number) == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(spmd_push(l, node->out[0], WEIR_COMM_OP_ALLREDUCE, &x));
  x->node = number;
  x->move->n = node->n_out;
  x->move->monoid = node->access.combine;
  x->move->dims = weir_partition_partial(l->p, number);
  x->move->bytes = weir_partition_partial_bytes(l->p, number, l->rank);
  count_merged(l->p, x->move);
  for (int o = 0; o < node->n_out; o++) {
    l->merge[node->out[o]] = l->n_moves - 1;
  }
  return WEIR_OK;
}

/* A stored array takes its new value in its own box. */
static weir_status find_update_of(spmd_lowering *l, int32_t stored)
{
  const int32_t from = weir_graph_get_array(l->p->g, stored)->update;
  weir_status status = WEIR_OK;
  weir_named *all = NULL;
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
    same = same && weir_box_within(&get[r], &owned) && weir_box_within(&owned, &get[r]);
  }
  if (!same) {
    WEIR_TRY_GOTO(add_exchange(l, from, &get, &all, &l->updated[stored]), out);
  }
out:
  weir_free(&get);
  return status;
}

/* Whether some rank has less than all of it. */
static bool is_sharded(const spmd_lowering *l, int32_t array)
{
  for (int d = 0; d < weir_graph_get_array(l->p->g, array)->desc.rank; d++) {
    if (partition_pieces(l->p, l->p->array[array].over[d]) > 1) {
      return true;
    }
  }
  return false;
}

/* Whether the iterations of each rank write into its own box alone. */
static bool writes_own(const spmd_lowering *l, int32_t number)
{
  const weir_node *node = weir_graph_node(l->p->g, number);
  bool yes = true;

  for (int r = 0; r < l->ranks; r++) {
    const weir_box run = weir_partition_iterations(l->p, number, r);

    for (int o = 0; o < node->n_out && yes; o++) {
      const weir_region made = weir_written(&node->access, o, &run);
      const weir_box box = weir_region_hull(&made);
      const weir_box owned = weir_partition_owned(l->p, node->out[o], r);

      yes = weir_region_empty(&made) || weir_box_within(&box, &owned);
    }
  }
  return yes;
}

/* Why the iterations of a node stay together, NULL: they need not. The partition shards such nodes
 * only where the caller has sharded their outputs. */
static const char *whole_reason(const spmd_lowering *l, int32_t number)
{
  const weir_node *node = weir_graph_node(l->p->g, number);
  const weir_access *a = &node->access;
  const bool draws = weir_body_uses(&a->body, WEIR_CODE_RANDOM);
  const char *why = a->maker == WEIR_MADE_BY_CALL ? "is a call"
                    : draws                       ? "has random numbers numbered over all of it"
                                                  : NULL;
  bool sharded = false;

  for (int o = 0; o < a->n_out; o++) {
    sharded = sharded || is_sharded(l, node->out[o]);
    if (a->out[o].role == WEIR_ROLE_STATE && l->p->array[node->out[o]].over[0] != 0) {
      return "has several states there, which cannot be sharded separately";
    }
  }
  for (int r = 0; r < l->ranks; r++) {
    const weir_box run = weir_partition_iterations(l->p, number, r);

    for (int k = 0; k < a->n_dims; k++) {
      if ((a->dim[k].kind == WEIR_FORWARD || a->dim[k].kind == WEIR_BACKWARD) &&
          (run.lo[k] != a->dim[k].lo || run.hi[k] != a->dim[k].hi)) {
        return "is a recurrence along that dimension";
      }
    }
  }
  return !sharded                ? NULL
         : why != NULL           ? why
         : writes_own(l, number) ? NULL
                                 : "computes elements of several ranks in one iteration";
}

static weir_status check_node(const spmd_lowering *l, int32_t number)
{
  const weir_node *node = weir_graph_node(l->p->g, number);
  const char *why = whole_reason(l, number);

  return why == NULL
             ? WEIR_OK
             : weir_fail(WEIR_ERR_UNSUPPORTED,
                         "partition: the output of node %d '%s' is sharded, but the node %s: "
                         "replicate it and shard its consumers",
                         (int)number, node->label != NULL ? node->label : node->op->name, why);
}

static weir_status check_array(const spmd_lowering *l, int32_t array)
{
  const weir_array *a = weir_graph_get_array(l->p->g, array);
  const char *why = a->desc.time > 0                 ? "has a time dimension"
                    : !is_sharded(l, array)          ? NULL
                    : a->kind == WEIR_ARRAY_CONSTANT ? "is a constant"
                    : a->in_place                    ? "is changed in place by a call"
                                                     : NULL;

  return why == NULL ? WEIR_OK
                     : weir_fail(WEIR_ERR_UNSUPPORTED,
                                 "partition: array %d '%s' %s and cannot be sharded over ranks",
                                 (int)array, name_of(l, array), why);
}

weir_status spmd_find_moves(spmd_lowering *l)
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
  return spmd_find_scatters(l);
}
