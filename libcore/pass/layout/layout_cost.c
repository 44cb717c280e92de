/* layout_cost.c - what a node takes when its operands lie in given orders.
 *
 * A loop runs in rows along one iteration dimension. An operand whose neighbours along the row are
 * neighbours in memory moves at the memory's bandwidth; one that steps over lines takes its time
 * for every element. A kernel takes what it says, with its operands in the orders that it matches.
 */
#include <math.h>

#include "base/weir_alloc.h"
#include "pass/layout/layout_priv.h"

/* Arithmetic of generated loops, as a share of the rate of multiply-adds. */
static const double share_of_peak = 0.25;

/* Seconds of an element on a cache line of its own, in a row of so many: lines and pages that one
 * row loads serve the next one while they stay in the caches. */
static double per_step(const weir_constants *c, int64_t row)
{
  return row > c->line_l2_row ? c->line_far_s : row > c->line_l1_row ? c->line_l2_s : c->line_l1_s;
}

typedef enum walk { STILL, ALONG, ACROSS } walk;

static walk walk_of(const weir_operand *x, const int *order, int row)
{
  const int inner = layout_inner(x, order);
  bool moves = false;

  for (int d = 0; d < x->rank; d++) {
    const int64_t c = x->index[d].coef[row];

    if (c != 0 && x->extent[d] > 1 &&
        (d != inner || (c != 1 && c != -1) || x->index[d].gather != 0)) {
      return ACROSS;
    }
    moves = moves || c != 0;
  }
  return moves ? ALONG : STILL;
}

static double elements_of(const weir_access *a, int k)
{
  const weir_box whole = weir_iterations(a);
  const weir_region r =
      k < a->n_in ? weir_needed(a, k, &whole) : weir_written(a, k - a->n_in, &whole);

  return (double)weir_region_volume(&r);
}

double layout_seconds(const formatting *f, int32_t node, const layout_way *way, int k, int order)
{
  const weir_node *n = weir_graph_node(f->g, node);
  const weir_access *a = &n->access;
  const weir_operand *x = layout_operand(n, k);
  const layout_array *array = &f->arrays[layout_array_of(n, k)];

  if (way->row < 0) {
    return way->order[k] == order ? 0 : INFINITY;
  }
  if (order != 0 && !layout_may_move(a, x)) {
    return INFINITY;
  }
  const weir_box whole = weir_iterations(a);
  const weir_constants *c = f->constants;
  const double elements = elements_of(a, k);
  const double loads = k < n->n_in ? (double)weir_box_volume(&whole) : elements;
  const double moved = elements * (double)weir_dtype_size(x->dtype) /
                       (array->local ? c->cache_bandwidth : c->bandwidth);

  switch (walk_of(x, array->order[order].at, way->row)) {
  case STILL:
    return moved;
  case ALONG:
    return moved + loads * c->load_s;
  default:
    return moved + loads * per_step(c, a->dim[way->row].hi - a->dim[way->row].lo);
  }
}

double layout_copy_seconds(const formatting *f, int32_t array, int from, int to)
{
  const weir_array_desc *d = &weir_graph_get_array(f->g, array)->desc;
  const layout_order *x = &f->arrays[array].order[from], *y = &f->arrays[array].order[to];
  const double bytes = (double)weir_desc_bytes(d);
  const double elements = bytes / (double)weir_dtype_size(d->dtype);
  const int last = y->at[d->rank - 1];
  const bool rows = x->at[d->rank - 1] == last;

  return f->constants->group_overhead + 2 * bytes / f->constants->bandwidth +
         elements * (rows ? f->constants->load_s : per_step(f->constants, d->shape[last]));
}

int layout_best_order(const formatting *f, int32_t node, const layout_way *way, int k,
                      unsigned have)
{
  int best = -1;
  double min = INFINITY;

  for (int o = 0; o < LAYOUT_MAX_ORDERS; o++) {
    const double here = (have >> o & 1u) != 0 ? layout_seconds(f, node, way, k, o) : INFINITY;

    if (here < min) {
      min = here;
      best = o;
    }
  }
  return best;
}

/* ---- The ways of a node. ---- */

static void add_row(layout_node *ways, const weir_access *a, int row, const weir_constants *c)
{
  const weir_box whole = weir_iterations(a);
  const int64_t extent = row < a->n_dims ? a->dim[row].hi - a->dim[row].lo : 1;

  for (int i = 0; i < ways->n_ways; i++) {
    if (ways->way[i].row == row) {
      return;
    }
  }
  const double points = (double)weir_box_volume(&whole);
  const double merged = a->combine == WEIR_COMBINE_NONE                       ? 0
                        : row < a->n_dims && a->dim[row].kind == WEIR_REDUCED ? c->reduce_along_s
                                                                              : c->reduce_across_s;

  if (ways->n_ways < LAYOUT_MAX_WAYS) {
    ways->way[ways->n_ways++] = (layout_way){
        .row = row,
        .seconds = points / (double)(extent > 0 ? extent : 1) * c->row_s + points * merged +
                   weir_flops(a, &whole) / (c->flop_rate * share_of_peak)};
  }
}

static void add_rows(formatting *f, int32_t node)
{
  const weir_node *n = weir_graph_node(f->g, node);
  const weir_access *a = &n->access;

  for (int k = n->n_in + n->n_out - 1; k >= 0 && a->maker == WEIR_MADE_BY_BODY; k--) {
    const layout_array *array = &f->arrays[layout_array_of(n, k)];

    for (int o = 0; o < array->n_orders; o++) {
      const int row = layout_row(a, layout_operand(n, k), array->order[o].at);

      if (row >= 0) {
        add_row(&f->nodes[node], a, row, f->constants);
      }
    }
  }
  if (f->nodes[node].n_ways == 0) {
    add_row(&f->nodes[node], a, a->n_dims > 0 ? a->n_dims - 1 : 0, f->constants);
  }
}

/* Puts the node's operands and their arrays into the orders of a combination (back: out of them).
 */
static void arrange(formatting *f, int32_t node, const int32_t *arrays, const int *order, int n,
                    bool back)
{
  weir_node *x = weir_graph_node_mut(f->g, node);

  for (int i = 0; i < n; i++) {
    weir_array_desc *desc = &weir_graph_array_mut(f->g, arrays[i])->desc;
    const int *to = f->arrays[arrays[i]].order[order[i]].at;
    int inverse[WEIR_MAX_RANK];

    layout_invert(to, desc->rank, inverse);
    layout_permute_desc(desc, back ? inverse : to);
    for (int k = 0; k < x->n_in + x->n_out; k++) {
      if (layout_array_of(x, k) == arrays[i]) {
        layout_permute_operand(&x->access, layout_number(x, k), back ? inverse : to);
      }
    }
  }
}

double layout_claim_seconds(formatting *f, int32_t node, const int32_t *arrays, const int *order,
                            int n)
{
  const weir_group alone = {.nodes = &node, .n_nodes = 1};
  double seconds = -1;

  arrange(f, node, arrays, order, n, false);
  (void)weir_kernel_best(f->g, &alone, f->opts, &seconds);
  arrange(f, node, arrays, order, n, true);
  return seconds;
}

/* Combinations of orders in which a kernel claims the node. */
static void add_claims(formatting *f, int32_t node)
{
  const weir_node *n = weir_graph_node(f->g, node);
  layout_node *ways = &f->nodes[node];
  int32_t arrays[LAYOUT_MAX_OPERANDS];
  int order[LAYOUT_MAX_OPERANDS] = {0}, count = 0, step = 0;

  for (int k = 0; k < n->n_in + n->n_out; k++) {
    bool known = f->arrays[layout_array_of(n, k)].n_orders == 1 ||
                 !layout_may_move(&n->access, layout_operand(n, k));

    for (int i = 0; i < count; i++) {
      known = known || arrays[i] == layout_array_of(n, k);
    }
    if (!known) {
      arrays[count++] = layout_array_of(n, k);
    }
  }
  while (step < count || count == 0) {
    const double seconds = layout_claim_seconds(f, node, arrays, order, count);

    if (seconds >= 0 && ways->n_ways < LAYOUT_MAX_WAYS) {
      layout_way *way = &ways->way[ways->n_ways++];

      *way = (layout_way){.row = -1, .seconds = seconds};
      for (int k = 0; k < n->n_in + n->n_out; k++) {
        for (int i = 0; i < count; i++) {
          way->order[k] = layout_array_of(n, k) == arrays[i] ? (int8_t)order[i] : way->order[k];
        }
      }
    }
    for (step = 0; step < count && ++order[step] == f->arrays[arrays[step]].n_orders; step++) {
      order[step] = 0;
    }
    if (count == 0) {
      return;
    }
  }
}

void layout_find_ways(formatting *f, int32_t node)
{
  if (f->kernel[node] != NULL || layout_is_product(weir_graph_node(f->g, node))) {
    add_claims(f, node);
  }
  add_rows(f, node);
}
