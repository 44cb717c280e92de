/* nearest.c - the value of the nearest cell. */
#include <math.h>
#include "data/regrid/regrid_priv.h"

#define RADIANS (3.14159265358979323846 / 180)

/* The best cell so far; chord: distance on the unit sphere, through it. */
typedef struct best {
  int64_t cell;
  double chord, step[2]; /* step: height and width of the cell, degrees of the sphere */
} best;

static double chord_of(double lat, double lon, double other_lat, double other_lon)
{
  const double dy = sin(RADIANS * (lat - other_lat) / 2), dx = sin(RADIANS * (lon - other_lon) / 2);

  return 2 * sqrt(dy * dy + cos(RADIANS * lat) * cos(RADIANS * other_lat) * dx * dx);
}

/* Twice the distance of the cells of row j from their farther edge. */
static double row_step(const wx_rows *r, int64_t j)
{
  return 2 * fmax(fabs(r->edge[0][j] - r->lat[j]), fabs(r->edge[1][j] - r->lat[j]));
}

static double column_step(const wx_rows *r, int64_t j)
{
  const int64_t first = r->begin[j], n = r->begin[j + 1] - first;
  const double extent = r->wraps[j] ? 360 : r->lon[first + n - 1] - r->lon[first];

  return n > 1 ? extent / (double)(r->wraps[j] ? n : n - 1) : 0;
}

/* Of a row the two cells around a longitude are the nearest. */
static void take_row(const wx_rows *r, int64_t j, double lat, double lon, best *b)
{
  const int64_t first = r->begin[j], last = r->begin[j + 1] - 1;
  const int64_t at = wx_rows_place(r, j, &lon);
  const int64_t west = at < 0 ? first : at, east = west < last ? west + 1 : first;
  /* a row that does not go round may be nearer at its other end */
  const int64_t try[] = {first, west, east, last};

  for (int k = 0; k < 4; k++) {
    const double chord = chord_of(lat, lon, r->lat[j], r->lon[try[k]]);

    if (b->cell < 0 || chord < b->chord) {
      *b = (best){
          r->cell[try[k]], chord, {row_step(r, j), column_step(r, j) * cos(RADIANS * r->lat[j])}};
    }
  }
}

/* Whether rows at this distance in latitude may have nearer cells. */
static bool may_have(const wx_rows *r, int64_t j, double lat, const best *b)
{
  return b->cell < 0 || 2 * sin(RADIANS * fabs(r->lat[j] - lat) / 2) < b->chord;
}

static weir_status add_target(const wx_rows *r, double lat, double lon, wx_weights *w)
{
  int64_t lo = 0, hi = r->n; /* the first row that is not north of the target */
  best b = {.cell = -1};

  wx_rows_rotate(r, &lat, &lon);
  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (r->lat[middle] > lat) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  for (int64_t j = lo - 1; j >= 0 && may_have(r, j, lat, &b); j--) {
    take_row(r, j, lat, lon, &b);
  }
  for (int64_t j = lo; j < r->n && may_have(r, j, lat, &b); j++) {
    take_row(r, j, lat, lon, &b);
  }
  const double reach = 2 * sin(RADIANS * hypot(b.step[0], b.step[1]) / 4) * (1 + 1e-6);

  return b.chord <= fmax(reach, 1e-9) ? wx_weights_add(w, b.cell, 1) : WEIR_OK;
}

weir_status wx_regrid_nearest(const wx_rows *from, const wx_grid *to, wx_weights *out)
{
  for (int64_t t = 0; t < wx_grid_cells(to); t++) {
    double lat = 0, lon = 0;

    wx_grid_place(to, t, &lat, &lon);
    WEIR_TRY(add_target(from, lat, lon, out));
    wx_weights_end_row(out);
  }
  return WEIR_OK;
}
