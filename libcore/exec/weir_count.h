/* weir_count.h - the counting interpreter: which elements an access really touches. For tests and
 * --verify: what it marks must equal what the access claims. */
#ifndef WEIR_COUNT_H
#define WEIR_COUNT_H
#include "graph/weir_access.h"
#include "graph/weir_view.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Runs through the iterations of `box`, one by one, and sets marks[e] = 1 for each element e
 * (row-major in the operand's extents, which must be bounded; room for all of them) that input
 * `operand`, or output -1 - operand, touches. in: views of the inputs, read for gathered indices
 * alone (NULL: they count as 0). Returns the number of elements that were not marked before. */
int64_t weir_count_touched(const weir_access *a, int operand, const weir_box *box,
                           const weir_view *in, uint8_t *marks);

#ifdef __cplusplus
}
#endif
#endif
