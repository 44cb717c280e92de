/* layout_orders.c - which orders of an array are worth a thought: those of transposes, those that a
 * kernel asks for, those that bring the dimension of a neighbour's rows inside, and what follows
 * for arrays next to them. */
#include <string.h>

#include "pass/layout/layout_priv.h"

/* Dimensions of an array whose orders are all shown to the kernels: 120 orders. */
#define MAX_PERMUTED 5

/* Smaller arrays stay in a near cache, whatever their order. */
static int64_t min_bytes(const formatting *f)
{
  return f->opts->min_layout_bytes > 0 ? f->opts->min_layout_bytes : 32768;
}

int layout_order_add(const formatting *f, int32_t array, const int *order)
{
  layout_array *x = &f->arrays[array];
  const size_t size = sizeof(*order) * (size_t)weir_graph_get_array(f->g, array)->desc.rank;

  for (int i = 0; i < x->n_orders; i++) {
    if (memcmp(x->order[i].at, order, size) == 0) {
      return i;
    }
  }
  if (x->n_orders == LAYOUT_MAX_ORDERS) {
    return -1;
  }
  memcpy(x->order[x->n_orders].at, order, size);
  return x->n_orders++;
}

/* The iteration dimension that stands for an array dimension: a parallel one before others; -1. */
static int leader(const weir_access *a, const weir_index *x)
{
  int found = -1;

  for (int k = a->n_dims - 1; k >= 0; k--) {
    if (x->coef[k] != 0 &&
        (found < 0 || a->dim[k].kind == WEIR_PARALLEL || a->dim[found].kind != WEIR_PARALLEL)) {
      found = k;
    }
  }
  return found;
}

int layout_inner(const weir_operand *x, const int *order)
{
  for (int d = x->rank - 1; d >= 0; d--) {
    if (x->extent[order[d]] > 1) {
      return order[d];
    }
  }
  return -1;
}

int layout_row(const weir_access *a, const weir_operand *x, const int *order)
{
  const int d = layout_inner(x, order);

  for (int k = 0; k < a->n_dims && d >= 0; k++) {
    const int64_t c = x->index[d].coef[k];

    if ((c == 1 || c == -1) && a->dim[k].hi - a->dim[k].lo > 1 &&
        (a->dim[k].kind == WEIR_PARALLEL || leader(a, &x->index[d]) == k)) {
      return k;
    }
  }
  return -1;
}

static bool is_worth(const formatting *f, const weir_node *node, int k)
{
  const int32_t array = layout_array_of(node, k);
  const weir_operand *x = layout_operand(node, k);

  return layout_may_move(&node->access, x) &&
         layout_inner(x, f->arrays[array].order[0].at) >= 0 && /* a single element has no order */
         weir_desc_bytes(&weir_graph_get_array(f->g, array)->desc) >= min_bytes(f);
}

/* The order in which the array dimension that follows row k comes last. */
static bool with_inside(const weir_operand *x, int k, int *order)
{
  int found = -1, n = 0;

  for (int d = 0; d < x->rank; d++) {
    if (x->index[d].coef[k] == 1 || x->index[d].coef[k] == -1) {
      found = d;
    }
  }
  for (int d = 0; d < x->rank && found >= 0; d++) {
    if (d != found) {
      order[n++] = d;
    }
  }
  if (found >= 0) {
    order[n] = found;
  }
  return found >= 0;
}

/* Rows of one operand may be rows of all. */
static void align(const formatting *f, const weir_node *node)
{
  for (int i = 0; i < node->n_in + node->n_out; i++) {
    const int32_t from = layout_array_of(node, i);
    const int row = layout_row(&node->access, layout_operand(node, i), f->arrays[from].order[0].at);

    for (int k = 0; k < node->n_in + node->n_out && row >= 0; k++) {
      const weir_operand *x = layout_operand(node, k);
      const int32_t array = layout_array_of(node, k);
      int order[WEIR_MAX_RANK];

      if (k != i && is_worth(f, node, k) && is_worth(f, node, i) && array != from &&
          x->index[layout_inner(x, f->arrays[array].order[0].at)].coef[row] == 0 &&
          with_inside(x, row, order)) {
        (void)layout_order_add(f, array, order);
      }
    }
  }
}

/* The order of operand `to` that goes with an order of operand `from`: dimensions that both have
 * come in that order, others after the one before them. */
static void carry(const weir_node *node, int from, const int *order, int to, int *out)
{
  const weir_access *a = &node->access;
  const weir_operand *x = layout_operand(node, from), *y = layout_operand(node, to);
  int key[WEIR_MAX_RANK];

  for (int d = 0; d < y->rank; d++) {
    const int k = leader(a, &y->index[d]);

    out[d] = d;
    key[d] = d > 0 ? key[d - 1] : -1;
    for (int i = 0; i < x->rank && k >= 0; i++) {
      key[d] = leader(a, &x->index[order[i]]) == k ? i : key[d];
    }
  }
  for (int i = 1; i < y->rank; i++) {
    for (int j = i; j > 0 && key[out[j]] < key[out[j - 1]]; j--) {
      const int swap = out[j];

      out[j] = out[j - 1];
      out[j - 1] = swap;
    }
  }
}

/* Orders of one operand become orders of the others; true when one was new. */
static bool propagate(const formatting *f, const weir_node *node)
{
  bool changed = false;

  for (int i = 0; i < node->n_in + node->n_out; i++) {
    const layout_array *from = &f->arrays[layout_array_of(node, i)];

    for (int o = 1; o < from->n_orders && layout_may_move(&node->access, layout_operand(node, i));
         o++) {
      for (int k = 0; k < node->n_in + node->n_out; k++) {
        const int32_t array = layout_array_of(node, k);
        const int before = f->arrays[array].n_orders;
        int order[WEIR_MAX_RANK];

        if (is_worth(f, node, k) && before < LAYOUT_MAX_ORDERS - 1) {
          carry(node, i, from->order[o].at, k, order);
          (void)layout_order_add(f, array, order);
          changed = changed || f->arrays[array].n_orders > before;
        }
      }
    }
  }
  return changed;
}

/* The next permutation in lexical order; false after the last one. */
static bool permute(int *order, int n)
{
  int i = n - 2, j = n - 1;

  for (; i >= 0 && order[i] > order[i + 1]; i--) {
  }
  if (i < 0) {
    return false;
  }
  for (; order[j] < order[i]; j--) {
  }
  const int swap = order[i];

  order[i] = order[j];
  order[j] = swap;
  for (i++, j = n - 1; i < j; i++, j--) {
    const int other = order[i];

    order[i] = order[j];
    order[j] = other;
  }
  return true;
}

/* The order of one operand in which a kernel claims, soonest, a product that none claims yet. */
static void ask_kernels(formatting *f, int32_t node)
{
  const weir_node *n = weir_graph_node(f->g, node);
  layout_order best = {{0}};
  int32_t found = -1;
  double min = -1;

  for (int k = 0; k < n->n_in + n->n_out; k++) {
    const int32_t array = layout_array_of(n, k);
    layout_array *x = &f->arrays[array];
    layout_order *test_case = &x->order[LAYOUT_MAX_ORDERS - 1];
    const int at = LAYOUT_MAX_ORDERS - 1, rank = layout_operand(n, k)->rank;

    if (!is_worth(f, n, k) || x->n_orders == LAYOUT_MAX_ORDERS || rank > MAX_PERMUTED) {
      continue;
    }
    *test_case = x->order[0];
    while (permute(test_case->at, rank)) {
      const double seconds = layout_claim_seconds(f, node, &array, &at, 1);

      if (seconds >= 0 && (found < 0 || seconds < min)) {
        min = seconds;
        found = array;
        best = *test_case;
      }
    }
  }
  if (found >= 0) {
    (void)layout_order_add(f, found, best.at);
  }
}

bool layout_find_orders(formatting *f)
{
  bool changed = true, any = false;

  for (int32_t i = 0; i < f->n_nodes; i++) {
    const weir_node *node = weir_graph_node(f->g, i);

    if (layout_is_live(node) && f->kernel[i] == NULL && node->access.maker == WEIR_MADE_BY_BODY) {
      if (layout_is_product(node) && f->opts->kernels != NULL) {
        ask_kernels(f, i);
      }
      align(f, node);
    }
  }
  while (changed) {
    changed = false;
    for (int32_t i = 0; i < f->n_nodes; i++) {
      const weir_node *node = weir_graph_node(f->g, i);

      if (layout_is_live(node) && f->kernel[i] == NULL && node->access.maker == WEIR_MADE_BY_BODY) {
        changed = propagate(f, node) || changed;
      }
    }
  }
  for (int32_t a = 0; a < f->n_arrays; a++) {
    any = any || f->arrays[a].n_orders > 1;
  }
  return any;
}
