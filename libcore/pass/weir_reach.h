/* weir_reach.h - which iterations the members of a group run for one tile of the anchor.
 *
 * Composes needed boxes backwards from the anchor, for a tile anywhere: ranges are relative to the
 * place that the tile's start maps to, and bound what graph/weir_access.h says of every real tile.
 * Borders only take away, so they are left out. */
#ifndef WEIR_REACH_H
#define WEIR_REACH_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A node or a lowered loop: operand k reads array in[k], output k writes array out[k]. */
typedef struct weir_member {
  const weir_access *access;
  const int32_t *in, *out;
} weir_member;

/* [lo, hi) per dimension; `whole` where the tile does not bound it (gather, wrap, reflect). any:
 * false where nothing is needed. */
typedef struct weir_reach {
  int64_t lo[WEIR_MAX_DIMS], hi[WEIR_MAX_DIMS];
  bool whole[WEIR_MAX_DIMS], any;
} weir_reach;

/* Iterations of all members (the anchor is the last) for a tile [0, tile[d]) of the anchor's
 * dimensions; tile 0 or as large as the extent: all of it. slots: what stands for an unbounded
 * extent. reach: [n]. */
void weir_reach_compose(const weir_member *members, int32_t n, const int64_t *tile, int64_t slots,
                        weir_reach *reach);
/* Elements of an operand that those iterations touch. */
void weir_reach_elements(const weir_operand *o, const weir_access *a, const weir_reach *iterations,
                         weir_reach *elements);
/* Array dimension d of the operand is iteration dimension order[d], one to one and whole. */
bool weir_reach_is_permutation(const weir_operand *o, const weir_access *a, int *order);
/* True when the operand reads (writes), at each iteration, the element of the same number. */
bool weir_reach_is_identity(const weir_operand *o, const weir_access *a);
/* True when every dimension is in the mask (bit k: dimension k) but those of one iteration. */
bool weir_reach_is_all(unsigned dims, const weir_access *a);
/* True when no element of the operand is read by two iterations: whole windows side by side, or one
 * element each. What is made element by element may then be made where it is read. */
bool weir_reach_reads_once(const weir_operand *o, const weir_access *a);
/* Length of a range, at most `extent`. */
int64_t weir_reach_length(const weir_reach *r, int d, int64_t extent);
/* True when every member follows the anchor's tiled dimensions at one pace, whatever path leads to
 * it: only then are ranges bounded. */
bool weir_reach_keeps_pace(const weir_member *members, int32_t n, const int64_t *tile);

#ifdef __cplusplus
}
#endif
#endif
