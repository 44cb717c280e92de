/* access_limits.c - iterations that survive ABSENT borders; flops. */
#include "graph/graph_priv.h"

#include "base/weir_alloc.h"

/* True when no iteration of the box leaves the limit. */
static bool slack(const struct weir_limit *l, const weir_box *box)
{
  weir_wide lo, hi;

  weir_index_span(l->x, box, &lo, &hi);
  return lo >= 0 && hi < (weir_wide)l->extent * weir_index_div(l->x);
}

/* Shrinks the box by every limit until nothing changes, then forgets the limits that cut nothing
 * any more. A limit on one dimension always ends that way. */
static bool settle(struct weir_limits *limits, weir_box *box)
{
  bool changed = true;

  for (int round = 0; changed && round < 8; round++) {
    const weir_box before = *box;
    for (int i = 0; i < limits->n; i++) {
      if (!weir_index_tighten(limits->at[i].x, 0, limits->at[i].extent, box)) {
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

bool weir_limits_collect(const weir_access *a, weir_box *box, struct weir_limits *out)
{
  out->n = 0;
  if (weir_box_empty(box)) {
    return false;
  }
  for (int j = 0; j < a->n_in; j++) {
    const weir_operand *x = &a->in[j];
    for (int d = weir_operand_first(x); d < x->rank; d++) {
      if (x->index[d].border == WEIR_BORDER_ABSENT && x->index[d].gather == 0) {
        out->at[out->n++] = (struct weir_limit){&x->index[d], x->extent[d]};
      }
    }
  }
  return settle(out, box);
}

/* The shortest dimension of those that the limits mix: with it fixed, the others are freer. */
static int branch_dim(const struct weir_limits *limits, const weir_box *box)
{
  int best = -1;

  for (int k = 0; k < box->rank; k++) {
    bool used = false;
    for (int i = 0; i < limits->n; i++) {
      used = used || limits->at[i].x->coef[k] != 0;
    }
    if (used && box->hi[k] - box->lo[k] > 1 &&
        (best < 0 || box->hi[k] - box->lo[k] < box->hi[best] - box->lo[best])) {
      best = k;
    }
  }
  return best;
}

int64_t weir_box_points(const weir_box *box, uint32_t mask)
{
  weir_box part = {.rank = 0};

  for (int k = 0; k < box->rank; k++) {
    if ((mask >> k & 1) != 0) {
      part.lo[part.rank] = box->lo[k];
      part.hi[part.rank++] = box->hi[k];
    }
  }
  return weir_box_volume(&part);
}

int64_t weir_limits_count(const struct weir_limits *limits, const weir_box *box, uint32_t mask,
                          bool any, int64_t *budget)
{
  struct weir_limits rest = {.n = limits->n};
  weir_box inner = *box;
  int64_t count = 0;

  for (int i = 0; i < limits->n; i++) {
    rest.at[i] = limits->at[i];
  }
  if (weir_box_empty(&inner) || !settle(&rest, &inner)) {
    return 0;
  }
  const int k = branch_dim(&rest, &inner);
  if (rest.n == 0 || k < 0 || --*budget < 0) {
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
 * parts multiply. Takes one part (its limits and the mask of its dimensions) off `limits`. */
static uint32_t take_part(struct weir_limits *limits, const weir_box *box, struct weir_limits *part)
{
  uint32_t mask = 0;
  bool grown = true;

  part->n = 0;
  while (grown) {
    int kept = 0;
    grown = false;
    for (int i = 0; i < limits->n; i++) {
      uint32_t dims = 0;
      for (int k = 0; k < box->rank; k++) {
        dims |= limits->at[i].x->coef[k] != 0 && box->hi[k] - box->lo[k] > 1 ? 1u << k : 0;
      }
      if (part->n == 0 || (dims & mask) != 0) {
        part->at[part->n++] = limits->at[i];
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
  struct weir_limits limits, part;
  weir_box inner = *box;
  int64_t budget = INT64_C(1) << 20, count = 1;
  uint32_t free_dims = (1u << box->rank) - 1;

  if (!weir_limits_collect(a, &inner, &limits)) {
    return 0;
  }
  while (limits.n > 0) {
    const uint32_t mask = take_part(&limits, &inner, &part);
    const int64_t more = weir_limits_count(&part, &inner, mask, false, &budget);
    free_dims &= ~mask;
    if (!weir_mul_ok(count, more, &count)) {
      count = INT64_MAX;
    }
  }
  const int64_t rest = weir_box_points(&inner, free_dims);
  return weir_mul_ok(count, rest, &count) ? count : INT64_MAX;
}

/* Flops that one iteration costs to merge; those of the formulas in exec/weir_engine.h. */
static double monoid_flops(weir_monoid m)
{
  switch (m) {
  case WEIR_COMBINE_SUM:
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
      flops += weir_code_flops(b->exprs[i].code);
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
    flops += used[i] ? weir_code_flops(e->code) : 0;
  }
  weir_free(&memory);
  return flops;
}

double weir_flops(const weir_access *a, const weir_box *box)
{
  if (!a->opaque) {
    return (double)weir_surviving(a, box) * (body_flops(a) + monoid_flops(a->combine));
  }
  double points = 1;
  for (int k = 0; k < a->n_dims; k++) {
    const int64_t n = box->hi[k] - box->lo[k];
    points *= n <= 0 ? 0 : a->dim[k].kind == WEIR_REDUCED ? 1 : (double)n;
  }
  return points * a->opaque_flops;
}
