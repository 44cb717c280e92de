/* weir_eigen_general.h - eigenvalues and right eigenvectors of stacks of square matrices
 * [batch..., n, n] without symmetry. A matrix with a non-finite element gives NaN. */
#ifndef WEIR_EIGEN_GENERAL_H
#define WEIR_EIGEN_GENERAL_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_eigen_general_spec {
  int32_t values_only; /* 1: no second output */
} weir_eigen_general_spec;

extern const weir_op_desc weir_op_eigen_general;

/* f32, f64, c64, c128; spec: NULL is all 0. Outputs are complex. Output 0: eigenvalues [batch...,
 * n], in unspecified order. Output 1, {v.node, 1}: eigenvectors of length 1 as columns [batch...,
 * n, n], the largest element of each real. */
weir_value weir_eigen_general_at(weir_graph *g, weir_value a, const weir_eigen_general_spec *spec,
                                 const char *where);
#define weir_eigen_general(g, a, spec) weir_eigen_general_at(g, a, spec, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
