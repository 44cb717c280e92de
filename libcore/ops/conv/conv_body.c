/* conv_body.c - products of two loads, and the conditions on the iterations that count. */
#include "ops/conv/conv_priv.h"

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
    common = weir_common_divisor(common, l->coef[j] < 0 ? -l->coef[j] : l->coef[j]);
  }
  common = weir_common_divisor(common, l->offset < 0 ? -l->offset : l->offset);
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

/* sum += factor * line(e), factor small; false where e is no sum of small multiples of indices. */
static bool add_line(const weir_body *b, int32_t e, int64_t factor, conv_line *sum)
{
  const weir_expr *x = &b->exprs[e];
  int64_t k, product;

  switch (x->code) {
  case WEIR_CODE_INDEX:
    return __builtin_add_overflow(sum->coef[x->integer], factor, &sum->coef[x->integer]) == 0;
  case WEIR_CODE_CONST:
    return constant_of(b, e, &k) && multiply(k, factor, &product) &&
           weir_add_ok(sum->offset, product, &sum->offset);
  case WEIR_CODE_ADD:
    return add_line(b, x->a, factor, sum) && add_line(b, x->b, factor, sum);
  case WEIR_CODE_SUB:
    return add_line(b, x->a, factor, sum) && add_line(b, x->b, -factor, sum);
  case WEIR_CODE_MUL:
    if (constant_of(b, x->b, &k)) {
      return multiply(k, factor, &product) && add_line(b, x->a, product, sum);
    }
    return constant_of(b, x->a, &k) && multiply(k, factor, &product) &&
           add_line(b, x->b, product, sum);
  default:
    return false;
  }
}

/* (line / den) * den == line. */
static bool is_whole(const weir_body *b, const weir_expr *e, conv_condition *c)
{
  for (int swap = 0; swap < 2; swap++) {
    const weir_expr *product = &b->exprs[swap ? e->b : e->a];
    const int32_t line = swap ? e->a : e->b;
    int64_t times, den;

    if (product->code == WEIR_CODE_MUL && constant_of(b, product->b, &times) &&
        b->exprs[product->a].code == WEIR_CODE_DIV &&
        constant_of(b, b->exprs[product->a].b, &den) && den == times && den > 0) {
      conv_line divided = {.div = 1};

      *c = (conv_condition){.test = CONV_WHOLE, .line = {.div = 1}};
      if (!add_line(b, b->exprs[product->a].a, 1, &divided) || !add_line(b, line, 1, &c->line) ||
          memcmp(&divided, &c->line, sizeof divided) != 0) {
        return false;
      }
      c->line.div = den;
      return true;
    }
  }
  return false;
}

static bool add_conditions(const weir_access *a, int32_t e, conv_condition *list, int *n)
{
  const weir_body *b = &a->body;
  const weir_expr *x = &b->exprs[e];
  conv_condition *c = &list[*n];

  if (x->code == WEIR_CODE_AND) {
    return add_conditions(a, x->a, list, n) && add_conditions(a, x->b, list, n);
  }
  if (*n == CONV_MOST_CONDITIONS || x->a < 0 || x->b < 0) {
    return false;
  }
  switch (x->code) {
  case WEIR_CODE_EQ:
    if (!is_whole(b, x, c)) {
      return false;
    }
    break;
  case WEIR_CODE_GE:
  case WEIR_CODE_LT:
    *c = (conv_condition){.test = x->code == WEIR_CODE_GE ? CONV_FROM : CONV_BELOW,
                          .line = {.div = 1}};
    if (!constant_of(b, x->b, &c->bound) || !add_line(b, x->a, 1, &c->line)) {
      return false;
    }
    break;
  default:
    return false;
  }
  for (int j = 0; j < a->n_dims; j++) {
    if (!conv_is_small(c->line.coef[j])) {
      return false;
    }
  }
  conv_line_reduce(a, &c->line);
  ++*n;
  return conv_is_small(c->line.offset) && conv_is_small(c->line.div);
}

/* The expression where its conditions hold: it counts as 0 elsewhere. -1: it does not. */
static int32_t take_conditions(const weir_access *a, int32_t e, conv_condition *list, int *n)
{
  const weir_expr *x = &a->body.exprs[e];

  if (x->code != WEIR_CODE_SELECT) {
    return e;
  }
  const weir_expr *other = &a->body.exprs[x->c];

  return other->code == WEIR_CODE_CONST && other->real == 0 && add_conditions(a, x->a, list, n)
             ? x->b
             : -1;
}

int conv_body_conditions(const weir_access *a, conv_condition *conditions)
{
  const weir_body *b = &a->body;
  int n = 0, loads = 0;
  const int32_t product = take_conditions(a, a->value[0], conditions, &n);

  if (product < 0 || b->exprs[product].code != WEIR_CODE_MUL) {
    return -1;
  }
  const int32_t factor[] = {b->exprs[product].a, b->exprs[product].b};

  for (int k = 0; k < 2; k++) {
    int32_t load = take_conditions(a, factor[k], conditions, &n);

    if (load >= 0 && b->exprs[load].code == WEIR_CODE_CAST &&
        b->exprs[b->exprs[load].a].dtype == WEIR_BF16) { /* exact */
      load = b->exprs[load].a;
    }
    if (load < 0 || b->exprs[load].code != WEIR_CODE_LOAD) {
      return -1;
    }
    loads |= 1 << b->exprs[load].integer;
  }
  return loads == 3 ? n : -1; /* both inputs */
}
