/* product.c - see product.h. */
#include "ops/contract/product.h"

/* The expression that loads, where that or its conjugate is what expression i is, or, where
 * `widens`, an element of bf16 as f32; else NULL. */
static const weir_expr *loaded(const weir_body *b, int32_t i, bool widens, bool *conj)
{
  const weir_expr *e = &b->exprs[i];

  *conj = e->code == WEIR_CODE_CONJ;
  e = *conj ? &b->exprs[e->a] : e;
  if (widens && e->code == WEIR_CODE_CAST && e->dtype == WEIR_F32 &&
      b->exprs[e->a].dtype == WEIR_BF16) {
    e = &b->exprs[e->a];
  }
  return e->code == WEIR_CODE_LOAD ? e : NULL;
}

/* Whether an index of the two operands is gathered from operand k. */
static bool is_index(const weir_access *a, const contract_product *p, int k)
{
  for (int i = 0; i < 2; i++) {
    const weir_operand *o = &a->in[p->operand[i]];

    for (int d = 0; d < o->rank; d++) {
      if (o->index[d].gather == k + 1) {
        return true;
      }
    }
  }
  return false;
}

/* Whether expression i is such a product, of operands of that dtype. */
static bool product_at(const weir_access *a, int32_t i, weir_dtype dtype, bool widens,
                       contract_product *p)
{
  const weir_expr *e = a->body.exprs;
  bool first, second;

  if (e[i].code != WEIR_CODE_MUL) {
    return false;
  }
  const weir_expr *x = loaded(&a->body, e[i].a, widens, &first);
  const weir_expr *y = loaded(&a->body, e[i].b, widens, &second);

  if (x == NULL || y == NULL || x->integer == y->integer) {
    return false;
  }
  const bool ordered = x->integer < y->integer;

  *p = (contract_product){{(int)(ordered ? x : y)->integer, (int)(ordered ? y : x)->integer},
                          {ordered ? first : second, ordered ? second : first}};
  for (int k = 0; k < a->n_in; k++) {
    if (k != p->operand[0] && k != p->operand[1] && !is_index(a, p, k)) {
      return false;
    }
  }
  for (int k = 0; k < 2; k++) {
    const weir_dtype of = a->in[p->operand[k]].dtype;

    if (of != dtype && !(widens && of == WEIR_BF16)) {
      return false;
    }
  }
  return a->accumulator == dtype;
}

static bool is_sum(const weir_access *a)
{
  return a->maker == WEIR_MADE_BY_BODY && a->combine == WEIR_COMBINE_SUM && a->n_states == 0 &&
         a->n_values == 1 && a->n_in >= 2 && a->n_out == 1;
}

bool contract_product_of(const weir_access *a, contract_product *p)
{
  return is_sum(a) && product_at(a, a->value[0], a->out[0].dtype, false, p);
}

bool contract_product_summed(const weir_access *a, contract_product *p)
{
  return is_sum(a) && product_at(a, a->value[0], a->accumulator, true, p);
}

bool contract_is_product(const weir_access *a, bool *conj)
{
  contract_product p;

  if (a->n_in != 2 || !contract_product_of(a, &p)) {
    return false;
  }
  conj[0] = p.conj[0];
  conj[1] = p.conj[1];
  return true;
}
