/* rotated.c - rows and columns of a rotated pole (CF, rotated_latitude_longitude), which are
 * regridded as they are read. */
#include <math.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "data/format/netcdf/netcdf.h"
#include "data/regrid/rows.h"

/* Degrees: the location that a file states for a cell, and the one that follows from the pole. */
static const double tolerance = 0.02;

/* A number of the grid mapping; NaN where it has none. */
static double number_of(const wx_attrs *mapping, const char *name)
{
  for (int i = 0; i < mapping->n; i++) {
    if (strcmp(mapping->note[i].name, name) == 0 && mapping->note[i].n == 1) {
      return mapping->note[i].number[0];
    }
  }
  return NAN;
}

static bool is_degrees(const wx_grid *g)
{
  return strncasecmp(g->units[0], "degree", 6) == 0 && strncasecmp(g->units[1], "degree", 6) == 0;
}

static weir_status take_pole(wx_nc *f, int v, const wx_grid *g, wx_grid *out)
{
  const char *const name = f->seen[v].name;
  const double lat = number_of(g->mapping, "grid_north_pole_latitude");
  const double lon = number_of(g->mapping, "grid_north_pole_longitude");
  const double turned = number_of(g->mapping, "north_pole_grid_longitude");

  if (!is_degrees(g)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: rows and columns of its rotated pole are in '%s' and '%s': "
                     "give them in degrees",
                     f->path, name, g->units[0], g->units[1]);
  }
  if (!(fabs(lat) <= 90) || !(fabs(lon) <= 720) || (isfinite(turned) && turned != 0)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: grid mapping %s: its pole is not given by "
                     "grid_north_pole_latitude and grid_north_pole_longitude, or turned by "
                     "north_pole_grid_longitude: regrid it first",
                     f->path, name, g->mapping->name);
  }
  out->rotated = true;
  out->south_pole[0] = -lat;
  out->south_pole[1] = lon + 180;
  return WEIR_OK;
}

/* Values of two-dimensional coordinates over the rows and columns of v, in that order; *out NULL:
 * there are none. */
static weir_status read_located(wx_nc *f, int v, const int at[2], wx_role role, double **out)
{
  const wx_seen *const s = &f->seen[v];
  int var = -1;
  int64_t n = 0;

  *out = NULL;
  WEIR_TRY(wx_nc_find_located(f, v, role, &var));
  if (var < 0 || f->seen[var].dims[0] != s->dims[at[0]] || f->seen[var].dims[1] != s->dims[at[1]]) {
    return WEIR_OK;
  }
  return wx_nc_values(f, var, out, &n);
}

/* Where the file states locations, too, they have to be those of the pole. */
static weir_status check_located(wx_nc *f, int v, const int at[2], const wx_grid *points)
{
  const wx_rows frame = {.rotated = true,
                         .south_pole = {points->south_pole[0], points->south_pole[1]}};
  double *lat = NULL, *lon = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(read_located(f, v, at, WX_ROLE_ROW, &lat), done);
  WEIR_TRY_GOTO(read_located(f, v, at, WX_ROLE_COLUMN, &lon), done);
  for (int64_t e = 0; lat != NULL && lon != NULL && e < points->n_lon; e++) {
    double y = lat[e], x = lon[e];

    wx_rows_rotate(&frame, &y, &x);
    const double east = remainder(x - points->lon[e], 360) * cos(y * 3.14159265358979323846 / 180);

    if (!(fabs(y - points->lat[e]) <= tolerance && fabs(east) <= tolerance)) {
      status = weir_fail(WEIR_ERR_DATA,
                         "%s: variable %s, cell %lld (from 0): it is at %g N, %g E by its "
                         "coordinates, and elsewhere by its grid mapping: correct one",
                         f->path, f->seen[v].name, (long long)e, lat[e], lon[e]);
      break;
    }
  }
done:
  weir_free(&lat);
  weir_free(&lon);
  return status;
}

weir_status wx_nc_rotated(wx_nc *f, int v, const wx_nc_dims *d, const wx_grid *g,
                          const wx_grid_order *order, wx_grid *out, double **lat)
{
  static const char *const name = "rotated_latitude_longitude";
  const int at[2] = {d->row, d->column};
  char var[WX_NC_NAME], mapping[WX_NC_NAME];
  const int64_t cells = wx_grid_cells(g);

  *lat = NULL;
  WEIR_TRY(wx_nc_mapping_name(f, v, var, mapping, sizeof mapping));
  if (strcmp(mapping, name) != 0 || g->mapping == NULL || !wx_index_how(f->index)->regrid) {
    return WEIR_OK;
  }
  *out = (wx_grid){.kind = WX_GRID_POINTS,
                   .n_lat = 1,
                   .n_lon = cells,
                   .units = {"degrees_north", "degrees_east"}};
  WEIR_TRY(take_pole(f, v, g, out));
  WEIR_TRY(weir_alloc(2 * cells, sizeof **lat, (void **)lat));
  double *const lon = *lat + cells;

  for (int64_t e = 0; e < cells; e++) {
    (*lat)[e] = g->lat[e / g->n_lon];
    lon[e] = g->lon[e % g->n_lon];
  }
  out->lat = *lat;
  out->lon = lon;
  f->rotated = true;
  /* rows or columns in another order than those of the file are not compared */
  return order->flip_rows || order->flip_columns || order->shift != 0
             ? WEIR_OK
             : check_located(f, v, at, out);
}

weir_status wx_nc_check_component(const wx_nc *f, int v, const char *stated, const wx_quantity *q)
{
  static const char *const names[] = {"u",    "v",    "10u",  "10v",  "100u", "100v",
                                      "200u", "200v", "iews", "inss", "ewss", "nsss"};
  static const char *const along[] = {"eastward", "northward", "x_", "y_", "_x_", "_y_"};
  bool is = false;

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    is = is || strcmp(q->variable, names[i]) == 0;
  }
  for (size_t i = 0; i < sizeof along / sizeof along[0]; i++) {
    const bool first = along[i][0] == 'x' || along[i][0] == 'y';
    const char *const found = strstr(q->standard_name, along[i]);

    is = is || (found != NULL && (!first || found == q->standard_name));
  }
  const bool true_north = strncmp(stated, "grid_", 5) != 0 && (strstr(stated, "eastward") != NULL ||
                                                               strstr(stated, "northward") != NULL);

  return !f->rotated || !is || true_north
             ? WEIR_OK
             : weir_fail(
                   WEIR_ERR_DATA,
                   "%s: variable %s: a component along the rows or columns of a rotated grid, "
                   "or its standard_name does not say that it is eastward or northward: turn "
                   "it first, or leave it out",
                   f->path, f->seen[v].name);
}
