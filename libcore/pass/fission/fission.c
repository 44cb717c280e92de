/* fission.c - a sum of products becomes a tree of sums of two factors.
 *
 * Terms of a sum come apart first. Then the body of a node is one product of factors, summed over
 * some iteration dimensions. Factors that together depend on few dimensions are multiplied once and
 * kept, instead of once for every iteration of the others; what is summed over is summed as soon
 * as no other factor depends on it. Both follow from the index maps alone. A factor that is read at
 * a linear form of the iterations only, as G at E - w, is made for every value of the form, and
 * read at it, so that neither E nor w is a dimension of the array (redundancy removal). An
 * iteration that a border drops is dropped as before: by who reads at the form, or by a second look
 * at the operand that has the border.
 *
 * It runs after a graph over ranks has been sharded: what they exchange was fixed
 * before, and is what the node as written needs. */
#include "pass/fission/fission_priv.h"

#include "base/weir_alloc.h"

/* A sum, or no sum, of one value, bounded, not empty, in its own dtype throughout. */
static bool may_split(const weir_node *node)
{
  const weir_access *a = &node->access;

  if (node->op == NULL || node->dead || a->maker != WEIR_MADE_BY_BODY || a->n_states > 0 ||
      a->n_out != 1 || a->n_values != 1 || a->combine != WEIR_COMBINE_SUM) {
    return false;
  }
  const weir_dtype dtype = a->out[0].dtype;
  bool may = a->accumulator == dtype && !weir_dtype_is_whole(dtype) &&
             !weir_dtype_is_storage(dtype) && a->body.exprs[a->value[0]].dtype == dtype;

  for (int k = 0; k < a->n_dims; k++) {
    may = may && !a->dim[k].time && a->dim[k].hi > a->dim[k].lo &&
          (a->dim[k].kind == WEIR_PARALLEL || a->dim[k].kind == WEIR_REDUCED);
  }
  for (int i = 0; i < a->n_in; i++) {
    for (int d = 0; d < a->in[i].rank; d++) {
      may = may && a->in[i].role == WEIR_ROLE_DATA && a->in[i].extent[d] > 0;
    }
  }
  return may;
}

/* Of the live nodes from `first` on. */
static double flops_from(const weir_graph *g, int32_t first)
{
  double flops = 0;

  for (int32_t i = first; i < weir_graph_nodes(g); i++) {
    const weir_access *a = &weir_graph_node(g, i)->access;
    const weir_box whole = weir_iterations(a);

    flops += weir_graph_node(g, i)->dead ? 0 : weir_flops(a, &whole);
  }
  return flops;
}

/* One product: replaced by the order found, if any. */
static weir_status split_product(weir_graph *g, int32_t number, weir_fission mode, void *partials)
{
  fission_plan p = {.a = &weir_graph_node(g, number)->access, .mode = mode, .partial = partials};

  if (fission_read_factors(&p) && fission_choose(&p)) {
    WEIR_TRY(fission_build(g, number, &p));
  }
  return WEIR_OK;
}

/* Splits the node, each term and then each product, where the result takes fewer flops,
 * iterations that are dropped left out. */
static weir_status split(weir_graph *g, int32_t number, weir_fission mode, void *partials)
{
  weir_node *node = weir_graph_node_mut(g, number);
  const weir_box whole = weir_iterations(&node->access);
  const int32_t first = weir_graph_nodes(g);
  bool taken;

  WEIR_TRY(fission_take_terms(g, number, &taken));
  if (!taken) {
    WEIR_TRY(split_product(g, number, mode, partials));
  }
  for (int32_t i = first; i < weir_graph_nodes(g) && taken; i++) {
    bool further = may_split(weir_graph_node(g, i));

    if (further) {
      WEIR_TRY(fission_take_terms(g, i, &further));
    }
    if (!further && may_split(weir_graph_node(g, i))) {
      WEIR_TRY(split_product(g, i, mode, partials));
    }
  }
  if (node->dead && flops_from(g, first) >= weir_flops(&node->access, &whole)) {
    for (int32_t i = first; i < weir_graph_nodes(g); i++) {
      weir_graph_node_mut(g, i)->dead = true;
    }
    node->dead = false;
  }
  return WEIR_OK;
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  const int32_t n = weir_graph_nodes(g);
  weir_status status = WEIR_OK;
  void *partials = NULL;

  if (opts->fission == WEIR_FISSION_OFF) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(FISSION_SETS, sizeof(fission_partial), &partials));
  for (int32_t i = 0; i < n && status == WEIR_OK; i++) {
    if (may_split(weir_graph_node(g, i))) {
      status = split(g, i, opts->fission, partials);
    }
  }
  weir_free(&partials);
  return status;
}

const weir_pass weir_pass_fission = {
    .name = "fission",
    .cite = "map fission and redundancy removal of Ziogas et al., SC19 (arXiv:1912.08810), section "
            "4; the order of products as in Pfeifer, Haegeman and Verstraete, Phys. Rev. E 90, "
            "033315 (2014)",
    .order = 3,
    .rounding = 1e-4, /* of f32: products in another order, sums of partial sums */
    .run = run,
};
