/* weir_lu.h - vectorised solution of small systems; for kernels of library operators. */
#ifndef WEIR_LU_H
#define WEIR_LU_H
#include "graph/weir_kernel.h"
#include "ops/weir_batch.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of rows; a library eliminates larger systems faster. */
enum { WEIR_LU_ROWS = 192 };

/* Returns whether this processor supports the code. */
bool weir_lu_can(weir_dtype dtype);
/* Returns the bytes of memory for n rows and k right-hand sides. */
int64_t weir_lu_bytes(weir_dtype dtype, int64_t n, int64_t k);
/* Solves a x = b; m: a, b and x, of one dtype; b without data is the identity. conj: of a. Where a
 * is exactly singular or not finite, x becomes NaN, and a column of x where that of b is not
 * finite. next: the m of the next call, which is prefetched; may be NULL. */
void weir_lu_solve(const weir_matrix *m, bool conj, const weir_matrix *next, void *memory);
/* Runs a kernel's piece of a library operator with output x and weir_lu_bytes of scratch; take()
 * gives the m of a point. Many small systems are solved in parallel lanes: bitwise identical to
 * weir_lu_solve, at any position in the batch. */
typedef void weir_lu_take(const weir_kernel_run *r, int64_t point, weir_matrix *m);
void weir_lu_run(const weir_kernel_run *r, bool conj, weir_lu_take *take);
/* Implement weir_kernel.match for a library operator with output x, and scratch. */
double weir_lu_match(const weir_graph *g, const weir_group *group, const weir_op_desc *op);
int64_t weir_lu_scratch(const void *context);

#ifdef __cplusplus
}
#endif
#endif
