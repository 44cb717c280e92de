/* partition_priv.h - the table of cuts. */
#ifndef PARTITION_PRIV_H
#define PARTITION_PRIV_H
#include "pass/partition/weir_partition.h"

/* Dimension d is cut along[d] - 1 of the grid, 0: whole; bounds of every cut dimension at
 * bounds[first[d]]. */
typedef struct partition_cuts {
  int8_t along[WEIR_MAX_DIMS];
  int32_t first[WEIR_MAX_DIMS];
} partition_cuts;

struct weir_partition {
  const weir_graph *g;
  weir_grid grid;
  int32_t n_arrays, n_nodes, n_order;
  partition_cuts *array; /* [n_arrays]                                       */
  partition_cuts *node;  /* [n_nodes] of the iterations; parallel ones only help to cut outputs */
  bool *known;           /* [n_arrays] named by the caller                   */
  int32_t *order;        /* live operators as they run                       */
  int64_t *bounds;
  int64_t n_bounds, capacity;
};

/* partition_plan.c: ranks that hold parts of one copy of the array: they differ where it is cut. */
bool partition_share_copy(const weir_partition *p, int32_t array, int one, int other);
/* partition_cut.c: cuts of iterations and outputs of one node. Fails: WEIR_ERR_MEMORY. */
weir_status partition_cut_node(weir_partition *p, int32_t node) WEIR_CHECKED;
/* Appends room for the bounds of a cut along dimension `along` of the grid. */
weir_status partition_room(weir_partition *p, int along, int32_t *first) WEIR_CHECKED;
#endif
