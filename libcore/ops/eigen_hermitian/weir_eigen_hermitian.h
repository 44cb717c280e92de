/* weir_eigen_hermitian.h - eigenvalues and eigenvectors of stacks of Hermitian (real: symmetric)
 * matrices [batch..., n, n], of
 * which only the lower triangle and the real part of the diagonal are read. A matrix with a
 * non-finite element gives NaN. */
#ifndef WEIR_EIGEN_HERMITIAN_H
#define WEIR_EIGEN_HERMITIAN_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_eigen_hermitian_spec {
  int32_t values_only; /* 1: no second output */
} weir_eigen_hermitian_spec;

extern const weir_op_desc weir_op_eigen_hermitian;

/* f32, f64, c64, c128; spec: NULL is all 0. Output 0: eigenvalues [batch..., n], ascending, of the
 * real part's dtype. Output 1, {v.node, 1}: eigenvectors of length 1 as columns [batch..., n, n]; a
 * factor of magnitude 1 is free, and so is a rotation among vectors of one eigenvalue. */
weir_value weir_eigen_hermitian_at(weir_graph *g, weir_value a,
                                   const weir_eigen_hermitian_spec *spec, const char *where);
#define weir_eigen_hermitian(g, a, spec) weir_eigen_hermitian_at(g, a, spec, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
