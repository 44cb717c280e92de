/* microbatch_priv.h - the graph repeated for each part. */
#ifndef WEIR_MICROBATCH_PRIV_H
#define WEIR_MICROBATCH_PRIV_H
#include "pass/microbatch/weir_microbatch.h"

/* Samples [lo, hi) of the cut dimension, as part number `number`, from 1 to `last`. */
typedef struct microbatch_part {
  int64_t lo, hi;
  int32_t number, last;
} microbatch_part;

/* Adds the nodes of one part: what they read of whole arrays is sliced, results that others need
 * whole are joined, partial results are merged with those of the parts before. order: the n live
 * operators that there were before, topological; now: [arrays of the
 * split] arrays that stand for cut and partial ones in this part, -1: none yet; merged: the same
 * for what is merged so far. Leaves the nodes that are repeated as they are. */
weir_status microbatch_build(weir_graph *g, const weir_dim_split *s, const microbatch_part *part,
                             const int32_t *order, int32_t n, int32_t *now,
                             int32_t *merged) WEIR_CHECKED;
#endif
