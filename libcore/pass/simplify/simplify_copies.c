/* simplify_copies.c - nodes that move elements without computing. */
#include "simplify_priv.h"

/* The operand that the node copies by a permutation of dimensions, or -1. order[d]: dimension of
 * the output that dimension d of the operand becomes. */
static int copied(const weir_node *node, int *order)
{
  const weir_access *a = &node->access;
  int out[WEIR_MAX_RANK];

  if (!simplify_is_plain(node) || a->n_out != 1 || a->n_values != 1 || a->n_states > 0 ||
      a->combine != WEIR_COMBINE_NONE || a->n_in != 1 ||
      a->body.exprs[a->value[0]].code != WEIR_CODE_LOAD || a->in[0].dtype != a->out[0].dtype ||
      !weir_operand_is_permutation(&a->out[0], a, out) ||
      !weir_operand_is_permutation(&a->in[0], a, order)) {
    return -1;
  }
  for (int d = 0; d < a->out[0].rank; d++) {
    if (out[d] != d) {
      return -1;
    }
  }
  return 0;
}

static bool is_straight(const int *order, int rank)
{
  for (int d = 0; d < rank; d++) {
    if (order[d] != d) {
      return false;
    }
  }
  return true;
}

static weir_node *writer_of(weir_graph *g, int32_t array)
{
  int32_t writer;

  return weir_graph_writers(g, array, &writer, 1) == 1 ? weir_graph_node_mut(g, writer) : NULL;
}

/* A permutation of a permutation reads the first one's operand. */
static bool join_permutations(weir_graph *g, weir_node *node, const int *order)
{
  const weir_node *before = writer_of(g, node->in[0]);
  int first[WEIR_MAX_RANK];

  if (before == NULL || copied(before, first) < 0 ||
      weir_graph_get_array(g, before->in[0])->kind == WEIR_ARRAY_STORED) {
    return false;
  }
  const weir_operand from = before->access.in[0];
  weir_operand *o = &node->access.in[0];

  for (int d = 0; d < o->rank; d++) {
    const int k = order[first[d]];

    o->index[d] = (weir_index){.border = WEIR_BORDER_NEVER};
    o->index[d].coef[k] = 1;
    o->extent[d] = from.extent[d];
  }
  node->in[0] = before->in[0];
  return true;
}

weir_status simplify_copy_prop(weir_graph *g, bool *changed)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    weir_node *node = weir_graph_node_mut(g, i);
    int order[WEIR_MAX_RANK];

    if (node->op == NULL || node->dead || copied(node, order) < 0) {
      continue;
    }
    const weir_array *from = weir_graph_get_array(g, node->in[0]);

    if (is_straight(order, node->access.n_dims) && simplify_is_inner(g, node, 0) &&
        from->kind != WEIR_ARRAY_STORED) {
      simplify_replace(g, node->out[0], node->in[0]);
      node->dead = true;
      *changed = true;
    } else if (join_permutations(g, node, order)) {
      *changed = true;
    }
  }
  return WEIR_OK;
}
