/* fission_factors.c - the factors of a body, and what each depends on. */
#include "pass/fission/fission_priv.h"

/* A factor that is one operand: products of one are distinguished by it. */
static fission_set bit(int i)
{
  return (fission_set)1 << i;
}

int64_t fission_extent(const fission_plan *p, int dim)
{
  return p->a->dim[dim].hi - p->a->dim[dim].lo;
}

double fission_product_flops(const fission_plan *p)
{
  return weir_dtype_is_complex(p->a->accumulator) ? 6 : 1;
}

double fission_sum_flops(const fission_plan *p)
{
  return weir_dtype_is_complex(p->a->accumulator) ? 2 : 1;
}

/* Operand k, those that its indices are gathered from, and the dimensions that all of them use. */
static void add_operand(const fission_plan *p, int k, fission_factor *f)
{
  fission_set todo = bit(k);

  f->loads |= bit(k);
  while (todo != 0) {
    const int i = __builtin_ctz(todo);
    const weir_operand *o = &p->a->in[i];

    todo &= ~bit(i);
    f->operands |= bit(i);
    for (int d = 0; d < o->rank; d++) {
      const int from = o->index[d].gather - 1;

      for (int j = 0; j < p->a->n_dims; j++) {
        f->dims |= o->index[d].coef[j] != 0 ? bit(j) : 0;
      }
      if (from >= 0 && (f->operands >> from & 1) == 0) {
        todo |= bit(from);
      }
    }
  }
}

/* What expression i depends on; false: something that no part of the iterations may do alone. */
static bool depend(const fission_plan *p, int32_t i, fission_factor *f)
{
  const weir_expr *e = &p->a->body.exprs[i];
  const int32_t args[3] = {e->a, e->b, e->c};
  bool may =
      e->code != WEIR_CODE_RANDOM && e->code != WEIR_CODE_STATE && e->code != WEIR_CODE_REMAINDER;

  if (e->code == WEIR_CODE_LOAD) {
    add_operand(p, (int)e->integer, f);
  } else if (e->code == WEIR_CODE_INDEX) {
    f->dims |= bit((int)e->integer);
  }
  f->flops += weir_body_flops(&p->a->body, i);
  for (int k = 0; k < weir_code_args(e->code) && may; k++) {
    may = depend(p, args[k], f);
  }
  return may;
}

/* Takes products of expression i apart; *set: its factors. */
static bool take_apart(fission_plan *p, int32_t i, fission_set *set)
{
  const weir_expr *e = &p->a->body.exprs[i];
  fission_set left = 0, right = 0;

  if (e->code != WEIR_CODE_MUL) {
    if (p->n_factors == FISSION_FACTORS) {
      return false;
    }
    fission_factor *f = &p->factor[p->n_factors];

    *set = bit(p->n_factors++);
    *f = (fission_factor){.expr = i};
    return depend(p, i, f);
  }
  if (!take_apart(p, e->a, &left) || !take_apart(p, e->b, &right)) {
    return false;
  }
  *set = left | right;
  p->product[p->n_products] = *set;
  p->product_left[p->n_products++] = left;
  return true;
}

bool fission_read_factors(fission_plan *p)
{
  fission_set all = 0, operands = 0;

  if (!take_apart(p, p->a->value[0], &all) || p->n_factors < 2) {
    return false;
  }
  for (int i = 0; i < p->n_factors; i++) {
    operands |= p->factor[i].operands;
  }
  return operands == bit(p->a->n_in) - 1; /* one that is not read may drop iterations */
}
