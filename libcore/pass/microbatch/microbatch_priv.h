/* microbatch_priv.h - the graph repeated for each micro-batch. */
#ifndef WEIR_MICROBATCH_PRIV_H
#define WEIR_MICROBATCH_PRIV_H
#include "pass/microbatch/weir_microbatch.h"

/* Samples [lo, hi) of the split dimension, micro-batch number `number`, from 1 to `last`. */
typedef struct microbatch_range {
  int64_t lo, hi;
  int32_t number, last;
} microbatch_range;

/* Adds the nodes of one micro-batch: whole arrays are sliced, results that others need whole are
 * joined, partial results are merged with those of the micro-batches before. order: the n live
 * operators that there were before, topological; now: [arrays of the
 * split] arrays that stand for split and partial ones in this micro-batch, -1: none yet; merged:
 * the same for what is merged so far. Leaves the nodes that are repeated as they are. */
weir_status microbatch_build(weir_graph *g, const weir_dim_split *s, const microbatch_range *batch,
                             const int32_t *order, int32_t n, int32_t *now,
                             int32_t *merged) WEIR_CHECKED;
#endif
