/* simplify_dead.c - nodes that nothing needs. */
#include "simplify_priv.h"

static bool is_wanted(const weir_graph *g, const weir_node *node)
{
  if (node->access.maker == WEIR_MADE_BY_CALL) {
    for (int i = 0; i < node->n_in; i++) {
      if (weir_graph_get_array(g, node->in[i])->in_place) {
        return true;
      }
    }
  }
  for (int o = 0; o < node->n_out; o++) {
    const int32_t array = node->out[o];
    int32_t reader;

    if (weir_graph_get_array(g, array)->output != NULL ||
        weir_graph_readers(g, array, &reader, 1) > 0) {
      return true;
    }
    for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
      if (weir_graph_get_array(g, a)->update == array) {
        return true;
      }
    }
  }
  return false;
}

weir_status simplify_dce(weir_graph *g, bool *changed)
{
  for (int32_t i = weir_graph_nodes(g) - 1; i >= 0; i--) {
    weir_node *node = weir_graph_node_mut(g, i);

    if (node->op != NULL && !node->dead && !is_wanted(g, node)) {
      node->dead = true;
      *changed = true;
    }
  }
  return WEIR_OK;
}
