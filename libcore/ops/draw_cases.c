/* draw_cases.c - what the cases of several operators are drawn with. */
#include <string.h>
#include "base/weir_random.h"
#include "ops/ops_cases.h"

int64_t weir_draw_int(weir_draw *w, int64_t lo, int64_t hi)
{
  const uint64_t bits = weir_random_bits(w->seed, 0x6f707321u, 0, w->n++);

  return lo + (int64_t)(bits % (uint64_t)(hi - lo + 1));
}

bool weir_draw_one_in(weir_draw *w, int64_t n)
{
  return weir_draw_int(w, 1, n) == 1;
}

weir_array_desc weir_draw_array(weir_draw *w, weir_dtype dtype, int lo, int hi)
{
  static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33};
  const int64_t n = (int64_t)(sizeof extents / sizeof extents[0]);
  weir_array_desc d = {.dtype = dtype, .rank = (int)weir_draw_int(w, lo, hi)};
  int64_t volume = 1;

  for (int k = 0; k < d.rank; k++) {
    const int64_t extent = extents[weir_draw_int(w, 0, n - 1)];

    d.shape[k] = volume * extent > 4000 ? 1 : extent;
    volume *= d.shape[k];
  }
  if (d.rank > 0 && weir_draw_one_in(w, 12)) {
    d.shape[weir_draw_int(w, 0, d.rank - 1)] = 0;
  }
  return d;
}

weir_dtype weir_draw_dtype(weir_draw *w, const char *classes)
{
  for (;;) {
    const weir_dtype dtype = (weir_dtype)weir_draw_int(w, 0, WEIR_DTYPE_COUNT - 1);
    const char kind = dtype == WEIR_BOOL             ? 'b'
                      : weir_dtype_is_storage(dtype) ? 'h'
                      : weir_dtype_is_complex(dtype) ? 'c'
                      : weir_dtype_is_real(dtype)    ? 'f'
                                                     : 'n';

    if (strchr(classes, kind) != NULL || (kind == 'f' && strchr(classes, 'n') != NULL)) {
      return dtype;
    }
  }
}

void weir_case_input(weir_op_case *c, const weir_array_desc *d, double lo, double hi)
{
  c->in[c->n_in] = *d;
  c->lo[c->n_in] = lo;
  c->hi[c->n_in] = hi;
  c->n_in++;
}

void weir_case_spec(weir_op_case *c, const void *spec, size_t size)
{
  WEIR_ASSERT(size <= sizeof c->spec.bytes);
  memcpy(c->spec.bytes, spec, size);
}

/* Whether values of the dtype may be combined so. */
static bool takes(weir_monoid m, weir_dtype dtype)
{
  weir_dtype accumulator;
  const bool yes = weir_combine_accumulator("", m, dtype, 0, &accumulator) == WEIR_OK;

  weir_clear_failure();
  return yes;
}

weir_monoid weir_draw_monoid(weir_draw *w, weir_dtype *dtype, int *accumulator)
{
  const weir_monoid m = (weir_monoid)weir_draw_int(w, WEIR_COMBINE_SUM, WEIR_COMBINE_LAST);

  *dtype = weir_draw_dtype(w, m == WEIR_COMBINE_SUM && weir_draw_one_in(w, 2) ? "c"
                              : !takes(m, WEIR_I32)                           ? "fh"
                              : takes(m, WEIR_BOOL)                           ? "nbh"
                                                                              : "nh");
  *accumulator = 0;
  if (weir_dtype_is_real(*dtype) && weir_draw_one_in(w, 3)) {
    *accumulator = 1 + (int)WEIR_F64;
  } else if (weir_dtype_is_complex(*dtype) && weir_draw_one_in(w, 3)) {
    *accumulator = 1 + (int)WEIR_C128;
  }
  return m;
}

/* Whether the result does not depend on the order in which values are combined. */
static bool is_exact(weir_monoid m, weir_dtype dtype)
{
  const bool rounds = m == WEIR_COMBINE_SUM || m == WEIR_COMBINE_PROD ||
                      m == WEIR_COMBINE_MOMENTS || m == WEIR_COMBINE_SOFTMAX;

  return !rounds || weir_dtype_is_whole(dtype);
}

void weir_draw_combined(weir_draw *w, weir_op_case *c, weir_monoid m, const weir_array_desc *x)
{
  const double top = x->dtype == WEIR_BOOL ? 1 : m == WEIR_COMBINE_PROD ? 1.5 : 9;

  weir_case_input(c, x, x->dtype == WEIR_U8 || x->dtype == WEIR_BOOL ? 0 : -top, top);
  if (weir_combine_has_presence(m) && weir_draw_one_in(w, 2)) {
    weir_array_desc p = *x;

    p.dtype = WEIR_BOOL;
    weir_case_input(c, &p, 0, 1);
  }
  c->exact = is_exact(m, x->dtype);
}

void weir_draw_matrices(weir_draw *w, weir_op_case *c, int64_t max)
{
  const weir_dtype dtypes[] = {WEIR_F32, WEIR_F64, WEIR_C64, WEIR_C128};
  weir_array_desc a = weir_draw_array(w, dtypes[weir_draw_int(w, 0, 3)], 0, 2);
  const int64_t n = weir_draw_int(w, 0, 9);

  for (int d = 0; d < a.rank; d++) {
    a.shape[d] = a.shape[d] > max ? max : a.shape[d];
  }
  a.shape[a.rank++] = n;
  a.shape[a.rank++] = n;
  weir_case_input(c, &a, -2, 2);
}
