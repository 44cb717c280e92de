/* weir_microbatch.h - micro-batches: the dimension along which the samples of a step are split. */
#ifndef WEIR_MICROBATCH_H
#define WEIR_MICROBATCH_H
#include "pass/weir_dim_split.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_MICROBATCH_TEXT 512 /* space for a reason */

/* Finds the dimension of an input along which most bytes of temporaries can be split, and the
 * split. *input: the array; -1 where there is none, or where a node waits for all micro-batches
 * before one can continue: `text` then names it. Fails: WEIR_ERR_MEMORY. */
weir_status weir_microbatch_find(const weir_graph *g, int32_t *input, weir_dim_split *split,
                                 char *text, size_t size) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
