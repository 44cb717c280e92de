/* fission_terms.c - a sum over several terms as a node for each term. */
#include <string.h>

#include "ops/weir_builder.h"
#include "pass/fission/fission_priv.h"
#include "pass/weir_body_dce.h"

/* Operands of expression i, with what they are gathered from. */
static fission_set operands_of(const weir_access *a, int32_t i)
{
  const weir_expr *e = &a->body.exprs[i];
  const int32_t args[3] = {e->a, e->b, e->c};
  fission_set set = 0, more;

  if (e->code == WEIR_CODE_LOAD || e->code == WEIR_CODE_REMAINDER) {
    set = (fission_set)1 << (e->code == WEIR_CODE_LOAD ? e->integer : e->integer / 16);
  }
  for (int k = 0; k < weir_code_args(e->code); k++) {
    set |= operands_of(a, args[k]);
  }
  for (more = 1; more != 0;) {
    more = 0;
    for (int k = 0; k < a->n_in; k++) {
      for (int d = 0; d < a->in[k].rank && (set >> k & 1) != 0; d++) {
        const int from = a->in[k].index[d].gather - 1;

        more |= from >= 0 && (set >> from & 1) == 0 ? (fission_set)1 << from : 0;
      }
    }
    set |= more;
  }
  return set;
}

/* Every term reads what drops iterations; the result is written whole. */
static bool may_take_apart(const weir_access *a, const weir_expr *sum)
{
  const fission_set both = operands_of(a, sum->a) & operands_of(a, sum->b);
  bool may = sum->code == WEIR_CODE_ADD || sum->code == WEIR_CODE_SUB;

  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      may = may && (a->in[k].index[d].border != WEIR_BORDER_ABSENT || (both >> k & 1) != 0);
    }
  }
  for (int d = 0; d < a->out[0].rank; d++) {
    may = may && weir_operand_dim(&a->out[0], a, d) >= 0;
  }
  return may;
}

/* Leaves the operands of the set alone, in order; in: their values. */
static void keep_operands(weir_access *a, fission_set set, weir_value *in)
{
  int number[WEIR_MAX_OPERANDS], n = 0;

  for (int k = 0; k < a->n_in; k++) {
    number[k] = (set >> k & 1) != 0 ? n++ : -1;
  }
  for (int k = 0; k < a->n_in; k++) {
    if (number[k] >= 0) {
      a->in[number[k]] = a->in[k];
      in[number[k]] = in[k];
    }
  }
  a->n_in = n;
  for (int k = 0; k < n; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      weir_index *x = &a->in[k].index[d];

      x->gather = x->gather > 0 ? number[x->gather - 1] + 1 : 0;
    }
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    weir_expr *e = &a->body.exprs[i];

    if (e->code == WEIR_CODE_LOAD) {
      e->integer = number[e->integer];
    } else if (e->code == WEIR_CODE_REMAINDER) {
      e->integer = (int64_t)number[e->integer / 16] * 16 + e->integer % 16;
    }
  }
}

static void mark_like(weir_graph *g, const weir_node *like, weir_value v)
{
  weir_node *node = weir_graph_node_mut(g, v.node);

  node->label = like->label;
  node->derived = like->derived;
  node->microbatch = like->microbatch;
  node->priority = like->priority;
}

/* The sum over one term. */
static weir_status add_term(weir_graph *g, const weir_node *like, int32_t term, weir_value *v)
{
  weir_value in[WEIR_MAX_OPERANDS];
  weir_status status = WEIR_OK;
  weir_access a;

  WEIR_TRY(weir_access_copy(&like->access, &a));
  for (int k = 0; k < a.n_in; k++) {
    in[k] = weir_array_value(g, like->in[k]);
  }
  const fission_set set = operands_of(&a, term);

  a.value[0] = term;
  WEIR_TRY_GOTO(weir_body_dce(&a), out);
  keep_operands(&a, set, in);
  *v = weir_graph_add_like(g, like, &a, in, a.n_in, NULL);
  status = v->node < 0 ? weir_graph_status(g) : WEIR_OK;
  if (status == WEIR_OK) {
    mark_like(g, like, *v);
  }
out:
  weir_access_fini(&a);
  return status;
}

/* The terms added, element by element, into what the node wrote. */
static weir_status add_up(weir_graph *g, const weir_node *like, weir_code code,
                          const weir_value terms[2])
{
  const weir_array_desc *d = weir_value_desc(g, terms[0]);
  weir_access a;

  WEIR_TRY(weir_map_pointwise(&a, d, 2));
  const int32_t x = weir_body_load(&a.body, 0, d->dtype);

  a.value[0] = weir_body_binary(&a.body, code, x, weir_body_load(&a.body, 1, d->dtype));
  const weir_value v = weir_graph_add_like(g, like, &a, terms, 2, like->out);
  const weir_status status = v.node < 0 ? weir_graph_status(g) : WEIR_OK;

  if (status == WEIR_OK) {
    mark_like(g, like, v);
  }
  weir_access_fini(&a);
  return status;
}

weir_status fission_take_terms(weir_graph *g, int32_t number, bool *taken)
{
  weir_node *node = weir_graph_node_mut(g, number);
  const weir_expr *sum = &node->access.body.exprs[node->access.value[0]];
  weir_value terms[2];

  *taken = may_take_apart(&node->access, sum);
  if (!*taken) {
    return WEIR_OK;
  }
  node->dead = true;
  WEIR_TRY(add_term(g, node, sum->a, &terms[0]));
  WEIR_TRY(add_term(g, node, sum->b, &terms[1]));
  WEIR_TRY(add_up(g, node, sum->code, terms));
  return WEIR_OK;
}
