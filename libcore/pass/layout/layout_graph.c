/* layout_graph.c - orders of dimensions as a rewrite of arrays and accesses. */
#include <string.h>

#include "pass/layout/layout_priv.h"

/* Borders of several dimensions that give different values: the first dimension's counts. */
static bool fills_by_order(const weir_operand *x)
{
  bool any = false;
  double fill = 0;

  for (int d = 0; d < x->rank; d++) {
    const weir_border b = x->index[d].border;
    const double here = b == WEIR_BORDER_VALUE ? x->index[d].fill : 0;

    if (b != WEIR_BORDER_ZERO && b != WEIR_BORDER_VALUE) {
      continue;
    }
    if (any && !(here == fill)) {
      return true;
    }
    any = true;
    fill = here;
  }
  return false;
}

bool layout_may_move(const weir_access *a, const weir_operand *x)
{
  return a->maker == WEIR_MADE_BY_BODY && x->role == WEIR_ROLE_DATA && !fills_by_order(x);
}

bool layout_is_movable(const weir_graph *g, int32_t array)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    for (int k = 0; k < node->n_in + node->n_out && layout_is_live(node); k++) {
      if (layout_array_of(node, k) == array &&
          !layout_may_move(&node->access, layout_operand(node, k))) {
        return false;
      }
    }
  }
  return true;
}

bool layout_is_seen(const weir_graph *g, int32_t array)
{
  const weir_array *x = weir_graph_get_array(g, array);

  if (x->kind != WEIR_ARRAY_TEMPORARY || x->output != NULL || x->desc.time > 0) {
    return true;
  }
  for (int32_t i = 0; i < weir_graph_arrays(g); i++) {
    if (weir_graph_get_array(g, i)->update == array) {
      return true;
    }
  }
  return false;
}

bool weir_layout_is_free(const weir_graph *g, int32_t array)
{
  return !layout_is_seen(g, array) && layout_is_movable(g, array);
}

/* Remainders name a dimension of an operand by number: to[d] is the new one of d. */
static void renumber_remainders(weir_access *a, int operand, const int *to)
{
  for (int32_t i = 0; i < a->body.n; i++) {
    weir_expr *e = &a->body.exprs[i];

    if (e->code == WEIR_CODE_REMAINDER && e->integer / 16 == operand) {
      e->integer = e->integer / 16 * 16 + to[e->integer % 16];
    }
  }
}

void layout_permute_operand(weir_access *a, int operand, const int *order)
{
  weir_operand *x = operand < 0 ? &a->out[-1 - operand] : &a->in[operand];
  weir_index index[WEIR_MAX_RANK];
  int64_t extent[WEIR_MAX_RANK];
  int to[WEIR_MAX_RANK];

  memcpy(index, x->index, sizeof(*index) * (size_t)x->rank);
  memcpy(extent, x->extent, sizeof(*extent) * (size_t)x->rank);
  for (int d = 0; d < x->rank; d++) {
    x->index[d] = index[order[d]];
    x->extent[d] = extent[order[d]];
    to[order[d]] = d;
  }
  if (operand >= 0) {
    renumber_remainders(a, operand, to);
  }
}

void layout_permute_desc(weir_array_desc *d, const int *order)
{
  const weir_array_desc old = *d;

  for (int k = 0; k < d->rank; k++) {
    d->shape[k] = old.shape[order[k]];
  }
}

static void permute_array(weir_array *x, const int *order)
{
  int8_t built[WEIR_MAX_RANK];

  for (int d = 0; d < x->desc.rank; d++) {
    built[d] = x->reordered ? x->built_as[d] : (int8_t)d;
  }
  x->reordered = false;
  for (int d = 0; d < x->desc.rank; d++) {
    x->built_as[d] = built[order[d]];
    x->reordered = x->reordered || x->built_as[d] != d;
  }
  layout_permute_desc(&x->desc, order);
}

void weir_layout_set(weir_graph *g, int32_t array, const int *order)
{
  permute_array(weir_graph_array_mut(g, array), order);
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    weir_node *node = weir_graph_node_mut(g, i);

    for (int k = 0; k < node->n_in + node->n_out && layout_is_live(node); k++) {
      if (layout_array_of(node, k) == array) {
        layout_permute_operand(&node->access, layout_number(node, k), order);
      }
    }
  }
}

void layout_invert(const int *order, int rank, int *inverse)
{
  for (int d = 0; d < rank; d++) {
    inverse[order[d]] = d;
  }
}

/* Position of iteration dimension k among the dimensions of the operand, rank where it has none. */
static int index_of(const weir_operand *x, int k)
{
  int d = 0;

  for (; d < x->rank && x->index[d].coef[k] == 0; d++) {
  }
  return d;
}

static bool may_permute(const weir_access *a)
{
  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].time) {
      return false;
    }
  }
  return a->maker == WEIR_MADE_BY_BODY && a->n_states == 0 && a->n_out > 0 &&
         !weir_body_uses(&a->body, WEIR_CODE_RANDOM);
}

static void turn_operand(weir_operand *x, int n_dims, const int *order)
{
  for (int d = 0; d < x->rank; d++) {
    int64_t coef[WEIR_MAX_DIMS];

    memcpy(coef, x->index[d].coef, sizeof(coef));
    for (int k = 0; k < n_dims; k++) {
      x->index[d].coef[k] = coef[order[k]];
    }
  }
}

/* Iteration dimension order[k] becomes dimension k. */
static void permute(weir_access *a, const int *order)
{
  weir_dim dim[WEIR_MAX_DIMS];
  int to[WEIR_MAX_DIMS] = {0};

  memcpy(dim, a->dim, sizeof(dim));
  for (int k = 0; k < a->n_dims; k++) {
    a->dim[k] = dim[order[k]];
    to[order[k]] = k;
  }
  for (int i = 0; i < a->n_in; i++) {
    turn_operand(&a->in[i], a->n_dims, order);
  }
  for (int i = 0; i < a->n_out; i++) {
    turn_operand(&a->out[i], a->n_dims, order);
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    weir_expr *e = &a->body.exprs[i];

    e->integer = e->code == WEIR_CODE_INDEX ? to[e->integer] : e->integer;
  }
}

bool weir_layout_follow(weir_graph *g, int32_t node)
{
  weir_access *a = &weir_graph_node_mut(g, node)->access;
  int order[WEIR_MAX_DIMS], at[WEIR_MAX_DIMS], n = 0;
  bool changed = false;

  if (!may_permute(a)) {
    return false;
  }
  for (int k = 0; k < a->n_dims; k++) {
    order[k] = k;
    if (a->dim[k].kind == WEIR_PARALLEL) {
      at[n++] = k;
    }
  }
  for (int i = 1; i < n; i++) { /* by insertion: equal ones stay as they are */
    for (int j = i;
         j > 0 && index_of(&a->out[0], order[at[j]]) < index_of(&a->out[0], order[at[j - 1]]);
         j--) {
      const int swap = order[at[j]];

      order[at[j]] = order[at[j - 1]];
      order[at[j - 1]] = swap;
      changed = true;
    }
  }
  if (changed) {
    permute(a, order);
  }
  return changed;
}
