/* simplify_graph.c - what the steps ask of the graph and do to it. */
#include "simplify_priv.h"

bool simplify_is_plain(const weir_node *node)
{
  return node->op != NULL && !node->dead && node->access.maker != WEIR_MADE_BY_CALL &&
         !weir_body_uses(&node->access.body, WEIR_CODE_RANDOM);
}

bool simplify_is_inner(const weir_graph *g, const weir_node *node, int o)
{
  return weir_graph_get_array(g, node->out[o])->output == NULL &&
         weir_graph_writers(g, node->out[o], NULL, 0) == 1;
}

void simplify_replace(weir_graph *g, int32_t from, int32_t to)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    weir_node *node = weir_graph_node_mut(g, i);

    for (int k = 0; k < node->n_in; k++) {
      node->in[k] = node->in[k] == from ? to : node->in[k];
    }
  }
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    weir_array *array = weir_graph_array_mut(g, a);

    array->update = array->update == from ? to : array->update;
  }
}
