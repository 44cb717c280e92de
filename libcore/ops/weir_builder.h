/* weir_builder.h - helpers of operator folders: common index maps and checks. */
#ifndef WEIR_BUILDER_H
#define WEIR_BUILDER_H
#include "base/weir_integer.h"
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* "file:line" of the caller: builders are macros that pass it on, so that the graph's first error
 * names the line that built the node. */
#define WEIR_WHERE_TEXT_(line) #line
#define WEIR_WHERE_TEXT(line) WEIR_WHERE_TEXT_(line)
#define WEIR_WHERE __FILE__ ":" WEIR_WHERE_TEXT(__LINE__)

/* ---- Maps ---- */

/* Adds one parallel iteration dimension per dimension of `shape`, in order. */
void weir_map_dims(weir_access *a, const weir_array_desc *shape);
/* Appends an iteration dimension [0, extent); returns its number. */
int weir_map_dim(weir_access *a, weir_dim_kind kind, int64_t extent);
/* Sets dtype, rank and extents of an operand; every index is 0 until a map is set. */
void weir_map_operand(weir_operand *o, const weir_array_desc *d);
/* Makes an operand whose dimension d is iteration dimension d. */
void weir_map_identity(weir_operand *o, const weir_array_desc *d);
/* Makes an operand broadcast to the iterations of an array `shape` by numpy's rule: dimensions are
 * aligned at the end; repeated ones do not appear in the map. */
void weir_map_broadcast(weir_operand *o, const weir_array_desc *d, const weir_array_desc *shape);
/* Makes the access of a copy: one input with the identity map, `value` of a load. For ops that then
 * only change the input's map. */
void weir_map_copy(const weir_op_args *args, weir_access *a);
/* Makes an access that computes element by element: n_in inputs and one output like the array `d`,
 * one value that is not set yet. Fails: WEIR_ERR_MEMORY, with nothing to free. */
weir_status weir_map_pointwise(weir_access *a, const weir_array_desc *d, int n_in) WEIR_CHECKED;
/* Appends the load of input `operand`, of `dtype`, in its compute dtype: f32 for bf16, f16. */
int32_t weir_map_load(weir_access *a, int operand, weir_dtype dtype);

/* ---- Checks; messages begin with `op` ---- */

/* Checks lo <= n_in <= hi. Fails: WEIR_ERR_SHAPE. */
weir_status weir_need_count(const char *op, const weir_op_args *args, int lo, int hi) WEIR_CHECKED;
/* Checks 0 <= dim < rank. Fails: WEIR_ERR_SHAPE. */
weir_status weir_need_dim(const char *op, const weir_array_desc *d, int dim) WEIR_CHECKED;
/* Checks that `dim` is bounded; `why` names the alternative. Fails: WEIR_ERR_SHAPE. */
weir_status weir_need_bounded(const char *op, const weir_array_desc *d, int dim,
                              const char *why) WEIR_CHECKED;
/* Computes the shape (and time) to which n arrays broadcast; dtype is that of the first. Fails:
 * WEIR_ERR_SHAPE, naming operand and dimension. */
weir_status weir_common_shape(const char *op, const weir_array_desc *in, int n,
                              weir_array_desc *out) WEIR_CHECKED;
/* Checks that a load may leave the array under this border: zero, value, wrap, replicate or
 * reflect. Fails: WEIR_ERR_SHAPE. */
weir_status weir_need_border(const char *op, weir_border border) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
