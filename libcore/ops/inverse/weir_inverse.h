/* weir_inverse.h - inverses of stacks of matrices [batch..., n, n], by elimination with partial
 * pivoting. A matrix that is exactly singular or has a non-finite element gives NaN. */
#ifndef WEIR_INVERSE_H
#define WEIR_INVERSE_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

extern const weir_op_desc weir_op_inverse;

/* f32, f64, c64, c128. */
weir_value weir_inverse_at(weir_graph *g, weir_value a, const char *where);
#define weir_inverse(g, a) weir_inverse_at(g, a, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
