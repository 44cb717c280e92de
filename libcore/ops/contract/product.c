/* product.c - see product.h. */
#include "ops/contract/product.h"

/* The expression that loads, where that or its conjugate is what expression i is; else NULL. */
static const weir_expr *loaded(const weir_body *b, int32_t i, bool *conj)
{
  const weir_expr *e = &b->exprs[i];

  *conj = e->code == WEIR_CODE_CONJ;
  e = *conj ? &b->exprs[e->a] : e;
  return e->code == WEIR_CODE_LOAD ? e : NULL;
}

bool contract_is_product(const weir_access *a, bool *conj)
{
  const weir_expr *e = a->body.exprs;
  bool first, second;

  if (a->maker != WEIR_MADE_BY_BODY || a->combine != WEIR_COMBINE_SUM || a->n_states > 0 ||
      a->n_values != 1 || a->n_in != 2 || a->n_out != 1 || e[a->value[0]].code != WEIR_CODE_MUL) {
    return false;
  }
  const weir_expr *x = loaded(&a->body, e[a->value[0]].a, &first);
  const weir_expr *y = loaded(&a->body, e[a->value[0]].b, &second);
  const weir_dtype dtype = a->out[0].dtype;

  if (x == NULL || y == NULL || x->integer == y->integer) {
    return false;
  }
  conj[x->integer] = first;
  conj[y->integer] = second;
  return a->accumulator == dtype && a->in[0].dtype == dtype && a->in[1].dtype == dtype;
}
