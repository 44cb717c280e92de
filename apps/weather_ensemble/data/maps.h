/* maps.h - smoothed maps. Rows are ends, columns may go round. */
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

/* Computes the convolution with a Gaussian of standard deviation `sigma` cells, truncated where
 * SciPy's is, at 4 sigma to the nearest cell; columns go round where the map does, beyond another
 * edge lies the value of the edge. NaN is left out: what is there counts for more. In place. sigma
 * 0: nothing happens. Fails: WEIR_ERR_MEMORY. */
weir_status wx_map_smooth(const wx_map_shape *shape, double sigma, double *map) WEIR_CHECKED;
#endif
