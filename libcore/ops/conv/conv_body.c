/* conv_body.c - products of two loads, and the conditions on the iterations that count, however
 * they are written: sides of a comparison, terms and factors in any order. */
#include "ops/conv/conv_form_priv.h"

#include <string.h>

#include "base/weir_alloc.h"

static bool stands_still(const weir_dim *d)
{
  return d->hi - d->lo == 1;
}

void conv_line_reduce(const weir_access *a, conv_line *l)
{
  int64_t common = l->div;

  for (int j = 0; j < a->n_dims; j++) {
    if (stands_still(&a->dim[j])) {
      l->offset += l->coef[j] * a->dim[j].lo;
      l->coef[j] = 0;
    }
    common = weir_gcd(common, l->coef[j] < 0 ? -l->coef[j] : l->coef[j]);
  }
  common = weir_gcd(common, l->offset < 0 ? -l->offset : l->offset);
  for (int j = 0; j < a->n_dims && common > 1; j++) {
    l->coef[j] /= common;
  }
  if (common > 1) {
    l->offset /= common;
    l->div /= common;
  }
}

static bool constant_of(const weir_body *b, int32_t e, int64_t *value)
{
  const weir_expr *x = &b->exprs[e];

  *value = x->integer;
  return x->code == WEIR_CODE_CONST && weir_dtype_is_whole(x->dtype);
}

/* *product = k factor, where that is small. */
static bool multiply(int64_t k, int64_t factor, int64_t *product)
{
  return weir_mul_ok(k, factor, product) && conv_is_small(*product);
}

/* line + times (whole's numerator / whole.div, rounded). */
typedef struct sum {
  conv_line line, whole;
  int64_t times;
} sum;

static bool add_term(const weir_body *b, int32_t e, int64_t factor, sum *s);

/* At most one division, by a number above 0, of a sum without one. */
static bool add_quotient(const weir_body *b, const weir_expr *x, int64_t factor, sum *s)
{
  sum inner = {.line = {.div = 1}};

  if (s->times != 0 || !constant_of(b, x->b, &inner.line.div) || inner.line.div < 1 ||
      !conv_is_small(inner.line.div) || !add_term(b, x->a, 1, &inner) || inner.times != 0) {
    return false;
  }
  s->whole = inner.line;
  s->times = factor;
  return true;
}

/* s += factor * e, factor small; false where e is no sum of small multiples of indices and of one
 * quotient. */
static bool add_term(const weir_body *b, int32_t e, int64_t factor, sum *s)
{
  const weir_expr *x = &b->exprs[e];
  int64_t k, product;

  switch (x->code) {
  case WEIR_CODE_INDEX:
    return weir_add_ok(s->line.coef[x->integer], factor, &s->line.coef[x->integer]);
  case WEIR_CODE_CONST:
    return constant_of(b, e, &k) && multiply(k, factor, &product) &&
           weir_add_ok(s->line.offset, product, &s->line.offset);
  case WEIR_CODE_ADD:
    return add_term(b, x->a, factor, s) && add_term(b, x->b, factor, s);
  case WEIR_CODE_SUB:
    return add_term(b, x->a, factor, s) && add_term(b, x->b, -factor, s);
  case WEIR_CODE_NEG:
    return add_term(b, x->a, -factor, s);
  case WEIR_CODE_MUL:
    if (constant_of(b, x->b, &k)) {
      return multiply(k, factor, &product) && add_term(b, x->a, product, s);
    }
    return constant_of(b, x->a, &k) && multiply(k, factor, &product) &&
           add_term(b, x->b, product, s);
  case WEIR_CODE_DIV:
    return add_quotient(b, x, factor, s);
  default:
    return false;
  }
}

/* Its first dimension counts up, and what is added stands on the other side. */
static void turn_bound(conv_condition *c)
{
  int first = 0;

  while (first < WEIR_MAX_DIMS - 1 && c->line.coef[first] == 0) {
    first++;
  }
  c->bound -= c->line.offset;
  c->line.offset = 0;
  if (c->line.coef[first] < 0) {
    for (int j = 0; j < WEIR_MAX_DIMS; j++) {
      c->line.coef[j] = -c->line.coef[j];
    }
    c->bound = c->test == CONV_EQUAL ? -c->bound : 1 - c->bound;
    c->test = c->test == CONV_FROM ? CONV_BELOW : c->test == CONV_BELOW ? CONV_FROM : CONV_EQUAL;
  }
}

void conv_condition_reduce(const weir_access *a, conv_condition *c)
{
  conv_line_reduce(a, &c->line);
  if (c->test != CONV_WHOLE && c->test != CONV_EDGE) {
    turn_bound(c);
  }
}

/* The difference of both sides is at least (below, equal to) 0: `more` of it. */
static bool put_bound(const sum *s, conv_test test, int64_t more, conv_condition *c)
{
  *c = (conv_condition){.test = test, .line = s->line, .bound = more};
  return s->times == 0;
}

/* The difference is 0. times (line / div) - line, times = div, is where the line is whole, and only
 * there. */
static bool put_equal(const sum *s, conv_condition *c)
{
  if (s->times == 0) {
    return put_bound(s, CONV_EQUAL, 0, c);
  }
  const int64_t sign = s->times < 0 ? -1 : 1;
  bool right = s->times == sign * s->whole.div && s->line.offset == -sign * s->whole.offset;

  for (int j = 0; j < WEIR_MAX_DIMS; j++) {
    right = right && s->line.coef[j] == -sign * s->whole.coef[j];
  }
  *c = (conv_condition){.test = CONV_WHOLE, .line = s->whole};
  return right;
}

static bool add_comparison(const weir_access *a, const weir_expr *x, bool holds, conv_condition *c)
{
  sum s = {.line = {.div = 1}};

  if (x->a < 0 || x->b < 0 || !add_term(&a->body, x->a, 1, &s) ||
      !add_term(&a->body, x->b, -1, &s)) {
    return false;
  }
  switch (x->code) {
  case WEIR_CODE_EQ:
    return holds && put_equal(&s, c);
  case WEIR_CODE_NE:
    return !holds && put_equal(&s, c);
  case WEIR_CODE_GE:
    return put_bound(&s, holds ? CONV_FROM : CONV_BELOW, 0, c);
  case WEIR_CODE_LT:
    return put_bound(&s, holds ? CONV_BELOW : CONV_FROM, 0, c);
  case WEIR_CODE_GT:
    return put_bound(&s, holds ? CONV_FROM : CONV_BELOW, 1, c);
  case WEIR_CODE_LE:
    return put_bound(&s, holds ? CONV_BELOW : CONV_FROM, 1, c);
  default:
    return false;
  }
}

static bool add_conditions(const weir_access *a, int32_t e, bool holds, conv_condition *list,
                           int *n);

/* Of the rule that repeats the ends (put_edge): how far beyond them, and which element. */
enum { ALTERNATIVES = 3, PARTS = 2 };

typedef struct alternative {
  conv_condition part[PARTS]; /* each of one dimension, less what always holds */
  int n;
} alternative;

/* Dimensions that a condition depends on, and the last of them, whose coefficient is 1 where there
 * is but one. */
static int dims_of(const conv_condition *c, int *dim)
{
  int n = 0;

  *dim = NONE;
  for (int j = 0; j < WEIR_MAX_DIMS; j++) {
    if (c->line.coef[j] != 0) {
      *dim = j;
      n++;
    }
  }
  return n;
}

/* Appends the alternatives of the expression, which holds or does not. */
static bool add_alternatives(const weir_access *a, int32_t e, bool holds, alternative *list, int *n)
{
  const weir_expr *x = &a->body.exprs[e];
  conv_condition all[CONV_MAX_CONDITIONS];
  int count = 0;

  if (x->code == WEIR_CODE_NOT) {
    return add_alternatives(a, x->a, !holds, list, n);
  }
  if (x->code == (holds ? WEIR_CODE_OR : WEIR_CODE_AND)) {
    return add_alternatives(a, x->a, holds, list, n) && add_alternatives(a, x->b, holds, list, n);
  }
  if (*n == ALTERNATIVES || !add_conditions(a, e, holds, all, &count)) {
    return false;
  }
  alternative *to = &list[(*n)++];

  to->n = 0;
  for (int i = 0; i < count; i++) {
    int dim;
    const int dims = dims_of(&all[i], &dim);

    if (dims == 0 && all[i].test == CONV_EQUAL && all[i].bound == 0) {
      continue;
    }
    if (dims != 1 || to->n == PARTS || all[i].line.coef[dim] != 1 || all[i].line.div != 1) {
      return false;
    }
    to->part[to->n++] = all[i];
  }
  return true;
}

/* The part of this test and its dimension, which is not `other`; NULL, NONE: there is none. */
static const conv_condition *part_of(const alternative *l, conv_test test, int other, int *dim)
{
  for (int i = 0; i < l->n; i++) {
    (void)dims_of(&l->part[i], dim);
    if (l->part[i].test == test && *dim != other) {
      return &l->part[i];
    }
  }
  *dim = NONE;
  return NULL;
}

/* The alternative is shift `test` bound, and, where there are several elements, one of them. */
static bool is_beyond(const alternative *l, conv_test test, int64_t bound, int shift, int *element,
                      int64_t *at)
{
  int dim;
  const conv_condition *by = part_of(l, test, NONE, &dim);
  const conv_condition *of = part_of(l, CONV_EQUAL, shift, element);

  *at = of != NULL ? of->bound : 0;
  return by != NULL && dim == shift && by->bound == bound && l->n == 1 + (of != NULL);
}

/* The alternatives, in any order: shift is 0; shift < 0 and element 0; shift > 0 and the last
 * element. */
static bool put_edge(const alternative *list, conv_condition *c)
{
  static const int orders[][ALTERNATIVES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                             {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
    const alternative *here = &list[orders[i][0]];
    int shift, first, last;
    int64_t low, high;
    const conv_condition *none = part_of(here, CONV_EQUAL, NONE, &shift);

    if (none != NULL && none->bound == 0 && here->n == 1 &&
        is_beyond(&list[orders[i][1]], CONV_BELOW, 0, shift, &first, &low) &&
        is_beyond(&list[orders[i][2]], CONV_FROM, 1, shift, &last, &high) && first == last &&
        low == 0) {
      *c = (conv_condition){
          .test = CONV_EDGE, .line = {.div = 1}, .bound = high, .shift = shift, .element = first};
      return true;
    }
  }
  return false;
}

static bool add_edge(const weir_access *a, int32_t e, bool holds, conv_condition *list, int *n)
{
  alternative all[ALTERNATIVES];
  int count = 0;

  return *n < CONV_MAX_CONDITIONS && add_alternatives(a, e, holds, all, &count) &&
         count == ALTERNATIVES && put_edge(all, &list[(*n)++]);
}

static bool add_conditions(const weir_access *a, int32_t e, bool holds, conv_condition *list,
                           int *n)
{
  const weir_expr *x = &a->body.exprs[e];
  conv_condition *c = &list[*n];

  if (x->code == WEIR_CODE_NOT) {
    return add_conditions(a, x->a, !holds, list, n);
  }
  if (x->code == (holds ? WEIR_CODE_AND : WEIR_CODE_OR)) {
    return add_conditions(a, x->a, holds, list, n) && add_conditions(a, x->b, holds, list, n);
  }
  if (x->code == (holds ? WEIR_CODE_OR : WEIR_CODE_AND)) {
    return add_edge(a, e, holds, list, n);
  }
  if (*n == CONV_MAX_CONDITIONS || !add_comparison(a, x, holds, c)) {
    return false;
  }
  for (int j = 0; j < a->n_dims; j++) {
    if (!conv_is_small(c->line.coef[j])) {
      return false;
    }
  }
  if (!conv_is_small(c->line.offset)) {
    return false;
  }
  conv_condition_reduce(a, c);
  ++*n;
  return conv_is_small(c->line.offset) && conv_is_small(c->bound);
}

static bool is_number(const weir_body *b, int32_t e, double value)
{
  return b->exprs[e].code == WEIR_CODE_CONST && weir_dtype_is_real(b->exprs[e].dtype) &&
         b->exprs[e].real == value;
}

/* Adds what the expression multiplies, where its conditions hold: it counts as 0 elsewhere. */
static bool add_factors(const weir_access *a, int32_t e, conv_condition *list, int *n, int *loads)
{
  const weir_body *b = &a->body;
  const weir_expr *x = &b->exprs[e];

  switch (x->code) {
  case WEIR_CODE_SELECT:
    if (is_number(b, x->c, 0)) {
      return add_conditions(a, x->a, true, list, n) && add_factors(a, x->b, list, n, loads);
    }
    return is_number(b, x->b, 0) && add_conditions(a, x->a, false, list, n) &&
           add_factors(a, x->c, list, n, loads);
  case WEIR_CODE_MUL:
    return add_factors(a, x->a, list, n, loads) && add_factors(a, x->b, list, n, loads);
  case WEIR_CODE_CONST:
    return is_number(b, e, 1);
  case WEIR_CODE_CAST: /* exact */
    return b->exprs[x->a].dtype == WEIR_BF16 && add_factors(a, x->a, list, n, loads);
  case WEIR_CODE_LOAD:
    if ((*loads >> x->integer & 1) != 0) {
      return false;
    }
    *loads |= 1 << x->integer;
    return true;
  default:
    return false;
  }
}

int conv_body_conditions(const weir_access *a, conv_condition *conditions)
{
  int n = 0, loads = 0;

  return add_factors(a, a->value[0], conditions, &n, &loads) && loads == 3 ? n : -1;
}

void conv_find_still(matching *m)
{
  const weir_access *a = m->a;

  for (int i = 0; i < m->n_conditions; i++) {
    const conv_line *l = &m->condition[i].line;
    int odd = NONE, n = l->offset % l->div != 0;

    for (int j = 0; j < a->n_dims; j++) {
      if (l->coef[j] % l->div != 0) {
        odd = j;
        n++;
      }
    }
    if (m->condition[i].test == CONV_WHOLE && n == 1 && odd != NONE &&
        (l->coef[odd] == 1 || l->coef[odd] == -1) && a->dim[odd].kind == WEIR_REDUCED &&
        a->dim[odd].lo == 0 && a->dim[odd].hi <= l->div) {
      m->still[odd] = true;
    }
  }
  for (int i = 0; i < m->n_conditions; i++) {
    for (int j = 0; j < a->n_dims; j++) {
      m->condition[i].line.coef[j] = m->still[j] ? 0 : m->condition[i].line.coef[j];
    }
    conv_condition_reduce(a, &m->condition[i]);
  }
}
