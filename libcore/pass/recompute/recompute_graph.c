/* recompute_graph.c - the graph changed: nodes that do again what others did, and comparisons that
 * stand in for numbers. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "ops/weir_builder.h"
#include "pass/recompute/recompute_priv.h"
#include "pass/weir_body_dce.h"

/* A node that does what another's spec says needs none. */
static const weir_op_desc op_again = {
    .name = "again",
    .cite = "Andoorveedu et al., Tempo, NeurIPS 2022 (arXiv:2210.10246)",
};

/* Value of an array: of the node, source or operator, that makes it. */
static weir_value value_of(const weir_graph *g, int32_t array)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    for (int o = 0; o < node->n_out && !node->dead; o++) {
      if (node->out[o] == array) {
        return (weir_value){i, o};
      }
    }
  }
  return WEIR_NO_VALUE;
}

static weir_status add(weir_graph *g, const weir_node *like, const weir_access *a,
                       const int32_t *in, int n_in, const weir_node *reader, int32_t *made)
{
  const int32_t derived = reader->derived, microbatch = reader->microbatch;
  const int16_t late = reader->late;
  const weir_derivation derivation = weir_node_derivation(like);
  weir_value values[WEIR_MAX_OPERANDS];

  for (int k = 0; k < n_in; k++) {
    values[k] = value_of(g, in[k]);
  }
  const weir_value v = weir_graph_add_access(g, &op_again, a, values, n_in, like->where);

  WEIR_TRY(weir_graph_status(g));
  weir_graph_node_mut(g, v.node)->derived = derived;
  weir_graph_node_mut(g, v.node)->microbatch = microbatch;
  weir_graph_node_mut(g, v.node)->late = late;
  weir_graph_node_mut(g, v.node)->derivation = derivation;
  *made = weir_value_array(g, v);
  return WEIR_OK;
}

weir_status recompute_clone(weir_graph *g, int32_t node, int32_t reader, int32_t *made)
{
  const weir_node *from = weir_graph_node(g, node);
  int32_t in[WEIR_MAX_OPERANDS];
  weir_access a;

  memcpy(in, from->in, sizeof in);
  WEIR_TRY(weir_access_copy(&from->access, &a));
  const weir_status status = add(g, from, &a, in, from->n_in, weir_graph_node(g, reader), made);

  weir_access_fini(&a);
  return status;
}

void recompute_replace(weir_graph *g, int32_t reader, int32_t from, int32_t to)
{
  weir_node *node = weir_graph_node_mut(g, reader);

  for (int k = 0; k < node->n_in; k++) {
    node->in[k] = node->in[k] == from ? to : node->in[k];
  }
}

/* One comparison of an array's elements with a constant. */
typedef struct comparison {
  weir_code code;
  bool first; /* the array is the first argument */
  weir_expr constant;
} comparison;

static bool is_load_of(const weir_node *node, int32_t expression, int32_t array)
{
  const weir_expr *e = &node->access.body.exprs[expression];

  return e->code == WEIR_CODE_LOAD && node->in[e->integer] == array;
}

static bool same(const comparison *x, const comparison *y)
{
  return x->code == y->code && x->first == y->first && x->constant.dtype == y->constant.dtype &&
         x->constant.integer == y->constant.integer &&
         memcmp(&x->constant.real, &y->constant.real, sizeof x->constant.real) == 0;
}

/* The comparison that expression i of the node makes of the array; false: none. */
static bool compares(const weir_node *node, int32_t i, int32_t array, comparison *c)
{
  const weir_body *b = &node->access.body;
  const weir_expr *e = &b->exprs[i];

  if (!weir_code_is_compare(e->code) || weir_code_args(e->code) != 2) {
    return false;
  }
  const bool one = is_load_of(node, e->a, array), two = is_load_of(node, e->b, array);

  if (one == two || b->exprs[one ? e->b : e->a].code != WEIR_CODE_CONST) {
    return false;
  }
  *c = (comparison){.code = e->code, .first = one, .constant = b->exprs[one ? e->b : e->a]};
  return true;
}

/* True when the array says where another operand is read. */
static bool is_index(const weir_node *node, int32_t array)
{
  bool index = false;

  for (int k = 0; k < node->n_in; k++) {
    const weir_operand *o = &node->access.in[k];

    for (int d = 0; d < o->rank; d++) {
      index = index || (o->index[d].gather > 0 && node->in[o->index[d].gather - 1] == array);
    }
  }
  return index;
}

/* True when the node does no more with the array than the one comparison; *known: *c says which. */
static bool only_compares(const weir_node *node, int32_t array, comparison *c, bool *known)
{
  const weir_access *a = &node->access;
  bool used = false;

  if (is_index(node, array)) {
    return false;
  }
  for (int k = 0; k < a->n_values; k++) {
    if (is_load_of(node, a->value[k], array)) {
      return false;
    }
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    const weir_expr *e = &a->body.exprs[i];
    const int32_t args[3] = {e->a, e->b, e->c};
    comparison here;
    bool uses = false;

    for (int k = 0; k < 3; k++) {
      uses = uses || (args[k] >= 0 && is_load_of(node, args[k], array));
    }
    if (uses) {
      if (!compares(node, i, array, &here) || (*known && !same(&here, c))) {
        return false;
      }
      *c = here;
      *known = used = true;
    }
  }
  return used;
}

/* A node next to the array that makes the comparison. */
static weir_status add_comparison(weir_graph *g, int32_t array, const comparison *c, int32_t *made)
{
  const weir_value from = value_of(g, array);
  const weir_array_desc *d = &weir_graph_get_array(g, array)->desc;
  const int32_t in[] = {array};
  weir_access a;

  WEIR_TRY(weir_map_pointwise(&a, d, 1));
  a.out[0].dtype = WEIR_BOOL;
  const int32_t x = weir_body_load(&a.body, 0, d->dtype), y = weir_body_push(&a.body, c->constant);

  a.value[0] = weir_body_binary(&a.body, c->code, c->first ? x : y, c->first ? y : x);
  const weir_node *maker = weir_graph_node(g, from.node);
  const weir_status status = add(g, maker, &a, in, 1, maker, made);

  weir_access_fini(&a);
  return status;
}

/* The reader loads the comparison where it made it. */
static weir_status load_comparison(weir_graph *g, int32_t reader, int32_t array, int32_t made)
{
  weir_node *node = weir_graph_node_mut(g, reader);
  weir_access *a = &node->access;
  comparison c;

  for (int32_t i = 0; i < a->body.n; i++) {
    if (compares(node, i, array, &c)) {
      weir_expr *e = &a->body.exprs[i];
      const int32_t load = is_load_of(node, e->a, array) ? e->a : e->b;

      *e = (weir_expr){.code = WEIR_CODE_LOAD,
                       .dtype = WEIR_BOOL,
                       .a = -1,
                       .b = -1,
                       .c = -1,
                       .integer = a->body.exprs[load].integer};
    }
  }
  for (int k = 0; k < node->n_in; k++) {
    if (node->in[k] == array) {
      a->in[k].dtype = WEIR_BOOL;
      node->in[k] = made;
    }
  }
  return weir_body_dce(a);
}

weir_status recompute_compare(recomputing *s, int32_t array, bool *done)
{
  recompute_readers r;
  comparison c = {.code = WEIR_CODE_LOAD};
  bool known = false;
  int32_t made = -1;

  if (weir_dtype_size(weir_graph_get_array(s->g, array)->desc.dtype) == 1) {
    return WEIR_OK;
  }
  WEIR_TRY(recompute_far_readers(s, array, &r));
  for (int32_t i = 0; i < r.n; i++) {
    if (!only_compares(weir_graph_node(s->g, s->readers[i]), array, &c, &known)) {
      return WEIR_OK;
    }
  }
  WEIR_TRY(add_comparison(s->g, array, &c, &made));
  for (int32_t i = 0; i < r.n; i++) {
    WEIR_TRY(load_comparison(s->g, s->readers[i], array, made));
  }
  *done = true;
  return recompute_order(s);
}
