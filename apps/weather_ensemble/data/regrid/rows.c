/* rows.c - see rows.h. */
#include "data/regrid/rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"

#define DEGREE (3.14159265358979323846 / 180)

/* Degrees: latitudes of a row differ by less, in whatever precision files give them. */
static const double same_row = 1e-6;

typedef struct point {
  double lat, lon;
  int64_t cell;
} point;

static int by_lat(const void *one, const void *other)
{
  const point *const a = one, *const b = other;

  return (a->lat < b->lat) - (a->lat > b->lat);
}

static int by_lon(const void *one, const void *other)
{
  const point *const a = one, *const b = other;

  return (a->lon > b->lon) - (a->lon < b->lon);
}

static double turn(double lon)
{
  const double east = fmod(lon, 360);

  return east < 0 ? east + 360 : east;
}

/* n cells of row j, in [0, 360): brought to ascend from their western end. */
static weir_status take_row(wx_rows *r, int64_t j, point *p, int64_t n)
{
  int64_t first = 0;
  double widest = 0;

  qsort(p, (size_t)n, sizeof *p, by_lon);
  for (int64_t i = 0; i < n; i++) {
    const double gap = i > 0 ? p[i].lon - p[i - 1].lon : p[0].lon + 360 - p[n - 1].lon;

    if (gap < same_row && n > 1) {
      return weir_fail(WEIR_ERR_DATA, "two cells are at %.6f N, %.6f E", p[i].lat, p[i].lon);
    }
    first = gap > widest + same_row ? i : first;
    widest = fmax(widest, gap);
  }
  r->wraps[j] = n > 2 && widest <= 1.5 * (360 - widest) / (double)(n - 1);
  first = r->wraps[j] ? 0 : first;
  r->lat[j] = p[0].lat;
  r->begin[j + 1] = r->begin[j] + n;
  for (int64_t i = 0; i < n; i++) {
    const point *const from = &p[(first + i) % n];

    r->lon[r->begin[j] + i] = from->lon + (first + i >= n ? 360 : 0);
    r->cell[r->begin[j] + i] = from->cell;
  }
  return WEIR_OK;
}

static weir_status take_points(const wx_grid *g, point *p)
{
  const bool lines = g->kind == WX_GRID_LATLON;

  for (int64_t e = 0; e < wx_grid_cells(g); e++) {
    const double lat = g->lat[lines ? e / g->n_lon : e], lon = g->lon[lines ? e % g->n_lon : e];

    if (!(fabs(lat) <= 90 + same_row) || !(fabs(lon) <= 1080)) {
      return weir_fail(WEIR_ERR_DATA, "cell %lld (from 0) is at %g N, %g E", (long long)e, lat,
                       lon);
    }
    p[e] = (point){lat, turn(lon), e};
  }
  return WEIR_OK;
}

/* Upper edge of row j; `way` -1: its lower edge, of the grid upside down. */
static double edge_of(const wx_rows *r, int64_t j, int way)
{
  const int64_t beyond = j - way, inside = j + way;
  const double lat = way * r->lat[j];

  if (beyond >= 0 && beyond < r->n) {
    return way * (lat + way * r->lat[beyond]) / 2;
  }
  if (inside < 0 || inside >= r->n) {
    return r->lat[j];
  }
  const double spacing = lat - way * r->lat[inside];
  const bool last = r->wraps[j] && 90 - lat < spacing;

  return way * (last ? 90 : fmin(90, lat + spacing / 2));
}

static weir_status reserve(int64_t cells, wx_rows *r)
{
  WEIR_TRY(weir_alloc(cells, sizeof *r->lat, (void **)&r->lat));
  WEIR_TRY(weir_alloc(cells + 1, sizeof *r->begin, (void **)&r->begin));
  WEIR_TRY(weir_alloc(cells, sizeof *r->lon, (void **)&r->lon));
  WEIR_TRY(weir_alloc(cells, sizeof *r->cell, (void **)&r->cell));
  return weir_alloc(cells, sizeof *r->wraps, (void **)&r->wraps);
}

weir_status wx_rows_make(const wx_grid *g, wx_rows *out)
{
  const int64_t cells = wx_grid_cells(g);
  point *p = NULL;
  weir_status status = WEIR_OK;

  *out = (wx_rows){.rotated = g->rotated, .south_pole = {g->south_pole[0], g->south_pole[1]}};
  if (g->kind != WX_GRID_LATLON && g->kind != WX_GRID_POINTS) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "sites and planes of a projection are not regridded: they have no rows of "
                     "latitudes");
  }
  WEIR_TRY_GOTO(weir_alloc(cells, sizeof *p, (void **)&p), done);
  WEIR_TRY_GOTO(reserve(cells, out), done);
  WEIR_TRY_GOTO(take_points(g, p), done);
  qsort(p, (size_t)cells, sizeof *p, by_lat);
  for (int64_t at = 0, n = 0; at < cells; at += n) {
    for (n = 1; at + n < cells && p[at].lat - p[at + n].lat < same_row;) {
      n++;
    }
    WEIR_TRY_GOTO(take_row(out, out->n, p + at, n), done);
    out->n++;
  }
  for (int k = 0; k < 2; k++) {
    WEIR_TRY_GOTO(weir_alloc(out->n, sizeof *out->edge[k], (void **)&out->edge[k]), done);
    for (int64_t j = 0; j < out->n; j++) {
      out->edge[k][j] = edge_of(out, j, k == 0 ? 1 : -1);
    }
  }
done:
  weir_free(&p);
  return status;
}

void wx_rows_fini(wx_rows *r)
{
  weir_free(&r->lat);
  weir_free(&r->begin);
  weir_free(&r->lon);
  weir_free(&r->cell);
  weir_free(&r->wraps);
  weir_free(&r->edge[0]);
  weir_free(&r->edge[1]);
}

void wx_rows_rotate(const wx_rows *r, double *lat, double *lon)
{
  if (!r->rotated) {
    return;
  }
  const double phi = *lat * DEGREE, lambda = (*lon - r->south_pole[1]) * DEGREE;
  const double s = -cos(r->south_pole[0] * DEGREE), c = -sin(r->south_pole[0] * DEGREE);
  const double x = cos(phi) * cos(lambda), y = cos(phi) * sin(lambda), z = sin(phi);

  *lat = asin(fmax(-1, fmin(1, s * x + c * z))) / DEGREE;
  *lon = atan2(y, c * x - s * z) / DEGREE;
}

int64_t wx_rows_place(const wx_rows *r, int64_t j, double *lon)
{
  const double *const x = r->lon;
  const int64_t begin = r->begin[j];
  int64_t lo = begin, hi = r->begin[j + 1];

  *lon = x[begin] + turn(*lon - x[begin]);
  if (!r->wraps[j] && *lon > (x[hi - 1] + x[begin] + 360) / 2) {
    *lon -= 360; /* nearer to the western end */
    return -1;
  }
  while (hi - lo > 1) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (x[middle] <= *lon) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return lo;
}

static double apart(double a, double b)
{
  return fabs(remainder(a - b, 360));
}

int64_t wx_rows_find(const wx_rows *r, double lat, double lon, double tolerance)
{
  int64_t best = -1;

  wx_rows_rotate(r, &lat, &lon);
  for (int64_t lo = 0, hi = r->n; lo < hi;) {
    const int64_t j = lo + (hi - lo) / 2;

    if (fabs(r->lat[j] - lat) <= tolerance) {
      double east = lon;
      const int64_t n = r->begin[j + 1] - r->begin[j];
      const int64_t at = wx_rows_place(r, j, &east), i = at < 0 ? 0 : at - r->begin[j];

      for (int64_t k = 0; k < 2; k++) {
        const int64_t near = r->begin[j] + (i + k) % n;

        best = apart(r->lon[near], lon) <= tolerance ? r->cell[near] : best;
      }
      return best;
    }
    if (r->lat[j] > lat) {
      lo = j + 1;
    } else {
      hi = j;
    }
  }
  return best;
}

void wx_rows_edges(const wx_rows *r, int64_t j, double *edge)
{
  const double *const x = r->lon + r->begin[j];
  const int64_t n = r->begin[j + 1] - r->begin[j];

  for (int64_t i = 1; i < n; i++) {
    edge[i] = (x[i - 1] + x[i]) / 2;
  }
  edge[0] = r->wraps[j] ? (x[n - 1] - 360 + x[0]) / 2 : x[0] - (x[1] - x[0]) / 2;
  edge[n] = r->wraps[j] ? edge[0] + 360 : x[n - 1] + (x[n - 1] - x[n - 2]) / 2;
}
