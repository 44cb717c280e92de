/* simplify_same.c - common subexpressions: same access, same arrays, same result. */
#include <string.h>
#include "simplify_priv.h"

static bool same_operand(const weir_operand *x, const weir_operand *y, int n_dims)
{
  if (x->dtype != y->dtype || x->rank != y->rank || x->role != y->role) {
    return false;
  }
  for (int d = 0; d < x->rank; d++) {
    if (x->extent[d] != y->extent[d] || !weir_index_same(&x->index[d], &y->index[d], n_dims)) {
      return false;
    }
  }
  return true;
}

static bool same_body(const weir_body *x, const weir_body *y)
{
  if (x->n != y->n) {
    return false;
  }
  for (int32_t i = 0; i < x->n; i++) {
    const weir_expr *p = &x->exprs[i], *q = &y->exprs[i];

    /* Constants by their bits: 0 and -0 are two. */
    if (p->code != q->code || p->dtype != q->dtype || p->a != q->a || p->b != q->b ||
        p->c != q->c || p->integer != q->integer ||
        memcmp(&p->real, &q->real, sizeof(p->real)) != 0) {
      return false;
    }
  }
  return true;
}

static bool same_states(const weir_access *x, const weir_access *y)
{
  for (int s = 0; s < x->n_states; s++) {
    const weir_state *p = &x->state[s], *q = &y->state[s];

    if (p->dtype != q->dtype || p->init != q->init || p->final != q->final || p->slot != q->slot ||
        memcmp(&p->initial, &q->initial, sizeof(p->initial)) != 0 || p->next != q->next) {
      return false;
    }
  }
  return x->presence == y->presence && x->settle == y->settle;
}

static bool same_access(const weir_access *x, const weir_access *y)
{
  if (x->maker != y->maker || x->n_dims != y->n_dims || x->n_in != y->n_in ||
      x->n_out != y->n_out || x->n_states != y->n_states || x->n_values != y->n_values ||
      x->combine != y->combine || x->accumulator != y->accumulator ||
      !same_body(&x->body, &y->body) || !same_states(x, y)) {
    return false;
  }
  for (int k = 0; k < x->n_dims; k++) {
    if (x->dim[k].kind != y->dim[k].kind || x->dim[k].lo != y->dim[k].lo ||
        x->dim[k].hi != y->dim[k].hi || x->dim[k].time != y->dim[k].time) {
      return false;
    }
  }
  for (int k = 0; k < x->n_in; k++) {
    if (!same_operand(&x->in[k], &y->in[k], x->n_dims)) {
      return false;
    }
  }
  for (int k = 0; k < x->n_out; k++) {
    if (!same_operand(&x->out[k], &y->out[k], x->n_dims)) {
      return false;
    }
  }
  return memcmp(x->value, y->value, (size_t)x->n_values * sizeof(x->value[0])) == 0;
}

/* Without a body it is the spec that says what is made. */
static bool same_spec(const weir_node *x, const weir_node *y)
{
  return x->access.maker == WEIR_MADE_BY_BODY || x->op->spec_size == 0 ||
         memcmp(x->spec, y->spec, x->op->spec_size) == 0;
}

static bool same_node(const weir_node *x, const weir_node *y)
{
  return x->op == y->op && x->n_in == y->n_in && x->n_out == y->n_out &&
         memcmp(x->in, y->in, (size_t)x->n_in * sizeof(x->in[0])) == 0 &&
         same_access(&x->access, &y->access) && same_spec(x, y);
}

/* Every output of the later node may give way to the earlier one's. */
static bool may_go(const weir_graph *g, const weir_node *first, const weir_node *second)
{
  for (int o = 0; o < second->n_out; o++) {
    if (!simplify_is_inner(g, second, o) || weir_graph_writers(g, first->out[o], NULL, 0) != 1) {
      return false;
    }
  }
  return true;
}

weir_status simplify_cse(weir_graph *g, bool *changed)
{
  for (int32_t j = 0; j < weir_graph_nodes(g); j++) {
    weir_node *second = weir_graph_node_mut(g, j);

    for (int32_t i = 0; i < j && simplify_is_plain(second); i++) {
      const weir_node *first = weir_graph_node(g, i);

      if (simplify_is_plain(first) && same_node(first, second) && may_go(g, first, second)) {
        for (int o = 0; o < second->n_out; o++) {
          simplify_replace(g, second->out[o], first->out[o]);
        }
        second->dead = true;
        *changed = true;
      }
    }
  }
  return WEIR_OK;
}
