/* weir_recompute_blocks.h - blocks of the nodes before the gradient, and which of them a plan makes
 * again so that their results need not be kept until the gradient reads them.
 *
 * Blocks are found in the graph as planned without any: a block ends with a group whose result the
 * gradient reads. Results of a block that is made again live until their last reader before the
 * gradient, and again from the first of its readers in the gradient on. */
#ifndef WEIR_RECOMPUTE_BLOCKS_H
#define WEIR_RECOMPUTE_BLOCKS_H
#include "pass/schedule/weir_schedule.h"
#include "pass/weir_pass.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A result that is kept for the gradient, by positions in the order of the groups. */
typedef struct weir_block_array {
  int block;
  int64_t bytes;
  int32_t last;  /* use before the gradient  */
  int32_t first; /* use in the gradient      */
} weir_block_array;

/* What a choice is made by. */
typedef struct weir_blocks {
  int n;         /* blocks, at most WEIR_MAX_BLOCKS; 0: no gradient, or nothing is kept for it */
  int8_t *block; /* [n_nodes] of the graph; -1: in none */
  int32_t n_nodes;
  int64_t *live;   /* [n_groups] bytes live at each group without a choice */
  int64_t *change; /* [n_groups + 1] scratch of the functions below */
  int32_t n_groups;
  weir_block_array *kept; /* [n_kept] */
  int64_t n_kept;
  int64_t peak;                    /* most of `live` */
  uint32_t reads[WEIR_MAX_BLOCKS]; /* bit c: it reads results of block c */
  int64_t within[WEIR_MAX_BLOCKS]; /* most bytes live within it that are not kept */
  double seconds[WEIR_MAX_BLOCKS]; /* to make it again */
} weir_blocks;

/* Blocks of g, on which all passes have run without any; seconds: [groups of g] predicted time of
 * each. fini frees. Fails: WEIR_ERR_MEMORY. */
weir_status weir_blocks_find(const weir_graph *g, const weir_schedule *schedule,
                             const double *seconds, weir_blocks *out) WEIR_CHECKED;
void weir_blocks_fini(weir_blocks *b);

/* Returns the most bytes live at a time when the blocks of `again` are made again. */
int64_t weir_blocks_peak(const weir_blocks *b, uint32_t again);
/* Finds, among all choices, the one with the fewest seconds whose peak is at most `bytes`, or, if
 * there is none, the one with the least peak; of equal ones the lowest `again`. Returns its peak.
 * out->block is borrowed from b. */
int64_t weir_blocks_choose(const weir_blocks *b, int64_t bytes, weir_block_choice *out);
/* The choice of these blocks. */
weir_block_choice weir_blocks_choice(const weir_blocks *b, uint32_t again);

/* Marks the nodes of the gradient that was added last, and all that depends on one. backward:
 * [weir_graph_nodes(g)]. *any: there is such a gradient. Fails: WEIR_ERR_MEMORY. */
weir_status weir_blocks_backward(const weir_graph *g, bool *backward, bool *any) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
