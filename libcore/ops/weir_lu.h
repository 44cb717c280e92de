/* weir_lu.h - solves small systems by own vector code; for kernels of library operators. */
#ifndef WEIR_LU_H
#define WEIR_LU_H
#include "graph/weir_kernel.h"
#include "ops/weir_batch.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Rows of a system, at most: a library eliminates larger ones faster. */
enum { WEIR_LU_ROWS = 192 };

/* Whether this processor has the code. */
bool weir_lu_can(weir_dtype dtype);
/* Bytes of memory for n rows and k right sides. */
int64_t weir_lu_bytes(weir_dtype dtype, int64_t n, int64_t k);
/* m: a, b and x of a x = b, of one dtype; b without data is the identity. conj: of a. Where a is
 * exactly singular or not finite, x becomes NaN, and a column of x where that of b is not finite.
 * next: the m of the call after this one, which comes nearer meanwhile; may be NULL. */
void weir_lu_solve(const weir_matrix *m, bool conj, const weir_matrix *next, void *memory);
/* Runs a kernel's piece of a library operator whose output is x, with weir_lu_bytes of scratch;
 * take() gives the m of a point. Many small systems are solved side by side: the bits are those of
 * weir_lu_solve, wherever in the batch a system stands. */
typedef void weir_lu_take(const weir_kernel_run *r, int64_t point, weir_matrix *m);
void weir_lu_run(const weir_kernel_run *r, bool conj, weir_lu_take *take);
/* Flops in a second on one thread, about. */
double weir_lu_rate(weir_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
