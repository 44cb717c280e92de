/* weir_window_argmax.h - position of an element in its window, as computed by bodies.
 *
 * Whether an expression is a position is not read off its form: it is taken apart into terms of one
 * dimension each, and those are computed for all values that the dimension takes. */
#ifndef WEIR_WINDOW_ARGMAX_H
#define WEIR_WINDOW_ARGMAX_H
#include "graph/weir_access.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Returns the expression that is the access's one value where input operand `argmax` holds the
 * row-major position of the iteration in its window, and it is 0 elsewhere; -1: it is none. window:
 * [rank] of them; the position along dimension d is the remainder of iteration dimension d or, if
 * `rests`, that of index d of operand `argmax` (WEIR_CODE_REMAINDER). */
int32_t weir_window_argmax(const weir_access *a, int argmax, bool rests, const int64_t *window,
                           int rank);

#ifdef __cplusplus
}
#endif
#endif
