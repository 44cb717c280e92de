/* fission_axes.c - the dimensions of what some factors make together. */
#include <string.h>

#include "pass/fission/fission_priv.h"

/* Iteration dimensions that stand in one linear form in all that a set reads. */
typedef struct form {
  fission_set dims;
  const weir_index *first; /* has the coefficients of all                              */
  bool common;             /* all have the same ones, nothing divided or gathered      */
  bool absent, wraps, other;
  int64_t lo, hi; /* values inside every array with an ABSENT border           */
  int64_t period;
} form;

typedef struct forms {
  int n;
  form of[WEIR_MAX_DIMS];
} forms;

static fission_set dims_of(const weir_index *x, int n)
{
  fission_set dims = 0;

  for (int k = 0; k < n; k++) {
    dims |= x->coef[k] != 0 ? (fission_set)1 << k : 0;
  }
  return dims;
}

/* The one form that takes the dimensions in, of those that share some. */
static form *join(forms *f, fission_set dims)
{
  form *one = NULL;

  for (int i = 0; i < f->n; i++) {
    if ((f->of[i].dims & dims) == 0) {
      continue;
    }
    if (one == NULL) {
      one = &f->of[i];
      one->common = one->common && one->dims == dims;
      one->dims |= dims;
    } else {
      one->dims |= f->of[i].dims;
      one->common = false;
      f->of[i--] = f->of[--f->n];
    }
  }
  if (one == NULL) {
    one = &f->of[f->n++];
    *one = (form){.dims = dims, .common = true, .lo = INT64_MIN, .hi = INT64_MAX};
  }
  return one;
}

static void add_index(const fission_plan *p, const weir_operand *o, int d, forms *f)
{
  const weir_index *x = &o->index[d];
  const fission_set dims = dims_of(x, p->a->n_dims);

  if (dims == 0) {
    return;
  }
  form *one = join(f, dims);

  one->first = one->first == NULL ? x : one->first;
  one->common = one->common && x->gather == 0 && weir_index_divisor(x) == 1 &&
                memcmp(x->coef, one->first->coef, (size_t)p->a->n_dims * sizeof x->coef[0]) == 0;
  if (x->border == WEIR_BORDER_ABSENT) {
    const int64_t lo = -x->offset, hi = o->extent[d] - x->offset;

    one->absent = true;
    one->lo = lo > one->lo ? lo : one->lo;
    one->hi = hi < one->hi ? hi : one->hi;
  } else if (x->border == WEIR_BORDER_WRAP) {
    one->other = one->other || (one->wraps && one->period != o->extent[d]);
    one->wraps = true;
    one->period = o->extent[d];
  } else {
    one->other = true;
  }
}

static fission_set operands_of(const fission_plan *p, fission_set set, fission_set *dims)
{
  fission_set operands = 0;

  *dims = 0;
  for (int i = 0; i < p->n_factors; i++) {
    if ((set >> i & 1) != 0) {
      operands |= p->factor[i].operands;
      *dims |= p->factor[i].dims;
    }
  }
  return operands;
}

/* Dimensions that expressions read the number of. */
static fission_set numbered(const fission_plan *p)
{
  const weir_body *b = &p->a->body;
  fission_set dims = 0;

  for (int32_t e = 0; e < b->n; e++) {
    dims |= b->exprs[e].code == WEIR_CODE_INDEX ? (fission_set)1 << b->exprs[e].integer : 0;
  }
  return dims;
}

/* Reduced dimensions that nothing outside the set depends on; as written, those alone over which a
 * product of two of its factors is summed. */
static fission_set summed_in(const fission_plan *p, fission_set set)
{
  const bool whole = set == ((fission_set)1 << p->n_factors) - 1;
  fission_set summed = 0;

  for (int k = 0; k < p->a->n_dims; k++) {
    int inside = 0, outside = 0;

    for (int i = 0; i < p->n_factors; i++) {
      const int uses = p->factor[i].dims >> k & 1;

      inside += (set >> i & 1) != 0 ? uses : 0;
      outside += (set >> i & 1) != 0 ? 0 : uses;
    }
    const int needed = p->mode == WEIR_FISSION_REASSOCIATE ? 1 : 2;

    if (p->a->dim[k].kind == WEIR_REDUCED && (whole || (outside == 0 && inside >= needed))) {
      summed |= (fission_set)1 << k;
    }
  }
  return summed;
}

static void add_dim(const fission_plan *p, int k, fission_partial *partial)
{
  fission_axis *x = &partial->axis[partial->n_axes++];

  *x = (fission_axis){.dims = (fission_set)1 << k, .lo = p->a->dim[k].lo, .hi = p->a->dim[k].hi};
  x->coef[k] = 1;
}

/* The axis of a form, if one serves: *axis. */
static bool make_form(const fission_plan *p, const form *f, fission_axis *axis)
{
  const weir_box whole = weir_iterations(p->a);
  weir_index x = {.div = 1};
  double apart = 1;

  if (!f->common || (f->wraps && (f->absent || f->other))) {
    return false;
  }
  *axis = (fission_axis){.dims = f->dims, .is_form = true};
  memcpy(axis->coef, f->first->coef, sizeof axis->coef);
  memcpy(x.coef, f->first->coef, sizeof x.coef);
  weir_index_range(&x, &whole, &axis->lo, &axis->hi);
  axis->hi++;
  if (f->absent && (axis->lo < f->lo || axis->hi > f->hi)) {
    axis->border = WEIR_BORDER_ABSENT;
    axis->lo = axis->lo > f->lo ? axis->lo : f->lo;
    axis->hi = axis->hi < f->hi ? axis->hi : f->hi;
  } else if (f->wraps && axis->hi - axis->lo > f->period) {
    axis->border = WEIR_BORDER_WRAP;
    axis->lo = 0;
    axis->hi = f->period;
  }
  for (int k = 0; k < p->a->n_dims; k++) {
    apart *= (f->dims >> k & 1) != 0 ? (double)fission_extent(p, k) : 1;
  }
  return axis->hi > axis->lo &&
         (axis->border == WEIR_BORDER_ABSENT || (double)(axis->hi - axis->lo) < apart);
}

/* Whether some iteration is dropped by dimension d of the operand. */
static bool drops(const fission_plan *p, const weir_operand *o, int d)
{
  const weir_box whole = weir_iterations(p->a);
  int64_t lo, hi;

  if (o->index[d].border != WEIR_BORDER_ABSENT) {
    return false;
  }
  weir_index_range(&o->index[d], &whole, &lo, &hi);
  return lo < 0 || hi >= o->extent[d];
}

/* Operands of the set that drop iterations by an index that is no axis: of the dimensions `apart`.
 * Who reads the partial product has to ask for them again, and so must know all these dimensions.
 */
static fission_set masks_of(const fission_plan *p, fission_set operands, fission_set apart,
                            fission_partial *partial)
{
  fission_set masks = 0;

  for (int i = 0; i < p->a->n_in; i++) {
    const weir_operand *o = &p->a->in[i];

    for (int d = 0; d < o->rank && (operands >> i & 1) != 0; d++) {
      const fission_set dims = dims_of(&o->index[d], p->a->n_dims);
      const bool absent = drops(p, o, d);

      if (absent && (o->index[d].gather > 0 || dims == 0 || (dims & partial->summed) != 0)) {
        partial->possible = false;
      } else if (absent && (dims & apart) != 0) {
        masks |= (fission_set)1 << i;
      }
    }
  }
  return masks;
}

static int first_dim(fission_set dims)
{
  return __builtin_ctz(dims);
}

static fission_set dims_of_kind(const fission_plan *p, weir_dim_kind kind)
{
  fission_set dims = 0;

  for (int k = 0; k < p->a->n_dims; k++) {
    dims |= p->a->dim[k].kind == kind ? (fission_set)1 << k : 0;
  }
  return dims;
}

/* In an array that has the innermost dimension of the result, what readers sum over comes first:
 * rows along that dimension, which readers walk, lie in memory one element after the other. Others,
 * of which a reader takes one row of its sum at a time, stay in the order of the iterations. */
static void sort_axes(const fission_plan *p, fission_partial *partial)
{
  const weir_operand *c = &p->a->out[0];
  const fission_set kept = dims_of_kind(p, WEIR_PARALLEL);
  const fission_set inner = c->rank > 0 ? dims_of(&c->index[c->rank - 1], p->a->n_dims) : 0;
  fission_axis sorted[WEIR_MAX_DIMS];
  bool walks = false;
  int n = 0;

  for (int t = 0; t < partial->n_axes; t++) {
    walks = walks || (partial->axis[t].dims & inner) != 0;
  }
  for (int of_result = 0; of_result < 2 && walks; of_result++) {
    for (int t = 0; t < partial->n_axes; t++) {
      if (((partial->axis[t].dims & kept) != 0) == (of_result == 1)) {
        sorted[n++] = partial->axis[t];
      }
    }
  }
  memcpy(partial->axis, sorted, (size_t)n * sizeof *sorted);
}

void fission_find_axes(const fission_plan *p, fission_set set, fission_partial *partial)
{
  forms f = {.n = 0};
  fission_set dims, apart;
  const fission_set operands = operands_of(p, set, &dims), fixed = numbered(p);

  *partial = (fission_partial){.possible = true, .summed = summed_in(p, set)};
  for (int i = 0; i < p->a->n_in; i++) {
    for (int d = 0; d < p->a->in[i].rank && (operands >> i & 1) != 0; d++) {
      add_index(p, &p->a->in[i], d, &f);
    }
  }
  apart = dims & ~partial->summed;
  for (int k = 0; k < p->a->n_dims; k++) {
    form *of = NULL;

    for (int i = 0; i < f.n; i++) {
      of = first_dim(f.of[i].dims) == k ? &f.of[i] : of;
    }
    fission_axis *next = &partial->axis[partial->n_axes];

    if (of != NULL && p->mode != WEIR_FISSION_PRODUCTS &&
        (of->dims & (partial->summed | fixed)) == 0 && make_form(p, of, next)) {
      partial->n_axes++;
      apart &= ~of->dims;
    } else if ((apart >> k & 1) != 0) {
      add_dim(p, k, partial);
    }
  }
  sort_axes(p, partial);
  partial->masks = masks_of(p, operands, apart, partial);
  partial->possible = partial->possible && partial->n_axes <= WEIR_MAX_RANK;
}
