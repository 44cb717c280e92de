/* plane.c - rows and columns, or sites, of a variable of a NetCDF file. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/format/netcdf/netcdf.h"

enum { FREE = 1 << 22 };

/* A variable of one dimension, `dim`, and of a role; -1: none. */
static int along(const wx_nc *f, int dim, wx_role role)
{
  for (int k = 0; k < f->n_seen; k++) {
    const wx_seen *const s = &f->seen[k];

    if (s->role == role && s->shape.n_dims == 1 && s->dims[0] == dim) {
      return k;
    }
  }
  return -1;
}

/* The dimensions of v that count rows, columns and sites. */
static weir_status find_dims(wx_nc *f, int v, wx_nc_dims *out)
{
  const wx_seen *const s = &f->seen[v];
  int *const row = &out->row, *const column = &out->column, *const site = &out->site;

  *out = (wx_nc_dims){.row = -1, .column = -1, .site = -1, .line = {-1, -1}};
  for (int d = 0; d < s->shape.n_dims; d++) {
    wx_role role = WX_ROLE_NONE;
    int var = -1;

    WEIR_TRY(wx_nc_dim_role(f, s->dims[d], &role, &var));
    if (role == WX_ROLE_NONE && along(f, s->dims[d], WX_ROLE_ROW) >= 0 &&
        along(f, s->dims[d], WX_ROLE_COLUMN) >= 0) {
      role = WX_ROLE_SITE;
    }
    *row = role == WX_ROLE_ROW ? d : *row;
    *column = role == WX_ROLE_COLUMN ? d : *column;
    *site = role == WX_ROLE_SITE ? d : *site;
  }
  if ((*row >= 0) != (*column >= 0) || (*site >= 0 && *row >= 0)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s has to have a dimension of latitudes (lat, latitude, y) and "
                     "one of longitudes (lon, longitude, x), or one of sites, or none of them",
                     f->path, s->name);
  }
  const int dim[2] = {*site >= 0 ? *site : *row, *site >= 0 ? *site : *column};

  for (int k = 0; k < 2 && dim[k] >= 0; k++) {
    out->line[k] = along(f, s->dims[dim[k]], k == 0 ? WX_ROLE_ROW : WX_ROLE_COLUMN);
  }
  return WEIR_OK;
}

static bool is_degrees(const char *units, const char *name, char compass)
{
  const size_t n = strlen(units);

  return (strncasecmp(units, "degree", 6) == 0 && n > 6 && units[n - 1] == compass) ||
         (units[0] == 0 && strncasecmp(name, compass == 'N' ? "lat" : "lon", 3) == 0) ||
         (strcasecmp(units, compass == 'N' ? "degrees_north" : "degrees_east") == 0);
}

/* Whether a name promises degrees: lat, latitude, lon, longitude. */
static bool is_compass(const char *name, wx_role role)
{
  return strncasecmp(name, role == WX_ROLE_ROW ? "lat" : "lon", 3) == 0;
}

/* Values of a dimension of v: of its variable of coordinates `var`. */
static weir_status take_line(wx_nc *f, int v, int d, int var, wx_role role, double **out,
                             char *units, bool *degrees)
{
  const wx_seen *const s = &f->seen[v];
  int64_t n = s->shape.lengths[d];

  char name[WX_NC_NAME];

  *degrees = false;
  (void)snprintf(units, WX_SHORT, "1");
  WEIR_TRY(weir_netcdf_dim_name(f->nc, s->dims[d], name, sizeof name));
  if (n < 1 || n > WX_MAX_LINE) {
    return weir_fail(WEIR_ERR_DATA, "%s: variable %s: %lld rows or columns; 1 to %d are handled",
                     f->path, s->name, (long long)n, WX_MAX_LINE);
  }
  if (var < 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: its dimension %s has no values, so that areas of cells are "
                     "not known: add a variable of that name with units degrees_%s",
                     f->path, s->name, name, role == WX_ROLE_ROW ? "north" : "east");
  }
  WEIR_TRY(wx_nc_text(f, var, "units", units, WX_SHORT));
  *degrees = is_degrees(units, f->seen[var].name, role == WX_ROLE_ROW ? 'N' : 'E');
  if (!*degrees && is_compass(f->seen[var].name, role)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s: its units are '%.64s': set its attribute 'units' to "
                     "degrees_%s, or name it %s where it is none of the globe",
                     f->path, f->seen[var].name, units, role == WX_ROLE_ROW ? "north" : "east",
                     role == WX_ROLE_ROW ? "y" : "x");
  }
  return wx_nc_values(f, var, out, &n);
}

/* The variable of the heights of sites above sea level: by its standard name, or its name; -1:
 * none. A `height` above the ground is another thing. */
static weir_status find_height(wx_nc *f, int dim, int *var)
{
  static const char *const names[] = {"altitude", "surface_altitude", "alt", "elevation", "elev"};
  char stated[WX_NC_NAME];

  *var = -1;
  for (int k = 0; k < f->n_seen && *var < 0; k++) {
    const wx_seen *const s = &f->seen[k];

    if (!s->supported || s->shape.text || s->shape.chars || s->shape.n_dims != 1 ||
        s->dims[0] != dim || s->role != WX_ROLE_NONE) {
      continue;
    }
    WEIR_TRY(wx_nc_text(f, k, "standard_name", stated, sizeof stated));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      const bool is = strcmp(stated, names[i]) == 0 ||
                      (stated[0] == 0 && strcasecmp(f->seen[k].name, names[i]) == 0);

      *var = is ? k : *var;
    }
  }
  return WEIR_OK;
}

/* Heights of sites, m; NaN where one is missing. *height NULL: the file does not state them in m
 * or km. */
static weir_status take_heights(wx_nc *f, int dim, double **height)
{
  char units[WX_SHORT];
  int64_t n = 0;
  int var = -1;

  WEIR_TRY(find_height(f, dim, &var));
  if (var < 0) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_nc_text(f, var, "units", units, sizeof units));
  const double unit = wx_quantity_same_units(units, "m") ? 1 : strcmp(units, "km") == 0 ? 1000 : 0;

  if (unit <= 0) {
    weir_info("archive", "%s: %s is left out: its units are '%s', not m", f->path,
              f->seen[var].name, units);
    return WEIR_OK;
  }
  WEIR_TRY(wx_nc_any_values(f, var, height, &n));
  for (int64_t i = 0; i < n; i++) {
    const double h = (*height)[i] * unit;

    (*height)[i] = h >= -1000 && h <= 9000 ? h : NAN; /* also what a missing value is coded as */
  }
  return WEIR_OK;
}

/* Coordinates of sites are left out where the file has them not both. */
static weir_status take_sites(wx_nc *f, int v, int site, wx_grid *g, double **lat, double **lon,
                              double **height)
{
  const wx_seen *const s = &f->seen[v];
  int64_t n = 0;

  g->kind = WX_GRID_SITES;
  g->n_lat = 1;
  g->n_lon = site < 0 ? 1 : s->shape.lengths[site];
  (void)snprintf(g->units[0], WX_SHORT, "degrees_north");
  (void)snprintf(g->units[1], WX_SHORT, "degrees_east");
  if (site >= 0) {
    const int row = along(f, s->dims[site], WX_ROLE_ROW);
    const int column = along(f, s->dims[site], WX_ROLE_COLUMN);

    if (row >= 0 && column >= 0) {
      WEIR_TRY(wx_nc_values(f, row, lat, &n));
      WEIR_TRY(wx_nc_values(f, column, lon, &n));
      WEIR_TRY(take_heights(f, s->dims[site], height));
    }
  }
  return WEIR_OK;
}

static weir_status take_grid(wx_nc *f, int v, const wx_nc_dims *at, wx_grid *g, double **lat,
                             double **lon, wx_grid_order *order)
{
  const wx_seen *const s = &f->seen[v];
  const int row = at->row, column = at->column;
  const char *reason = NULL;
  int64_t cells = 0;
  bool degrees[2] = {false, false};

  g->n_lat = s->shape.lengths[row];
  g->n_lon = s->shape.lengths[column];
  if (!weir_mul_ok(g->n_lat, g->n_lon, &cells) || cells > WX_MAX_CELLS ||
      !wx_nc_can_hold(f, cells, weir_dtype_size(s->shape.dtype), FREE)) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: variable %s: %lld x %lld cells: more than are handled, or than its bytes can store",
        f->path, s->name, (long long)g->n_lat, (long long)g->n_lon);
  }
  WEIR_TRY(take_line(f, v, row, at->line[0], WX_ROLE_ROW, lat, g->units[0], &degrees[0]));
  WEIR_TRY(take_line(f, v, column, at->line[1], WX_ROLE_COLUMN, lon, g->units[1], &degrees[1]));
  g->kind = degrees[0] && degrees[1] ? WX_GRID_LATLON : WX_GRID_PLANE;
  if (g->kind == WX_GRID_LATLON) {
    (void)snprintf(g->units[0], WX_SHORT, "degrees_north");
    (void)snprintf(g->units[1], WX_SHORT, "degrees_east");
    reason = wx_grid_arrange(g, *lat, *lon, order);
  }
  if (reason != NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: variable %s: its grid cannot be used: %s", f->path,
                     s->name, reason);
  }
  return WEIR_OK;
}

/* The variable after `key` in the attribute cell_measures of v, or -1. */
static weir_status find_measure(wx_nc *f, int v, const char *key, int *var)
{
  char text[4096];
  bool next = false;

  *var = -1;
  WEIR_TRY(wx_nc_text(f, v, "cell_measures", text, sizeof text));
  for (char *save = NULL, *at = strtok_r(text, " ", &save); at != NULL;
       at = strtok_r(NULL, " ", &save)) {
    for (int k = 0; next && k < f->n_seen; k++) {
      const wx_seen *const s = &f->seen[k];

      *var = s->supported && !s->shape.text && strcmp(s->name, at) == 0 ? k : *var;
    }
    next = strcmp(at, key) == 0;
  }
  return WEIR_OK;
}

/* Areas that cell_measures of v names ("area: cell_area"), over its rows and columns, brought to
 * the order of the grid and the mean 1; *weight NULL: there are none. */
static weir_status take_areas(wx_nc *f, int v, int row, int column, const wx_grid *g,
                              const wx_grid_order *order, double **weight)
{
  const wx_seen *const s = &f->seen[v];
  float *stored = NULL, *ordered = NULL;
  double *value = NULL, sum = 0;
  int64_t n = 0;
  int var = -1;
  weir_status status = WEIR_OK;

  WEIR_TRY(find_measure(f, v, "area:", &var));
  if (var < 0 || f->seen[var].shape.n_dims != 2 || f->seen[var].dims[0] != s->dims[row] ||
      f->seen[var].dims[1] != s->dims[column]) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_nc_values(f, var, &value, &n));
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *stored, (void **)&stored), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *ordered, (void **)&ordered), done);
  for (int64_t e = 0; e < n; e++) {
    sum += value[e];
    stored[e] = (float)value[e];
    if (!(value[e] >= 0)) {
      status = weir_fail(WEIR_ERR_DATA, "%s: variable %s, element %lld (from 0): %g is no area",
                         f->path, f->seen[var].name, (long long)e, value[e]);
      goto done;
    }
  }
  if (!(sum > 0)) {
    status = weir_fail(WEIR_ERR_DATA, "%s: variable %s: no cell has an area", f->path,
                       f->seen[var].name);
    goto done;
  }
  wx_grid_reorder(g, order, stored, ordered);
  for (int64_t e = 0; e < n; e++) {
    value[e] = (double)ordered[e] * (double)n / sum;
  }
  *weight = value;
  value = NULL;
done:
  weir_free(&value);
  weir_free(&stored);
  weir_free(&ordered);
  return status;
}

/* The first grid of a file is that of all: the index refuses another one. points: the same cells as
 * the index has them, NULL: as rows and columns. */
static weir_status keep(wx_nc *f, int v, const wx_grid *g, const wx_grid *points, double **lat,
                        double **lon, const wx_grid_order *order)
{
  char what[WX_NC_NAME + 16];

  (void)snprintf(what, sizeof what, "variable %s", f->seen[v].name);
  WEIR_TRY(wx_index_grid(f->index, points != NULL ? points : g, what));
  if (!f->has_grid) {
    f->grid = *g;
    f->grid.weight = NULL; /* the index has copied them */
    f->grid.mapping = NULL;
    f->grid.height = NULL;
    f->lat = *lat;
    f->lon = *lon;
    f->order = *order;
    f->has_grid = true;
    *lat = *lon = NULL;
  } else if (order->flip_rows != f->order.flip_rows ||
             order->flip_columns != f->order.flip_columns || order->shift != f->order.shift) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: %s: its rows or columns are in another order than those of the variables "
                     "before it: put it into a file of its own",
                     f->path, what);
  }
  return WEIR_OK;
}

/* The variable that says which projection a plane is of. */
static weir_status take_mapping(wx_nc *f, int v, wx_attrs *mapping)
{
  char name[WX_NOTE_NAME], of[WX_NOTE_NAME];

  mapping->n = 0;
  WEIR_TRY(wx_nc_mapping_name(f, v, name, of, sizeof name));
  for (int k = 0; k < f->n_seen && name[0] != 0; k++) {
    if (strcmp(f->seen[k].name, name) == 0) {
      WEIR_TRY(wx_attrs_read(f->nc, k, NULL, mapping));
      memcpy(mapping->name, name, sizeof name);
    }
  }
  return WEIR_OK;
}

weir_status wx_nc_plane(wx_nc *f, int v, int *row, int *column)
{
  wx_grid g = {.kind = WX_GRID_PLANE};
  wx_grid_order order = {.shift = 0};
  wx_grid points = {.kind = WX_GRID_POINTS};
  double *lat = NULL, *lon = NULL, *height = NULL, *weight = NULL, *place = NULL;
  wx_attrs mapping = {.n = 0};
  weir_status status = WEIR_OK;
  wx_nc_dims at;

  WEIR_TRY(find_dims(f, v, &at));
  WEIR_TRY(wx_nc_check_dims(f, v, &at));
  *row = at.row;
  *column = at.row < 0 ? at.site : at.column;
  if (*row < 0) {
    WEIR_TRY_GOTO(take_sites(f, v, at.site, &g, &lat, &lon, &height), done);
  } else {
    WEIR_TRY_GOTO(take_grid(f, v, &at, &g, &lat, &lon, &order), done);
  }
  WEIR_TRY_GOTO(take_mapping(f, v, &mapping), done);
  g.mapping = mapping.n > 0 ? &mapping : NULL;
  g.lat = lat;
  g.lon = lon;
  g.height = height;
  if (*row >= 0) {
    WEIR_TRY_GOTO(wx_nc_rotated(f, v, &at, &g, &order, &points, &place), done);
  }
  if (*row >= 0 && !f->has_grid && place == NULL) {
    WEIR_TRY_GOTO(take_areas(f, v, *row, *column, &g, &order, &weight), done);
    g.weight = weight;
    WEIR_TRY_GOTO(wx_nc_check_grid(f, v, &at, &g), done);
  }
  WEIR_TRY_GOTO(keep(f, v, &g, place != NULL ? &points : NULL, &lat, &lon, &order), done);
done:
  weir_free(&place);
  weir_free(&height);
  weir_free(&lat);
  weir_free(&lon);
  weir_free(&weight);
  return status;
}
