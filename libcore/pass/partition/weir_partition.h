/* weir_partition.h - partition
 * of a graph with sharded arrays over a grid of ranks: computed boxes, messages and partial
 * results. A plan only: no data is moved.
 *
 * It
 * follows from the accesses and the shardings alone. An array that is sharded along a dimension of
 * the grid is distributed over the ranks along it, and replicated along the others. A node runs on
 * each rank the iterations that its own box of the output needs (owner computes); a
 * reduced dimension along which an input is sharded is sharded too, and the output is then partial
 * over those ranks until its monoid has reduced it. Elements that a box of iterations needs and its
 * rank does not own come from the owners: weir_spmd.h lists the communication. */
#ifndef WEIR_PARTITION_H
#define WEIR_PARTITION_H
#include "comm/weir_grid.h"
#include "comm/weir_request.h"
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_SHARD_SUM = -2 };

/* Array dimension `dim` is sharded along dimension `along` of the grid, and along those whose bits
 * `also` has: position q in them owns [bounds[q], bounds[q + 1]), positions counted as ranks are,
 * the last dimension of the grid fastest. bounds: [positions + 1], from 0 to the extent, equal ones
 * leave a rank without any; read while the partition is made. dim -1: the array is whole on every
 * rank.
 *
 * Several dimensions of an array may share the positions of the same dimensions of the grid: each
 * then has so many `pieces` (bounds: [pieces + 1]), their product is the number of positions, and
 * the shard that is listed last goes fastest. With 2 pieces of momenta and then 3 of energies over
 * 6 positions, positions 0 to 2 own the first momenta, a third of the energies each: pairs
 * (momentum, energy) in their order. Pieces of all arrays must go with one another and with the
 * extents of the grid: every position is in one piece of each dimension of the grid, split into
 * factors in the same way for all. 2 x 3 pieces and 3 x 2 over one dimension of 6 are refused.
 *
 * dim WEIR_SHARD_SUM: the array, a stored one, stays a partial sum: each rank along these
 * dimensions of the grid has a summand of its own, and the array is the sum over them (bounds
 * NULL). It may be sharded along others; its new value is sharded as it is. Sums that it is made of
 * are then not merged, and what is linear in them is computed of each rank's summand. What is read
 * otherwise too is merged as usual, and what is complete counts on the ranks at coordinate 0 alone:
 * elsewhere it is multiplied by 0, which is exact, and keeps what is not finite so.
 *
 * fetched: the array, a source, is only kept in shards. Iterations do not go where its elements
 * are: ranks fetch what a node reads when it is about to run, and each node anew, so that no rank
 * has all of it at once. */
typedef struct weir_shard {
  int32_t array;
  int dim, along;
  const int64_t *bounds;
  unsigned also; /* bits of further dimensions of the grid */
  int pieces;    /* 0: as many as positions                */
  bool fetched;
} weir_shard;

/* Returns whether the array is sharded along that dimension of the grid. */
static inline bool weir_shard_goes(const weir_shard *c, int along)
{
  return c->along == along || (c->also >> along & 1) != 0;
}

/* Lets derivatives (weir_gradients) read copies of their own of what is copied element by element
 * from fetched arrays, such as the slices of a buffer of weights, so that it is fetched for them
 * again. Before weir_partition_create; nodes and arrays keep their numbers. Fails: WEIR_ERR_MEMORY.
 */
weir_status weir_partition_fetch_again(weir_graph *g, const weir_shard *shards, int n) WEIR_CHECKED;

typedef struct weir_partition weir_partition;

/* Partitions a graph. Arrays without a given sharding are sharded as the iterations that compute
 * them: where an input is sharded, an output belongs to the rank that owns the middle of the
 * elements it reads. An array with several writers is sharded as the first sharded one, along
 * dimensions that every writer covers from end to end, and replicated along the others. Sources are
 * replicated unless a sharding names them. The graph outlives the partition. Fails: WEIR_ERR_CONFIG
 * (an invalid array, dimension, bounds or pieces; a fetched array that a node makes),
 * WEIR_ERR_UNSUPPORTED (outputs of one node
 * sharded differently; pieces that split the grid differently, or into more than WEIR_GRID_DIMS
 * dimensions; an array that stays a sum is read by a node that is not linear in it, which is
 * named), WEIR_ERR_MEMORY. */
weir_status weir_partition_create(const weir_graph *g, const weir_grid *grid,
                                  const weir_shard *shards, int n,
                                  weir_partition **out) WEIR_CHECKED;
/* Destroys the partition; accepts NULL and nulls. */
void weir_partition_destroy(weir_partition **p);

/* Returns the grid of the partition, borrowed; a dimension that arrays share in pieces is split
 * into its factors. The numbering of ranks is the same. Other functions refer to this grid. */
const weir_grid *weir_partition_grid(const weir_partition *p);
/* Returns the elements that a rank owns. */
weir_box weir_partition_owned(const weir_partition *p, int32_t array, int rank);
/* Returns the sharding of dimension `dim` of an array, with borrowed bounds; false: it is
 * replicated. */
bool weir_partition_sharding(const weir_partition *p, int32_t array, int dim, weir_shard *out);
/* Return the iterations of a live operator that a rank runs; its interior, the box of iterations
 * that need no data of other ranks (empty: none, or a border that wraps). */
weir_box weir_partition_iterations(const weir_partition *p, int32_t node, int rank);
weir_box weir_partition_interior(const weir_partition *p, int32_t node, int rank);
/* Returns the dimensions of the grid (bit d) over which the outputs of the node are partial: the
 * ranks of one group of weir_grid_sub_id reduce them by the node's monoid. 0: nothing is merged. */
unsigned weir_partition_partial(const weir_partition *p, int32_t node);
/* Returns the dimensions of the grid over which the array stays a partial sum (WEIR_SHARD_SUM). */
unsigned weir_partition_sum_over(const weir_partition *p, int32_t array);
/* Returns the operator that reduces partial results, whatever iterations each rank had; NULL: not
 * supported. For one output its elements, for several, of `dtype` too, one double of each. */
const weir_reducer *weir_partition_reducer(weir_monoid monoid, weir_dtype dtype);
/* Computes the sharding of dimension `dim` of a source under which ranks along a dimension of the
 * grid own exactly the elements they read: whether ranks at the same coordinate there read the same
 * piece, and pieces of neighbours are adjacent. bounds: [grid.extent[along] + 1], filled if so. An
 * array without a reader has none. */
bool weir_partition_read_sharding(const weir_partition *p, int32_t array, int dim, int along,
                                  int64_t *bounds);
/* Returns the bytes of the outputs that a rank reduces; 0 without partial results. */
int64_t weir_partition_partial_bytes(const weir_partition *p, int32_t node, int rank);

#ifdef __cplusplus
}
#endif
#endif
