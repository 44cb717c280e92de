/* weir_grid.h - ranks as points of a Cartesian process grid: numbers only, the last dimension
 * fastest, so that ranks that differ only there are neighbours on one machine. */
#ifndef WEIR_GRID_H
#define WEIR_GRID_H
#include "comm/weir_comm.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_GRID_DIMS 6

/* A network is sharded by samples, depth, height, width, channels and filters; the grid does not
 * distinguish them. */
typedef struct weir_grid {
  int dims;
  int extent[WEIR_GRID_DIMS]; /* ranks along each dimension, at least 1 */
} weir_grid;

/* Checks the grid. Fails: WEIR_ERR_CONFIG where the product of the extents is not `ranks`; below 0:
 * any product. */
weir_status weir_grid_check(const weir_grid *g, int ranks) WEIR_CHECKED;
/* Return the number of ranks of the grid; the coordinates of a rank, 0 beyond g->dims; the rank at
 * coordinates. */
int weir_grid_size(const weir_grid *g);
void weir_grid_coords(const weir_grid *g, int rank, int coords[WEIR_GRID_DIMS]);
int weir_grid_rank(const weir_grid *g, const int coords[WEIR_GRID_DIMS]);
/* Returns the number of a rank's group, which is the rank of its first member. Bit d of `dims`:
 * dimension d varies within a group. */
int weir_grid_sub_id(const weir_grid *g, int rank, unsigned dims);
/* Creates the communicator of that group from c, whose ranks are those of the grid: members of a
 * spatial group share a sample, those of a data group share coordinates in space. As
 * weir_comm_split. Collective over c. Fails: WEIR_ERR_CONFIG (another number of ranks), as
 * weir_comm_split. */
weir_status weir_grid_sub(const weir_grid *g, weir_comm *c, unsigned dims,
                          weir_comm **out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
