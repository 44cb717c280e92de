/* bilinear.c - weights that are linear in longitude along rows and in latitude between them. */
#include <math.h>
#include "data/regrid/regrid_priv.h"

/* Of the distance of two neighbours: a target as near as this to one takes its value alone, so that
 * rounding of coordinates makes no use of a neighbour, which may be missing. */
static const double snap = 1e-7;

static double snapped(double share)
{
  return share < snap ? 0 : share > 1 - snap ? 1 : share;
}

static weir_status add(wx_weights *w, int64_t cell, double weight)
{
  return weight > 0 ? wx_weights_add(w, cell, weight) : WEIR_OK;
}

/* The two cells of row j around a longitude; *inside false: there are none. */
typedef struct span {
  int64_t cell[2];
  double share; /* of the second */
} span;

static bool find_span(const wx_rows *r, int64_t j, double lon, span *out)
{
  const int64_t begin = r->begin[j], end = r->begin[j + 1];
  const int64_t at = wx_rows_place(r, j, &lon);
  const int64_t west = at < 0 ? begin : at, east = west + 1 < end ? west + 1 : begin;
  const double x = r->lon[west];
  const double step = end - begin < 2 ? 1 : r->lon[east] - x + (east > west ? 0 : 360);

  *out = (span){{r->cell[west], r->cell[east]}, snapped((lon - x) / step)};
  if (r->wraps[j] || (at >= 0 && west + 1 < end)) {
    return true;
  }
  /* at an end of a row that does not go round */
  out->share = 0;
  return fabs(lon - x) <= snap * (end - begin > 1 ? fabs(r->lon[begin + 1] - r->lon[begin]) : 1);
}

static weir_status add_span(wx_weights *w, const span *s, double weight)
{
  WEIR_TRY(add(w, s->cell[0], weight * (1 - s->share)));
  return add(w, s->cell[1], weight * s->share);
}

/* Beyond the outermost row j, towards the pole: `share` of the way; the pole has the mean of the
 * row. */
static weir_status add_cap(const wx_rows *r, int64_t j, const span *s, double share, wx_weights *w)
{
  const int64_t n = r->begin[j + 1] - r->begin[j];

  WEIR_TRY(add_span(w, s, 1 - share));
  for (int64_t e = r->begin[j]; e < r->begin[j + 1]; e++) {
    WEIR_TRY(add(w, r->cell[e], share / (double)n));
  }
  return WEIR_OK;
}

/* Whether no further row fits between the outermost row j and its pole. */
static bool reaches_pole(const wx_rows *r, int64_t j)
{
  return fabs(r->edge[j == 0 ? 0 : 1][j]) >= 90 && r->wraps[j];
}

static weir_status add_target(const wx_rows *r, double lat, double lon, wx_weights *w)
{
  int64_t lo = 0, hi = r->n - 1; /* rows that the target is between */
  span upper, lower;

  wx_rows_rotate(r, &lat, &lon);
  const double end = r->n > 1 ? snap * (r->lat[0] - r->lat[1]) : snap;

  if (lat > r->lat[0] + end || lat < r->lat[hi] - end) {
    const int64_t j = lat > r->lat[0] ? 0 : hi;
    const double row = fabs(r->lat[j]);

    return reaches_pole(r, j) && find_span(r, j, lon, &upper)
               ? add_cap(r, j, &upper, snapped((fabs(lat) - row) / (90 - row)), w)
               : WEIR_OK;
  }
  while (hi - lo > 1) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (r->lat[middle] >= lat) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  const double step = r->lat[lo] - r->lat[hi];
  const double share = hi > lo ? snapped((r->lat[lo] - lat) / step) : 0;
  const bool above = share < 1 && find_span(r, lo, lon, &upper);
  const bool below = share > 0 && find_span(r, hi, lon, &lower);

  if ((share < 1 && !above) || (share > 0 && !below)) {
    return WEIR_OK;
  }
  if (above) {
    WEIR_TRY(add_span(w, &upper, 1 - share));
  }
  return below ? add_span(w, &lower, share) : WEIR_OK;
}

weir_status wx_regrid_bilinear(const wx_rows *from, const wx_grid *to, wx_weights *out)
{
  for (int64_t t = 0; t < wx_grid_cells(to); t++) {
    double lat = 0, lon = 0;

    wx_grid_place(to, t, &lat, &lon);
    WEIR_TRY(add_target(from, lat, lon, out));
    wx_weights_end_row(out);
  }
  return WEIR_OK;
}
