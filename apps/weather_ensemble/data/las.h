/* las.h - local area-wise standardisation (LAS, arXiv:2005.08748): mean and standard deviation of
 * the surroundings of each cell, of every year by itself and averaged, or of all dates together,
 * smoothed. The one statement of it, for climates and for what networks see. */
#ifndef WX_LAS_H
#define WX_LAS_H
#include "data/maps.h"

/* Of a year, or of all dates: how many values each cell had, sums of what they are beyond `pivot`
 * and of the squares of that, [cells]. A pivot near the values keeps the digits. */
typedef struct wx_las_sums {
  const double *n, *sum, *square;
  double pivot;
} wx_las_sums;

/* Of each cell [cells]: means and standard deviations of years added up, and how many years had
 * values in its window. All 0 before the first year. */
typedef struct wx_las_total {
  double *mean, *sd, *years;
} wx_las_total;

/* Adds mean and standard deviation (divisor n) of the window x window cells around each cell. The
 * window of a cell at an edge is the nearest that fits, along rows too, as in the paper's code; one
 * wider than the map is the map. window: odd. Fails: WEIR_ERR_MEMORY. */
weir_status wx_las_add(const wx_map_shape *shape, int64_t window, const wx_las_sums *s,
                       const wx_las_total *t) WEIR_CHECKED;
/* Makes averages over the years of the sums, and smooths them (wx_map_smooth). NaN where neither
 * windows nor their neighbours had values. Fails: WEIR_ERR_MEMORY. */
weir_status wx_las_finish(const wx_map_shape *shape, double smoothing,
                          const wx_las_total *t) WEIR_CHECKED;
#endif
