/* weir_reach.h - iterations of the members of a group for one tile of the anchor.
 *
 * Composes needed boxes backwards from the anchor, for a tile anywhere: ranges are relative to the
 * offset that the tile's start maps to, and bound what graph/weir_access.h says of every real tile.
 * Borders only take away, so they are left out. */
#ifndef WEIR_REACH_H
#define WEIR_REACH_H
#include "graph/weir_members.h"
#ifdef __cplusplus
extern "C" {
#endif

/* [lo, hi) per dimension; `whole` where the tile does not bound it (gather, wrap, reflect). any:
 * false where nothing is needed. */
typedef struct weir_reach {
  int64_t lo[WEIR_MAX_DIMS], hi[WEIR_MAX_DIMS];
  bool whole[WEIR_MAX_DIMS], any;
} weir_reach;

/* Computes the iterations of all members (the anchor is the last) for a tile [0, tile[d]) of the
 * anchor's dimensions; tile 0 or as large as the extent: all of it. slots: the number for an
 * unbounded extent. reach: [n]. */
void weir_reach_compose(const weir_member *members, int32_t n, const int64_t *tile, int64_t slots,
                        weir_reach *reach);
/* Counts the elements of an operand accessed by those iterations. */
void weir_reach_elements(const weir_operand *o, const weir_access *a, const weir_reach *iterations,
                         weir_reach *elements);
/* Returns the length of a range, at most `extent`. */
int64_t weir_reach_length(const weir_reach *r, int d, int64_t extent);
/* Returns whether every member follows the anchor's tiled dimensions at one rate along all paths:
 * only then are ranges bounded. */
bool weir_reach_has_one_rate(const weir_member *members, int32_t n, const int64_t *tile);

#ifdef __cplusplus
}
#endif
#endif
