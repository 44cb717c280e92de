/* maps.h - sums over windows of a map and smoothed maps, in time that does not depend on their
 * width. Rows are ends, columns may go round (wraps). In place; room: [max(n_lat, n_lon) + 1] and
 * more as said. */
#ifndef WX_MAPS_H
#define WX_MAPS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

/* A map [n_lat, n_lon]. */
typedef struct wx_map_shape {
  int64_t n_lat, n_lon;
  bool wraps;
} wx_map_shape;

/* Every value becomes the sum over the window x window cells around it, of those that exist (all,
 * once each, along a circle that is no longer than the window). window: odd. Fails:
 * WEIR_ERR_MEMORY. */
weir_status wx_map_window(const wx_map_shape *shape, int64_t window, double *map) WEIR_CHECKED;
/* Convolution with a Gaussian of standard deviation `sigma` cells, cut at 4 sigma; beyond an edge
 * lies the value of the edge. sigma 0: nothing happens. Fails: WEIR_ERR_MEMORY. */
weir_status wx_map_smooth(const wx_map_shape *shape, double sigma, double *map) WEIR_CHECKED;
#endif
