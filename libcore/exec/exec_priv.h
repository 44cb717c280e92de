/* exec_priv.h - what the engines share: where an operand lies, positions, scratch of concurrent
 * runs. */
#ifndef WEIR_EXEC_PRIV_H
#define WEIR_EXEC_PRIV_H
#include <stdatomic.h>
#include "exec/weir_engine.h"

/* One scalar of any dtype: float dtypes in `real`, complex ones in `z`, the others in
 * `integer` (bool 0 or 1). */
typedef union exec_scalar {
  weir_c128 z;
  double real;
  int64_t integer;
} exec_scalar;

typedef enum exec_bounds {
  EXEC_IN_BOUNDS, /* index[] holds the element                                     */
  EXEC_FILL,      /* the load gives *fill: of the first dimension that leaves       */
  EXEC_DROPPED    /* an ABSENT border was left: the whole iteration does not happen */
} exec_bounds;

/* Element of operand `x` in one iteration, by the border rules. extent: the array's; in: views of
 * the inputs, where gathered indices are read (NULL: they count as 0). */
exec_bounds exec_locate(const weir_access *a, const weir_operand *x, const int64_t *extent,
                        const weir_view *in, const int64_t *iteration, int64_t *index,
                        double *fill);
/* Value gathered for dimension d of operand x, 0 where none is; false: the iteration is dropped. */
bool exec_gathered(const weir_access *a, const weir_index *x, const weir_view *in,
                   const int64_t *iteration, int64_t *value);
/* Row-major position among the whole extents of the dimensions of one kind. */
int64_t exec_position(const weir_access *a, weir_dim_kind kind, const int64_t *iteration);
bool exec_has(const weir_access *a, weir_dim_kind kind);
/* Refuses accesses that no engine can order: a reduction inside a scan. Fails: WEIR_ERR_SHAPE. */
weir_status exec_check(const weir_access *a) WEIR_CHECKED;

typedef weir_status exec_prepare_one(const weir_loop *loop, const weir_engine_opts *opts,
                                     void **out);
/* prepare of an engine whose loops are prepared one by one; releases those before one that fails.
 */
weir_status exec_prepare_each(const weir_loop *const *loops, int32_t n,
                              const weir_engine_opts *opts, exec_prepare_one *one,
                              void (*release)(void *context), void **contexts) WEIR_CHECKED;

/* Moves `iteration` to the next point of the dimensions in `mask` (bit k: dimension k) of the box,
 * row-major, BACKWARD dimensions descending; false after the last, when it is back at the first. */
bool exec_next(const weir_access *a, const weir_box *box, uint32_t mask, int64_t *iteration);
/* True when the box holds points of the parallel and sequential dimensions (a reduction over
 * nothing still writes its neutral element). */
bool exec_has_points(const weir_access *a, const weir_box *box);
/* First point of the box: the upper end of BACKWARD dimensions. */
void exec_first(const weir_access *a, const weir_box *box, int64_t *iteration);
/* Dimensions of a kind, or of both sequential kinds (WEIR_FORWARD). */
uint32_t exec_mask(const weir_access *a, weir_dim_kind kind);

/* upsampled.c: the array dimension of `x` that is constant over several iterations of loop
 * dimension `inner`, index floor((c i + ..) / div) with c > 0 and div > 1; -1: none, or `x` moves
 * in other ways too.
 */
int exec_upsampled_dim(const weir_operand *x, int inner);
/* The position of an upsampled operand: element `from`, `rest` of `div` into it. */
typedef struct exec_upsampled {
  const char *from;
  int64_t stride; /* bytes */
  int64_t rest, coef, div;
} exec_upsampled;
/* At `iteration` of a loop of n_dims whose dimension `inner` holds it. */
exec_upsampled exec_upsampled_at(const weir_operand *x, const weir_view *v, int inner,
                                 const int64_t *iteration, int n_dims);
/* Iterations from there on that read the same element. */
int64_t exec_upsampled_left(const exec_upsampled *h);
/* The elements that n iterations from there on read, one after another; all lie in the array. */
void exec_expand(void *dst, weir_dtype dtype, exec_upsampled h, int64_t n);

/* Scratch blocks for runs that may be concurrent: made at prepare, taken and given back without
 * allocation. */
typedef struct exec_pool {
  int n;
  size_t bytes;
  atomic_int *busy;
  char *memory;
} exec_pool;
weir_status exec_pool_init(exec_pool *p, int n, size_t bytes) WEIR_CHECKED;
void exec_pool_fini(exec_pool *p);
/* A block of p->bytes, 64-byte aligned; waits when more runs are under way than the pool was made
 * for. */
void *exec_pool_take(exec_pool *p);
void exec_pool_give(exec_pool *p, const void *block);
#endif
