/* access_outer.c - one more parallel dimension around an access: what it did, repeated over slices
 * of those operands that have them; and taken out again. */
#include "graph/weir_access.h"

#include <string.h>

#include "base/weir_alloc.h"

static weir_operand *operand_of(weir_access *a, int k)
{
  return k < a->n_in ? &a->in[k] : &a->out[k - a->n_in];
}

/* Points of the parallel dimensions, over which random bits are numbered; at least 1. */
static int64_t parallel_points(const weir_access *a)
{
  int64_t n = 1;

  for (int k = 0; k < a->n_dims; k++) {
    const int64_t extent = a->dim[k].hi - a->dim[k].lo;

    if (a->dim[k].kind == WEIR_PARALLEL && (extent <= 0 || !weir_mul_ok(n, extent, &n))) {
      return 1; /* nothing is drawn, or the access was refused when it was built */
    }
  }
  return n;
}

static weir_status check_space(weir_access *a, const bool *varies)
{
  if (a->n_dims + 1 > WEIR_MAX_DIMS) {
    return weir_fail(WEIR_ERR_SHAPE, "it has %d iteration dimensions, and %d are the most",
                     a->n_dims, WEIR_MAX_DIMS);
  }
  for (int k = 0; k < a->n_in + a->n_out; k++) {
    if (varies[k] && operand_of(a, k)->role == WEIR_ROLE_STATE) {
      return weir_fail(WEIR_ERR_SHAPE, "its states are arrays");
    }
    if (varies[k] && operand_of(a, k)->rank + 1 > WEIR_MAX_RANK) {
      return weir_fail(WEIR_ERR_SHAPE, "%s %d has rank %d, and %d is the most",
                       k < a->n_in ? "input" : "output", k < a->n_in ? k : k - a->n_in,
                       operand_of(a, k)->rank, WEIR_MAX_RANK);
    }
  }
  return WEIR_OK;
}

static void add_coefficient(const weir_access *a, weir_operand *o)
{
  for (int d = 0; d < o->rank; d++) {
    memmove(&o->index[d].coef[1], &o->index[d].coef[0],
            (size_t)a->n_dims * sizeof o->index[d].coef[0]);
    o->index[d].coef[0] = 0;
  }
}

static void add_dimension(weir_operand *o, int64_t extent)
{
  memmove(&o->index[1], &o->index[0], (size_t)o->rank * sizeof o->index[0]);
  memmove(&o->extent[1], &o->extent[0], (size_t)o->rank * sizeof o->extent[0]);
  o->index[0] = (weir_index){.coef = {1}, .border = WEIR_BORDER_NEVER};
  o->extent[0] = extent;
  o->rank++;
}

weir_status weir_access_add_outer(weir_access *a, int64_t extent, const bool *varies)
{
  const int64_t points = parallel_points(a);

  WEIR_TRY(check_space(a, varies));
  for (int k = 0; k < a->n_in + a->n_out; k++) {
    add_coefficient(a, operand_of(a, k));
    if (varies[k]) {
      add_dimension(operand_of(a, k), extent);
    }
  }
  memmove(&a->dim[1], &a->dim[0], (size_t)a->n_dims * sizeof a->dim[0]);
  a->dim[0] = (weir_dim){.kind = WEIR_PARALLEL, .hi = extent};
  a->n_dims++;
  for (int32_t i = 0; i < a->body.n; i++) {
    weir_expr *e = &a->body.exprs[i];

    if (e->code == WEIR_CODE_INDEX) {
      e->integer++;
    } else if (e->code == WEIR_CODE_REMAINDER) {
      e->integer += varies[e->integer / 16];
    } else if (e->code == WEIR_CODE_RANDOM) {
      e->real = e->real > 0 ? e->real : (double)points;
    }
  }
  return WEIR_OK;
}

/* Finds the operand's dimension that is iteration dimension 0; false where it depends on that in
 * any other way. */
static bool find_dimension(const weir_access *a, const weir_operand *o, int8_t *from)
{
  *from = -1;
  for (int d = 0; d < o->rank; d++) {
    if (o->index[d].coef[0] == 0) {
      continue;
    }
    if (*from >= 0 || o->role != WEIR_ROLE_DATA || weir_operand_dim(o, a, d) != 0) {
      return false;
    }
    *from = (int8_t)d;
  }
  return true;
}

static void take_dimension(const weir_access *a, weir_operand *o, int d)
{
  if (d >= 0) {
    o->rank--;
    memmove(&o->index[d], &o->index[d + 1], (size_t)(o->rank - d) * sizeof o->index[0]);
    memmove(&o->extent[d], &o->extent[d + 1], (size_t)(o->rank - d) * sizeof o->extent[0]);
    memset(&o->index[o->rank], 0, sizeof o->index[0]);
    o->extent[o->rank] = 0;
  }
  for (int i = 0; i < o->rank; i++) {
    memmove(&o->index[i].coef[0], &o->index[i].coef[1],
            (size_t)(a->n_dims - 1) * sizeof o->index[i].coef[0]);
    o->index[i].coef[a->n_dims - 1] = 0;
  }
}

/* Every result has slices, and the body does not ask which one it is. */
static bool is_outer(weir_access *a, int8_t *from)
{
  bool is = a->n_dims > 0 && a->dim[0].kind == WEIR_PARALLEL && !a->dim[0].time &&
            a->dim[0].lo == 0 && a->dim[0].hi > 0 && a->n_states == 0 &&
            a->maker == WEIR_MADE_BY_BODY;

  for (int k = 0; is && k < a->n_in + a->n_out; k++) {
    is = find_dimension(a, operand_of(a, k), &from[k]) && (k < a->n_in || from[k] >= 0);
  }
  for (int32_t i = 0; is && i < a->body.n; i++) {
    const weir_expr *e = &a->body.exprs[i];

    is = e->code != WEIR_CODE_RANDOM && (e->code != WEIR_CODE_INDEX || e->integer != 0) &&
         (e->code != WEIR_CODE_REMAINDER || e->integer % 16 != from[e->integer / 16]);
  }
  return is;
}

bool weir_access_take_outer(weir_access *a, int8_t *from)
{
  if (!is_outer(a, from)) {
    return false;
  }
  for (int k = 0; k < a->n_in + a->n_out; k++) {
    take_dimension(a, operand_of(a, k), from[k]);
  }
  a->n_dims--;
  memmove(&a->dim[0], &a->dim[1], (size_t)a->n_dims * sizeof a->dim[0]);
  memset(&a->dim[a->n_dims], 0, sizeof a->dim[0]);
  for (int32_t i = 0; i < a->body.n; i++) {
    weir_expr *e = &a->body.exprs[i];

    if (e->code == WEIR_CODE_INDEX) {
      e->integer--;
    } else if (e->code == WEIR_CODE_REMAINDER) {
      e->integer -= from[e->integer / 16] >= 0 && from[e->integer / 16] < e->integer % 16;
    }
  }
  return true;
}
