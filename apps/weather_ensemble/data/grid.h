/* grid.h - where the cells of a field are, brought into one order, and how much area each has. */
#ifndef WX_GRID_H
#define WX_GRID_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "data/archive/attrs.h"
#include "data/quantity.h"

typedef enum wx_grid_kind {
  WX_GRID_LATLON, /* rows north to south, columns west to east                                   */
  WX_GRID_PLANE,  /* y, x of a projection, or of the simulator, in the order of the file         */
  WX_GRID_SITES,  /* n_lat = 1, a column a site                                                  */
  WX_GRID_POINTS, /* n_lat = 1, a column a cell of a reduced or rotated grid, to be regridded    */
} wx_grid_kind;

/* Columns of a LATLON grid that goes round the globe begin with the smallest longitude of [0, 360);
 * those of any other begin in the west, with a longitude of [-180, 180), and ascend from there. */
typedef struct wx_grid {
  wx_grid_kind kind;
  int64_t n_lat, n_lon;
  /* LATLON: [n_lat], [n_lon] degrees; PLANE: y, x in their units; POINTS: [n_lon] both; SITES:
   * [n_lon] both, or NULL where the files do not say where. */
  const double *lat, *lon;
  const double *height; /* SITES: [n_lon] m above sea level, NaN: unknown; NULL: of none known */
  char units[2][WX_SHORT];
  bool wraps;           /* columns go round the globe                                            */
  bool rotated;         /* POINTS: lat and lon are those of a sphere that is rotated             */
  double south_pole[2]; /* latitude and longitude of its south pole, degrees                     */
  const double *weight; /* [cells] areas, mean 1: wx_grid_weights, or cell_area of the file       */
  const wx_attrs *mapping; /* PLANE: of which projection y and x are (CF grid mapping), or NULL */
} wx_grid;

enum { WX_MAX_CELLS = 1 << 30, WX_MAX_LINE = 1 << 24 };

/* How fields as they are stored become those of the grid. */
typedef struct wx_grid_order {
  bool flip_rows, flip_columns;
  int64_t shift; /* columns of the flipped field that go to the end */
} wx_grid_order;

/* Returns the number of cells; the grid's counts are within the limits above. */
int64_t wx_grid_cells(const wx_grid *g);
/* Brings lat[n_lat] and lon[n_lon] of a LATLON grid, as stored, into order, in place, and says how
 * fields follow; n_lat and n_lon of g are given, wraps is set. NULL, or the reason why this is no
 * such grid. */
const char *wx_grid_arrange(wx_grid *g, double *lat, double *lon, wx_grid_order *order);
/* Brings a field [n_lat, n_lon], as stored, into the order of the grid. */
void wx_grid_reorder(const wx_grid *g, const wx_grid_order *order, const float *stored, float *out);
/* Returns latitude and longitude of a cell of a LATLON, SITES or POINTS grid. */
void wx_grid_place(const wx_grid *g, int64_t cell, double *lat, double *lon);
/* Areas of cells, mean 1: sines of the edges midway between the rows, which at most reach the poles
 * (reference 6.1); 1 for a PLANE and for SITES. weight: [cells]. */
void wx_grid_weights(const wx_grid *g, double *weight);
/* Returns NULL where both are the same grid, to a hundredth of its spacing; else what differs. */
const char *wx_grid_differs(const wx_grid *a, const wx_grid *b);
/* Returns how cells count in scores, as a sentence: "Weighted by area." where areas are known. */
const char *wx_grid_weighting(const wx_grid *g);
/* Writes a text such as "61 x 120 lat-lon, 90 to -90 N, 0 to 357 E". */
void wx_grid_text(const wx_grid *g, char *text, size_t size);
#endif
