/* write.c - an archive as a CF NetCDF-4 file (reference 7.3): the quantities of a
 * variable are its levels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/format/netcdf/netcdf.h"

enum { DEFLATE = 1, CHUNK = 1 << 20 /* values */, MOST_DIMS = 6 };

/* Where a quantity is: a variable of the file and, level_dim >= 0, a level of it. */
typedef struct slot {
  int var, level_dim;
  int64_t level, first; /* first: the quantity that the variable was defined with */
  int time;             /* number of its times with bounds; 0: those of instants */
} slot;

typedef struct writer {
  weir_netcdf *nc;
  const wx_archive_info *facts;
  const double *quantile; /* NULL: members */
  slot *slots;            /* [n_quantities] */
  int outer[3];           /* dimensions: start, lead, member */
  int bound;              /* of length 2; where n_times > 0 */
  int plane[2];           /* row, column; a SITES grid has the column only */
  int n_times;            /* times with bounds */
  bool areas;             /* cell_area is there */
} writer;

/* Whether two quantities cover the same times at all leads; NaN is no time. */
static bool same_periods(const wx_archive_info *f, int64_t i, int64_t k)
{
  bool same = true;

  for (int64_t l = 0; l < f->n_leads; l++) {
    same = same && fabs(wx_archive_period(f, i, l) - wx_archive_period(f, k, l)) < 1e-9;
  }
  return same;
}

/* Whether two quantities are levels of one variable. */
static bool together(const writer *w, int64_t i, int64_t k)
{
  const wx_quantity *const a = &w->facts->quantity[i], *const b = &w->facts->quantity[k];

  return strcmp(a->variable, b->variable) == 0 && a->kind == b->kind && a->product == b->product &&
         strcmp(a->units, b->units) == 0 && strcmp(a->method, b->method) == 0 &&
         w->slots[i].time == w->slots[k].time && a->kind != WX_LEVEL_SURFACE;
}

static weir_status put_line(writer *w, const char *name, weir_dtype dtype, int dim,
                            const char *standard_name, const char *units, int *var)
{
  WEIR_TRY(weir_netcdf_var(w->nc, name, dtype, 1, &dim, var));
  if (standard_name[0] != 0) {
    WEIR_TRY(weir_netcdf_put_text(w->nc, *var, "standard_name", standard_name));
  }
  return weir_netcdf_put_text(w->nc, *var, "units", units);
}

static weir_status write_line(writer *w, int var, int64_t n, const void *values)
{
  const int64_t zero = 0;

  return weir_netcdf_write(w->nc, var, &zero, &n, values);
}

/* "time" for instants, others by number. */
static void time_name(int number, char *name, size_t size)
{
  if (number == 0) {
    (void)snprintf(name, size, "time");
  } else if (number == 1) {
    (void)snprintf(name, size, "time_period");
  } else {
    (void)snprintf(name, size, "time_period_%d", number);
  }
}

/* The first and last time of what quantity q covers, [start, lead, 2]. */
static weir_status put_bounds(writer *w, const char *name, int64_t q, const int64_t *time)
{
  const wx_archive_info *f = w->facts;
  const int64_t start[3] = {0, 0, 0}, count[3] = {f->n_init_times, f->n_leads, 2};
  const int64_t n = f->n_init_times * f->n_leads;
  const int dims[3] = {w->outer[0], w->outer[1], w->bound};
  int64_t *bounds = NULL;
  int var = 0;

  WEIR_TRY(weir_netcdf_var(w->nc, name, WEIR_I64, 3, dims, &var));
  WEIR_TRY(weir_alloc(2 * n, sizeof *bounds, (void **)&bounds));
  for (int64_t i = 0; i < n; i++) {
    bounds[2 * i] = time[i] - llround(wx_archive_period(f, q, i % f->n_leads) * 3600);
    bounds[2 * i + 1] = time[i];
  }
  const weir_status status = weir_netcdf_write(w->nc, var, start, count, bounds);

  weir_free(&bounds);
  return status;
}

/* Times of validity, [start, lead]; number > 0: with bounds of what quantity q covers. */
static weir_status put_time(writer *w, int number, int64_t q)
{
  const wx_archive_info *f = w->facts;
  const int64_t start[2] = {0, 0}, count[2] = {f->n_init_times, f->n_leads};
  char name[WX_SHORT], bounds[WX_SHORT + 8];
  int64_t *time = NULL;
  int var = 0;
  weir_status status = WEIR_OK;

  time_name(number, name, sizeof name);
  (void)snprintf(bounds, sizeof bounds, "%s_bounds", name);
  WEIR_TRY(weir_netcdf_var(w->nc, name, WEIR_I64, 2, w->outer, &var));
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "standard_name", "time"));
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "units", "seconds since 1970-01-01 00:00:00"));
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "calendar", "standard"));
  if (number > 0) {
    WEIR_TRY(weir_netcdf_put_text(w->nc, var, "bounds", bounds));
  }
  WEIR_TRY(weir_alloc(f->n_init_times * f->n_leads, sizeof *time, (void **)&time));
  for (int64_t s = 0; s < f->n_init_times; s++) {
    for (int64_t l = 0; l < f->n_leads; l++) {
      time[s * f->n_leads + l] = f->start[s] + llround(f->lead[l] * 3600);
    }
  }
  WEIR_TRY_GOTO(weir_netcdf_write(w->nc, var, start, count, time), done);
  if (number > 0) {
    WEIR_TRY_GOTO(put_bounds(w, bounds, q, time), done);
  }
done:
  weir_free(&time);
  return status;
}

/* Times with bounds, one for all quantities that cover the same; none for what is of instants, or
 * covers what no file states. */
static weir_status put_periods(writer *w)
{
  const wx_archive_info *f = w->facts;

  for (int64_t q = 0; q < f->n_quantities; q++) {
    if (f->quantity[q].method[0] == 0 || !same_periods(f, q, q)) {
      continue;
    }
    for (int64_t k = 0; k < q && w->slots[q].time == 0; k++) {
      w->slots[q].time = w->slots[k].time > 0 && same_periods(f, k, q) ? w->slots[k].time : 0;
    }
    if (w->slots[q].time > 0) {
      continue;
    }
    if (w->n_times == 0) {
      WEIR_TRY(weir_netcdf_dim(w->nc, "bound", 2, &w->bound));
    }
    w->slots[q].time = ++w->n_times;
    WEIR_TRY(put_time(w, w->n_times, q));
  }
  return WEIR_OK;
}

/* What the third dimension counts. */
static weir_status put_members(writer *w)
{
  const wx_archive_info *f = w->facts;
  int64_t max_number = 0;
  int var = 0;

  WEIR_TRY(weir_netcdf_dim(w->nc, w->quantile != NULL ? "quantile" : "realization", f->n_members,
                           &w->outer[2]));
  if (w->quantile != NULL) {
    WEIR_TRY(put_line(w, "quantile", WEIR_F64, w->outer[2], "", "1", &var));
    WEIR_TRY(weir_netcdf_put_text(w->nc, var, "long_name", "probability of a value below it"));
    return write_line(w, var, f->n_members, w->quantile);
  }
  for (int64_t k = 0; k < f->n_members; k++) {
    max_number = llabs(f->member[k]) > max_number ? llabs(f->member[k]) : max_number;
  }
  WEIR_TRY(weir_netcdf_whole_var(w->nc, "realization", max_number, 1, &w->outer[2], &var));
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "standard_name", "realization"));
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "units", "1"));
  return write_line(w, var, f->n_members, f->member);
}

static weir_status put_course(writer *w)
{
  const wx_archive_info *f = w->facts;
  int var = 0;

  WEIR_TRY(weir_netcdf_dim(w->nc, "forecast_reference_time", f->n_init_times, &w->outer[0]));
  WEIR_TRY(weir_netcdf_dim(w->nc, "forecast_period", f->n_leads, &w->outer[1]));
  WEIR_TRY(put_line(w, "forecast_reference_time", WEIR_I64, w->outer[0], "forecast_reference_time",
                    "seconds since 1970-01-01 00:00:00", &var));
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "calendar", "standard"));
  if (f->tolerance > 0) {
    WEIR_TRY(weir_netcdf_put_numbers(w->nc, var, "tolerance", WEIR_F64, &f->tolerance, 1));
  }
  WEIR_TRY(write_line(w, var, f->n_init_times, f->start));
  WEIR_TRY(put_line(w, "forecast_period", WEIR_F64, w->outer[1], "forecast_period", "hours", &var));
  WEIR_TRY(write_line(w, var, f->n_leads, f->lead));
  WEIR_TRY(put_members(w));
  WEIR_TRY(put_time(w, 0, 0));
  return put_periods(w);
}

static weir_status put_axis(writer *w, int k)
{
  static const struct {
    const char *name, *standard_name, *axis;
  } known[2][2] = {{{"latitude", "latitude", "Y"}, {"longitude", "longitude", "X"}},
                   {{"y", "projection_y_coordinate", "Y"}, {"x", "projection_x_coordinate", "X"}}};
  const wx_grid *g = &w->facts->grid;
  const int plane = g->kind == WX_GRID_PLANE;
  const int64_t n = k == 0 ? g->n_lat : g->n_lon;
  const bool metres = strcmp(g->units[k], "m") == 0 || strcmp(g->units[k], "km") == 0;
  int var = 0;

  WEIR_TRY(weir_netcdf_dim(w->nc, known[plane][k].name, n, &w->plane[k]));
  WEIR_TRY(put_line(w, known[plane][k].name, WEIR_F64, w->plane[k],
                    plane && !metres ? "" : known[plane][k].standard_name, g->units[k], &var));
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "axis", known[plane][k].axis));
  return write_line(w, var, n, k == 0 ? g->lat : g->lon);
}

static weir_status put_sites(writer *w)
{
  const wx_grid *g = &w->facts->grid;
  int var = 0;

  WEIR_TRY(weir_netcdf_dim(w->nc, "site", g->n_lon, &w->plane[1]));
  if (g->lat == NULL || g->lon == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(put_line(w, "latitude", WEIR_F64, w->plane[1], "latitude", "degrees_north", &var));
  WEIR_TRY(write_line(w, var, g->n_lon, g->lat));
  WEIR_TRY(put_line(w, "longitude", WEIR_F64, w->plane[1], "longitude", "degrees_east", &var));
  WEIR_TRY(write_line(w, var, g->n_lon, g->lon));
  if (g->height == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(put_line(w, "altitude", WEIR_F64, w->plane[1], "altitude", "m", &var));
  return write_line(w, var, g->n_lon, g->height);
}

/* Areas, where they are not those that the rows tell a reader. */
static weir_status put_areas(writer *w)
{
  const wx_grid *g = &w->facts->grid;
  const int64_t n = wx_grid_cells(g), start[2] = {0, 0}, count[2] = {g->n_lat, g->n_lon};
  double *usual = NULL;
  int var = 0;

  if (g->weight == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n, sizeof *usual, (void **)&usual));
  wx_grid_weights(g, usual);
  for (int64_t e = 0; e < n; e++) {
    w->areas = w->areas || g->kind == WX_GRID_PLANE || fabs(usual[e] - g->weight[e]) > 1e-6;
  }
  weir_free(&usual);
  if (!w->areas) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_var(w->nc, "cell_area", WEIR_F64, 2, w->plane, &var));
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "long_name", "area of the cell, of their mean"));
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "units", "1"));
  return weir_netcdf_write(w->nc, var, start, count, g->weight);
}

/* The projection, as a variable without dimensions. */
static weir_status put_mapping(writer *w)
{
  const wx_attrs *mapping = w->facts->grid.mapping;
  int var = 0;

  if (mapping == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_var(w->nc, mapping->name, WEIR_I32, 0, NULL, &var));
  return wx_attrs_write(mapping, w->nc, var);
}

static weir_status put_grid(writer *w)
{
  if (w->facts->grid.kind == WX_GRID_SITES) {
    return put_sites(w);
  }
  WEIR_TRY(put_axis(w, 0));
  WEIR_TRY(put_axis(w, 1));
  WEIR_TRY(put_mapping(w));
  return put_areas(w);
}

/* Levels of the variable of quantity `first`, in their order, and where each of its quantities is.
 */
static int64_t collect_levels(writer *w, int64_t first, double *level)
{
  const wx_quantity *q = w->facts->quantity;
  int64_t n = 0;

  for (int64_t k = first; k < w->facts->n_quantities; k++) {
    if (k != first && !together(w, k, first)) {
      continue;
    }
    w->slots[k].first = first;
    w->slots[k].level = n;
    level[n++] = q[k].level;
  }
  return n;
}

/* A dimension with these levels: that of an earlier variable, or a new one. */
static weir_status level_dim(writer *w, int64_t first, const double *level, int64_t n,
                             double *other, int *dim)
{
  const wx_quantity *q = w->facts->quantity;
  const bool pressure = q[first].kind == WX_LEVEL_PRESSURE;
  char name[WX_SHORT];
  int number = 1, var = 0;

  for (int64_t k = 0; k < first; k++) {
    if (w->slots[k].first != k || w->slots[k].level_dim < 0 || q[k].kind != q[first].kind) {
      continue;
    }
    int64_t m = 0;

    for (int64_t i = 0; i < w->facts->n_quantities; i++) {
      if (w->slots[i].first == k && (i == k || together(w, i, k))) {
        other[m++] = q[i].level;
      }
    }
    if (m == n && memcmp(other, level, (size_t)n * sizeof *level) == 0) {
      *dim = w->slots[k].level_dim;
      return WEIR_OK;
    }
    number++;
  }
  (void)snprintf(name, sizeof name, number > 1 ? "%s_%d" : "%s", pressure ? "pressure" : "height",
                 number);
  WEIR_TRY(weir_netcdf_dim(w->nc, name, n, dim));
  WEIR_TRY(put_line(w, name, WEIR_F64, *dim, pressure ? "air_pressure" : "height",
                    pressure ? "hPa" : "m", &var));
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "positive", pressure ? "down" : "up"));
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "axis", "Z"));
  return write_line(w, var, n, level);
}

/* Names of the quantities of a variable, a word each. */
static weir_status put_names(writer *w, int64_t first, int var)
{
  const wx_archive_info *f = w->facts;
  char *text = NULL;
  size_t used = 0;

  WEIR_TRY(weir_alloc(f->n_quantities * WX_SHORT, 1, (void **)&text));
  for (int64_t k = first; k < f->n_quantities; k++) {
    if (w->slots[k].first == first) {
      used += (size_t)snprintf(text + used, (size_t)(f->n_quantities * WX_SHORT) - used, "%s%s",
                               used > 0 ? " " : "", f->quantity[k].name);
    }
  }
  const weir_status status = weir_netcdf_put_text(w->nc, var, "quantities", text);

  weir_free(&text);
  return status;
}

/* What values are of those in time, and of members. */
static weir_status put_methods(writer *w, const wx_quantity *q, int var)
{
  const bool stated = q->method[0] != 0 && strcmp(q->method, WX_METHOD_UNKNOWN) != 0;
  const char *const of_members = q->product == WX_PRODUCT_MEAN ? "realization: mean"
                                 : q->product == WX_PRODUCT_SPREAD
                                     ? "realization: standard_deviation"
                                     : "";
  char text[WX_LONG] = "";

  if (stated) {
    (void)snprintf(text, sizeof text, "time: %s%s", q->method, of_members[0] != 0 ? " " : "");
  }
  if (!stated && of_members[0] == 0) {
    return WEIR_OK;
  }
  (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s", of_members);
  return weir_netcdf_put_text(w->nc, var, "cell_methods", text);
}

static weir_status put_meaning(writer *w, int64_t first, int var)
{
  const wx_quantity *q = &w->facts->quantity[first];
  const float fill = NAN;
  char coordinates[WX_LONG];

  if (q->standard_name[0] != 0) {
    WEIR_TRY(weir_netcdf_put_text(w->nc, var, "standard_name", q->standard_name));
  }
  if (q->units[0] != 0) {
    WEIR_TRY(weir_netcdf_put_text(w->nc, var, "units", q->units));
  }
  WEIR_TRY(put_methods(w, q, var));
  if (w->facts->grid.mapping != NULL) {
    WEIR_TRY(weir_netcdf_put_text(w->nc, var, "grid_mapping", w->facts->grid.mapping->name));
  }
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "GRIB_shortName", q->variable));
  if (q->param != 0) {
    WEIR_TRY(weir_netcdf_put_numbers(w->nc, var, "GRIB_paramId", WEIR_I64, &q->param, 1));
  }
  time_name(w->slots[first].time, coordinates, WX_SHORT);
  if (w->facts->grid.kind == WX_GRID_SITES && w->facts->grid.lat != NULL) {
    (void)snprintf(coordinates + strlen(coordinates), sizeof coordinates - strlen(coordinates),
                   " latitude longitude%s", w->facts->grid.height != NULL ? " altitude" : "");
  }
  WEIR_TRY(weir_netcdf_put_text(w->nc, var, "coordinates", coordinates));
  if (w->areas) {
    WEIR_TRY(weir_netcdf_put_text(w->nc, var, "cell_measures", "area: cell_area"));
  }
  WEIR_TRY(weir_netcdf_put_numbers(w->nc, var, "_FillValue", WEIR_F32, &fill, 1));
  return put_names(w, first, var);
}

/* The dimensions of a variable, and its chunks: all members of a tile. */
static int shape_of(const writer *w, int level, int *dims, int64_t *chunk)
{
  const wx_archive_info *f = w->facts;
  const int64_t m = f->n_members, n_lon = f->grid.n_lon, n_lat = f->grid.n_lat;
  const int64_t columns = m * n_lon <= CHUNK ? n_lon : (CHUNK + m - 1) / m;
  const int64_t rows = CHUNK / (m * columns) < 1 ? 1 : CHUNK / (m * columns);
  int n = 0;

  for (int k = 0; k < 3; k++) {
    dims[n] = w->outer[k];
    chunk[n++] = k == 2 ? m : 1;
  }
  if (level >= 0) {
    dims[n] = level;
    chunk[n++] = 1;
  }
  if (f->grid.kind != WX_GRID_SITES) {
    dims[n] = w->plane[0];
    chunk[n++] = rows < n_lat ? rows : n_lat;
  }
  dims[n] = w->plane[1];
  chunk[n++] = columns;
  return n;
}

static weir_status put_variable(writer *w, int64_t first, double *scratch)
{
  const wx_archive_info *f = w->facts;
  const wx_quantity *q = &f->quantity[first];
  const int64_t n = collect_levels(w, first, scratch);
  char name[2 * WX_SHORT];
  int dims[MOST_DIMS], var = 0, level = -1;
  int64_t chunk[MOST_DIMS];

  if (q->kind != WX_LEVEL_SURFACE) {
    WEIR_TRY(level_dim(w, first, scratch, n, scratch + f->n_quantities, &level));
  }
  const int n_dims = shape_of(w, level, dims, chunk);

  wx_quantity_file_name(q, name, sizeof name);
  for (int64_t k = 0; k < first; k++) {
    if (w->slots[k].first == k && strcmp(f->quantity[k].variable, q->variable) == 0) {
      (void)snprintf(name, sizeof name, "v%s", q->name);
    }
  }
  WEIR_TRY(weir_netcdf_var(w->nc, name, WEIR_F32, n_dims, dims, &var));
  WEIR_TRY(put_meaning(w, first, var));
  WEIR_TRY(weir_netcdf_chunk(w->nc, var, chunk, DEFLATE));
  for (int64_t k = first; k < f->n_quantities; k++) {
    if (w->slots[k].first == first) {
      w->slots[k].var = var;
      w->slots[k].level_dim = level;
    }
  }
  return WEIR_OK;
}

static weir_status begin(writer *w)
{
  const int64_t n = w->facts->n_quantities;
  double *scratch = NULL;
  weir_status status = WEIR_OK;

  if (w->facts->notes != NULL) {
    WEIR_TRY(wx_attrs_write(w->facts->notes, w->nc, WEIR_NETCDF_FILE));
  }
  WEIR_TRY(weir_alloc(n, sizeof *w->slots, (void **)&w->slots));
  WEIR_TRY(put_course(w));
  WEIR_TRY(put_grid(w));
  WEIR_TRY(weir_alloc(2 * n, sizeof *scratch, (void **)&scratch));
  for (int64_t k = 0; k < n; k++) {
    w->slots[k].first = -1;
  }
  for (int64_t k = 0; k < n; k++) {
    if (w->slots[k].first < 0) {
      WEIR_TRY_GOTO(put_variable(w, k, scratch), done);
    }
  }
done:
  weir_free(&scratch);
  return status;
}

static void abandon(void **state)
{
  writer *w = *state;

  if (w == NULL) {
    return;
  }
  weir_netcdf_close(&w->nc);
  weir_free(&w->slots);
  weir_free(state);
}

static weir_status create(const char *path, const wx_archive_info *facts, const wx_archive_out *out,
                          void **state)
{
  writer *w = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(1, sizeof *w, state));
  w = *state;
  w->quantile = out->quantile;
  w->facts = facts;
  WEIR_TRY_GOTO(weir_netcdf_create_cf(path, NULL, &w->nc), done);
  WEIR_TRY_GOTO(begin(w), done);
done:
  if (status != WEIR_OK) {
    abandon(state);
  }
  return status;
}

static weir_status put_text(void *state, const char *name, const char *text)
{
  const writer *const w = state;

  return weir_netcdf_put_text(w->nc, WEIR_NETCDF_FILE, name, text);
}

static weir_status write_members(void *state, int64_t start, int64_t lead, int64_t quantity,
                                 int64_t member, int64_t n, const float *values)
{
  const writer *const w = state;
  const wx_archive_info *f = w->facts;
  const slot *s = &w->slots[quantity];
  int64_t at[MOST_DIMS] = {start, lead, member}, count[MOST_DIMS] = {1, 1, n};
  int d = 3;

  if (s->level_dim >= 0) {
    at[d] = s->level;
    count[d++] = 1;
  }
  if (f->grid.kind != WX_GRID_SITES) {
    count[d++] = f->grid.n_lat;
  }
  count[d] = f->grid.n_lon;
  return weir_netcdf_write(w->nc, s->var, at, count, values);
}

static weir_status finish(void **state, weir_writer **file)
{
  writer *const w = *state;
  const weir_status status = weir_netcdf_finish(&w->nc, file);

  abandon(state);
  return status;
}

const wx_sink wx_sink_netcdf = {
    .create = create,
    .put_text = put_text,
    .write = write_members,
    .finish = finish,
    .abandon = abandon,
};
