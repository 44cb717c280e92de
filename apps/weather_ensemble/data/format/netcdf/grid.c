/* grid.c - which grids of NetCDF files are refused, by name: those whose rows and columns
 * are no latitudes and longitudes, and whose cells have areas that nothing tells. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "data/format/netcdf/netcdf.h"

#define REGRID "regrid it to a regular latitude-longitude grid, for example with cdo remapbil"

static bool is_in(const char *text, const char *const *list)
{
  while (*list != NULL && strcasecmp(text, *list) != 0) {
    list++;
  }
  return *list != NULL;
}

weir_status wx_nc_find_located(wx_nc *f, int v, wx_role role, int *var)
{
  const wx_seen *const s = &f->seen[v];

  *var = -1;
  for (int k = 0; k < f->n_seen && *var < 0; k++) {
    const wx_seen *const c = &f->seen[k];
    char units[WX_SHORT];
    int common = 0;

    if (k == v || !c->supported || c->shape.text || c->shape.n_dims != 2) {
      continue;
    }
    for (int d = 0; d < s->shape.n_dims; d++) {
      common += s->dims[d] == c->dims[0] || s->dims[d] == c->dims[1];
    }
    WEIR_TRY(wx_nc_text(f, k, "units", units, sizeof units));
    const bool here = strncasecmp(units, "degree", 6) == 0 &&
                      strcasestr(units, role == WX_ROLE_ROW ? "_n" : "_e") != NULL;

    *var = common == 2 && (c->role == role || here) ? k : -1;
  }
  return WEIR_OK;
}

static weir_status is_curvilinear(wx_nc *f, int v, bool *is)
{
  int row = -1, column = -1;

  WEIR_TRY(wx_nc_find_located(f, v, WX_ROLE_ROW, &row));
  WEIR_TRY(wx_nc_find_located(f, v, WX_ROLE_COLUMN, &column));
  *is = row >= 0 && column >= 0;
  return WEIR_OK;
}

weir_status wx_nc_is_located(wx_nc *f, int v, bool *is)
{
  const wx_seen *const s = &f->seen[v];

  WEIR_TRY(is_curvilinear(f, v, is));
  for (int d = 0; d < s->shape.n_dims && !*is; d++) {
    bool row = false, column = false;

    for (int k = 0; k < f->n_seen; k++) {
      const bool along = f->seen[k].shape.n_dims == 1 && f->seen[k].dims[0] == s->dims[d];

      row = row || (along && f->seen[k].role == WX_ROLE_ROW);
      column = column || (along && f->seen[k].role == WX_ROLE_COLUMN);
    }
    *is = row && column;
  }
  return WEIR_OK;
}

weir_status wx_nc_mapping_name(wx_nc *f, int v, char *var, char *name, size_t size)
{
  WEIR_TRY(wx_nc_text(f, v, "grid_mapping", var, size));
  var[strcspn(var, ": ")] = 0; /* "crs: x y" names it too */
  name[0] = 0;
  for (int k = 0; k < f->n_seen && var[0] != 0; k++) {
    if (strcmp(f->seen[k].name, var) == 0) {
      WEIR_TRY(wx_nc_text(f, k, "grid_mapping_name", name, size));
    }
  }
  return WEIR_OK;
}

/* What writers say of the grid themselves: cfgrib, CDO, UGRID. */
static weir_status check_stated(wx_nc *f, int v)
{
  static const char *const regular[] = {"regular_ll", "regular_gg", "", NULL};
  char text[WX_NC_NAME];

  WEIR_TRY(wx_nc_text(f, v, "GRIB_gridType", text, sizeof text));
  if (!is_in(text, regular)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: GRIB_gridType=%s: only regular_ll and "
                     "regular_gg are read: " REGRID,
                     f->path, f->seen[v].name, text);
  }
  WEIR_TRY(wx_nc_text(f, v, "CDI_grid_type", text, sizeof text));
  if (text[0] != 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: CDI_grid_type=%s: its cells are no rows and "
                     "columns: " REGRID,
                     f->path, f->seen[v].name, text);
  }
  WEIR_TRY(wx_nc_text(f, v, "mesh", text, sizeof text));
  return text[0] == 0 ? WEIR_OK
                      : weir_fail(WEIR_ERR_DATA,
                                  "%s: variable %s: mesh=%s: its cells are no rows "
                                  "and columns: " REGRID,
                                  f->path, f->seen[v].name, text);
}

static weir_status refuse_curvilinear(wx_nc *f, int v)
{
  char var[WX_NC_NAME], mapping[WX_NC_NAME];
  int row = -1, column = -1;

  WEIR_TRY(wx_nc_find_located(f, v, WX_ROLE_ROW, &row));
  WEIR_TRY(wx_nc_find_located(f, v, WX_ROLE_COLUMN, &column));
  WEIR_TRY(wx_nc_mapping_name(f, v, var, mapping, sizeof mapping));
  return weir_fail(
      WEIR_ERR_DATA,
      "%s: variable %s: a curvilinear grid (two-dimensional coordinates %s and %s%s%s): "
      "areas of its cells are not known: " REGRID,
      f->path, f->seen[v].name, row >= 0 ? f->seen[row].name : "-",
      column >= 0 ? f->seen[column].name : "-", mapping[0] != 0 ? "; grid mapping " : "", mapping);
}

/* A dimension that two coordinates run along: sites, or the cells of a grid. */
static weir_status check_site(wx_nc *f, int v, int site, const int at[2])
{
  static const char *const cells[] = {"ncells", "ncell", "cell", "cells",     "ncol",  "values",
                                      "node",   "nod2",  "elem", "grid_size", "rgrid", NULL};
  static const char *const degrees[2][7] = {
      {"degrees_north", "degree_north", "degrees_N", "degree_N", "degrees", "degree", NULL},
      {"degrees_east", "degree_east", "degrees_E", "degree_E", "degrees", "degree", NULL}};
  char dim[WX_NC_NAME];

  WEIR_TRY(weir_netcdf_dim_name(f->nc, f->seen[v].dims[site], dim, sizeof dim));
  bool grid = is_in(dim, cells);

  for (int k = 0; k < 2 && at[k] >= 0; k++) {
    char text[WX_NC_NAME];

    WEIR_TRY(wx_nc_text(f, at[k], "bounds", text, sizeof text));
    grid = grid || text[0] != 0;
    WEIR_TRY(wx_nc_text(f, at[k], "units", text, sizeof text));
    if (text[0] != 0 && !is_in(text, degrees[k])) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: variable %s: its units are '%.64s': give it in degrees_%s", f->path,
                       f->seen[at[k]].name, text, k == 0 ? "north" : "east");
    }
  }
  return !grid ? WEIR_OK
               : weir_fail(WEIR_ERR_DATA,
                           "%s: variable %s: its dimension %s is that of the cells of an "
                           "unstructured or reduced grid, whose areas are not known: " REGRID
                           "; or rename it to site where these are stations that count equally",
                           f->path, f->seen[v].name, dim);
}

weir_status wx_nc_check_dims(wx_nc *f, int v, const wx_nc_dims *d)
{
  const bool lines = d->line[0] >= 0 && d->line[1] >= 0;
  bool curvilinear = false;

  WEIR_TRY(check_stated(f, v));
  WEIR_TRY(is_curvilinear(f, v, &curvilinear));
  if (curvilinear && (!lines || d->row < 0)) {
    return refuse_curvilinear(f, v);
  }
  if (d->site >= 0) {
    return check_site(f, v, d->site, d->line);
  }
  return WEIR_OK;
}

static bool is_even(const double *x, int64_t n)
{
  for (int64_t i = 2; i < n; i++) {
    if (!(fabs((x[i] - x[i - 1]) - (x[1] - x[0])) <= 1e-3 * fabs(x[1] - x[0]))) {
      return false;
    }
  }
  return true;
}

/* Whether all cells of a projection's plane have the same area. */
static bool is_equal_area(const wx_grid *g, const char *mapping)
{
  static const char *const equal[] = {"lambert_azimuthal_equal_area", "albers_conical_equal_area",
                                      "lambert_cylindrical_equal_area", "sinusoidal", NULL};

  return is_in(mapping, equal) && is_even(g->lat, g->n_lat) && is_even(g->lon, g->n_lon);
}

weir_status wx_nc_check_grid(wx_nc *f, int v, const wx_nc_dims *d, const wx_grid *g)
{
  static const char *const plain[] = {"", "latitude_longitude", NULL};
  char var[WX_NC_NAME], mapping[WX_NC_NAME], standard[WX_NC_NAME];

  WEIR_TRY(wx_nc_mapping_name(f, v, var, mapping, sizeof mapping));
  WEIR_TRY(wx_nc_text(f, d->line[0], "standard_name", standard, sizeof standard));
  const bool turned = strcmp(standard, "grid_latitude") == 0 || strcmp(mapping, "rotated_latitude_"
                                                                                "longitude") == 0;

  if (g->kind == WX_GRID_LATLON && !turned && is_in(mapping, plain)) {
    return WEIR_OK;
  }
  if (g->kind == WX_GRID_PLANE && (g->weight != NULL || is_equal_area(g, mapping))) {
    return WEIR_OK;
  }
  const char *const name = turned ? "rotated_latitude_longitude" : mapping;

  return weir_fail(WEIR_ERR_DATA,
                   "%s: variable %s: a grid of %s and %s (%s%s%s%s): areas of its cells are not "
                   "known: " REGRID "; or name them in its attribute cell_measures, as \"area: "
                   "cell_area\"",
                   f->path, f->seen[v].name, f->seen[d->line[0]].name, f->seen[d->line[1]].name,
                   name[0] != 0 ? "grid mapping " : "without a grid mapping", name,
                   var[0] != 0 ? " of variable " : "", var);
}
