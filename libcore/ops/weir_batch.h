/* weir_batch.h - helpers
 * of library operators: the points of their parallel dimensions, a batch, and the matrices that a
 * point reads and writes.
 *
 * Their arrays are [batch..., rows, columns] or [batch..., rows]; batch dimensions are repeated by
 * numpy's rule. */
#ifndef WEIR_BATCH_H
#define WEIR_BATCH_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A matrix in an array, borrowed. A vector has one column. */
typedef struct weir_matrix {
  char *data;
  weir_dtype dtype;
  int64_t rows, columns;
  int64_t down, across; /* elements between rows, between columns */
} weir_matrix;

/* ---- To declare an access ---- */

/* Computes the shape of the batch: arrays without their last dims[i] dimensions, broadcast to one
 * another. Fails: WEIR_ERR_SHAPE (ranks, incompatible shapes, time among the last dimensions). */
weir_status weir_batch_shape(const char *op, const weir_array_desc *in, const int *dims, int n,
                             weir_array_desc *batch) WEIR_CHECKED;
/* Sets operand `o` to array d: batch dimensions follow the parallel ones of `a`, its last ones the
 * dimensions whole[0 .. dims). */
void weir_batch_map(const weir_access *a, weir_operand *o, const weir_array_desc *d, int dims,
                    const int *whole);
/* Checks for f32, f64, c64 or c128. Fails: WEIR_ERR_SHAPE. */
weir_status weir_batch_need_dtype(const char *op, weir_dtype dtype) WEIR_CHECKED;

/* ---- To run ---- */

/* Return the number of points of the parallel dimensions within a box, 0 where a whole dimension is
 * empty, and the iteration of one of them (row-major), whole dimensions at their start. */
int64_t weir_batch_count(const weir_access *a, const weir_box *box);
void weir_batch_point(const weir_access *a, const weir_box *box, int64_t number,
                      int64_t *iteration);
/* Returns the number of a point of the box, for which weir_batch_point returns the iteration. */
int64_t weir_batch_number(const weir_access *a, const weir_box *box, const int64_t *iteration);
/* Returns the matrix of operand `o` of n_dims iteration dimensions at a point: its last `dims`
 * dimensions, 1 or 2. */
weir_matrix weir_batch_matrix(const weir_operand *o, int n_dims, const weir_view *v,
                              const int64_t *iteration, int dims);
/* Returns the transpose, as a view. */
weir_matrix weir_matrix_transposed(const weir_matrix *m);
/* Copy into memory, row by row, and back; memory has elements of `dtype`: the matrix's own, or
 * c128, with zero imaginary parts for real matrices. */
void weir_matrix_load(const weir_matrix *m, weir_dtype dtype, void *to);
void weir_matrix_store(const weir_matrix *m, weir_dtype dtype, const void *from);
/* Returns whether every element is finite; of n elements in memory. */
bool weir_matrix_is_finite(const weir_matrix *m);
bool weir_batch_is_finite(weir_dtype dtype, const void *data, int64_t n);
/* Sets every element to NaN. */
void weir_matrix_spoil(const weir_matrix *m);

/* Returns the rounding error of a dtype: 2^-24 or 2^-53. */
double weir_batch_eps(weir_dtype dtype);

/* ---- Kernels that are called point by point ---- */

/* Returns whether the group is one node of that library operator, with last dimensions within the
 * 32 bits of a library. */
bool weir_batch_claims(const weir_graph *g, const weir_group *group, const weir_op_desc *op);
/* Returns the seconds that such a node takes at `rate` flops per second; -1 for another group. */
double weir_batch_seconds(const weir_graph *g, const weir_group *group, const weir_op_desc *op,
                          double rate);
/* Implements weir_kernel.arrays: inputs, then outputs. */
int weir_batch_arrays(const weir_graph *g, const weir_group *group, int32_t *arrays, int n);
/* Implement weir_kernel.prepare and release: the context is the node, borrowed. */
weir_status weir_batch_prepare(const weir_graph *g, const weir_group *group,
                               void **context) WEIR_CHECKED;
void weir_batch_release(void *context);
/* Implements weir_kernel.pieces for that context. */
int64_t weir_batch_stage(const void *context, int stage);
/* Returns the points [*from, *to) of the run's box in piece `number` of the single stage, a
 * multiple of `unit` except at the end. */
void weir_batch_piece(const weir_access *a, const weir_box *box, int64_t number, int64_t unit,
                      int64_t *from, int64_t *to);

#ifdef __cplusplus
}
#endif
#endif
