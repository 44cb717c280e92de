/* weir_interpolate.h - sums of neighbours of the centre of a cell along one dimension, with given
 * coefficients: interpolation, or a filter of what is interpolated whose taps have their own x.
 *
 *   out[.., o, ..] = sum over t, k of a[o, t, k] x[.., low(o + t - pad) + k - before, .., t, ..]
 *   low(o) = floor((o + 1/2) n / length - 1/2)
 *
 * n: elements of x along the dimension; a [length, T, K]; T: a dimension of x that the result has
 * not. low: the last of the n elements whose centre is not behind that of element o of `length`.
 * Elements outside x are 0, or it wraps. */
#ifndef WEIR_INTERPOLATE_H
#define WEIR_INTERPOLATE_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_interpolate_spec {
  int dim, taps; /* dimensions of x: the one interpolated, and T, which comes after it */
  int64_t pad, before;
  weir_border border; /* 0: zero; wrap */
} weir_interpolate_spec;

extern const weir_op_desc weir_op_interpolate;

/* low(o) of n elements and a length of at least 1. */
int64_t weir_interpolate_low(int64_t n, int64_t length, int64_t o);

/* Adds the operator, for the macro below; `where` is the caller's position. x, a: floats of one
 * dtype. */
weir_value weir_interpolate_at(weir_graph *g, const weir_interpolate_spec *spec, weir_value x,
                               weir_value a, const char *where);
#define weir_interpolate(g, spec, x, a) weir_interpolate_at(g, spec, x, a, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
