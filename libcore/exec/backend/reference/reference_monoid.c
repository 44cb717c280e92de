/* reference_monoid.c - reductions taken one element after the other in long double: the order of
 * exec/weir_engine.h does not matter to the oracle. */
#include "exec/backend/reference/reference_priv.h"

#include <math.h>

static bool is_float(const weir_access *a)
{
  return weir_dtype_is_real(a->accumulator);
}

static int64_t extreme(weir_dtype dtype, bool max)
{
  const exec_scalar end = {.real = max ? INFINITY : -INFINITY};

  return weir_dtype_kind(dtype) == WEIR_KIND_BOOL ? max
         : weir_dtype_is_whole(dtype)             ? reference_cast(dtype, WEIR_F64, end).integer
                                                  : 0;
}

void reference_neutral(const weir_access *a, reference_partial *p)
{
  *p = (reference_partial){.at = -1};
  switch (a->combine) {
  case WEIR_COMBINE_PROD:
    p->x = 1;
    p->integer = 1;
    break;
  case WEIR_COMBINE_MAX:
  case WEIR_COMBINE_ARGMAX:
  case WEIR_COMBINE_SOFTMAX:
    p->x = -INFINITY;
    p->integer = extreme(a->accumulator, false);
    break;
  case WEIR_COMBINE_MIN:
    p->x = INFINITY;
    p->integer = extreme(a->accumulator, true);
    break;
  default:
    break;
  }
}

static int64_t wrapped(weir_dtype dtype, uint64_t x)
{
  const exec_scalar wide = {.integer = (int64_t)x};

  return reference_cast(dtype, WEIR_I64, wide).integer;
}

static void take_float(const weir_access *a, reference_partial *p, long double x, int64_t at)
{
  switch (a->combine) {
  case WEIR_COMBINE_SUM:
    p->x += x;
    break;
  case WEIR_COMBINE_PROD:
    p->x *= x;
    break;
  case WEIR_COMBINE_MAX:
    p->x = x > p->x || isnan(x) ? x : p->x;
    break;
  case WEIR_COMBINE_MIN:
    p->x = x < p->x || isnan(x) ? x : p->x;
    break;
  case WEIR_COMBINE_ARGMAX:
    if (!isnan(x) && (p->at < 0 || x > p->x)) {
      p->x = x;
      p->at = at;
    }
    break;
  case WEIR_COMBINE_MOMENTS: {
    const long double d = x - p->y;
    p->x += 1;
    p->y += d / p->x;
    p->z += d * (x - p->y);
    break;
  }
  case WEIR_COMBINE_SOFTMAX:
    if (p->count == 0) {
      p->x = x;
      p->y = 1;
    } else {
      const long double m = x > p->x || isnan(x) ? x : p->x;
      p->y = p->y * expl(p->x == m ? 0 : p->x - m) + expl(x == m ? 0 : x - m);
      p->x = m;
    }
    break;
  default:
    p->x = x;
  }
}

static void take_int(const weir_access *a, reference_partial *p, int64_t x, int64_t at)
{
  switch (a->combine) {
  case WEIR_COMBINE_SUM:
    p->integer = wrapped(a->accumulator, (uint64_t)p->integer + (uint64_t)x);
    break;
  case WEIR_COMBINE_PROD:
    p->integer = wrapped(a->accumulator, (uint64_t)p->integer * (uint64_t)x);
    break;
  case WEIR_COMBINE_MAX:
    p->integer = x > p->integer ? x : p->integer;
    break;
  case WEIR_COMBINE_MIN:
    p->integer = x < p->integer ? x : p->integer;
    break;
  case WEIR_COMBINE_ARGMAX:
    if (p->at < 0 || x > p->integer) {
      p->integer = x;
      p->at = at;
    }
    break;
  default:
    p->integer = x;
  }
}

void reference_take(const weir_access *a, reference_partial *p, const exec_scalar *v, int64_t at)
{
  const weir_dtype from = a->body.exprs[a->value[0]].dtype;
  const bool present = a->n_values < 2 || v[a->value[1]].integer != 0;
  const bool first = a->combine == WEIR_COMBINE_FIRST, last = a->combine == WEIR_COMBINE_LAST;
  exec_scalar x = v[a->value[0]];

  if (!present || (first && p->at >= 0)) {
    return;
  }
  if (weir_dtype_is_complex(a->accumulator)) {
    p->x += (long double)x.z.re;
    p->y += (long double)x.z.im;
    p->count++;
    return;
  }
  if (!(weir_dtype_is_real(from) && is_float(a))) {
    x = reference_cast(a->accumulator, from, x);
  }
  if (is_float(a)) {
    take_float(a, p, (long double)x.real, at);
  } else {
    take_int(a, p, x.integer, at);
  }
  if (first || last) {
    p->at = at;
  }
  p->count++;
}

exec_scalar reference_result(const weir_access *a, const reference_partial *p, int k,
                             weir_dtype *dtype)
{
  const long double real[3] = {p->x, p->y, p->z};
  exec_scalar y = {.z = {0, 0}};

  if (k == 1 && a->combine == WEIR_COMBINE_ARGMAX) {
    *dtype = WEIR_I64;
    y.integer = p->at;
  } else if (k == 1 && a->combine >= WEIR_COMBINE_FIRST) {
    *dtype = WEIR_BOOL;
    y.integer = p->at >= 0;
  } else {
    *dtype = a->accumulator;
    if (weir_dtype_is_complex(a->accumulator)) {
      y.z = (weir_c128){(double)p->x, (double)p->y};
    } else if (is_float(a)) {
      y.real = (double)real[k];
    } else {
      y.integer = p->integer;
    }
  }
  return y;
}
