/* window_argmax.c - terms of positions, computed value by value. */
#include "graph/weir_window_argmax.h"

enum { MAX_TERMS = 64, NO_LEAF = -1, MIXED = -2 };

/* Values for which a term is computed: windows are not recognised in larger extents. */
static const int64_t max_values = INT64_C(1) << 24;

typedef struct terms {
  const weir_body *b;
  int32_t expr[MAX_TERMS];
  int64_t factor[MAX_TERMS];
  int n;
} terms;

static bool is_leaf(const weir_expr *e)
{
  return e->code == WEIR_CODE_INDEX || e->code == WEIR_CODE_REMAINDER;
}

static bool is_constant(const weir_body *b, int32_t e)
{
  return b->exprs[e].code == WEIR_CODE_CONST && weir_dtype_is_whole(b->exprs[e].dtype);
}

/* The leaf, INDEX and REMAINDER by their number, that the expression depends on. */
static int64_t leaf_of(const weir_body *b, int32_t number, weir_code code)
{
  const weir_expr *e = &b->exprs[number];
  const int32_t args[] = {e->a, e->b, e->c};
  int64_t found = NO_LEAF;

  if (is_leaf(e) || weir_code_args(e->code) == 0) {
    return e->code == code ? e->integer : is_constant(b, number) ? NO_LEAF : MIXED;
  }
  for (int k = 0; k < weir_code_args(e->code); k++) {
    const int64_t here = leaf_of(b, args[k], code);

    if (here == MIXED || (here >= 0 && found >= 0 && here != found)) {
      return MIXED;
    }
    found = here >= 0 ? here : found;
  }
  return found;
}

/* The expression where its one leaf has that value; false: it computes what is not followed. */
static bool leaf_is(const weir_expr *e, const void *value, int64_t *v)
{
  *v = *(const int64_t *)value;
  return is_leaf(e);
}

static bool compute(const weir_body *b, int32_t number, int64_t leaf, int64_t *v)
{
  return weir_body_whole(b, number, leaf_is, &leaf, v);
}

/* Sums and multiples fall apart; none of them wraps, as long as what they give fits. */
static bool add_terms(terms *t, int32_t number, int64_t factor)
{
  const weir_expr *e = &t->b->exprs[number];

  if (!weir_whole_fits(factor)) {
    return false;
  }
  if ((e->code == WEIR_CODE_ADD || e->code == WEIR_CODE_SUB) &&
      weir_dtype_is_wide_whole(e->dtype)) {
    return add_terms(t, e->a, factor) &&
           add_terms(t, e->b, e->code == WEIR_CODE_ADD ? factor : -factor);
  }
  if (e->code == WEIR_CODE_CAST && weir_dtype_is_wide_whole(e->dtype) &&
      weir_dtype_is_wide_whole(t->b->exprs[e->a].dtype)) {
    return add_terms(t, e->a, factor);
  }
  if (e->code == WEIR_CODE_MUL && weir_dtype_is_wide_whole(e->dtype) &&
      (is_constant(t->b, e->a) || is_constant(t->b, e->b))) {
    const int32_t constant = is_constant(t->b, e->a) ? e->a : e->b;
    const int64_t by = t->b->exprs[constant].integer;

    return weir_whole_fits(by) && add_terms(t, constant == e->a ? e->b : e->a, factor * by);
  }
  if (t->n == MAX_TERMS) {
    return false;
  }
  t->expr[t->n] = number;
  t->factor[t->n++] = factor;
  return true;
}

/* The sum of the terms of one leaf, or (NO_LEAF) of none. */
static bool sum_of(const terms *t, weir_code code, int64_t leaf, int64_t value, int64_t *sum)
{
  *sum = 0;
  for (int i = 0; i < t->n; i++) {
    int64_t v;

    if (leaf_of(t->b, t->expr[i], code) != leaf) {
      continue;
    }
    if (!compute(t->b, t->expr[i], value, &v)) {
      return false;
    }
    *sum += t->factor[i] * v;
    if (!weir_whole_fits(*sum)) {
      return false;
    }
  }
  return true;
}

/* True when every term is of a leaf that there is. */
static bool are_known(const terms *t, weir_code code, int64_t first, int rank)
{
  for (int i = 0; i < t->n; i++) {
    const int64_t leaf = leaf_of(t->b, t->expr[i], code);

    if (leaf != NO_LEAF && (leaf < first || leaf >= first + rank)) {
      return false;
    }
  }
  return true;
}

/* True when the terms of a leaf are weight times its position, but for a constant that they add. */
static bool counts(const terms *t, weir_code code, int64_t leaf, weir_interval values,
                   int64_t window, int64_t weight, int64_t *added)
{
  if (values.lo < 0 || values.hi - values.lo > max_values) {
    return false;
  }
  for (int64_t v = values.lo; v < values.hi; v++) {
    int64_t sum;

    if (!sum_of(t, code, leaf, v, &sum)) {
      return false;
    }
    sum -= weight * (v % window);
    *added = v == values.lo ? sum : *added;
    if (sum != *added) {
      return false;
    }
  }
  return true;
}

/* True when the expression is the position. */
static bool is_position(const weir_access *a, int32_t number, int argmax, bool rests,
                        const int64_t *window, int rank)
{
  const weir_code code = rests ? WEIR_CODE_REMAINDER : WEIR_CODE_INDEX;
  const int64_t first = rests ? (int64_t)argmax * 16 : 0;
  terms t = {.b = &a->body};
  int64_t weight = 1, sum;

  if (!add_terms(&t, number, 1) || !are_known(&t, code, first, rank) ||
      !sum_of(&t, code, NO_LEAF, 0, &sum)) {
    return false;
  }
  for (int d = rank - 1; d >= 0; d--) {
    const weir_interval values = {rests ? 0 : a->dim[d].lo, rests ? window[d] : a->dim[d].hi};
    int64_t added = 0;

    if (weight > UINT8_MAX || !counts(&t, code, first + d, values, window[d], weight, &added)) {
      return false;
    }
    sum += added;
    weight *= window[d];
  }
  return sum == 0 && weight > 1 && weight <= UINT8_MAX;
}

static bool is_number(const weir_body *b, int32_t e, double value)
{
  return b->exprs[e].code == WEIR_CODE_CONST && weir_dtype_is_real(b->exprs[e].dtype) &&
         b->exprs[e].real == value;
}

/* A factor of 1 is none. */
static int32_t without_one(const weir_body *b, int32_t e)
{
  const weir_expr *x = &b->exprs[e];

  return x->code != WEIR_CODE_MUL ? e
         : is_number(b, x->a, 1)  ? without_one(b, x->b)
         : is_number(b, x->b, 1)  ? without_one(b, x->a)
                                  : e;
}

/* True for a load of the operand, as it is or wider. */
static bool is_load(const weir_body *b, int32_t e, int operand)
{
  const weir_expr *x = &b->exprs[e];

  x = x->code == WEIR_CODE_CAST && weir_dtype_is_wide_whole(x->dtype) ? &b->exprs[x->a] : x;
  return x->code == WEIR_CODE_LOAD && x->integer == operand;
}

int32_t weir_window_argmax(const weir_access *a, int argmax, bool rests, const int64_t *window,
                           int rank)
{
  const weir_body *b = &a->body;
  const weir_expr *x = &b->exprs[without_one(b, a->value[0])];

  if (x->code != WEIR_CODE_SELECT) {
    return -1;
  }
  const weir_expr *test = &b->exprs[x->a];
  const bool same = test->code == WEIR_CODE_EQ;

  if ((!same && test->code != WEIR_CODE_NE) || !is_number(b, same ? x->c : x->b, 0)) {
    return -1;
  }
  const bool first = is_load(b, test->a, argmax);

  return (first || is_load(b, test->b, argmax)) &&
                 is_position(a, first ? test->b : test->a, argmax, rests, window, rank)
             ? without_one(b, same ? x->b : x->c)
             : -1;
}
