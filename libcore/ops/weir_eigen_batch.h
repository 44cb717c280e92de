/* weir_eigen_batch.h - shared code of the two eigenvalue operators. */
#ifndef WEIR_EIGEN_BATCH_H
#define WEIR_EIGEN_BATCH_H
#include "graph/weir_kernel.h"
#include "ops/weir_batch.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The matrices of one point. */
typedef struct weir_eigen_item {
  weir_matrix a, value, vector; /* value: one column */
  bool has_vectors;
} weir_eigen_item;

/* Checks a [batch..., n, n]; values [batch..., n] and vectors [batch..., n, n] of its dtype. */
weir_status weir_eigen_infer(const char *op, const weir_op_args *args,
                             weir_array_desc *out) WEIR_CHECKED;
/* Declares the access; `cubes`: flops of a real matrix over n^3. */
void weir_eigen_access(const weir_op_args *args, weir_access *a, double cubes);
weir_eigen_item weir_eigen_item_of(const weir_access *a, const weir_box *box, int64_t number,
                                   const weir_view *in, const weir_view *out);
/* Runs a kernel's piece of such an operator: solve(item, scratch) for each point. */
void weir_eigen_run(const weir_kernel_run *r,
                    void (*solve)(const weir_eigen_item *m, char *memory));
/* Sets all results to NaN. */
void weir_eigen_spoil(const weir_eigen_item *m);
/* Returns the largest ||a v - v value|| / ||a|| in units of n eps; a, v: [n, n]; memory: [n, n]. */
double weir_eigen_residual(const weir_eigen_item *m, const weir_c128 *a, const weir_c128 *v,
                           weir_c128 *memory);
/* Computes weir_op_desc.error: the worst of error(item, memory of `bytes`). */
double weir_eigen_worst(const weir_op_run *r, int64_t bytes,
                        double (*error)(const weir_eigen_item *m, weir_c128 *memory));

#ifdef __cplusplus
}
#endif
#endif
