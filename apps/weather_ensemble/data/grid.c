/* grid.c - see grid.h. */
#include "data/grid.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

int64_t wx_grid_cells(const wx_grid *g)
{
  return g->n_lat * g->n_lon;
}

static void reverse(double *x, int64_t n)
{
  for (int64_t i = 0; i < n / 2; i++) {
    const double kept = x[i];

    x[i] = x[n - 1 - i];
    x[n - 1 - i] = kept;
  }
}

/* Longitudes from the first on eastwards, each less than 360 degrees from the one before; the
 * extent that they span. */
static double unwind(double *lon, int64_t n)
{
  for (int64_t i = 1; i < n; i++) {
    double step = fmod(lon[i] - lon[i - 1], 360);

    step += step < 0 ? 360 : 0;
    lon[i] = lon[i - 1] + step;
  }
  return n > 1 ? lon[n - 1] - lon[0] : 0;
}

static const char *arrange_columns(wx_grid *g, double *lon, wx_grid_order *order)
{
  const int64_t n = g->n_lon;
  const double close = n > 1 ? 1e-3 * 360 / (double)n : 0;

  for (int64_t i = 0; i < n; i++) {
    if (!(fabs(lon[i]) <= 720)) {
      return "a longitude is not a finite number of degrees";
    }
  }
  if (n > 1 && fabs(fabs(lon[n - 1] - lon[0]) - 360) < close) {
    return "its first and last column are the same: leave one out";
  }
  order->flip_columns = n > 1 && fmod(lon[1] - lon[0] + 720, 360) > 180;
  if (order->flip_columns) {
    reverse(lon, n);
  }
  const double extent = unwind(lon, n);

  if (extent >= 360 - close) {
    return "its longitudes are not in order: sort its columns";
  }
  for (int64_t i = 1; i < n; i++) {
    if (lon[i] - lon[i - 1] < close) {
      return "two columns have the same longitude";
    }
  }
  g->wraps = n > 2 && fabs(extent / (double)(n - 1) * (double)n - 360) < 1e-2 * 360 / (double)n;
  return NULL;
}

/* Where the columns begin. */
static void rotate(const wx_grid *g, double *lon, wx_grid_order *order)
{
  const int64_t n = g->n_lon;
  const double min_lon = g->wraps ? -1e-6 : -180;
  const double move = -360 * floor((lon[0] - min_lon) / 360);

  order->shift = 0;
  for (int64_t i = 0; i < n; i++) {
    lon[i] += move;
    order->shift += g->wraps && lon[i] < 360 - 1e-6;
  }
  order->shift = order->shift == n ? 0 : order->shift;
  if (order->shift > 0) { /* what stands at and beyond 360 comes first: three reversals */
    reverse(lon, order->shift);
    reverse(lon + order->shift, n - order->shift);
    reverse(lon, n);
    for (int64_t i = 0; i < n - order->shift; i++) {
      lon[i] -= 360;
    }
  }
}

const char *wx_grid_arrange(wx_grid *g, double *lat, double *lon, wx_grid_order *order)
{
  *order = (wx_grid_order){.shift = 0};
  order->flip_rows = g->n_lat > 1 && lat[1] > lat[0];
  if (order->flip_rows) {
    reverse(lat, g->n_lat);
  }
  for (int64_t j = 0; j < g->n_lat; j++) {
    if (!(fabs(lat[j]) <= 90 + 1e-6)) {
      return "a latitude is not a number from -90 to 90 degrees";
    }
    if (j > 0 && !(lat[j] < lat[j - 1])) {
      return "its latitudes are not in order: sort its rows";
    }
  }
  const char *const reason = arrange_columns(g, lon, order);

  if (reason == NULL) {
    rotate(g, lon, order);
  }
  return reason;
}

void wx_grid_reorder(const wx_grid *g, const wx_grid_order *order, const float *stored, float *out)
{
  for (int64_t j = 0; j < g->n_lat; j++) {
    const float *const from = stored + (order->flip_rows ? g->n_lat - 1 - j : j) * g->n_lon;
    float *const to = out + j * g->n_lon;

    for (int64_t i = 0; i < g->n_lon; i++) {
      const int64_t k =
          i + order->shift < g->n_lon ? i + order->shift : i + order->shift - g->n_lon;

      to[i] = from[order->flip_columns ? g->n_lon - 1 - k : k];
    }
  }
}

void wx_grid_place(const wx_grid *g, int64_t cell, double *lat, double *lon)
{
  *lat = g->lat[g->kind == WX_GRID_LATLON ? cell / g->n_lon : cell];
  *lon = g->lon[g->kind == WX_GRID_LATLON ? cell % g->n_lon : cell];
}

void wx_grid_weights(const wx_grid *g, double *weight)
{
  const int64_t n = g->n_lat;
  double sum = 0;

  for (int64_t j = 0; j < n; j++) {
    double w = 1;

    if (g->kind == WX_GRID_LATLON && n > 1) {
      const double above = j > 0 ? g->lat[j - 1] : 2 * g->lat[0] - g->lat[1];
      const double below = j < n - 1 ? g->lat[j + 1] : 2 * g->lat[n - 1] - g->lat[n - 2];
      const double upper = fmin(90, (g->lat[j] + above) / 2);
      const double lower = fmax(-90, (g->lat[j] + below) / 2);

      w = sin(upper * PI / 180) - sin(lower * PI / 180);
    }
    sum += w;
    for (int64_t i = 0; i < g->n_lon; i++) {
      weight[j * g->n_lon + i] = w;
    }
  }
  for (int64_t e = 0; e < wx_grid_cells(g); e++) {
    weight[e] *= (double)n / sum;
  }
}

const char *wx_grid_weighting(const wx_grid *g)
{
  return g->kind != WX_GRID_SITES ? "Weighted by area."
         : g->n_lon > 1           ? "Sites count equally."
                                  : "A single series: no weights.";
}

static bool apart(const double *a, const double *b, int64_t n, double min_distance)
{
  const double spacing = n > 1 ? fabs(a[n - 1] - a[0]) / (double)(n - 1) : 0;
  const double tolerance = fmax(1e-2 * spacing, min_distance);

  for (int64_t i = 0; i < n; i++) {
    if (!(fabs(a[i] - b[i]) <= tolerance)) {
      return true;
    }
  }
  return false;
}

const char *wx_grid_differs(const wx_grid *a, const wx_grid *b)
{
  if (a->kind != b->kind) {
    return "one is of latitudes and longitudes, of y and x, of sites, or reduced or rotated, the "
           "other "
           "is not";
  }
  if (a->n_lat != b->n_lat || a->n_lon != b->n_lon) {
    return "they do not have the same number of rows and columns";
  }
  if (a->lat == NULL || b->lat == NULL) {
    return NULL;
  }
  if (a->rotated != b->rotated || a->south_pole[0] != b->south_pole[0] ||
      a->south_pole[1] != b->south_pole[1]) {
    return "they are rotated to different poles";
  }
  if (a->kind == WX_GRID_SITES || a->kind == WX_GRID_POINTS) {
    for (int64_t i = 0; i < a->n_lon; i++) {
      if (fabs(a->lat[i] - b->lat[i]) > 1e-3 || fabs(a->lon[i] - b->lon[i]) > 1e-3) {
        return "their sites or cells are not the same, or not in the same order";
      }
    }
    return NULL;
  }
  return apart(a->lat, b->lat, a->n_lat, 1e-3)   ? "their rows are elsewhere"
         : apart(a->lon, b->lon, a->n_lon, 1e-3) ? "their columns are elsewhere"
                                                 : NULL;
}

void wx_grid_text(const wx_grid *g, char *text, size_t size)
{
  if (g->kind == WX_GRID_SITES) {
    (void)snprintf(text, size, "%lld site%s", (long long)g->n_lon, g->n_lon == 1 ? "" : "s");
    return;
  }
  if (g->kind == WX_GRID_POINTS) {
    (void)snprintf(text, size, "%s, %lld cells",
                   g->rotated ? "rotated lat-lon" : "rows of different lengths",
                   (long long)g->n_lon);
    return;
  }
  (void)snprintf(text, size, "%lld x %lld %s, %g to %g %s, %g to %g %s", (long long)g->n_lat,
                 (long long)g->n_lon, g->kind == WX_GRID_LATLON ? "lat-lon" : "y-x", g->lat[0],
                 g->lat[g->n_lat - 1], g->kind == WX_GRID_LATLON ? "N" : g->units[0], g->lon[0],
                 g->lon[g->n_lon - 1], g->kind == WX_GRID_LATLON ? "E" : g->units[1]);
}
