/* grid.c - see weir_grid.h. */
#include "comm/weir_grid.h"
#include <limits.h>

weir_status weir_grid_check(const weir_grid *g, int ranks)
{
  int64_t product = 1;

  if (g->dims < 0 || g->dims > WEIR_GRID_DIMS) {
    return weir_fail(WEIR_ERR_CONFIG, "a process grid has 0 to %d dimensions, not %d",
                     WEIR_GRID_DIMS, g->dims);
  }
  for (int d = 0; d < g->dims; d++) {
    if (g->extent[d] < 1) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "dimension %d of the process grid has %d ranks: at least 1 is needed", d,
                       g->extent[d]);
    }
    product = product > INT_MAX ? product : product * g->extent[d];
  }
  return product == ranks || (ranks < 0 && product <= INT_MAX)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "a process grid of %lld ranks does not match the %d ranks of the run",
                         (long long)product, ranks);
}

int weir_grid_size(const weir_grid *g)
{
  int size = 1;

  for (int d = 0; d < g->dims; d++) {
    size *= g->extent[d];
  }
  return size;
}

void weir_grid_coords(const weir_grid *g, int rank, int coords[WEIR_GRID_DIMS])
{
  for (int d = WEIR_GRID_DIMS - 1; d >= 0; d--) {
    const int extent = d < g->dims ? g->extent[d] : 1;

    coords[d] = rank % extent;
    rank /= extent;
  }
}

int weir_grid_rank(const weir_grid *g, const int coords[WEIR_GRID_DIMS])
{
  int rank = 0;

  for (int d = 0; d < g->dims; d++) {
    rank = rank * g->extent[d] + coords[d];
  }
  return rank;
}

int weir_grid_sub_id(const weir_grid *g, int rank, unsigned dims)
{
  int coords[WEIR_GRID_DIMS];

  weir_grid_coords(g, rank, coords);
  for (int d = 0; d < WEIR_GRID_DIMS; d++) {
    coords[d] = (dims >> d & 1) != 0 ? 0 : coords[d];
  }
  return weir_grid_rank(g, coords);
}

weir_status weir_grid_sub(const weir_grid *g, weir_comm *c, unsigned dims, weir_comm **out)
{
  *out = NULL;
  WEIR_TRY(weir_grid_check(g, weir_comm_size(c)));
  WEIR_TRY(weir_comm_split(c, weir_grid_sub_id(g, weir_comm_rank(c), dims), out));
  return WEIR_OK;
}
