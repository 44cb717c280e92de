/* weir_grid.h - ranks as points of a Cartesian grid: numbers only, the last dimension fastest, so
 * that ranks which differ there alone are neighbours of one machine. */
#ifndef WEIR_GRID_H
#define WEIR_GRID_H
#include "comm/weir_comm.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_GRID_DIMS 6

/* Samples, depth, height, width, channels, filters are what a network splits; the grid does not
 * know. */
typedef struct weir_grid {
  int dims;
  int extent[WEIR_GRID_DIMS]; /* ranks along each dimension, at least 1 */
} weir_grid;

/* Fails: WEIR_ERR_CONFIG where the extents do not multiply to `ranks`; below 0: to any number. */
weir_status weir_grid_check(const weir_grid *g, int ranks) WEIR_CHECKED;
/* Ranks of the grid; place of a rank, 0 beyond g->dims; rank of a place. */
int weir_grid_size(const weir_grid *g);
void weir_grid_coords(const weir_grid *g, int rank, int place[WEIR_GRID_DIMS]);
int weir_grid_rank(const weir_grid *g, const int place[WEIR_GRID_DIMS]);
/* Bit d of `dims`: dimension d varies within a group. Number of the group that a rank is in: the
 * rank of its first member. */
int weir_grid_sub_id(const weir_grid *g, int rank, unsigned dims);
/* That group of the ranks of c, which are the grid's: the members of a spatial group have the same
 * sample, those of a data group the same place. As weir_comm_split. Collective over c. Fails:
 * WEIR_ERR_CONFIG (another number of ranks), as weir_comm_split. */
weir_status weir_grid_sub(const weir_grid *g, weir_comm *c, unsigned dims,
                          weir_comm **out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
