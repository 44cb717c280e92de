/* grib.c - GRIB files as a format of archives: which quantity, start, lead and member each
 * of their fields is. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/format/grib/grib.h"
#include "io/weir_grib.h"

enum { LOCATION = 600, PATH_SIZE = 4096 };

typedef struct gb {
  weir_grib *g;
  int64_t n_grids;
  wx_grid_order *order; /* [n_grids] */
  bool *indexed;        /* [n_grids]: the index has it */
  float *stored;        /* a field before its columns are turned */
  int64_t stored_capacity;
} gb;

static int64_t find(const unsigned char *bytes, int64_t n)
{
  const unsigned char *const at =
      memmem(bytes, (size_t)n, "GRIB", 4); /* after a bulletin's lines */

  return at != NULL ? at - bytes : -1;
}

static bool is_one_of(const char *text, const char *const *list)
{
  while (*list != NULL && strcmp(text, *list) != 0) {
    list++;
  }
  return *list != NULL;
}

static weir_status refuse(const gb *f, int64_t i, const char *key, const char *value,
                          const char *reason)
{
  char location[LOCATION];

  weir_grib_locate(f->g, i, location, sizeof location);
  return weir_fail(WEIR_ERR_DATA, "%s: %s=%s: %s", location, key, value, reason);
}

static weir_status take_level(const gb *f, int64_t i, const weir_grib_kind *kind, wx_quantity *q)
{
  static const char *const pressure[] = {"isobaricInhPa", "isobaricInPa", NULL};
  static const char *const height[] = {"heightAboveGround", NULL};
  static const char *const single[] = {"surface",    "meanSea",    "entireAtmosphere",
                                       "atmosphere", "nominalTop", NULL};

  q->kind = is_one_of(kind->level_type, pressure) ? WX_LEVEL_PRESSURE
            : is_one_of(kind->level_type, height) ? WX_LEVEL_HEIGHT
                                                  : WX_LEVEL_SURFACE;
  q->level = q->kind == WX_LEVEL_SURFACE ? 0 : kind->level;
  if (q->kind == WX_LEVEL_SURFACE && !is_one_of(kind->level_type, single)) {
    return refuse(f, i, "typeOfLevel", kind->level_type,
                  "only pressure levels, heights above ground and the surface are read: leave such "
                  "messages out");
  }
  return WEIR_OK;
}

/* Code table 4.7: 0 is the mean of all members, 4 their spread. */
static wx_product product_of(const weir_grib_kind *kind)
{
  return kind->derived == 0 || strcmp(kind->type, "em") == 0   ? WX_PRODUCT_MEAN
         : kind->derived == 4 || strcmp(kind->type, "es") == 0 ? WX_PRODUCT_SPREAD
                                                               : WX_PRODUCT_MEMBER;
}

/* A parameter that is a sum or extreme is that whatever edition 1 calls it, which has one code for
 * both extremes. */
static void take_method(const weir_grib_kind *kind, wx_quantity *q)
{
  static const char *const loose[] = {"instant", "accum", "max", "min", "", NULL};
  double hours = 0;
  const char *const own = wx_quantity_method(q, &hours);

  (void)snprintf(q->method, sizeof q->method, "%s",
                 own != NULL && is_one_of(kind->step_type, loose)
                     ? own
                     : wx_quantity_step_method(kind->step_type));
}

/* Seconds that a field covers. Edition 1 has accumulations without a range of steps, and means of
 * months that cover none: these do not say. */
static int64_t period_of(const weir_grib_kind *kind, const weir_grib_field *field)
{
  const int64_t range = field->step_seconds[1] - field->step_seconds[0];
  const wx_quantity q = {.param = kind->param};
  double hours = 0;
  const char *const own = wx_quantity_method(&q, &hours);
  const bool instant = strcmp(kind->step_type, "instant") == 0 || kind->step_type[0] == 0;

  if (instant && own == NULL) {
    return 0;
  }
  if (!instant && range > 0) {
    return range;
  }
  return field->step_seconds[1] == 0 && strncmp(kind->step_type, "avg", 3) != 0 ? 0
         : hours > 0 ? (int64_t)(hours * 3600)
                     : WX_PERIOD_UNKNOWN;
}

static weir_status take_quantity(const gb *f, wx_index *index, int64_t i, int64_t *number)
{
  const weir_grib_kind *const kind = weir_grib_kind_get(f->g, weir_grib_field_get(f->g, i)->kind);
  wx_quantity q = {.param = kind->param, .product = product_of(kind)};
  wx_naming as;

  WEIR_TRY(take_level(f, i, kind, &q));
  if (kind->short_name[0] != 0) {
    (void)snprintf(q.variable, sizeof q.variable, "%s", kind->short_name);
  } else { /* the library has numbers without names; a file needs one */
    (void)snprintf(q.variable, sizeof q.variable, "p%lld", (long long)kind->param);
  }
  (void)snprintf(q.units, sizeof q.units, "%s", kind->units);
  (void)snprintf(q.standard_name, sizeof q.standard_name, "%s", kind->standard_name);
  WEIR_TRY(wx_index_name(index, kind->short_name, &q, &as));
  take_method(kind, &q);
  return wx_index_quantity(index, &q, &as, number);
}

/* Rows and columns of a regular grid, brought into order. */
static weir_status take_regular(const weir_grib_grid *from, const char *location, wx_grid *grid,
                                double *lat, double *lon, wx_grid_order *order)
{
  memcpy(lat, from->lat, (size_t)from->n_lat * sizeof *lat);
  memcpy(lon, from->lon, (size_t)from->n_lon * sizeof *lon);
  const char *const reason = wx_grid_arrange(grid, lat, lon, order);

  return reason == NULL ? WEIR_OK : weir_fail(WEIR_ERR_DATA, "%s: its grid: %s", location, reason);
}

/* The gridType of a reduced or rotated grid. */
static const char *type_of(const weir_grib_grid *from)
{
  static const char *const types[2][2] = {{"rotated_ll", "rotated_gg"},
                                          {"reduced_ll", "reduced_gg"}};

  return types[from->reduced][from->gaussian > 0];
}

/* Where each cell of a reduced or rotated grid is. */
static void take_points(const weir_grib_grid *from, wx_grid *grid, double *lat, double *lon)
{
  grid->kind = WX_GRID_POINTS;
  grid->n_lat = 1;
  grid->n_lon = from->n_lat * from->n_lon;
  grid->rotated = from->rotated;
  memcpy(grid->south_pole, from->south_pole, sizeof grid->south_pole);
  for (int64_t e = 0; e < grid->n_lon; e++) {
    lat[e] = from->lat[from->reduced ? e : e / from->n_lon];
    lon[e] = from->lon[from->reduced ? e : e % from->n_lon];
  }
}

/* Tells the index the grid of field i, once, and notes how its fields are turned. */
static weir_status take_grid(gb *f, wx_index *index, int64_t i)
{
  const int64_t number = weir_grib_field_get(f->g, i)->grid;
  const weir_grib_grid *const from = weir_grib_grid_get(f->g, number);
  const bool points = from->reduced || from->rotated;
  const int64_t lats = points ? from->n_lat * from->n_lon : from->n_lat;
  wx_grid grid = {.kind = WX_GRID_LATLON,
                  .n_lat = from->n_lat,
                  .n_lon = from->n_lon,
                  .units = {"degrees_north", "degrees_east"}};
  char location[LOCATION], what[LOCATION];
  void *memory = NULL;
  weir_status status = WEIR_OK;

  if (f->indexed[number]) {
    return WEIR_OK;
  }
  weir_grib_locate(f->g, i, location, sizeof location);
  WEIR_TRY(weir_alloc(2 * (points ? lats : from->n_lat + from->n_lon), sizeof(double), &memory));
  double *const lat = memory, *const lon = lat + lats;

  grid.lat = lat;
  grid.lon = lon;
  if (points) {
    take_points(from, &grid, lat, lon);
  } else {
    WEIR_TRY_GOTO(take_regular(from, location, &grid, lat, lon, &f->order[number]), done);
  }
  (void)snprintf(what, sizeof what, "%s%s%s", strstr(location, "message"),
                 points ? ": gridType=" : "", points ? type_of(from) : "");
  WEIR_TRY_GOTO(wx_index_grid(index, &grid, what), done);
  f->indexed[number] = true;
done:
  weir_free(&memory);
  return status;
}

/* Means and spreads are not members. */
static bool is_derived(const weir_grib_kind *kind)
{
  static const char *const derived[] = {"em", "es", "ep", "efi", "sot", "taem", "taes", NULL};

  return kind->derived >= 0 || is_one_of(kind->type, derived);
}

static weir_status take_field(gb *f, wx_index *index, int64_t i)
{
  const weir_grib_field *const field = weir_grib_field_get(f->g, i);
  wx_field entry = {.start = field->start,
                    .lead = (double)field->step_seconds[1] / 3600,
                    .member = field->number < 0 ? 0 : field->number,
                    .number = i};
  char step[32];

  entry.period = period_of(weir_grib_kind_get(f->g, field->kind), field);

  if (field->step_seconds[1] < 0 || entry.lead > WX_MAX_LEAD) {
    (void)snprintf(step, sizeof step, "%g h", entry.lead);
    return refuse(f, i, "endStep", step,
                  "before its initialisation time, or beyond what is handled");
  }
  entry.member = is_derived(weir_grib_kind_get(f->g, field->kind)) ? 0 : entry.member;
  WEIR_TRY(take_grid(f, index, i));
  WEIR_TRY(take_quantity(f, index, i, &entry.quantity));
  return wx_index_field(index, &entry);
}

/* Members, or analyses; where a file has none of them, means and spreads. */
static weir_status take_fields(gb *f, const char *path, wx_index *index)
{
  const int64_t n = weir_grib_fields(f->g);
  char location[LOCATION];
  int64_t derived = 0, left_out = 0;

  if (n == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: all its messages are damaged: repair the file", path);
  }
  for (int64_t i = 0; i < n; i++) {
    derived += is_derived(weir_grib_kind_get(f->g, weir_grib_field_get(f->g, i)->kind));
  }
  for (int64_t i = 0; i < n; i++) {
    const weir_grib_kind *const kind = weir_grib_kind_get(f->g, weir_grib_field_get(f->g, i)->kind);

    if (is_derived(kind) && (derived < n || product_of(kind) == WX_PRODUCT_MEMBER)) {
      left_out++;
    } else if (weir_grib_field_get(f->g, i)->grid < 0) {
      weir_grib_locate(f->g, i, location, sizeof location);
      return weir_fail(WEIR_ERR_DATA, "%s: %s; or leave such messages out", location,
                       kind->refused);
    } else {
      WEIR_TRY(take_field(f, index, i));
    }
  }
  if (left_out == n) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: all %lld fields are statistics of ensembles other than means and "
                     "spreads: members are needed",
                     path, (long long)n);
  }
  if (left_out > 0) {
    weir_info("archive", "%s: %lld fields that are statistics of ensembles are left out", path,
              (long long)left_out);
  }
  return WEIR_OK;
}

static void close_file(void **state)
{
  gb *const f = *state;

  if (f == NULL) {
    return;
  }
  weir_grib_close(&f->g);
  weir_free(&f->order);
  weir_free(&f->indexed);
  weir_free(&f->stored);
  weir_free(state);
}

/* Where the index of a file is kept, in `text`: its name and a sum of all of its path, for files of
 * one name in many folders. */
static weir_status index_path(const char *folder, const char *path, char *text, size_t size)
{
  const char *const slash = strrchr(path, '/');
  char whole[PATH_MAX], sum[65], name[PATH_SIZE];

  if (realpath(path, whole) == NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot be found: is it there, and may it be read?", path);
  }
  weir_sha256(whole, strlen(whole), sum);
  (void)snprintf(name, sizeof name, "%.200s-%.16s.index", slash != NULL ? slash + 1 : path, sum);
  if (weir_dir_create(folder) != WEIR_OK) {
    return weir_fail(WEIR_ERR_DATA, "data.grib.index: %s: no such folder, and none can be made",
                     folder);
  }
  return weir_path_join(folder, name, text, size);
}

static weir_status open_set(const char *path, const wx_archive_in *how, weir_grib **out)
{
  weir_grib_opts opts = {.skip_damaged = how->skip_damaged,
                         .how_to_skip = "set data.grib.skip_damaged"};
  char index[PATH_SIZE];

  if (how->index != NULL && how->index[0] != 0) {
    WEIR_TRY(index_path(how->index, path, index, sizeof index));
    opts.index = index;
  }
  return weir_grib_open(&path, 1, &opts, out);
}

static weir_status open_file(const char *path, wx_index *index, void **state)
{
  gb *f = NULL;

  WEIR_TRY(weir_alloc(1, sizeof *f, (void **)&f));
  *state = f;
  WEIR_TRY(open_set(path, wx_index_how(index), &f->g));
  f->n_grids = weir_grib_grids(f->g);
  WEIR_TRY(weir_alloc(f->n_grids, sizeof *f->order, (void **)&f->order));
  WEIR_TRY(weir_alloc(f->n_grids, sizeof *f->indexed, (void **)&f->indexed));
  return take_fields(f, path, index);
}

/* Reorders rows and columns of n fields whose order in the file is another. */
static weir_status reorder(gb *f, const int64_t *number, int64_t n, float *out)
{
  for (int64_t k = 0; k < n; k++) {
    const int64_t of = weir_grib_field_get(f->g, number[k])->grid;
    const weir_grib_grid *const from = weir_grib_grid_get(f->g, of);
    const wx_grid_order *const order = &f->order[of];
    const int64_t cells = from->n_lat * from->n_lon;
    const wx_grid grid = {.n_lat = from->n_lat, .n_lon = from->n_lon};

    if (order->shift != 0 || order->flip_rows || order->flip_columns) {
      WEIR_TRY(weir_reserve(&f->stored, &f->stored_capacity, cells, sizeof *f->stored));
      memcpy(f->stored, out + k * cells, (size_t)cells * sizeof *out);
      wx_grid_reorder(&grid, order, f->stored, out + k * cells);
    }
  }
  return WEIR_OK;
}

static weir_status read_fields(void *state, const int64_t *number, int64_t n, float *out)
{
  gb *const f = state;
  void *memory = NULL;

  if (n < 1) {
    return WEIR_OK;
  }
  const weir_grib_grid *const grid =
      weir_grib_grid_get(f->g, weir_grib_field_get(f->g, number[0])->grid);

  WEIR_TRY(weir_alloc(n, sizeof(float *), &memory));
  float **const to = memory;

  for (int64_t k = 0; k < n; k++) {
    to[k] = out + k * grid->n_lat * grid->n_lon;
  }
  weir_status status = weir_grib_read(f->g, n, number, to);

  if (status == WEIR_OK) {
    status = reorder(f, number, n, out);
  }
  weir_free(&memory);
  return status;
}

const weir_grib *wx_grib_of(const void *state)
{
  const gb *const f = state;

  return f->g;
}

const wx_format wx_format_grib = {
    .name = "GRIB",
    .endings = ".grib|.grib2|.grb|.grb2",
    .find = find,
    .open = open_file,
    .read = read_fields,
    .close = close_file,
    .sink = &wx_sink_grib,
};
