/* weir_partition.h - what a graph means on a grid of ranks whose arrays are cut: who makes which
 * box, who sends what to whom, what is partial. A plan: nothing is moved here.
 *
 * It follows from the accesses and the cuts alone. An array that is cut along a dimension of the
 * grid belongs in part to each rank there, and whole to ranks that differ elsewhere. A node runs on
 * each rank the iterations that its own box of the output needs (owner computes); a reduced
 * dimension that an input is cut along is cut too, and the output is then partial over those ranks
 * until its monoid has merged it. What a box of iterations needs and its rank does not own comes
 * from the owners: weir_spmd.h says in which moves. */
#ifndef WEIR_PARTITION_H
#define WEIR_PARTITION_H
#include "comm/weir_grid.h"
#include "comm/weir_request.h"
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Array dimension `dim` is cut along dimension `along` of the grid, and along those whose bits
 * `also` has: place q of them owns [bounds[q], bounds[q + 1]), places being counted as ranks are,
 * the last dimension of the grid fastest. bounds: [places + 1], from 0 to the extent, equal ones
 * leave a rank without any; read while the partition is made. dim -1: the array is whole on every
 * rank.
 *
 * Several dimensions of an array may share the places of the same dimensions of the grid: each then
 * has so many `pieces` (bounds: [pieces + 1]), their product is the number of places, and the cut
 * that is listed last goes fastest. With 2 pieces of momenta and then 3 of energies over 6 places,
 * places 0 to 2 own the first momenta, a third of the energies each: pairs (momentum, energy) in
 * their order. Pieces of all arrays must go with one another and with the extents of the grid:
 * every place is in one piece of each dimension of the grid, split into factors in the same way for
 * all. 2 x 3 pieces and 3 x 2 over one dimension of 6 are refused. */
typedef struct weir_shard {
  int32_t array;
  int dim, along;
  const int64_t *bounds;
  unsigned also; /* bits of further dimensions of the grid */
  int pieces;    /* 0: as many as places                   */
} weir_shard;

/* Whether the cut goes along that dimension of the grid. */
static inline bool weir_shard_goes(const weir_shard *c, int along)
{
  return c->along == along || (c->also >> along & 1) != 0;
}

typedef struct weir_partition weir_partition;

/* Arrays that no cut names are cut as the iterations are that make them: where an input is cut, an
 * output belongs to the rank that owns the middle of what it reads. An array with several writers
 * is cut like the first of them that is cut, along dimensions that every writer goes along from end
 * to end, and whole along the others. Sources are whole unless a cut names them. The graph outlives
 * the partition. Fails: WEIR_ERR_CONFIG (an array, dimension, bounds or pieces that cannot be),
 * WEIR_ERR_UNSUPPORTED (outputs of one node cut in different ways; pieces that split the grid in
 * different ways, or into more than WEIR_GRID_DIMS dimensions), WEIR_ERR_MEMORY. */
weir_status weir_partition_create(const weir_graph *g, const weir_grid *grid,
                                  const weir_shard *cuts, int n, weir_partition **out) WEIR_CHECKED;
/* Accepts NULL and nulls. */
void weir_partition_destroy(weir_partition **p);

/* The grid that it was made for, borrowed; a dimension that arrays share in pieces is one for each
 * factor. Ranks are numbered alike. Other functions speak of this grid. */
const weir_grid *weir_partition_grid(const weir_partition *p);
/* Elements that a rank owns. */
weir_box weir_partition_owned(const weir_partition *p, int32_t array, int rank);
/* The cut of dimension `dim` of an array, its bounds borrowed; false: it is whole. */
bool weir_partition_cut(const weir_partition *p, int32_t array, int dim, weir_shard *out);
/* Iterations of a live operator that a rank runs; those of them, in one box, that need nothing of
 * other ranks (empty: none, or a border that wraps). */
weir_box weir_partition_iterations(const weir_partition *p, int32_t node, int rank);
weir_box weir_partition_interior(const weir_partition *p, int32_t node, int rank);
/* Dimensions of the grid (bit d) over which the outputs of the node are partial: the ranks of one
 * group of weir_grid_sub_id merge them by the node's monoid. 0: complete. */
unsigned weir_partition_partial(const weir_partition *p, int32_t node);
/* How partial results become one, whatever iterations each rank had; NULL: they cannot. Of one
 * output its elements, of several, of `dtype` too, one double of each. */
const weir_reducer *weir_partition_reducer(weir_monoid monoid, weir_dtype dtype);
/* The cut of dimension `dim` of a source under which ranks along a dimension of the grid own just
 * what they read: whether those at one place there read the same piece, and pieces of neighbours
 * follow one another. bounds: [grid.extent[along] + 1], filled where they do. An array that nobody
 * reads has none. */
bool weir_partition_slabs(const weir_partition *p, int32_t array, int dim, int along,
                          int64_t *bounds);
/* Bytes of the outputs that a rank gives to the merge; 0 where nothing is partial. */
int64_t weir_partition_partial_bytes(const weir_partition *p, int32_t node, int rank);

#ifdef __cplusplus
}
#endif
#endif
