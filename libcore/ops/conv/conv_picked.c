/* conv_picked.c - takes the places of maxima out of an access; conv_form.c reads the rest. */
#include "ops/conv/conv_picked.h"

#include "base/weir_alloc.h"

/* Adds factor times what the expression is of the remainders of operand `place`, or of the one that
 * lies beside it: weight[dimension]. */
static bool add_remainders(const weir_access *a, int32_t number, int64_t factor, int place,
                           int64_t *weight)
{
  const weir_body *b = &a->body;
  const weir_expr *e = &b->exprs[number];
  int32_t other;

  switch (e->code) {
  case WEIR_CODE_CAST:
    return b->exprs[e->a].dtype == WEIR_I64 && add_remainders(a, e->a, factor, place, weight);
  case WEIR_CODE_CONST:
    return e->integer == 0;
  case WEIR_CODE_ADD:
    return add_remainders(a, e->a, factor, place, weight) &&
           add_remainders(a, e->b, factor, place, weight);
  case WEIR_CODE_MUL:
    other = b->exprs[e->b].code == WEIR_CODE_CONST ? e->b : e->a;
    return b->exprs[other].code == WEIR_CODE_CONST && b->exprs[other].integer > 0 &&
           b->exprs[other].integer <= UINT8_MAX && factor <= UINT8_MAX &&
           add_remainders(a, other == e->b ? e->a : e->b, factor * b->exprs[other].integer, place,
                          weight);
  case WEIR_CODE_REMAINDER:
    weight[e->integer % 16] += factor;
    return e->integer / 16 == place;
  default:
    return false;
  }
}

/* True when the expression says that the place is that of the element: row-major. */
static bool is_place(const weir_access *a, int32_t number, int place)
{
  const weir_expr *e = &a->body.exprs[number];
  const weir_operand *o = &a->in[place];
  int64_t weight[WEIR_MAX_RANK] = {0}, wanted = 1;

  if (e->code != WEIR_CODE_EQ) {
    return false;
  }
  const weir_expr *load = &a->body.exprs[e->a];

  load = load->code == WEIR_CODE_CAST ? &a->body.exprs[load->a] : load;
  if (load->code != WEIR_CODE_LOAD || load->integer != place ||
      !add_remainders(a, e->b, 1, place, weight)) {
    return false;
  }
  for (int d = o->rank - 1; d >= 0; d--) {
    const int64_t window = weir_index_divisor(&o->index[d]);

    if (weight[d] != (window > 1 ? wanted : 0)) {
      return false;
    }
    wanted *= window;
  }
  return wanted > 1 && wanted <= UINT8_MAX;
}

/* True when both operands lie and are read alike. */
static bool lie_alike(const weir_access *a, int j, int k)
{
  const weir_operand *x = &a->in[j], *y = &a->in[k];
  bool same = x->rank == y->rank && x->role == y->role;

  for (int d = 0; d < x->rank && same; d++) {
    same = x->extent[d] == y->extent[d] && weir_index_same(&x->index[d], &y->index[d], a->n_dims);
  }
  return same;
}

/* Makes the access, a copy, that of whole windows. */
static bool take_apart(weir_access *a, int *y)
{
  const int place = 2;
  const weir_expr *chosen = &a->body.exprs[a->value[0]];

  *y = lie_alike(a, 0, place) ? 0 : 1;
  if (!lie_alike(a, *y, place) || chosen->code != WEIR_CODE_SELECT ||
      a->body.exprs[chosen->c].code != WEIR_CODE_CONST || a->body.exprs[chosen->c].real != 0 ||
      !is_place(a, chosen->a, place)) {
    return false;
  }
  a->value[0] = chosen->b;
  a->n_in = 2;
  for (int d = 0; d < a->in[*y].rank; d++) {
    weir_index *x = &a->in[*y].index[d];
    const int64_t window = weir_index_divisor(x);

    if (window > 1 && x->border != WEIR_BORDER_ABSENT && x->border != WEIR_BORDER_NEVER) {
      return false;
    }
    x->div = 1;
    if (!weir_mul_ok(a->in[*y].extent[d], window, &a->in[*y].extent[d])) {
      return false;
    }
  }
  return true;
}

bool conv_picked_of(const weir_access *a, const weir_derivation *told, conv_picked *p)
{
  void *memory = NULL;
  bool is = false;
  int y;

  if (a->maker != WEIR_MADE_BY_BODY || a->n_in != 3 || a->n_out != 1 || a->n_values != 1 ||
      a->n_states != 0 || a->combine != WEIR_COMBINE_SUM || a->in[2].dtype != WEIR_U8 ||
      weir_alloc(1, sizeof(weir_access), &memory) != WEIR_OK) {
    return false;
  }
  weir_access *const whole = memory;

  if (weir_access_copy(a, whole) == WEIR_OK) {
    is = take_apart(whole, &y) && conv_form_of(whole, told, &p->form) && p->form.y == y;
    weir_access_fini(whole);
  }
  weir_free(&memory);
  if (!is) {
    return false;
  }
  const weir_operand *o = &a->in[y];

  p->place = 2;
  is = weir_index_divisor(&o->index[0]) == 1 && weir_index_divisor(&o->index[o->rank - 1]) == 1;
  for (int k = 0; k < CONV_FORM_DIMS; k++) {
    p->window[k] = k < p->form.d ? weir_index_divisor(&o->index[k + 1]) : 1;
  }
  return is;
}

bool conv_picked_of_group(const weir_graph *g, const weir_group *group, conv_picked *p)
{
  const weir_node *node = weir_graph_node(g, group->nodes[0]);
  const weir_derivation told = weir_node_derivation(node);

  return group->n_nodes == 1 && conv_picked_of(&node->access, &told, p);
}
