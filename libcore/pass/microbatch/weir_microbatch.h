/* weir_microbatch.h - a step in parts: which dimension its samples lie along. */
#ifndef WEIR_MICROBATCH_H
#define WEIR_MICROBATCH_H
#include "pass/weir_dim_split.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_MICROBATCH_TEXT 512 /* room for a reason */

/* Finds the dimension of an input along which most bytes of temporaries can be cut, and how.
 * *input: the array; -1 where there is none, or where a node waits for all parts before
 * a part can continue: `text` then says which. Fails: WEIR_ERR_MEMORY. */
weir_status weir_microbatch_find(const weir_graph *g, int32_t *input, weir_dim_split *split,
                                 char *text, size_t size) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
