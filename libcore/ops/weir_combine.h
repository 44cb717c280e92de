/* weir_combine.h - monoids in operators: values in, outputs out. Shared by reduce and window. */
#ifndef WEIR_COMBINE_H
#define WEIR_COMBINE_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number of outputs of a monoid: 1, 2 (argmax, softmax, first, last) or 3 (moments); 1
 * for no monoid, which weir_combine_accumulator refuses. */
int weir_combine_outputs(weir_monoid m);
/* Returns whether the monoid reads a bool presence in addition to the value. */
bool weir_combine_has_presence(weir_monoid m);
const char *weir_combine_name(weir_monoid m);
/* Returns the dtype in which values of `dtype` are combined. accumulator: 1 + requested dtype, 0:
 * i64 for sums and products of integers and bool, else the dtype of the values. Fails:
 * WEIR_ERR_SHAPE where the monoid is undefined for it (moments and softmax: floats only; bool: sum,
 * first, last; complex numbers: the sum, in a complex dtype). */
weir_status weir_combine_accumulator(const char *op, weir_monoid m, weir_dtype dtype,
                                     int accumulator, weir_dtype *out) WEIR_CHECKED;
/* Returns the dtype of output k. */
weir_dtype weir_combine_dtype(weir_monoid m, weir_dtype accumulator, int k);
/* Sets combine, accumulator and the values of `a`: input 0, in the dtype of output 0, and for some
 * monoids its presence: input 1, or without one always. */
void weir_combine_values(weir_access *a, const weir_op_args *args, weir_monoid m);
/* Checks the inputs: values and, for some monoids, optionally a bool presence that broadcasts to
 * them. Fails: WEIR_ERR_SHAPE. */
weir_status weir_combine_inputs(const char *op, const weir_op_args *args,
                                weir_monoid m) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
