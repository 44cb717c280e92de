/* recompute.c - what is kept from where it is made to where it is read long after, and what is made
 * again there.
 *
 * A reader is far when a path that leads to it passes through a node that is not element by
 * element: such as an adjoint, which comes after the loss. An element-wise result that far readers
 * ask for is recomputed next to them where its operands cost less memory than the result
 * itself; and where all they ask is how it compares with a constant, one byte is kept, not the
 * number.
 *
 * With opts->recompute_elementwise a second round saves memory at the cost of time: the gradient
 * reads no element-wise result of what comes before it that can be made again from less, whatever
 * its functions cost, and even if it has to be stored for its reader, as for a matrix product. */
#include <string.h>

#include "base/weir_alloc.h"
#include "pass/recompute/recompute_priv.h"
#include "pass/recompute_blocks/weir_recompute_blocks.h"

#define MAX_DEPTH 16 /* nodes in a row that are made again */

/* Floats whose functions cost more than what it takes to load a number. */
static bool is_cheap(const weir_access *a)
{
  for (int32_t i = 0; i < a->body.n; i++) {
    switch (a->body.exprs[i].code) {
    case WEIR_CODE_RANDOM:
    case WEIR_CODE_EXP:
    case WEIR_CODE_LOG:
    case WEIR_CODE_TANH:
    case WEIR_CODE_ERF:
    case WEIR_CODE_SIN:
    case WEIR_CODE_COS:
      return false;
    default:
      break;
    }
  }
  return true;
}

bool recompute_is_pointwise(const weir_access *a)
{
  bool yes = weir_access_is_pointwise(a);

  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank && yes; d++) {
      yes = a->in[k].index[d].gather == 0 && a->in[k].index[d].border == WEIR_BORDER_NEVER;
    }
  }
  for (int k = 0; k < a->n_out; k++) {
    yes = yes && weir_operand_is_identity(&a->out[k], a);
  }
  return yes;
}

/* Node that makes the temporary alone, and may make it again; -1. */
static int32_t maker_of(const recomputing *s, int32_t array)
{
  const weir_array *x = weir_graph_get_array(s->g, array);
  int32_t node = -1;

  if (x->kind != WEIR_ARRAY_TEMPORARY || weir_graph_writers(s->g, array, &node, 1) != 1) {
    return -1;
  }
  const weir_access *a = &weir_graph_node(s->g, node)->access;

  return a->n_out == 1 && (s->costly || is_cheap(a)) && recompute_is_pointwise(a) ? node : -1;
}

/* Marks the nodes that a path from node `from` reaches through one that is not element by element.
 */
static void find_far(const recomputing *s, int32_t from)
{
  memset(s->mark, 0, (size_t)s->n_nodes);
  s->mark[from] = RECOMPUTE_NEAR;
  for (int32_t i = 0; i < s->n_order; i++) {
    const int32_t node = s->order[i];
    uint8_t seen = 0;

    for (int32_t k = s->depend.first[node]; k < s->depend.first[node + 1]; k++) {
      seen |= s->mark[s->depend.before[k]];
    }
    if (seen != 0 && node != from) {
      s->mark[node] |= seen;
      s->mark[node] |=
          recompute_is_pointwise(&weir_graph_node(s->g, node)->access) ? 0 : RECOMPUTE_BARRIER;
    }
  }
}

/* True when the reader comes to the array again after a node that is not element by element. A node
 * that is one itself has to wait for another. What is made again is made for far readers. In the
 * second round: when it is in the gradient. */
static bool is_far(const recomputing *s, int32_t reader)
{
  if (s->costly) {
    return s->backward[reader];
  }
  for (int64_t i = 0; i < s->n_again; i++) {
    if (s->again[i] == reader) {
      return true;
    }
  }
  for (int32_t k = s->depend.first[reader]; k < s->depend.first[reader + 1]; k++) {
    if ((s->mark[s->depend.before[k]] & RECOMPUTE_BARRIER) != 0) {
      return true;
    }
  }
  return false;
}

/* True when lowering makes values of `array` where the reader reads them. */
static bool takes_in(const weir_node *reader, int32_t array)
{
  const weir_access *a = &reader->access;
  const bool pointwise = recompute_is_pointwise(a);

  if (a->maker != WEIR_MADE_BY_BODY || a->n_states > 0) {
    return false;
  }
  for (int k = 0; k < reader->n_in; k++) {
    if (reader->in[k] == array &&
        !(pointwise ? weir_operand_is_identity(&a->in[k], a)
                    : a->combine != WEIR_COMBINE_NONE && weir_operand_reads_once(&a->in[k], a))) {
      return false;
    }
  }
  return true;
}

weir_status recompute_far_readers(recomputing *s, int32_t array, recompute_readers *r)
{
  int32_t writer = -1;

  *r = (recompute_readers){.taken_in = true};
  if (weir_graph_writers(s->g, array, &writer, 1) != 1) {
    return WEIR_OK;
  }
  if (!s->costly) {
    find_far(s, writer);
  }
  const int32_t n = weir_graph_readers(s->g, array, s->readers, s->n_nodes);

  for (int32_t i = 0; i < n; i++) {
    if (is_far(s, s->readers[i])) {
      r->taken_in = r->taken_in && takes_in(weir_graph_node(s->g, s->readers[i]), array);
      s->readers[r->n++] = s->readers[i];
    } else {
      r->stored = r->stored || !takes_in(weir_graph_node(s->g, s->readers[i]), array);
    }
  }
  return WEIR_OK;
}

static bool is_update(const recomputing *s, int32_t array)
{
  return array < s->n_arrays && s->updates[array];
}

/* True when the array is there for far readers whatever becomes of the one that asks. */
static weir_status is_alive(recomputing *s, int32_t array, bool *yes)
{
  const weir_array *x = weir_graph_get_array(s->g, array);
  recompute_readers r;

  *yes = x->kind != WEIR_ARRAY_TEMPORARY || x->output != NULL || is_update(s, array);
  if (!*yes) {
    WEIR_TRY(recompute_far_readers(s, array, &r));
    *yes = r.n > 0;
  }
  return WEIR_OK;
}

static weir_status price_of(recomputing *s, int32_t node, int depth, int64_t *bytes);

/* Bytes that must be kept so that the array can be had far away, by one more node of a row of
 * `depth`. An array that many nodes read is asked for by each of them: it is found once. */
static weir_status price_of_array(recomputing *s, int32_t array, int depth, int64_t *bytes)
{
  int64_t *known = &s->prices[(int64_t)array * (MAX_DEPTH + 1) + depth];

  if (*known < 0) {
    const int32_t maker = maker_of(s, array);
    int64_t again = INT64_MAX;
    bool alive;

    *known = weir_desc_bytes(&weir_graph_get_array(s->g, array)->desc);
    WEIR_TRY(is_alive(s, array, &alive));
    if (alive) {
      *known = 0;
    } else if (maker >= 0 && depth < MAX_DEPTH) {
      WEIR_TRY(price_of(s, maker, depth + 1, &again));
      *known = again < *known ? again : *known;
    }
  }
  *bytes = *known;
  return WEIR_OK;
}

/* The same for all inputs of `node`. */
static weir_status price_of(recomputing *s, int32_t node, int depth, int64_t *bytes)
{
  const weir_node *n = weir_graph_node(s->g, node);

  *bytes = 0;
  for (int k = 0; k < n->n_in; k++) {
    int64_t here = 0;

    WEIR_TRY(price_of_array(s, n->in[k], depth, &here));
    *bytes = weir_add_ok(*bytes, here, bytes) ? *bytes : INT64_MAX;
  }
  return WEIR_OK;
}

/* The node again for a reader. */
static weir_status make_one(recomputing *s, int32_t node, int32_t reader, int32_t *made)
{
  WEIR_TRY(recompute_clone(s->g, node, reader, made));
  WEIR_TRY(weir_reserve(&s->again, &s->again_capacity, s->n_again + 1, sizeof *s->again));
  s->again[s->n_again++] = weir_graph_nodes(s->g) - 1;
  return WEIR_OK;
}

/* The node again for every far reader; once for all of a micro-batch that read it from memory. */
static weir_status make_again(recomputing *s, int32_t node)
{
  recompute_readers r;
  const int32_t array = weir_graph_node(s->g, node)->out[0];
  int32_t microbatch = -1, stored = -1;

  WEIR_TRY(recompute_far_readers(s, array, &r));
  for (int32_t i = 0; i < r.n; i++) {
    const weir_node *reader = weir_graph_node(s->g, s->readers[i]);
    int32_t made = stored;

    if (takes_in(reader, array)) {
      WEIR_TRY(make_one(s, node, s->readers[i], &made));
    } else if (stored < 0 || microbatch != reader->microbatch) {
      microbatch = reader->microbatch;
      WEIR_TRY(make_one(s, node, s->readers[i], &made));
      weir_graph_node_mut(s->g, weir_graph_nodes(s->g) - 1)->late = s->late;
      s->late = (int16_t)(s->late + (s->late < INT16_MAX));
      stored = made;
    }
    recompute_replace(s->g, s->readers[i], array, made);
  }
  return recompute_order(s);
}

/* What becomes of the result of one node. */
static weir_status consider(recomputing *s, int32_t node)
{
  const weir_node *n = weir_graph_node(s->g, node);
  const int32_t array = n->out[0];
  const int64_t bytes = weir_desc_bytes(&weir_graph_get_array(s->g, array)->desc);
  recompute_readers r;
  int64_t price = 0;
  bool done = false;

  if (maker_of(s, array) != node || bytes < RECOMPUTE_MIN_BYTES || is_update(s, array) ||
      weir_graph_get_array(s->g, array)->output != NULL ||
      (s->costly && (s->backward[node] || bytes < RECOMPUTE_MIN_COSTLY))) {
    return WEIR_OK;
  }
  WEIR_TRY(recompute_far_readers(s, array, &r));
  if (r.n == 0 || (!r.taken_in && !s->costly)) {
    return WEIR_OK;
  }
  WEIR_TRY(price_of(s, node, 0, &price));
  if (price >= bytes && !s->costly) {
    WEIR_TRY(recompute_compare(s, array, &done));
  }
  /* At the same price the result need not be stored at all, if no near reader needs it in memory.
   */
  if (!done && (price < bytes || (price == bytes && !r.stored && !s->costly))) {
    WEIR_TRY(make_again(s, node));
  }
  return WEIR_OK;
}

weir_status recompute_order(recomputing *s)
{
  weir_depend_fini(&s->depend);
  weir_free(&s->order);
  weir_free(&s->mark);
  weir_free(&s->readers);
  weir_free(&s->prices);
  weir_free(&s->backward);
  s->n_nodes = weir_graph_nodes(s->g);
  void *memory = NULL;
  bool any = false;

  WEIR_TRY(weir_alloc(s->n_nodes, sizeof(int32_t), &memory));
  s->order = memory;
  WEIR_TRY(weir_alloc(s->n_nodes, 1, &memory));
  s->mark = memory;
  WEIR_TRY(weir_alloc(s->n_nodes, sizeof(int32_t), &memory));
  s->readers = memory;
  const int64_t n_prices = (int64_t)weir_graph_arrays(s->g) * (MAX_DEPTH + 1);

  WEIR_TRY(weir_alloc(n_prices, sizeof(int64_t), &memory));
  s->prices = memory;
  for (int64_t k = 0; k < n_prices; k++) {
    s->prices[k] = -1;
  }
  WEIR_TRY(weir_graph_order(s->g, s->order, &s->n_order));
  WEIR_TRY(weir_depend_make(s->g, &s->depend));
  WEIR_TRY(weir_alloc(s->n_nodes, sizeof(bool), &memory));
  s->backward = memory;
  return s->costly ? weir_blocks_backward(s->g, s->backward, &any) : WEIR_OK;
}

/* All nodes in turn, the last first. */
static weir_status consider_all(recomputing *s)
{
  weir_status status = WEIR_OK;
  void *list = NULL;

  WEIR_TRY(recompute_order(s));
  const int32_t n = s->n_order;

  WEIR_TRY(weir_alloc(n, sizeof(int32_t), &list));
  if (n > 0) { /* an empty order has no memory */
    memcpy(list, s->order, (size_t)n * sizeof(int32_t));
  }
  for (int32_t i = n - 1; i >= 0; i--) {
    WEIR_TRY_GOTO(consider(s, ((const int32_t *)list)[i]), out);
  }
out:
  weir_free(&list);
  return status;
}

static bool has_time(const weir_graph *g)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    if (weir_graph_get_array(g, a)->desc.time > 0) {
      return true;
    }
  }
  return false;
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  weir_status status = WEIR_OK;
  recomputing s = {.g = g, .late = WEIR_MAX_BLOCKS + 2};
  void *updates = NULL;

  if (has_time(g)) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_alloc(weir_graph_arrays(g), sizeof(bool), &updates), out);
  s.updates = updates;
  s.n_arrays = weir_graph_arrays(g);
  for (int32_t a = 0; a < s.n_arrays; a++) {
    if (weir_graph_get_array(g, a)->update >= 0) {
      s.updates[weir_graph_get_array(g, a)->update] = true;
    }
  }
  WEIR_TRY_GOTO(consider_all(&s), out);
  if (opts->recompute_elementwise) {
    s.costly = true;
    WEIR_TRY_GOTO(consider_all(&s), out);
  }
out:
  weir_depend_fini(&s.depend);
  weir_free(&s.again);
  weir_free(&s.order);
  weir_free(&s.mark);
  weir_free(&s.readers);
  weir_free(&s.prices);
  weir_free(&s.backward);
  weir_free(&updates);
  return status;
}

const weir_pass weir_pass_recompute = {
    .name = "recompute",
    .cite = "Andoorveedu et al., Tempo, NeurIPS 2022 (arXiv:2210.10246)",
    .order = 15,
    .run = run,
};
