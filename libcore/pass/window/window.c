/* window.c - sums over offsets as sliding windows: no border is left in the sum.
 *
 * A sum of products over w that reads G at E - w drops what lies before the first energy, so that
 * no two energies sum over the same w, and no kernel for products takes it. With a margin of zeros
 * before the first energy every E sums over all w: of one array at E - w, windows that overlap, of
 * the other at w. That is one product of matrices whose inner dimension is w with all else that is
 * summed over, read in place by strides. At a border that wraps, the margin repeats the other end.
 *
 * A product with a zero of the margin is added where nothing was: it is 0, unless the other operand
 * is infinite or NaN there. Zeros may change their sign. */
#include "pass/window/window_priv.h"

/* Elements of the widened array for each that it had, at most; likewise of the iterations. */
static const double max_growth = 2;

/* Whether expression i is a product of loads, or of their conjugates. */
static bool is_product(const weir_body *b, int32_t i)
{
  const weir_expr *e = &b->exprs[i];

  switch (e->code) {
  case WEIR_CODE_LOAD:
    return true;
  case WEIR_CODE_CONJ:
    return is_product(b, e->a);
  case WEIR_CODE_MUL:
    return is_product(b, e->a) && is_product(b, e->b);
  default:
    return false;
  }
}

static bool is_loaded(const weir_body *b, int operand)
{
  for (int32_t i = 0; i < b->n; i++) {
    if (b->exprs[i].code == WEIR_CODE_LOAD && b->exprs[i].integer == operand) {
      return true;
    }
  }
  return false;
}

/* Whether a load outside along some dimension gives its own number, before which the zeros of
 * a margin would not count. */
static bool has_value_border(const weir_operand *o)
{
  for (int d = 0; d < o->rank; d++) {
    if (o->index[d].border == WEIR_BORDER_VALUE) {
      return true;
    }
  }
  return false;
}

static bool may_change(const weir_node *node)
{
  const weir_access *a = &node->access;

  if (node->op == NULL || node->dead || a->maker != WEIR_MADE_BY_BODY || a->n_states > 0 ||
      a->combine != WEIR_COMBINE_SUM || a->n_values != 1 ||
      a->body.exprs[a->value[0]].code != WEIR_CODE_MUL || !is_product(&a->body, a->value[0])) {
    return false;
  }
  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].time || a->dim[k].hi <= a->dim[k].lo) {
      return false;
    }
  }
  return true;
}

/* Whether the index runs with a dimension that is kept and one that is summed over. */
static bool slides(const weir_access *a, const weir_index *x)
{
  bool kept = false, summed = false;

  for (int k = 0; k < a->n_dims; k++) {
    kept = kept || (x->coef[k] != 0 && a->dim[k].kind == WEIR_PARALLEL);
    summed = summed || (x->coef[k] != 0 && a->dim[k].kind == WEIR_REDUCED);
  }
  return kept && summed && x->gather == 0 && weir_index_divisor(x) == 1;
}

/* Whether dimension d of operand k slides out of its array, by margins that are worth it. */
static bool find_slide(const weir_access *a, int k, int d, window_slide *s)
{
  const weir_operand *o = &a->in[k];
  const weir_index *x = &o->index[d];
  const weir_box whole = weir_iterations(a);
  int64_t lo, hi;

  if (o->role != WEIR_ROLE_DATA || has_value_border(o) || o->extent[d] < 1 || !slides(a, x) ||
      (x->border != WEIR_BORDER_ABSENT && x->border != WEIR_BORDER_ZERO &&
       x->border != WEIR_BORDER_WRAP)) {
    return false;
  }
  weir_index_range(x, &whole, &lo, &hi);
  *s = (window_slide){.operand = k, .dim = d, .border = WEIR_BORDER_ZERO};
  s->border = x->border == WEIR_BORDER_WRAP ? x->border : s->border;
  s->below = lo < 0 ? -lo : 0;
  s->above = hi >= o->extent[d] ? hi - o->extent[d] + 1 : 0;
  const double size = (double)o->extent[d];

  return s->below + s->above > 0 && s->below <= o->extent[d] && s->above <= o->extent[d] &&
         size + (double)s->below + (double)s->above <= max_growth * size;
}

/* Iterations that were dropped are made: at most as many as there were. */
static bool pays(const weir_access *a)
{
  const weir_box whole = weir_iterations(a);

  return (double)weir_box_volume(&whole) <= max_growth * (double)weir_surviving(a, &whole);
}

static weir_status change(weir_graph *g, int32_t number)
{
  const weir_node *node = weir_graph_node(g, number);
  window_slide s;

  for (int k = 0; k < node->access.n_in; k++) {
    for (int d = 0; d < node->access.in[k].rank; d++) {
      if (is_loaded(&node->access.body, k) && find_slide(&node->access, k, d, &s) &&
          pays(&node->access)) {
        WEIR_TRY(window_widen(g, number, &s));
      }
    }
  }
  return WEIR_OK;
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  const int32_t n = weir_graph_nodes(g);

  for (int32_t i = 0; i < n && opts->window; i++) {
    if (may_change(weir_graph_node(g, i))) {
      WEIR_TRY(change(g, i));
    }
  }
  return WEIR_OK;
}

const weir_pass weir_pass_window = {
    .name = "window",
    .cite = "multiplication fusion of Ziogas et al., SC19 (arXiv:1912.08810), section 4",
    .order = 7,
    .rounding = 1e-6, /* signs of zeros; not-finite elements next to the margins */
    .run = run,
};
