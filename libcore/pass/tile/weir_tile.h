/* weir_tile.h - the tile of a group and its cost. */
#ifndef WEIR_TILE_H
#define WEIR_TILE_H
#include "pass/weir_pass.h"
#include "graph/weir_reach.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_tile_cost {
  int64_t local_bytes; /* tile-local buffers of one tile                                    */
  double growth;       /* recomputation at the borders of tiles, as a fraction of the work */
  bool serves;         /* false: no tile bounds the needs of the members */
} weir_tile_cost;

/* Chooses the tile extents [WEIR_MAX_DIMS] of the anchor (0: whole) whose local buffers fit opts'
 * cache_bytes, with the least recomputation. Fails: WEIR_ERR_MEMORY. */
weir_status weir_tile_choose(const weir_graph *g, const weir_group *group,
                             const weir_pass_opts *opts, int64_t *tile,
                             weir_tile_cost *cost) WEIR_CHECKED;

/* The same for given members (the anchor is the last); buffered: [n] true where the outputs of a
 * member need tile-local memory. */
weir_status weir_tile_best(const weir_member *members, int32_t n, const bool *buffered,
                           const weir_pass_opts *opts, int64_t *tile,
                           weir_tile_cost *cost) WEIR_CHECKED;

/* Blocked kernels among the members. blocks: [n] of the members that kernels compute, else NULL;
 * visible: [n] true where outputs of a member are read outside, and must be complete. */
typedef struct weir_tile_claim {
  const weir_kernel_blocks *const *blocks;
  const bool *visible;
} weir_tile_claim;
/* The same for tiles that request disjoint blocks of kernels, which together cover all visible
 * elements; cost->serves is false where there are none. Tiles also divide the reduced dimensions of
 * an anchor whose kernel reads blocks. Fails: WEIR_ERR_MEMORY. */
weir_status weir_tile_boxes(const weir_member *members, int32_t n, const bool *buffered,
                            const weir_tile_claim *claim, const weir_pass_opts *opts, int64_t *tile,
                            weir_tile_cost *cost) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
