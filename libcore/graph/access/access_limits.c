/* access_limits.c - iterations that survive ABSENT borders; flops. */
#include "graph/graph_priv.h"

#include <string.h>

#include "base/weir_alloc.h"

/* True when no iteration of the box leaves the limit. */
static bool slack(const struct weir_limit *l, const weir_box *box)
{
  weir_wide lo, hi;

  weir_form_span(l->coef, box, &lo, &hi);
  return lo >= l->lo && hi < l->hi;
}

/* Shrinks the box by every limit until nothing changes, then forgets the limits that cut nothing
 * any more. A limit on one dimension always ends that way. */
static bool settle(struct weir_limits *limits, weir_box *box)
{
  bool changed = true;

  for (int round = 0; changed && round < 8; round++) {
    const weir_box before = *box;
    for (int i = 0; i < limits->n; i++) {
      const struct weir_limit *l = &limits->at[i];
      if (!weir_form_tighten(l->coef, l->lo, l->hi, box)) {
        return false;
      }
    }
    changed = false;
    for (int k = 0; k < box->rank; k++) {
      changed = changed || before.lo[k] != box->lo[k] || before.hi[k] != box->hi[k];
    }
  }
  int kept = 0;
  for (int i = 0; i < limits->n; i++) {
    if (!slack(&limits->at[i], box)) {
      limits->at[kept++] = limits->at[i];
    }
  }
  limits->n = kept;
  return true;
}

/* Two limits of one form are one: what both let through. */
static bool add_limit(struct weir_limits *limits, const struct weir_limit *more, int n_dims)
{
  for (int i = 0; i < limits->n; i++) {
    struct weir_limit *l = &limits->at[i];
    if (weir_same_form(l->coef, more->coef, n_dims)) {
      l->lo = more->lo > l->lo ? more->lo : l->lo;
      l->hi = more->hi < l->hi ? more->hi : l->hi;
      return l->lo < l->hi;
    }
  }
  limits->at[limits->n++] = *more;
  return more->lo < more->hi;
}

bool weir_limits_collect(const weir_access *a, weir_box *box, struct weir_limits *out)
{
  out->n = 0;
  if (weir_box_empty(box)) {
    return false;
  }
  for (int j = 0; j < a->n_in; j++) {
    const weir_operand *x = &a->in[j];
    for (int d = weir_operand_first(x); d < x->rank; d++) {
      const weir_index *i = &x->index[d];
      const struct weir_limit limit = weir_limit_of(i, x->extent[d]);
      if (i->border == WEIR_BORDER_ABSENT && i->gather == 0 && !add_limit(out, &limit, a->n_dims)) {
        return false;
      }
    }
  }
  return settle(out, box);
}

bool weir_limits_hold(const struct weir_limits *limits, const int64_t *at, int n_dims)
{
  for (int i = 0; i < limits->n; i++) {
    weir_wide sum = 0;
    for (int k = 0; k < n_dims; k++) {
      sum += (weir_wide)limits->at[i].coef[k] * at[k];
    }
    if (sum < limits->at[i].lo || sum >= limits->at[i].hi) {
      return false;
    }
  }
  return true;
}

/* Dimensions that the limits mix: the shortest first, since with it fixed the others are freer. */
static int mixed_dims(const struct weir_limits *limits, const weir_box *box, int dims[2])
{
  int n = 0;

  for (int k = 0; k < box->rank; k++) {
    const int64_t length = box->hi[k] - box->lo[k];
    bool used = false;
    for (int i = 0; i < limits->n; i++) {
      used = used || limits->at[i].coef[k] != 0;
    }
    if (!used || length <= 1) {
      continue;
    }
    if (n == 0 || length < box->hi[dims[0]] - box->lo[dims[0]]) {
      dims[1] = n == 0 ? k : dims[0];
      dims[0] = k;
    } else {
      dims[1] = k;
    }
    n++;
  }
  return n;
}

int64_t weir_box_points(const weir_box *box, uint32_t mask)
{
  weir_box projected = {.rank = 0};

  for (int k = 0; k < box->rank; k++) {
    if ((mask >> k & 1) != 0) {
      projected.lo[projected.rank] = box->lo[k];
      projected.hi[projected.rank++] = box->hi[k];
    }
  }
  return weir_box_volume(&projected);
}

/* One limit on two dimensions: a strip. */
static int64_t count_strip(const struct weir_limit *l, const weir_box *box, const int dims[2],
                           uint32_t mask, bool any)
{
  const int i = dims[0], j = dims[1];
  weir_wide at = 0;

  for (int k = 0; k < box->rank; k++) {
    at += (weir_wide)l->coef[k] * box->lo[k];
  }
  const weir_wide points =
      weir_strip_points(l->coef[i], (weir_wide)box->hi[i] - box->lo[i], l->coef[j],
                        (weir_wide)box->hi[j] - box->lo[j], l->lo - at, l->hi - at);
  int64_t count = points > INT64_MAX ? INT64_MAX : (int64_t)points;
  const int64_t rest = weir_box_points(box, mask & ~(1u << i | 1u << j));

  if (any) {
    return count > 0;
  }
  return weir_mul_ok(count, rest, &count) ? count : INT64_MAX;
}

int64_t weir_limits_count(const struct weir_limits *limits, const weir_box *box, uint32_t mask,
                          bool any, int64_t *budget)
{
  struct weir_limits rest;
  weir_box inner = *box;
  int64_t count = 0;
  int dims[2] = {0};

  rest.n = limits->n;
  memcpy(rest.at, limits->at, (size_t)limits->n * sizeof rest.at[0]);
  if (weir_box_empty(&inner) || !settle(&rest, &inner)) {
    return 0;
  }
  const int mixed = mixed_dims(&rest, &inner, dims), k = dims[0];
  if (rest.n == 1 && mixed == 2) {
    return count_strip(&rest.at[0], &inner, dims, mask, any);
  }
  if (mixed == 0 || --*budget < 0) {
    return any ? 1 : weir_box_points(&inner, mask);
  }
  for (int64_t i = inner.lo[k]; i < inner.hi[k]; i++) {
    weir_box one = inner;
    one.lo[k] = i;
    one.hi[k] = i + 1;
    const int64_t more = weir_limits_count(&rest, &one, mask & ~(1u << k), any, budget);
    if ((any && more > 0) || !weir_add_ok(count, more, &count)) {
      return any ? 1 : INT64_MAX;
    }
  }
  return count;
}

/* Limits that share dimensions, directly or through others, are counted together; the counts of
 * components multiply. Removes one component (its limits and the mask of its dimensions) from
 * `limits`. */
static uint32_t take_component(struct weir_limits *limits, const weir_box *box,
                               struct weir_limits *component)
{
  uint32_t mask = 0;
  bool grown = true;

  component->n = 0;
  while (grown) {
    int kept = 0;
    grown = false;
    for (int i = 0; i < limits->n; i++) {
      uint32_t dims = 0;
      for (int k = 0; k < box->rank; k++) {
        dims |= limits->at[i].coef[k] != 0 && box->hi[k] - box->lo[k] > 1 ? 1u << k : 0;
      }
      if (component->n == 0 || (dims & mask) != 0) {
        component->at[component->n++] = limits->at[i];
        mask |= dims;
        grown = true;
      } else {
        limits->at[kept++] = limits->at[i];
      }
    }
    limits->n = kept;
  }
  return mask;
}

int64_t weir_surviving(const weir_access *a, const weir_box *box)
{
  struct weir_limits limits, component;
  weir_box inner = *box;
  int64_t budget = INT64_C(1) << 20, count = 1;
  uint32_t free_dims = (1u << box->rank) - 1;

  if (!weir_limits_collect(a, &inner, &limits)) {
    return 0;
  }
  while (limits.n > 0) {
    const uint32_t mask = take_component(&limits, &inner, &component);
    const int64_t more = weir_limits_count(&component, &inner, mask, false, &budget);
    free_dims &= ~mask;
    if (!weir_mul_ok(count, more, &count)) {
      count = INT64_MAX;
    }
  }
  const int64_t rest = weir_box_points(&inner, free_dims);
  return weir_mul_ok(count, rest, &count) ? count : INT64_MAX;
}

/* Flops that one iteration costs to merge; those of the formulas in exec/weir_engine.h. */
static double monoid_flops(const weir_access *a)
{
  switch (a->combine) {
  case WEIR_COMBINE_SUM:
    return weir_dtype_parts(a->accumulator);
  case WEIR_COMBINE_PROD:
  case WEIR_COMBINE_MAX:
  case WEIR_COMBINE_MIN:
  case WEIR_COMBINE_ARGMAX:
    return 1;
  case WEIR_COMBINE_MOMENTS: /* n + 1; x - mean; mean + d / n; M2 + d * (x - mean) */
    return 7;
  case WEIR_COMBINE_SOFTMAX: /* max; two differences, exponentials and products, one a sum */
    return 8;
  case WEIR_COMBINE_NONE:
  case WEIR_COMBINE_FIRST:
  case WEIR_COMBINE_LAST:
    break;
  }
  return 0;
}

/* Flops of the expressions that values and states depend on. */
static double body_flops(const weir_access *a)
{
  const weir_body *b = &a->body;
  void *memory;
  double flops = 0;

  if (weir_alloc(b->n, sizeof(bool), &memory) != WEIR_OK) {
    for (int32_t i = 0; i < b->n; i++) {
      flops += weir_body_flops(b, i);
    }
    return flops;
  }
  bool *const used = memory;
  for (int k = 0; k < a->n_values; k++) {
    used[a->value[k]] = true;
  }
  for (int k = 0; k < a->n_states; k++) {
    used[a->state[k].next] = true;
  }
  for (int32_t i = b->n - 1; i >= 0; i--) {
    const weir_expr *e = &b->exprs[i];
    const int32_t args[3] = {e->a, e->b, e->c};
    for (int k = 0; used[i] && k < weir_code_args(e->code); k++) {
      used[args[k]] = true;
    }
    flops += used[i] ? weir_body_flops(b, i) : 0;
  }
  weir_free(&memory);
  return flops;
}

double weir_flops(const weir_access *a, const weir_box *box)
{
  if (a->maker == WEIR_MADE_BY_BODY) {
    return (double)weir_surviving(a, box) * (body_flops(a) + monoid_flops(a));
  }
  double points = 1;
  for (int k = 0; k < a->n_dims; k++) {
    const int64_t n = box->hi[k] - box->lo[k];
    points *= n <= 0 ? 0 : a->dim[k].kind == WEIR_REDUCED ? 1 : (double)n;
  }
  return points * a->point_flops;
}
