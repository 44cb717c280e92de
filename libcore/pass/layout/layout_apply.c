/* layout_apply.c - the graph in the orders that were chosen. */
#include "pass/layout/layout_priv.h"

/* Order `to` of an array whose dimensions lie in order `from` already. */
static layout_order between(const layout_array *x, int from, int to, int rank)
{
  int inverse[WEIR_MAX_RANK];
  layout_order out = {{0}};

  layout_invert(x->order[from].at, rank, inverse);
  for (int d = 0; d < rank; d++) {
    out.at[d] = inverse[x->order[to].at[d]];
  }
  return out;
}

/* Readers that take order `o` of the array, and with `all` its writers, touch `to`, whose
 * dimensions are in `order` of those they name now. */
static void redirect(formatting *f, int32_t array, int o, bool writers, int32_t to,
                     const layout_order *order)
{
  for (int32_t i = 0; i < f->n_nodes; i++) {
    weir_node *node = weir_graph_node_mut(f->g, i);

    for (int k = 0; k < node->n_in + node->n_out && layout_is_live(node); k++) {
      const bool input = k < node->n_in;

      if (layout_array_of(node, k) == array && (input ? f->nodes[i].take[k] == o : writers)) {
        layout_permute_operand(&node->access, layout_number(node, k), order->at);
        *(input ? &node->in[k] : &node->out[k - node->n_in]) = to;
      }
    }
  }
}

/* The copy's operand and result are exchanged: its output is now made by others. */
static void reverse(weir_node *copy)
{
  const weir_operand x = copy->access.in[0];
  const int32_t array = copy->in[0];

  copy->access.in[0] = copy->access.out[0];
  copy->access.out[0] = x;
  copy->in[0] = copy->out[0];
  copy->out[0] = array;
}

static weir_status apply_state(formatting *f, int32_t array, const layout_state *s)
{
  const layout_array *x = &f->arrays[array];
  const int rank = weir_graph_get_array(f->g, array)->desc.rank;
  int32_t base = array, lies = 0; /* where what is written lies, and in which order */

  if (s->primary != 0 && !x->kept) {
    weir_layout_set(f->g, array, x->order[s->primary].at);
    lies = s->primary;
  } else if (s->primary != 0) {
    WEIR_TRY(layout_add_copy(f, array, &x->order[s->primary], &base));
    redirect(f, array, s->primary, true, base, &x->order[s->primary]);
    reverse(weir_graph_node_mut(f->g, weir_graph_nodes(f->g) - 1));
  }
  for (int o = 0; o < x->n_orders; o++) {
    const layout_order from_base = between(x, s->primary, o, rank);
    const layout_order from_here = between(x, lies, o, rank);
    int32_t made;

    if ((s->have >> o & 1u) == 0 || o == s->primary || (o == 0 && base != array) ||
        !layout_is_taken(f, array, o)) {
      continue;
    }
    WEIR_TRY(layout_add_copy(f, base, &from_base, &made));
    redirect(f, array, o, false, made, &from_here);
  }
  return WEIR_OK;
}

weir_status layout_apply(formatting *f, const int32_t *chosen)
{
  layout_take_orders(f, chosen);
  for (int32_t a = 0; a < f->n_arrays; a++) {
    if (f->arrays[a].n_orders > 1) {
      const layout_state *s = &f->arrays[a].state[chosen[a]];

      f->arrays[a].changed = f->arrays[a].changed || s->primary != 0 || s->have != 1;
      WEIR_TRY(apply_state(f, a, s));
    }
  }
  return WEIR_OK;
}
