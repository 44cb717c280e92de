/* precision_products.c - operands of large products of f64 and c128 become numbers of fewer bits.
 *
 * Both operands of a sum of products are multiplied by a power of two each, which brings the
 * largest element near the top of the format, rounded to it, and multiplied in f32 (c64), in which
 * a product of two numbers of bf16 or f16 is exact and sums are made; the sum is divided by both
 * powers and written in the dtype that it had. Every batch of the product (an iteration dimension
 * along which both operands lie, as atoms or the kind of a function) has its own powers. Without
 * them a format of few exponents loses small operands and makes large ones infinite.
 *
 * In two parts (Markidis et al., IPDPSW 2018, doi 10.1109/IPDPSW.2018.00091) an operand is the sum
 * of the rounded number and of what rounding drops, rounded; three products are made, all but that
 * of what is dropped of both.
 *
 * Products that make an operand of a few others stay as they are: what a rounded factor has wrong
 * would be wrong alike in all results computed from it, where errors of operands of a long sum
 * cancel. */
#include "pass/precision/precision_priv.h"

#include "base/weir_alloc.h"

/* Share of the flops of all such products from which on one is changed. */
static const double min_share = 0.1;

static weir_dtype format_of(weir_products products)
{
  static const weir_dtype formats[] = {[WEIR_PRODUCTS_F64] = WEIR_F64,
                                       [WEIR_PRODUCTS_F32] = WEIR_F32,
                                       [WEIR_PRODUCTS_BF16] = WEIR_BF16,
                                       [WEIR_PRODUCTS_F16] = WEIR_F16,
                                       [WEIR_PRODUCTS_F16X2] = WEIR_F16};

  return formats[products];
}

/* Operand that a factor is, as it stands or as its conjugate; -1: it is something else. */
static int factor_of(const weir_body *b, int32_t i)
{
  const weir_expr *e = &b->exprs[i];

  if (e->code == WEIR_CODE_CONJ) {
    return factor_of(b, e->a);
  }
  return e->code == WEIR_CODE_LOAD ? (int)e->integer : -1;
}

/* Whether the result is a separate array, every element of which an iteration gives. */
static bool is_whole(const weir_access *a)
{
  bool whole = a->out[0].role == WEIR_ROLE_DATA;

  for (int d = 0; d < a->out[0].rank; d++) {
    whole = whole && weir_operand_dim(&a->out[0], a, d) >= 0;
  }
  return whole;
}

/* Whether the node is a sum of products of two operands in f64 or c128; factor: these. */
static bool is_double_product(const weir_graph *g, const weir_node *node, int factor[2])
{
  const weir_access *a = &node->access;
  bool summed = false, plain = true;

  if (node->op == NULL || node->dead || a->maker != WEIR_MADE_BY_BODY || a->n_states > 0 ||
      a->n_out != 1 || a->n_values != 1 || a->combine != WEIR_COMBINE_SUM) {
    return false;
  }
  const weir_dtype dtype = a->out[0].dtype;
  const weir_expr *e = &a->body.exprs[a->value[0]];

  if ((dtype != WEIR_F64 && dtype != WEIR_C128) || a->accumulator != dtype ||
      e->code != WEIR_CODE_MUL) {
    return false;
  }
  factor[0] = factor_of(&a->body, e->a);
  factor[1] = factor_of(&a->body, e->b);
  for (int k = 0; k < a->n_dims; k++) {
    summed = summed || a->dim[k].kind == WEIR_REDUCED;
    plain = plain && !a->dim[k].time && a->dim[k].hi > a->dim[k].lo;
  }
  for (int f = 0; f < 2; f++) {
    const weir_operand *o = factor[f] >= 0 ? &a->in[factor[f]] : NULL;

    plain = plain && o != NULL && o->dtype == dtype && o->role == WEIR_ROLE_DATA;
    for (int d = 0; plain && d < o->rank; d++) {
      plain = o->extent[d] > 0 && o->index[d].border != WEIR_BORDER_VALUE;
    }
  }
  return summed && plain && factor[0] != factor[1] && is_whole(a) &&
         weir_graph_get_array(g, node->out[0])->desc.time == 0;
}

/* Multiplications and additions of real numbers, dropped iterations counted. */
static double flops_of(const weir_node *node)
{
  const weir_box whole = weir_iterations(&node->access);

  return (double)weir_box_volume(&whole) * (node->access.accumulator == WEIR_C128 ? 8 : 2);
}

/* Changes the products of the nodes marked. */
static weir_status change(precision_products *p, const bool *marked)
{
  for (int32_t i = 0; i < p->n_nodes; i++) {
    int factor[2];

    if (marked[i] && is_double_product(p->g, weir_graph_node(p->g, i), factor)) {
      WEIR_TRY(precision_change_product(p, i, factor));
    }
  }
  return WEIR_OK;
}

weir_status precision_round_products(weir_graph *g, const weir_pass_opts *opts)
{
  precision_products p = {.g = g,
                          .n_nodes = weir_graph_nodes(g),
                          .format = format_of(opts->products),
                          .parts = opts->products == WEIR_PRODUCTS_F16X2 ? 2 : 1,
                          .scaled = !opts->unscaled};
  weir_status status = WEIR_OK;
  double flops = 0;
  void *memory = NULL;
  int factor[2];

  WEIR_TRY(weir_alloc(p.n_nodes, sizeof(bool), &memory));
  bool *const marked = memory;

  for (int32_t i = 0; i < p.n_nodes; i++) {
    marked[i] = is_double_product(g, weir_graph_node(g, i), factor);
    flops += marked[i] ? flops_of(weir_graph_node(g, i)) : 0;
  }
  for (int32_t i = 0; i < p.n_nodes; i++) {
    marked[i] = marked[i] && flops_of(weir_graph_node(g, i)) >= min_share * flops;
  }
  status = change(&p, marked);
  weir_free(&p.made);
  weir_free(&memory);
  return status;
}
