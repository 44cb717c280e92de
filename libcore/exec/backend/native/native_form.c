/* native_form.c - along which dimension the rows of a loop run. */
#include "exec/exec_priv.h"
#include "exec/backend/native/native_priv.h"

#include <string.h>

#include "base/weir_alloc.h"

int64_t native_unit(const weir_operand *x)
{
  return x->part > 0 ? 2 : 1;
}

int native_output(const weir_access *a, int k)
{
  int output = 0;

  for (int seen = 0; a->out[output].role != WEIR_ROLE_DATA || seen++ != k; output++) {
  }
  return output;
}

/* Index `high` is the quotient, `low` the remainder of dividing by the extent of low's dimension.
 */
static bool is_carry(const weir_index *high, const weir_index *low, int64_t extent)
{
  int64_t div;

  return low->border == WEIR_BORDER_WRAP && high->gather == 0 && low->gather == 0 &&
         high->offset == low->offset && memcmp(high->coef, low->coef, sizeof low->coef) == 0 &&
         weir_mul_ok(weir_index_divisor(low), extent, &div) && weir_index_divisor(high) == div;
}

unsigned native_carries(const weir_operand *x)
{
  unsigned all = 0;

  for (int last = x->rank - 1; last > 0; last--) {
    unsigned chain = 0;
    int d = last;

    while (d > 0 && is_carry(&x->index[d - 1], &x->index[d], x->extent[d])) {
      chain |= 1u << --d;
    }
    if (x->index[last].div <= 1 && x->index[d].border == WEIR_BORDER_NEVER) {
      all |= chain;
      last = d;
    }
  }
  return all;
}

/* No gather, and no division along dimension `inner`. */
static bool is_plain(const weir_operand *x, int inner)
{
  const unsigned carries = native_carries(x);

  for (int d = 0; d < x->rank; d++) {
    if (x->index[d].gather != 0 || (x->index[d].div > 1 && (carries >> d & 1) == 0 && inner >= 0 &&
                                    x->index[d].coef[inner] != 0)) {
      return false;
    }
  }
  return true;
}

static bool is_divided(const weir_operand *x)
{
  const unsigned carries = native_carries(x);

  for (int d = 0; d < x->rank; d++) {
    if (x->index[d].div > 1 && (carries >> d & 1) == 0) {
      return true;
    }
  }
  return false;
}

static void add_term(native_known *p, int d, int k, int64_t coef)
{
  if (coef != 0 && p->n >= 0) {
    if (p->n == NATIVE_TERMS) {
      p->n = -1;
      return;
    }
    p->term[p->n++] = (native_term){(int16_t)d, (int16_t)k, coef};
  }
}

static void place_of(const weir_operand *x, int n_dims, unsigned carries, bool plain,
                     native_known *p)
{
  const bool data = x->role == WEIR_ROLE_DATA;

  *p = (native_known){.data = plain && data,
                      .divides = is_divided(x),
                      .size = (int8_t)weir_dtype_size(x->dtype),
                      .unit = (int8_t)native_unit(x)};
  for (int d = 0; d < x->rank; d++) {
    const bool carried = ((carries | carries << 1) >> d & 1) != 0;

    p->bordered |= (uint16_t)((data && x->index[d].border != WEIR_BORDER_NEVER && !carried) << d);
    if (x->index[d].div > 1 || (carries >> d & 1) != 0) {
      continue;
    }
    add_term(p, d, -1, x->index[d].offset);
    for (int k = 0; k < n_dims; k++) {
      add_term(p, d, k, x->index[d].coef[k]);
    }
  }
}

/* True when a division changes the position of an input along a reduced dimension. */
static bool divides_reduced(const weir_access *a)
{
  for (int i = 0; i < a->n_in; i++) {
    const unsigned carries = native_carries(&a->in[i]);

    for (int d = 0; d < a->in[i].rank; d++) {
      const bool divides = a->in[i].index[d].div > 1 && (carries >> d & 1) == 0;

      for (int k = 0; k < a->n_dims && divides; k++) {
        if (a->dim[k].kind == WEIR_REDUCED && a->in[i].index[d].coef[k] != 0) {
          return true;
        }
      }
    }
  }
  return false;
}

/* 2: neighbours along iteration dimension k are neighbours in memory, 1: they are one element. */
static int affinity(const weir_operand *x, int k)
{
  const unsigned carries = native_carries(x);
  bool moves = false;

  for (int d = 0; d < x->rank; d++) {
    moves = moves || x->index[d].coef[k] != 0;
    if (x->index[d].coef[k] != 0 && (carries >> d & 1) == 0 &&
        (d < x->rank - 1 || x->index[d].coef[k] != 1 || x->index[d].div > 1)) {
      return 0;
    }
  }
  return moves ? 2 : 1;
}

static int score(const weir_access *a, int k)
{
  int sum = 0;

  for (int i = 0; i < a->n_in; i++) {
    sum += a->in[i].role == WEIR_ROLE_DATA ? 2 * affinity(&a->in[i], k) : 0;
  }
  for (int o = 0; o < a->n_out; o++) {
    sum += a->out[o].role == WEIR_ROLE_DATA ? 3 * affinity(&a->out[o], k) : 0;
  }
  return sum;
}

/* Best dimension of a kind for a row, -1: none. Short ones only where there is nothing longer. */
static int best(const weir_access *a, weir_dim_kind kind, int64_t shortest)
{
  int found = -1, max = -1;

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == kind && a->dim[k].hi - a->dim[k].lo >= shortest && score(a, k) >= max) {
      max = score(a, k);
      found = k;
    }
  }
  return found < 0 && shortest > 0 ? best(a, kind, 0) : found;
}

static int last_of(const weir_access *a, bool sequential)
{
  for (int k = a->n_dims - 1; k >= 0; k--) {
    if (sequential ? a->dim[k].kind >= WEIR_FORWARD : a->dim[k].kind == WEIR_REDUCED) {
      return k;
    }
  }
  return -1;
}

/* Rows along the outputs, rather than along the last reduced dimension? */
static bool prefers_strip(const weir_access *a, int parallel, int reduced)
{
  int along = 0, across = 0;

  if (parallel < 0 || a->dim[parallel].hi - a->dim[parallel].lo < 8) {
    return false;
  }
  for (int i = 0; i < a->n_in; i++) {
    along += affinity(&a->in[i], parallel) > 0;
    across += affinity(&a->in[i], reduced) > 0;
  }
  return along >= across || a->dim[reduced].hi - a->dim[reduced].lo < 2 * WEIR_LANES;
}

static void set_components(native_form *f)
{
  const weir_access *a = f->access;

  f->component[0] = f->component[1] = f->component[2] = a->accumulator;
  switch (a->combine) {
  case WEIR_COMBINE_NONE:
    f->components = 0;
    break;
  case WEIR_COMBINE_ARGMAX:
  case WEIR_COMBINE_FIRST:
  case WEIR_COMBINE_LAST:
    f->components = 2;
    f->component[1] = WEIR_I64;
    break;
  case WEIR_COMBINE_MOMENTS:
    f->components = 3;
    break;
  case WEIR_COMBINE_SOFTMAX:
    f->components = 2;
    break;
  default:
    f->components = 1;
  }
}

/* Lanes that iterations reach, levels of the tree, and how long a strip the scratch can hold. */
static void set_scratch(native_form *f)
{
  const weir_access *a = f->access;
  int64_t iterations = 1, bytes = 0;

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_REDUCED) {
      const int64_t extent = a->dim[k].hi - a->dim[k].lo;
      const bool known = a->dim[k].hi < WEIR_UNBOUNDED;
      if (!known || !weir_mul_ok(iterations, extent, &iterations)) {
        iterations = INT64_MAX;
      }
    }
  }
  f->lanes = iterations < WEIR_LANES ? (int)iterations : WEIR_LANES;
  f->lanes = f->lanes < 1 ? 1 : f->lanes;
  f->levels = 1;
  for (int64_t blocks = iterations / WEIR_REDUCE_BLOCK; blocks > 0; blocks /= 2) {
    f->levels++;
  }
  for (int c = 0; c < f->components; c++) {
    bytes += (int64_t)weir_dtype_size(f->component[c]) * (f->lanes + f->levels);
  }
  f->strip = f->components > 0 ? (NATIVE_SCRATCH / bytes) / 16 * 16 : 0;
  f->strip = f->strip > 1024 ? 1024 : f->strip;
}

static void choose_row(native_form *f)
{
  const weir_access *a = f->access;
  const int parallel = best(a, WEIR_PARALLEL, 8), reduced = last_of(a, false);
  const int sequential = last_of(a, true);

  if (sequential >= 0) {
    f->shape = NATIVE_SCAN;
    f->inner = sequential;
  } else if (a->combine == WEIR_COMBINE_NONE) {
    f->shape = NATIVE_MAP;
    f->inner = parallel;
  } else if (reduced < 0 || prefers_strip(a, parallel, reduced)) {
    f->shape = NATIVE_STRIP;
    f->inner = parallel;
  } else {
    f->shape = NATIVE_LANES;
    f->inner = reduced;
  }
  for (int k = 0; k < a->n_dims; k++) {
    if (k != f->inner && a->dim[k].kind == WEIR_PARALLEL) {
      f->outer[f->n_outer++] = k;
    } else if (k != f->inner) {
      f->around[f->n_around++] = k;
    }
  }
}

/* A few reduced iterations, each in a separate lane, merge in registers: no partial result goes
 * through memory. */
static int small_of(const native_form *f)
{
  const weir_access *a = f->access;
  int64_t n = 1;

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_REDUCED) {
      const int64_t extent = a->dim[k].hi - a->dim[k].lo;
      n = extent > WEIR_LANES ? WEIR_LANES + 1 : n * extent;
      n = n > WEIR_LANES ? WEIR_LANES + 1 : n;
    }
  }
  const bool fits = n <= WEIR_LANES && n * a->body.n <= 320;
  const bool serves = f->inner >= 0 && !f->positions && !divides_reduced(a);

  return f->shape == NATIVE_STRIP && serves && fits ? (int)n : 0;
}

/* Upsampled inputs of a map, as many as fit. */
static void find_upsampled(native_form *f)
{
  const weir_access *a = f->access;
  int n = 0;

  for (int i = 0; i < a->n_in && f->shape == NATIVE_MAP; i++) {
    f->upsampled[i] = n < NATIVE_UPSAMPLED && a->in[i].role == WEIR_ROLE_DATA &&
                      exec_upsampled_dim(&a->in[i], f->inner) >= 0;
    n += f->upsampled[i];
  }
  f->has_upsampled = n > 0;
}

/* Several rows go to one call of a kernel where that saves the cost in addition to their
 * iterations.
 */
static void find_second(native_form *f)
{
  const weir_access *a = f->access;
  const bool map = f->shape == NATIVE_MAP, strip = f->shape == NATIVE_STRIP;
  const int around = map ? f->n_outer : strip ? f->n_around : 0;

  f->second = around > 0 && !f->has_upsampled ? (map ? f->outer : f->around)[around - 1] : -1;
  if (weir_body_uses(&a->body, WEIR_CODE_RANDOM)) { /* bits follow the position: rows do not step */
    f->second = -1;
  }
  for (int i = 0; i < a->n_in; i++) {
    f->fold[i] = -1;
    for (int d = 0; d < a->in[i].rank && f->divided[i] && f->second >= 0; d++) {
      if (a->in[i].index[d].div > 1 && (f->carries[i] >> d & 1) == 0 &&
          a->in[i].index[d].coef[f->second] != 0) {
        f->second = f->fold[i] >= 0 ? -1 : f->second; /* one division is followed */
        f->fold[i] = d;
      }
    }
  }
  for (int i = 0; i < a->n_in && f->second < 0; i++) {
    f->fold[i] = -1;
  }
  const int64_t n = f->inner >= 0 ? a->dim[f->inner].hi - a->dim[f->inner].lo : 0;

  f->exact = f->second >= 0 && n <= NATIVE_EXACT ? (int)n : 0;
}

/* False when the steps along a row are 1 wherever the last dimension of an array is dense: other
 * views are rare enough for the kernel `border`. */
static bool has_strides(const native_form *f)
{
  const weir_access *a = f->access;
  const bool writes = f->shape == NATIVE_MAP || f->shape == NATIVE_SCAN;
  bool yes = f->shape == NATIVE_LANES;

  for (int i = 0; i < a->n_in && f->inner >= 0; i++) {
    yes = yes ||
          (a->in[i].role == WEIR_ROLE_DATA && f->plain[i] && affinity(&a->in[i], f->inner) == 0);
  }
  for (int o = 0; o < a->n_out && f->inner >= 0 && writes; o++) {
    yes = yes || (a->out[o].role == WEIR_ROLE_DATA && f->plain_out[o] &&
                  affinity(&a->out[o], f->inner) != 2);
  }
  return yes;
}

weir_status native_form_of(const weir_access *a, native_form *f)
{
  const bool scan = last_of(a, true) >= 0;

  *f = (native_form){.access = a, .inner = -1};
  if (a->maker != WEIR_MADE_BY_BODY) {
    return weir_fail(WEIR_ERR_SHAPE, "a library or call operator has no body for an engine to run");
  }
  if (scan && (last_of(a, false) >= 0 || a->combine != WEIR_COMBINE_NONE)) {
    return weir_fail(WEIR_ERR_SHAPE, "a loop has reduced and sequential dimensions: split it");
  }
  if ((a->combine == WEIR_COMBINE_MOMENTS || a->combine == WEIR_COMBINE_SOFTMAX) &&
      !weir_dtype_is_real(a->accumulator)) {
    return weir_fail(WEIR_ERR_SHAPE, "moments and softmax need a float accumulator, not %s",
                     weir_dtype_name(a->accumulator));
  }
  choose_row(f);
  set_components(f);
  set_scratch(f);
  for (int i = 0; i < a->n_in; i++) {
    f->plain[i] = is_plain(&a->in[i], f->inner);
    f->divided[i] = f->plain[i] && is_divided(&a->in[i]);
    f->carries[i] = native_carries(&a->in[i]);
    f->positions = f->positions || (!f->plain[i] && a->in[i].role == WEIR_ROLE_DATA);
  }
  for (int o = 0; o < a->n_out; o++) {
    f->plain_out[o] = is_plain(&a->out[o], -1) && !is_divided(&a->out[o]);
    f->positions = f->positions || !f->plain_out[o];
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    const weir_code code = a->body.exprs[i].code;
    f->positions = f->positions || code == WEIR_CODE_INDEX || code == WEIR_CODE_REMAINDER ||
                   code == WEIR_CODE_RANDOM;
  }
  f->strides = has_strides(f);
  f->small = small_of(f);
  find_upsampled(f);
  find_second(f);
  native_nest_of(f);
  for (int i = 0; i < a->n_in; i++) {
    place_of(&a->in[i], a->n_dims, f->carries[i], f->plain[i], &f->in[i]);
  }
  for (int o = 0; o < a->n_out; o++) {
    place_of(&a->out[o], a->n_dims, 0, f->plain_out[o], &f->out[o]);
  }
  return WEIR_OK;
}
