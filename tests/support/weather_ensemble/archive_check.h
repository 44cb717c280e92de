/* archive_check.h - grids and quantities that tests make archives of. */
#ifndef WX_ARCHIVE_CHECK_H
#define WX_ARCHIVE_CHECK_H
#include <stdio.h>
#include "data/archive/archive.h"

/* Returns a globe of rows from `north` to -north and columns from 0 eastwards, even; fills
 * lat[rows] and lon[columns], which it points to. */
static inline wx_grid check_globe(double north, int64_t rows, int64_t columns, double *lat,
                                  double *lon)
{
  for (int64_t j = 0; j < rows; j++) {
    lat[j] = north - 2 * north / (double)(rows - 1) * (double)j;
  }
  for (int64_t i = 0; i < columns; i++) {
    lon[i] = 360.0 / (double)columns * (double)i;
  }
  return (wx_grid){.kind = WX_GRID_LATLON,
                   .n_lat = rows,
                   .n_lon = columns,
                   .lat = lat,
                   .lon = lon,
                   .wraps = true,
                   .units = {"degrees_north", "degrees_east"}};
}

/* Returns a quantity by its code of ECMWF (0: none), complete. */
static inline wx_quantity check_quantity(const char *variable, const char *units, int64_t param,
                                         wx_level kind, double level)
{
  wx_quantity q = {.param = param, .kind = kind, .level = level};

  (void)snprintf(q.variable, WX_SHORT, "%s", variable);
  (void)snprintf(q.units, WX_SHORT, "%s", units);
  wx_quantity_complete(&q);
  return q;
}
#endif
