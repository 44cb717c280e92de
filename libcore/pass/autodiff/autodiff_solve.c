/* autodiff_solve.c - an access solved for the iterations that read an element. */
#include <string.h>
#include "graph/weir_body.h"
#include "pass/autodiff/autodiff_priv.h"

static int add_dim(derive_adjoint *d, weir_dim_kind kind, int64_t lo, int64_t hi)
{
  weir_access *to = d->to;

  if (to->n_dims == WEIR_MAX_DIMS) {
    d->overflow = true;
    return 0;
  }
  to->dim[to->n_dims] = (weir_dim){kind, lo, hi, false};
  return to->n_dims++;
}

/* sum += factor * f, which has no denominator. */
static void add_form(derive_adjoint *d, derive_form *sum, int64_t factor, const derive_form *f)
{
  for (int k = 0; k <= WEIR_MAX_DIMS; k++) {
    int64_t *to = k < WEIR_MAX_DIMS ? &sum->coef[k] : &sum->offset, product = 0;
    const int64_t from = k < WEIR_MAX_DIMS ? f->coef[k] : f->offset;

    d->overflow = d->overflow || __builtin_mul_overflow(from, factor, &product) ||
                  __builtin_add_overflow(*to, product, to);
  }
}

static derive_form one_dim(int dim)
{
  derive_form f = {.den = 1};

  f.coef[dim] = 1;
  return f;
}

/* Takes the common divisor out of numerator and denominator. */
static void reduce_form(derive_form *f)
{
  int64_t common = weir_gcd(f->den, f->offset < 0 ? -f->offset : f->offset);

  for (int k = 0; k < WEIR_MAX_DIMS; k++) {
    common = weir_gcd(common, f->coef[k] < 0 ? -f->coef[k] : f->coef[k]);
  }
  for (int k = 0; k < WEIR_MAX_DIMS; k++) {
    f->coef[k] /= common;
  }
  f->offset /= common;
  f->den /= common;
}

/* raw += period * q for the q of [lo, hi]. */
static void add_periods(derive_adjoint *d, derive_form *raw, int64_t period, int64_t lo, int64_t hi)
{
  if (lo == hi) {
    raw->offset += period * lo;
  } else {
    raw->coef[add_dim(d, WEIR_REDUCED, lo, hi + 1)] = period;
  }
}

/* Indices before the border rule that element e of array dimension k stands for. */
static void find_raw(derive_adjoint *d, int k)
{
  const weir_operand *x = &d->from->in[d->operand];
  const weir_box whole = weir_iterations(d->from);
  const int64_t n = x->extent[k], period = 2 * (n - 1);
  derive_form *raw = &d->raw[k];
  int64_t min, max;

  *raw = one_dim(k);
  d->shift[k] = -1;
  weir_index_range(&x->index[k], &whole, &min, &max);
  switch (x->index[k].border) {
  case WEIR_BORDER_WRAP:
    add_periods(d, raw, n, weir_floor_div(min, n), weir_floor_div(max, n));
    break;
  case WEIR_BORDER_REPLICATE:
    min = min < 0 ? min : 0;
    max = max >= n ? max - (n - 1) : 0;
    if (min < max) {
      d->shift[k] = add_dim(d, WEIR_REDUCED, min, max + 1);
      raw->coef[d->shift[k]] = 1;
    }
    break;
  case WEIR_BORDER_REFLECT:
    if (n == 1) {
      *raw = one_dim(add_dim(d, WEIR_REDUCED, min, max + 1));
    } else if ((d->mirror >> k & 1) != 0) {
      raw->coef[k] = -1;
      add_periods(d, raw, period, weir_floor_div(min, period), weir_floor_div(max + n - 1, period));
    } else {
      add_periods(d, raw, period, weir_floor_div(min, period), weir_floor_div(max, period));
    }
    break;
  default:
    break;
  }
}

/* What the division of array dimension k leaves. What it divides is its offset and multiples of its
 * coefficients, so that the rest is known up to multiples of what those and the divisor share. */
static void find_rest(derive_adjoint *d, int k)
{
  const weir_index *x = &d->from->in[d->operand].index[k];
  const int64_t div = weir_index_divisor(x);
  int64_t common = x->gather == 0 ? div : 1;

  for (int j = 0; j < d->from->n_dims; j++) {
    common = weir_gcd(common, x->coef[j] < 0 ? -x->coef[j] : x->coef[j]);
  }
  d->rest[k] =
      (derive_form){.offset = x->offset - weir_floor_div(x->offset, common) * common, .den = 1};
  if (div > common) {
    d->rest[k].coef[add_dim(d, WEIR_REDUCED, 0, div / common)] = common;
  }
}

/* May array dimension k be solved for iteration dimension j? Other dimensions of its index that are
 * solved for themselves must be whole. */
static bool is_solvable(const derive_adjoint *d, const bool *taken, const bool *fixed, int k, int j)
{
  const weir_operand *x = &d->from->in[d->operand];

  if (x->index[k].coef[j] == 0 || x->index[k].gather != 0 || taken[j] || fixed[j]) {
    return false;
  }
  for (int l = 0; l < d->from->n_dims; l++) {
    if (l != j && taken[l] && x->index[k].coef[l] != 0 && d->dim[l].den != 1) {
      return false;
    }
  }
  return true;
}

/* The dimension that dividing for j leaves, or -1. */
static int tap_of(const derive_adjoint *d, int j)
{
  for (int l = 0; l < d->from->n_dims; l++) {
    if (d->left_by[l] == j) {
      return l;
    }
  }
  return -1;
}

/* c i = div raw + rest - offset - the other terms. */
static void solve(derive_adjoint *d, int k, int j)
{
  const weir_index *x = &d->from->in[d->operand].index[k];
  const int64_t sign = x->coef[j] < 0 ? -1 : 1;
  derive_form f = {.offset = 0};

  add_form(d, &f, sign * weir_index_divisor(x), &d->raw[k]);
  add_form(d, &f, sign, &d->rest[k]);
  f.offset -= sign * x->offset;
  for (int l = 0; l < d->from->n_dims; l++) {
    if (l != j && x->coef[l] != 0) {
      add_form(d, &f, -sign * x->coef[l], &d->dim[l]);
    }
  }
  f.den = sign * x->coef[j];
  if (tap_of(d, j) < 0) {
    reduce_form(&f);
  }
  d->dim[j] = f;
}

/* May l be what dividing by c for j leaves? It is then read as that very sum alone, in this one
 * place of the operand, and j elsewhere by itself. */
static bool is_tap(const derive_adjoint *d, int k, int j, int l)
{
  const weir_access *a = d->from;
  const weir_index *here = &a->in[d->operand].index[k];

  for (int o = 0; o < a->n_in + a->n_out; o++) {
    const weir_operand *x = o < a->n_in ? &a->in[o] : &a->out[o - a->n_in];

    for (int e = 0; e < x->rank; e++) {
      const weir_index *i = &x->index[e];

      if ((o == d->operand && e != k && (i->coef[j] != 0 || i->coef[l] != 0)) ||
          (i->coef[l] != 0 && i->coef[j] != here->coef[j] * i->coef[l])) {
        return false;
      }
      for (int m = 0; m < a->n_dims && i->coef[j] != 0 && i->coef[l] == 0; m++) {
        if (m == j ? i->coef[j] != 1 : i->coef[m] != 0 && d->dim[m].den != 1) {
          return false;
        }
      }
    }
  }
  return true;
}

/* Windows o of stride c and elements t: element M = c o + t is read by t = M mod c, + c, .. alone.
 * So t is no iteration of the adjoint where the windows lie side by side, and ceil(size / c) of
 * them else. */
static void find_windows(derive_adjoint *d, bool *taken)
{
  const weir_access *a = d->from;
  const weir_operand *x = &a->in[d->operand];

  for (int k = 0; k < x->rank; k++) {
    const int j = d->solver[k];
    const int64_t c = j >= 0 ? x->index[k].coef[j] : 0;

    for (int l = 0; l < a->n_dims && c > 1 && tap_of(d, j) < 0; l++) {
      const int64_t window = a->dim[l].hi - a->dim[l].lo;

      if (taken[l] || a->dim[l].kind != WEIR_REDUCED || x->index[k].coef[l] != 1 ||
          !is_tap(d, k, j, l)) {
        continue;
      }
      taken[l] = true;
      d->left_by[l] = j;
      d->dim[l] = (derive_form){.offset = a->dim[l].lo, .den = 1};
      if (window > c) {
        d->dim[l].coef[add_dim(d, WEIR_REDUCED, 0, (window + c - 1) / c)] = c;
      }
    }
  }
}

/* Array dimensions in the order in which they are solved: first those whose index is a multiple of
 * one dimension, which another index may contain too and must then have in terms of the element. */
static void order_dims(const weir_operand *x, int n_dims, int *order)
{
  int n = 0;

  for (int several = 0; several < 2; several++) {
    for (int k = 0; k < x->rank; k++) {
      int terms = 0;

      for (int j = 0; j < n_dims; j++) {
        terms += x->index[k].coef[j] != 0;
      }
      if ((terms > 1) == (several == 1)) {
        order[n++] = k;
      }
    }
  }
}

/* The longest free dimension of each index is solved for, so that the fewest iterations are left.
 */
static void choose_solvers(derive_adjoint *d)
{
  const weir_access *a = d->from;
  const weir_operand *x = &a->in[d->operand];
  bool taken[WEIR_MAX_DIMS] = {false}, fixed[WEIR_MAX_DIMS] = {false};
  int order[WEIR_MAX_RANK];

  order_dims(x, a->n_dims, order);
  memset(d->left_by, -1, sizeof d->left_by);
  for (int i = 0; i < x->rank; i++) {
    const int k = order[i];
    int64_t longest = -1;

    d->solver[k] = -1;
    for (int j = 0; j < a->n_dims; j++) {
      const int64_t n = a->dim[j].hi - a->dim[j].lo;

      d->dim[j].den = taken[j] ? d->dim[j].den : 1;
      if (is_solvable(d, taken, fixed, k, j) && n > longest) {
        longest = n;
        d->solver[k] = j;
      }
    }
    if (d->solver[k] >= 0) {
      const int j = d->solver[k];

      taken[j] = true;
      d->dim[j].den = x->index[k].coef[j] < 0 ? -x->index[k].coef[j] : x->index[k].coef[j];
      for (int l = 0; l < a->n_dims; l++) {
        fixed[l] = fixed[l] || (l != j && !taken[l] && x->index[k].coef[l] != 0);
      }
    }
  }
  find_windows(d, taken);
  for (int j = 0; j < a->n_dims; j++) {
    if (!taken[j]) {
      d->dim[j] = one_dim(add_dim(d, WEIR_REDUCED, a->dim[j].lo, a->dim[j].hi));
    }
  }
  for (int i = 0; i < x->rank; i++) {
    if (d->solver[order[i]] >= 0) {
      solve(d, order[i], d->solver[order[i]]);
    }
  }
}

bool derive_substitute(derive_adjoint *d, const weir_index *x, derive_form *out)
{
  int64_t common = 1;
  bool used[WEIR_MAX_DIMS];

  *out = (derive_form){.den = 1};
  for (int j = 0; j < d->from->n_dims; j++) {
    const int tap = tap_of(d, j);

    used[j] = x->coef[j] != 0 && (tap < 0 || x->coef[tap] == 0); /* else the tap stands for both */
    if (used[j]) {
      common = common / weir_gcd(common, d->dim[j].den) * d->dim[j].den;
    }
  }
  for (int j = 0; j < d->from->n_dims; j++) {
    if (used[j]) {
      add_form(d, out, x->coef[j] * (common / d->dim[j].den), &d->dim[j]);
    }
    if (used[j] && d->left_by[j] >= 0) {
      add_form(d, out, x->coef[j] * common, &d->dim[d->left_by[j]]);
    }
  }
  out->offset += common * x->offset;
  out->den = common;
  return !d->overflow && (x->gather == 0 || common == 1);
}

/* The operand, read where the node's iteration reads (writes) it. What leaves the array belongs to
 * no iteration of the node. */
static bool put_operand(derive_adjoint *d, const weir_operand *x, weir_dtype dtype)
{
  weir_access *to = d->to;

  if (to->n_in == WEIR_MAX_OPERANDS) {
    d->overflow = true;
    return false;
  }
  const weir_status status = weir_access_resize(to, to->n_in + 1, to->n_out, 0);

  if (status != WEIR_OK) {
    to->body.failed = status;
    return false;
  }
  weir_operand *y = &to->in[to->n_in - 1];
  const weir_box whole = weir_iterations(to);

  *y = *x;
  y->dtype = dtype;
  for (int k = 0; k < x->rank; k++) {
    derive_form f;

    if (!derive_substitute(d, &x->index[k], &f)) {
      return false;
    }
    memcpy(y->index[k].coef, f.coef, sizeof f.coef);
    y->index[k].offset = f.offset;
    y->index[k].div = f.den * weir_index_divisor(&x->index[k]);
    if (x->index[k].border == WEIR_BORDER_NEVER && !weir_box_empty(&whole)) {
      int64_t min, max;

      weir_index_range(&y->index[k], &whole, &min, &max);
      y->index[k].border = min >= 0 && max < x->extent[k] ? WEIR_BORDER_NEVER : WEIR_BORDER_ABSENT;
    }
  }
  return true;
}

int derive_aux(derive_adjoint *d, int output, weir_dtype dtype)
{
  return put_operand(d, &d->from->out[output], dtype) ? d->to->n_in - 1 : -1;
}

int32_t derive_put_form(derive_adjoint *d, const derive_form *f)
{
  weir_body *b = &d->to->body;
  int32_t sum = -1;

  for (int k = 0; k < d->to->n_dims; k++) {
    if (f->coef[k] != 0) {
      const int32_t i = weir_body_index(b, k);
      const int32_t term =
          f->coef[k] == 1
              ? i
              : weir_body_binary(b, WEIR_CODE_MUL, i, weir_body_int(b, WEIR_I64, f->coef[k]));

      sum = sum < 0 ? term : weir_body_binary(b, WEIR_CODE_ADD, sum, term);
    }
  }
  if (sum < 0) {
    return weir_body_int(b, WEIR_I64, f->offset);
  }
  return f->offset == 0
             ? sum
             : weir_body_binary(b, WEIR_CODE_ADD, sum, weir_body_int(b, WEIR_I64, f->offset));
}

void derive_demand(derive_adjoint *d, int32_t condition)
{
  d->condition = d->condition < 0
                     ? condition
                     : weir_body_binary(&d->to->body, WEIR_CODE_AND, d->condition, condition);
}

static int32_t compare(derive_adjoint *d, weir_code code, int32_t x, int64_t with)
{
  weir_body *b = &d->to->body;

  return weir_body_binary(b, code, x, weir_body_int(b, WEIR_I64, with));
}

/* True when an output's load is ABSENT, or within, exactly where dimension j is. */
static bool is_bounded(const derive_adjoint *d, int j)
{
  const weir_access *a = d->from;

  for (int o = 0; o < a->n_out; o++) {
    for (int k = 0; k < a->out[o].rank && (d->seeded >> o & 1) != 0; k++) {
      if (weir_index_follows(&a->out[o].index[k], a->n_dims) == j && a->dim[j].lo == 0 &&
          a->dim[j].hi == a->out[o].extent[k]) {
        return true;
      }
    }
  }
  return false;
}

/* A solved dimension is a whole number of its range. */
static void demand_dim(derive_adjoint *d, int j)
{
  const weir_dim *dim = &d->from->dim[j];
  const derive_form *f = &d->dim[j];
  const weir_box whole = weir_iterations(d->to);
  weir_body *b = &d->to->body;
  weir_index x = {.offset = f->offset, .div = f->den};
  int64_t min, max;

  memcpy(x.coef, f->coef, sizeof x.coef);
  weir_index_range(&x, &whole, &min, &max);
  const bool bounded = (min >= dim->lo && max < dim->hi) || is_bounded(d, j);

  const int tap = tap_of(d, j);

  if (tap >= 0 && (d->from->dim[tap].hi - d->from->dim[tap].lo) % f->den != 0) {
    derive_demand(d, compare(d, WEIR_CODE_LT, derive_put_index(d, tap), d->from->dim[tap].hi));
  }
  if (bounded && (f->den == 1 || tap >= 0)) {
    return;
  }
  const int32_t numerator = derive_put_form(d, f);

  if (f->den != 1 && tap < 0) {
    const int32_t den = weir_body_int(b, WEIR_I64, f->den);
    const int32_t quotient = weir_body_binary(b, WEIR_CODE_DIV, numerator, den);

    derive_demand(d,
                  weir_body_binary(b, WEIR_CODE_EQ,
                                   weir_body_binary(b, WEIR_CODE_MUL, quotient, den), numerator));
  }
  if (!bounded) {
    derive_demand(d, compare(d, WEIR_CODE_GE, numerator, dim->lo * f->den));
    derive_demand(d, compare(d, WEIR_CODE_LT, numerator, dim->hi * f->den));
  }
}

/* An index that is solved for nothing must be the element's all the same. */
static void demand_index(derive_adjoint *d, int k)
{
  const weir_index *x = &d->from->in[d->operand].index[k];
  derive_form f;

  if (!derive_substitute(d, x, &f)) {
    d->overflow = true;
    return;
  }
  add_form(d, &f, -f.den * weir_index_divisor(x), &d->raw[k]);
  add_form(d, &f, -f.den, &d->rest[k]);
  const weir_box whole = weir_iterations(d->to);
  weir_index form = {.offset = f.offset};
  int64_t min, max;

  memcpy(form.coef, f.coef, sizeof form.coef);
  weir_index_range(&form, &whole, &min, &max);
  if (x->gather == 0 && min == 0 && max == 0) {
    return; /* there is one element */
  }
  int32_t off = derive_put_form(d, &f);

  if (x->gather > 0) { /* readers by element number: nothing is scattered */
    weir_body *b = &d->to->body;
    const int32_t g = weir_body_load(b, x->gather - 1, d->from->in[x->gather - 1].dtype);
    const int32_t wide = b->exprs[g].dtype == WEIR_I64 ? g : weir_body_cast(b, WEIR_I64, g);

    off = weir_body_binary(b, WEIR_CODE_ADD, off, wide);
  }
  derive_demand(d, compare(d, WEIR_CODE_EQ, off, 0));
}

/* Beyond an edge only the edge's element is read; a mirrored edge is itself. */
static void demand_border(derive_adjoint *d, int k)
{
  const int64_t n = d->from->in[d->operand].extent[k];
  weir_body *b = &d->to->body;
  const int32_t e = weir_body_index(b, k);

  if (d->shift[k] >= 0) {
    const int32_t by = weir_body_index(b, d->shift[k]);
    const int32_t below = weir_body_binary(b, WEIR_CODE_AND, compare(d, WEIR_CODE_LT, by, 0),
                                           compare(d, WEIR_CODE_EQ, e, 0));
    const int32_t above = weir_body_binary(b, WEIR_CODE_AND, compare(d, WEIR_CODE_GT, by, 0),
                                           compare(d, WEIR_CODE_EQ, e, n - 1));

    derive_demand(d, weir_body_binary(b, WEIR_CODE_OR, compare(d, WEIR_CODE_EQ, by, 0),
                                      weir_body_binary(b, WEIR_CODE_OR, below, above)));
  }
  if ((d->mirror >> k & 1) != 0) {
    derive_demand(d, compare(d, WEIR_CODE_GT, e, 0));
    derive_demand(d, compare(d, WEIR_CODE_LT, e, n - 1));
  }
}

weir_status derive_solve(derive_adjoint *d, bool *nothing)
{
  const weir_access *a = d->from;
  const weir_operand *x = &a->in[d->operand];
  const weir_box whole = weir_iterations(a);

  d->condition = -1;
  *nothing = weir_box_empty(&whole);
  for (int k = 0; k < x->rank; k++) {
    *nothing = *nothing || x->extent[k] == 0;
    (void)add_dim(d, WEIR_PARALLEL, 0, x->extent[k]);
  }
  if (*nothing) {
    return WEIR_OK;
  }
  for (int k = 0; k < x->rank; k++) {
    find_raw(d, k);
    find_rest(d, k);
  }
  choose_solvers(d);
  WEIR_TRY(weir_access_resize(d->to, 0, 1, 0));
  weir_operand *y = d->to->out;

  *y = (weir_operand){.dtype = x->dtype, .rank = x->rank};
  for (int k = 0; k < x->rank; k++) {
    y->extent[k] = x->extent[k];
    y->index[k].coef[k] = 1;
  }
  for (int k = 0; k < a->n_in && !d->overflow; k++) {
    if (!put_operand(d, &a->in[k], a->in[k].dtype) && d->to->body.failed == WEIR_OK) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "no derivative is defined with respect to the other inputs of a gather");
    }
  }
  for (int k = 0; k < x->rank && !d->overflow; k++) {
    if (d->solver[k] >= 0) {
      demand_dim(d, d->solver[k]);
    } else {
      demand_index(d, k);
    }
    demand_border(d, k);
  }
  if (d->to->body.failed != WEIR_OK) {
    return weir_fail(d->to->body.failed, "out of memory for the operands of a derivative");
  }
  if (d->overflow) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "the derivative has more than %d dimensions or %d operands, or overflows",
                     WEIR_MAX_DIMS, WEIR_MAX_OPERANDS);
  }
  return WEIR_OK;
}
