/* conv_pool_sparse.c - removes the argmax operand from an access; conv_form.c reads the rest. */
#include "ops/conv/conv_pool_sparse.h"

#include "base/weir_alloc.h"
#include "graph/weir_window_argmax.h"

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

/* Makes the access, a copy, that of whole windows, y being read with the argmax. */
static bool take_apart(weir_access *a, int y)
{
  const int argmax = 2;
  int64_t window[WEIR_MAX_RANK];

  if (!lie_alike(a, y, argmax)) {
    return false;
  }
  for (int d = 0; d < a->in[argmax].rank; d++) {
    window[d] = weir_index_divisor(&a->in[argmax].index[d]);
  }
  const int32_t chosen = weir_window_argmax(a, argmax, true, window, a->in[argmax].rank);

  if (chosen < 0) {
    return false;
  }
  a->value[0] = chosen;
  a->n_in = 2;
  for (int d = 0; d < a->in[y].rank; d++) {
    weir_index *x = &a->in[y].index[d];

    if (window[d] > 1 && x->border != WEIR_BORDER_ABSENT && x->border != WEIR_BORDER_NEVER) {
      return false;
    }
    x->div = 1;
    if (!weir_mul_ok(a->in[y].extent[d], window[d], &a->in[y].extent[d])) {
      return false;
    }
  }
  return true;
}

bool conv_pool_sparse_of(const weir_access *a, const weir_derivation *derivation,
                         conv_pool_sparse *p)
{
  const int y = derivation->in[0] == 2 ? 0 : 1; /* of a convolution as built */
  weir_access whole;

  if (a->maker != WEIR_MADE_BY_BODY || a->n_in != 3 || a->n_out != 1 || a->n_values != 1 ||
      a->n_states != 0 || a->combine != WEIR_COMBINE_SUM || a->in[2].dtype != WEIR_U8 ||
      derivation->in[2] != WEIR_DERIVED_ARGMAX || weir_access_copy(a, &whole) != WEIR_OK) {
    return false;
  }
  bool is = take_apart(&whole, y) && conv_form_of(&whole, derivation, &p->form) && p->form.y == y;
  weir_access_fini(&whole);
  if (!is) {
    return false;
  }
  const weir_operand *o = &a->in[y];

  p->argmax = 2;
  is = weir_index_divisor(&o->index[0]) == 1 && weir_index_divisor(&o->index[o->rank - 1]) == 1;
  for (int k = 0; k < CONV_FORM_DIMS; k++) {
    p->window[k] = k < p->form.d ? weir_index_divisor(&o->index[k + 1]) : 1;
  }
  return is;
}

bool conv_pool_sparse_of_group(const weir_graph *g, const weir_group *group, conv_pool_sparse *p)
{
  const weir_node *node = weir_graph_node(g, group->nodes[0]);
  const weir_derivation derivation = weir_node_derivation(node);

  return group->n_nodes == 1 && conv_pool_sparse_of(&node->access, &derivation, p);
}
