/* microbatch_build.c - the nodes of one micro-batch, and the nodes that join it to the rest of the
 * graph. */
#include <string.h>
#include "base/weir_alloc.h"
#include "ops/weir_builder.h"
#include "pass/microbatch/microbatch_priv.h"

typedef struct building {
  weir_graph *g;
  const weir_dim_split *s;
  const microbatch_range *batch;
  int32_t *now, *merged;
} building;

static const weir_op_desc op_slice = {.name = "part of"};
static const weir_op_desc op_join = {.name = "join"};
static const weir_op_desc op_merge = {.name = "merge"};

static int64_t batch_extent(const building *b)
{
  return b->batch->hi - b->batch->lo;
}

/* The array as it is in this micro-batch. */
static weir_array_desc desc_of(const building *b, int32_t array)
{
  weir_array_desc d = weir_graph_get_array(b->g, array)->desc;

  if (b->s->array[array] >= 0) {
    d.shape[b->s->array[array]] = batch_extent(b);
  }
  return d;
}

/* Adds the node, into `array` or (-1) into new ones, as one of this micro-batch; frees the access.
 */
static weir_status add(const building *b, const weir_op_desc *op, weir_access *a, const int32_t *in,
                       int32_t array, const weir_node *like)
{
  weir_value values[WEIR_MAX_OPERANDS];

  for (int i = 0; i < a->n_in; i++) {
    values[i] = weir_array_value(b->g, in[i]);
  }
  const int32_t *into = array < 0 ? NULL : &array;
  const weir_value v =
      op == like->op ? weir_graph_add_like(b->g, like, a, values, a->n_in, into)
                     : weir_graph_add_access_into(b->g, op, a, values, a->n_in, into, like->where);

  weir_access_fini(a);
  WEIR_TRY(weir_graph_status(b->g));
  weir_node *node = weir_graph_node_mut(b->g, v.node);

  node->microbatch = b->batch->number;
  node->derived = like->derived;
  node->late = op == like->op ? like->late : 0;
  node->label = op == like->op ? like->label : NULL;
  node->derivation = op == like->op ? like->derivation : node->derivation;
  return WEIR_OK;
}

static int32_t made(const building *b, int output)
{
  return weir_graph_node(b->g, weir_graph_nodes(b->g) - 1)->out[output];
}

/* The samples of this micro-batch from a whole array. */
static weir_status slice(const building *b, int32_t array, const weir_node *like)
{
  const weir_array_desc d = desc_of(b, array);
  const int dim = b->s->array[array];
  weir_access a;

  WEIR_TRY(weir_map_pointwise(&a, &d, 1));
  a.in[0].extent[dim] = b->s->extent;
  a.in[0].index[dim].offset = b->batch->lo;
  a.value[0] = weir_body_load(&a.body, 0, d.dtype);
  WEIR_TRY(add(b, &op_slice, &a, &array, -1, like));
  b->now[array] = made(b, 0);
  return WEIR_OK;
}

/* The whole array receives the samples of this micro-batch. */
static weir_status join(const building *b, int32_t array, const weir_node *like)
{
  const weir_array_desc d = desc_of(b, array);
  const int dim = b->s->array[array];
  weir_access a;

  WEIR_TRY(weir_map_pointwise(&a, &d, 1));
  a.out[0].extent[dim] = b->s->extent;
  a.out[0].index[dim].offset = b->batch->lo;
  a.value[0] = weir_body_load(&a.body, 0, d.dtype);
  return add(b, &op_join, &a, &b->now[array], array, like);
}

/* Expression that merges x and y as the monoid does. */
static int32_t merge_body(weir_body *b, weir_monoid m, weir_dtype dtype, int32_t x, int32_t y)
{
  if (m == WEIR_COMBINE_SUM || m == WEIR_COMBINE_PROD) {
    return weir_body_binary(b, m == WEIR_COMBINE_SUM ? WEIR_CODE_ADD : WEIR_CODE_MUL, x, y);
  }
  /* max and min of scalars give y when one of them is NaN; the monoid gives NaN. */
  const int32_t max =
      weir_body_binary(b, m == WEIR_COMBINE_MAX ? WEIR_CODE_MAX : WEIR_CODE_MIN, x, y);

  return weir_dtype_is_real(dtype)
             ? weir_body_select(b, weir_body_unary(b, WEIR_CODE_ISNAN, x), x, max)
             : max;
}

/* Merges the partial result of this micro-batch with that of the previous ones; the last
 * micro-batch computes the result itself. */
static weir_status merge(const building *b, int32_t array, const weir_node *like)
{
  const weir_array_desc d = desc_of(b, array);
  const int32_t in[] = {b->merged[array], b->now[array]};
  weir_access a;

  if (b->batch->number == 1) {
    b->merged[array] = b->now[array];
    return WEIR_OK;
  }
  WEIR_TRY(weir_map_pointwise(&a, &d, 2));
  const bool half = weir_dtype_is_storage(d.dtype); /* with which nothing computes */
  int32_t x = weir_body_load(&a.body, 0, d.dtype), y = weir_body_load(&a.body, 1, d.dtype);

  x = half ? weir_body_cast(&a.body, WEIR_F32, x) : x;
  y = half ? weir_body_cast(&a.body, WEIR_F32, y) : y;
  a.value[0] = merge_body(&a.body, like->access.combine, half ? WEIR_F32 : d.dtype, x, y);
  a.value[0] = half ? weir_body_cast(&a.body, d.dtype, a.value[0]) : a.value[0];
  WEIR_TRY(add(b, &op_merge, &a, in, b->batch->number == b->batch->last ? array : -1, like));
  b->merged[array] = made(b, 0);
  return WEIR_OK;
}

/* The node's access for this micro-batch alone. */
static weir_status narrow(const building *b, int32_t number, weir_access *a)
{
  const int k = b->s->node[number];

  WEIR_TRY(weir_access_copy(&weir_graph_node(b->g, number)->access, a));
  weir_box batch = weir_iterations(a);

  batch.lo[k] = b->batch->lo;
  batch.hi[k] = b->batch->lo + batch_extent(b);
  for (int i = 0; i < a->n_in + a->n_out; i++) {
    weir_operand *x = i < a->n_in ? &a->in[i] : &a->out[i - a->n_in];
    const int d = weir_operand_follows(x, a, k);

    if (d >= 0) {
      weir_operand_narrow(x, d, b->batch->lo, batch_extent(b));
    }
  }
  const weir_status status = weir_access_narrow(a, &batch);

  if (status != WEIR_OK) {
    weir_access_fini(a);
  }
  return status;
}

/* First node that writes the array and, in *n, how many there were before there were micro-batches.
 */
static int32_t first_writer(const building *b, int32_t array, int32_t *n)
{
  int32_t first = -1;

  *n = 0;
  for (int32_t i = 0; i < b->s->n_nodes; i++) {
    const weir_node *node = weir_graph_node(b->g, i);

    for (int o = 0; o < node->n_out && node->op != NULL && !node->dead; o++) {
      if (node->out[o] == array) {
        first = first < 0 ? i : first;
        ++*n;
      }
    }
  }
  return first;
}

/* Adds the split node for this micro-batch. */
static weir_status repeat(const building *b, int32_t number)
{
  const weir_node *node = weir_graph_node(b->g, number);
  int32_t in[WEIR_MAX_OPERANDS], into = -1;
  weir_access a;

  for (int i = 0; i < node->n_in; i++) {
    if (b->s->array[node->in[i]] >= 0 && b->now[node->in[i]] < 0) {
      WEIR_TRY(slice(b, node->in[i], node));
    }
    in[i] = b->s->array[node->in[i]] >= 0 ? b->now[node->in[i]] : node->in[i];
  }
  for (int o = 0; o < node->n_out; o++) {
    int32_t writers;

    (void)first_writer(b, node->out[o], &writers);
    if (writers > 1) {
      const weir_array_desc d = desc_of(b, node->out[o]);

      b->now[node->out[o]] =
          b->now[node->out[o]] >= 0 ? b->now[node->out[o]] : weir_graph_array(b->g, &d);
      into = b->now[node->out[o]];
    }
  }
  WEIR_TRY(weir_graph_status(b->g));
  WEIR_TRY(narrow(b, number, &a));
  WEIR_TRY(add(b, node->op, &a, in, into, node));
  for (int o = 0; o < node->n_out; o++) {
    b->now[node->out[o]] = made(b, o);
  }
  return WEIR_OK;
}

/* True when the array is needed whole: as a result, or by a node that runs once. */
static bool is_needed(const building *b, int32_t array)
{
  bool needed = weir_graph_get_array(b->g, array)->output != NULL;

  for (int32_t i = 0; i < b->s->n_arrays && !needed; i++) {
    needed = weir_graph_get_array(b->g, i)->update == array;
  }
  for (int32_t i = 0; i < b->s->n_nodes && !needed; i++) {
    const weir_node *node = weir_graph_node(b->g, i);

    for (int k = 0; k < node->n_in && node->op != NULL && !node->dead; k++) {
      needed = needed || (node->in[k] == array && b->s->node[i] < 0);
    }
  }
  return needed;
}

/* Joins and merges what the node's outputs have become; of several writers the first sees to it. */
static weir_status close_outputs(const building *b, int32_t number)
{
  const weir_node *node = weir_graph_node(b->g, number);
  const bool partial = weir_dim_split_is_partial(b->g, b->s, number);

  for (int o = 0; o < node->n_out; o++) {
    int32_t writers;

    if (first_writer(b, node->out[o], &writers) != number) {
      continue;
    }
    if (partial) {
      WEIR_TRY(merge(b, node->out[o], node));
    } else if (is_needed(b, node->out[o])) {
      WEIR_TRY(join(b, node->out[o], node));
    }
  }
  return WEIR_OK;
}

weir_status microbatch_build(weir_graph *g, const weir_dim_split *s, const microbatch_range *batch,
                             const int32_t *order, int32_t n, int32_t *now, int32_t *merged)
{
  const building b = {.g = g, .s = s, .batch = batch, .now = now, .merged = merged};

  for (int32_t i = 0; i < n; i++) {
    if (s->node[order[i]] >= 0) {
      WEIR_TRY(repeat(&b, order[i]));
    }
  }
  for (int32_t i = 0; i < n; i++) {
    if (s->node[order[i]] >= 0) {
      WEIR_TRY(close_outputs(&b, order[i]));
    }
  }
  return WEIR_OK;
}
