/* rows.h - the cells of a grid as rows of latitude, whatever order its fields are in: what weights
 * between grids are computed from. */
#ifndef WX_ROWS_H
#define WX_ROWS_H
#include "data/grid.h"

/* Latitudes and longitudes are those of the rotated sphere where the grid is rotated. */
typedef struct wx_rows {
  int64_t n;       /* rows */
  double *lat;     /* [n] north to south, degrees */
  int64_t *begin;  /* [n + 1] the cells of row j are [begin[j], begin[j + 1]) */
  double *lon;     /* [cells] ascending in each row, less than 360 degrees from first to last */
  int64_t *cell;   /* [cells] their number in fields of the grid */
  bool *wraps;     /* [n] the row goes round the globe */
  double *edge[2]; /* [n] upper and lower edge of the boxes of a row: midway between rows; of the
                      outermost extended by half their distance, or to the pole where no further
                      row fits between */
  bool rotated;
  double south_pole[2];
} wx_rows;

/* Finds the rows of a LATLON or POINTS grid; the caller ends them with wx_rows_fini, also after a
 * failure. Fails: WEIR_ERR_UNSUPPORTED for other grids; WEIR_ERR_DATA where two cells are at one
 * place, or a coordinate is none. */
weir_status wx_rows_make(const wx_grid *g, wx_rows *out) WEIR_CHECKED;
void wx_rows_fini(wx_rows *r);
/* Turns a location (degrees) into that on the sphere of the rows, in place. */
void wx_rows_rotate(const wx_rows *r, double *lat, double *lon);
/* Returns the place in [begin[j], begin[j + 1]) of the last cell of row j that is not east of
 * `lon`, and the longitude as a value in [lon of the first, + 360); -1: west of a row that does not
 * go round. */
int64_t wx_rows_place(const wx_rows *r, int64_t j, double *lon);
/* Returns the number of the cell at a location to `tolerance` degrees; -1: there is none. */
int64_t wx_rows_find(const wx_rows *r, double lat, double lon, double tolerance);
/* Edges of the boxes of row j, [cells + 1] degrees: midway between cells; those of a row that goes
 * round end 360 degrees after they begin. The row has two cells or more. */
void wx_rows_edges(const wx_rows *r, int64_t j, double *edge);
#endif
