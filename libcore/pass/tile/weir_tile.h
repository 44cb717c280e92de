/* weir_tile.h - the tile of a group, and what it costs. */
#ifndef WEIR_TILE_H
#define WEIR_TILE_H
#include "pass/weir_pass.h"
#include "graph/weir_reach.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_tile_cost {
  int64_t local_bytes; /* tile-local buffers of one tile                                    */
  double growth;       /* work done again at the borders of tiles, as a share of the work   */
  bool serves;         /* false: no tile bounds what the members need                       */
} weir_tile_cost;

/* Tile extents [WEIR_MAX_DIMS] of the anchor (0: whole) whose local buffers stay in opts'
 * cache_bytes, with the least work done again. Fails: WEIR_ERR_MEMORY. */
weir_status weir_tile_choose(const weir_graph *g, const weir_group *group,
                             const weir_pass_opts *opts, int64_t *tile,
                             weir_tile_cost *cost) WEIR_CHECKED;

/* The same for members as they are (the anchor is the last); buffered: [n] true where the outputs
 * of a member need tile-local memory. */
weir_status weir_tile_best(const weir_member *members, int32_t n, const bool *buffered,
                           const weir_pass_opts *opts, int64_t *tile,
                           weir_tile_cost *cost) WEIR_CHECKED;

/* A kernel among the members: number of the one that it makes box by box; visible: [n] true where
 * what a member makes is read outside, and must be made whole. */
typedef struct weir_tile_claim {
  int32_t made;
  const weir_boxes *boxes;
  const bool *visible;
} weir_tile_claim;
/* The same where tiles must ask for boxes of a kernel, no two of them for one element of a member,
 * and all of them for all that is visible; cost->serves is false where none do. Fails:
 * WEIR_ERR_MEMORY. */
weir_status weir_tile_boxes(const weir_member *members, int32_t n, const bool *buffered,
                            const weir_tile_claim *claim, const weir_pass_opts *opts, int64_t *tile,
                            weir_tile_cost *cost) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
