/* partition_priv.h - the table of shardings. */
#ifndef PARTITION_PRIV_H
#define PARTITION_PRIV_H
#include "pass/partition/weir_partition.h"

/* Dimension d is sharded over those dimensions of the grid whose bits over[d] has, 0: whole; bounds
 * of every sharded dimension at bounds[first[d]]. Two dimensions have no bit in common. */
typedef struct partition_shards {
  uint8_t over[WEIR_MAX_DIMS];
  int32_t first[WEIR_MAX_DIMS];
} partition_shards;

struct weir_partition {
  const weir_graph *g;
  weir_grid grid;                /* what the caller's is split into */
  int first[WEIR_GRID_DIMS + 1]; /* dimension d of the caller's is [first[d], first[d + 1]) of it */
  int32_t n_arrays, n_nodes, n_order;
  partition_shards *array; /* [n_arrays]                                       */
  partition_shards
      *node;     /* [n_nodes] of the iterations; parallel ones only help to shard outputs */
  bool *known;   /* [n_arrays] named by the caller                 */
  bool *fetched; /* [n_arrays] weir_shard                          */
  /* Where the caller has named an array that stays a sum, else NULL: */
  unsigned *sum_over; /* [n_arrays] dimensions of the grid over which it stays a partial sum */
  unsigned *unmerged; /* [n_nodes] over which the sum of the node is not merged */
  uint32_t *summands; /* [n_nodes] operands in which it is linear together */
  int32_t *order;     /* live operators as they run                       */
  int64_t *bounds;
  int64_t n_bounds, capacity;
};

/* partition_grid.c: splits the grid as the pieces of the shardings require. Fails as
 * weir_partition_create. */
weir_status partition_split_grid(weir_partition *p, const weir_grid *grid, const weir_shard *shards,
                                 int n) WEIR_CHECKED;
/* Returns the dimensions of p->grid that sharding i goes along. */
unsigned partition_dims(const weir_partition *p, const weir_grid *grid, const weir_shard *shards,
                        int n, int i);
/* Return the number of pieces of an array sharded over these dimensions, and the piece at
 * coordinates. */
int partition_pieces(const weir_partition *p, unsigned over);
int partition_piece(const weir_partition *p, unsigned over, const int coords[WEIR_GRID_DIMS]);
/* partition_plan.c: whether two ranks own pieces of one copy of the array: they differ where it is
 * sharded. */
bool partition_share_copy(const weir_partition *p, int32_t array, int one, int other);
/* partition_shard.c: shards iterations and outputs of one node. Fails: WEIR_ERR_MEMORY. */
weir_status partition_shard_node(weir_partition *p, int32_t node) WEIR_CHECKED;
/* Appends space for the bounds of a sharding over these dimensions of the grid. */
weir_status partition_reserve(weir_partition *p, unsigned over, int32_t *first) WEIR_CHECKED;
/* partition_plan.c: the dimensions of the grid over which reduced iterations of the node are
 * sharded, merged or not. */
unsigned partition_reduced_over(const weir_partition *p, int32_t node);
/* partition_linear.c: whether the one output of a node is what its body makes, or a sum of it. The
 * operands (bits) in which it then is linear together, 0: none; arrays that may be partial are
 * preferred, large ones first. kind: memory for one number per expression of the body. */
bool partition_is_sum(const weir_access *a);
uint32_t partition_linear(const weir_graph *g, const weir_node *node, const unsigned *may,
                          uint8_t *kind);
/* partition_sums.c: finds what stays a partial sum. Fails as weir_partition_create. */
weir_status partition_find_sums(weir_partition *p, const weir_grid *grid, const weir_shard *shards,
                                int n) WEIR_CHECKED;
/* Returns the dimensions of the grid along which the operand, complete, is a summand of a partial
 * sum: it counts at coordinate 0 and is 0 elsewhere. */
unsigned partition_counted_once(const weir_partition *p, int32_t node, int operand);
/* partition_read.c: hull of what the nodes of a rank read of an array. */
weir_box partition_read(const weir_partition *p, int32_t array, int rank);
#endif
