/* weir_solve.h - solution x of a x = b for stacks of systems: a [batch..., n, n], b [batch..., n,
 * k], x as b.
 *
 * Gaussian elimination with partial pivoting. Where
 * a is exactly singular or has a non-finite element, all of its x is NaN; where a column of b has
 * one, that column. */
#ifndef WEIR_SOLVE_H
#define WEIR_SOLVE_H
#include "ops/weir_batch.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_solve_spec {
  int32_t transposed; /* 1: use the transpose of a */
  int32_t
      conjugated; /* 1: use the conjugate of a (with transposed: the adjoint), of complex arrays */
} weir_solve_spec;

extern const weir_op_desc weir_op_solve;

/* Sets, for kernels, columns of x to NaN where the columns of b are not finite. */
void weir_solve_spoil(const weir_matrix *b, const weir_matrix *x);

/* f32, f64, c64, c128; batch dimensions are repeated by numpy's rule. spec: NULL is all 0. */
weir_value weir_solve_at(weir_graph *g, weir_value a, weir_value b, const weir_solve_spec *spec,
                         const char *where);
#define weir_solve(g, a, b, spec) weir_solve_at(g, a, b, spec, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
