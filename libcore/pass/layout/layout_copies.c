/* layout_copies.c - transposes: taken out of the graph, and put where they cost least. */
#include <string.h>

#include "pass/layout/layout_priv.h"

static const weir_op_desc op_reorder = {
    .name = "reorder",
    .cite = "",
};

/* True when the node changes the order of dimensions and nothing else: dimension k of what it makes
 * is dimension order[k] of what it reads. */
static bool is_transpose(const weir_node *node, int *order)
{
  const weir_access *a = &node->access;
  int in[WEIR_MAX_RANK], out[WEIR_MAX_RANK];

  if (!layout_is_live(node) || a->maker != WEIR_MADE_BY_BODY || a->n_in != 1 || a->n_out != 1 ||
      a->n_values != 1 || a->n_states > 0 || a->combine != WEIR_COMBINE_NONE ||
      a->body.exprs[a->value[0]].code != WEIR_CODE_LOAD || a->in[0].dtype != a->out[0].dtype ||
      !weir_operand_is_permutation(&a->in[0], a, in) ||
      !weir_operand_is_permutation(&a->out[0], a, out)) {
    return false;
  }
  for (int k = 0; k < a->out[0].rank; k++) {
    for (int d = 0; d < a->in[0].rank; d++) {
      order[k] = in[d] == out[k] ? d : order[k];
    }
  }
  return true;
}

/* All who touch `from` but node `but` touch `to` instead, whose dimension d is dimension order[d]
 * of `from`. */
static void replace(formatting *f, int32_t from, int32_t to, const int *order, int32_t but)
{
  for (int32_t i = 0; i < f->n_nodes; i++) {
    weir_node *node = weir_graph_node_mut(f->g, i);

    for (int k = 0; k < node->n_in + node->n_out && layout_is_live(node) && i != but; k++) {
      if (layout_array_of(node, k) == from) {
        layout_permute_operand(&node->access, layout_number(node, k), order);
        *(k < node->n_in ? &node->in[k] : &node->out[k - node->n_in]) = to;
      }
    }
  }
  f->arrays[to].changed = true;
}

static bool has_one_writer(const weir_graph *g, int32_t array)
{
  return weir_graph_writers(g, array, NULL, 0) == 1;
}

/* Takes one transpose out: its result is read from its operand, or its operand is made where its
 * result lies. */
static bool absorb(formatting *f, int32_t number, const int *order)
{
  weir_node *node = weir_graph_node_mut(f->g, number);
  const int32_t x = node->in[0], y = node->out[0];
  const int rank = weir_graph_get_array(f->g, x)->desc.rank;
  int back[WEIR_MAX_RANK];

  layout_invert(order, rank, back);
  if (weir_layout_is_free(f->g, y) && has_one_writer(f->g, y) &&
      !weir_graph_get_array(f->g, x)->in_place) {
    const int index = layout_order_add(f, x, order);

    if (index < 0) {
      return false;
    }
    replace(f, y, x, back, number);
    f->arrays[x].copies |= index != f->arrays[x].first ? 1u << index : 0;
  } else if (weir_layout_is_free(f->g, x) && has_one_writer(f->g, y) &&
             f->arrays[x].n_orders == 1 && f->arrays[y].copies == 0) {
    const int index = layout_order_add(f, y, back);

    if (index < 0) {
      return false;
    }
    replace(f, x, y, order, number);
    f->arrays[y].copies = index != 0 ? 1u : 0;
    f->arrays[y].first = index;
  } else {
    return false;
  }
  node->dead = true;
  return true;
}

bool layout_absorb(formatting *f)
{
  bool any = false;

  for (int32_t i = 0; i < f->n_nodes; i++) {
    int order[WEIR_MAX_RANK] = {0};

    if (is_transpose(weir_graph_node(f->g, i), order)) {
      any = absorb(f, i, order) || any;
    }
  }
  return any;
}

/* Reads the array row-major and writes it in the other order, in rows of what is written. */
static weir_status fill_copy(const weir_array_desc *d, const int *order, weir_access *a)
{
  WEIR_TRY(weir_access_resize(a, 1, 1, 0));
  a->n_dims = a->in[0].rank = a->out[0].rank = d->rank;
  a->n_values = 1;
  a->in[0].dtype = a->out[0].dtype = d->dtype;
  for (int k = 0; k < d->rank; k++) {
    a->dim[k] = (weir_dim){.kind = WEIR_PARALLEL, .hi = d->shape[order[k]]};
    a->out[0].index[k].coef[k] = a->in[0].index[order[k]].coef[k] = 1;
    a->out[0].extent[k] = a->in[0].extent[order[k]] = d->shape[order[k]];
  }
  a->value[0] = weir_body_load(&a->body, 0, d->dtype);
  return a->body.failed ? weir_fail(WEIR_ERR_MEMORY, "format: out of memory for a copy") : WEIR_OK;
}

weir_status layout_add_copy(formatting *f, int32_t array, const layout_order *order, int32_t *made)
{
  weir_status status = WEIR_OK;
  const weir_value from = weir_array_value(f->g, array);
  weir_access access;
  weir_value to;

  weir_access_init(&access);
  WEIR_TRY_GOTO(fill_copy(&weir_graph_get_array(f->g, array)->desc, order->at, &access), out);
  to = weir_graph_add_access(f->g, &op_reorder, &access, &from, 1, NULL);
  *made = weir_value_array(f->g, to);
  status = weir_graph_status(f->g);
out:
  weir_access_fini(&access);
  return status;
}
