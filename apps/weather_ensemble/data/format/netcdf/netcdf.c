/* netcdf.c - NetCDF files as a format of archives: what is in the file, and its fields. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/format/netcdf/netcdf.h"
#include "io/netcdf/weir_zarr.h"

enum { MOST_VARIABLES = 4096 };

static int64_t find(const unsigned char *bytes, int64_t n)
{
  static const unsigned char hdf5[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

  return (n >= 8 && memcmp(bytes, hdf5, 8) == 0) ||
                 (n >= 4 && memcmp(bytes, "CDF", 3) == 0 &&
                  (bytes[3] == 1 || bytes[3] == 2 || bytes[3] == 5))
             ? 0
             : -1;
}

static weir_status look(wx_nc *f)
{
  WEIR_TRY(weir_netcdf_count(f->nc, &f->n_seen));
  if (f->n_seen > MOST_VARIABLES) {
    return weir_fail(WEIR_ERR_DATA, "%s: %d variables; at most %d are handled", f->path, f->n_seen,
                     MOST_VARIABLES);
  }
  WEIR_TRY(weir_alloc(f->n_seen, sizeof *f->seen, (void **)&f->seen));
  for (int v = 0; v < f->n_seen; v++) {
    wx_seen *const s = &f->seen[v];

    WEIR_TRY(weir_netcdf_name(f->nc, v, s->name, sizeof s->name));
    WEIR_TRY(weir_netcdf_look(f->nc, v, &s->shape, s->dims, &s->supported));
    if (!s->supported) {
      weir_info("archive", "%s: variable %s is left out: its type or rank is not handled", f->path,
                s->name);
    }
  }
  for (int v = 0; v < f->n_seen; v++) {
    WEIR_TRY(wx_nc_role(f, v, &f->seen[v].role));
  }
  return wx_nc_set_aside(f);
}

/* What a variable's dimensions count: rows, columns or sites (space), initialisation times, leads
 * or members (course). */
static weir_status reach(wx_nc *f, int v, bool *space, bool *course)
{
  const wx_seen *const s = &f->seen[v];

  *space = *course = false;
  for (int d = 0; s->supported && d < s->shape.n_dims; d++) {
    wx_role role = WX_ROLE_NONE;
    int var = -1;

    WEIR_TRY(wx_nc_dim_role(f, s->dims[d], &role, &var));
    *space = *space || role == WX_ROLE_ROW || role == WX_ROLE_COLUMN || role == WX_ROLE_SITE;
    *course = *course || role == WX_ROLE_START || role == WX_ROLE_TIME || role == WX_ROLE_LEAD ||
              role == WX_ROLE_MEMBER;
  }
  return *space ? WEIR_OK : wx_nc_is_located(f, v, space);
}

/* Variables that may hold fields: numbers that no role, no other variable explains. */
static bool may_hold(const wx_nc *f, int v)
{
  const wx_seen *const s = &f->seen[v];

  return s->supported && !s->shape.text && !s->shape.chars && s->role == WX_ROLE_NONE &&
         !s->aside && s->shape.n_dims > 0;
}

/* Those over space; where a file has none of them, those over initialisation times, leads or
 * members. Those that have no course where others have one are constants: orography, areas. */
static weir_status take_vars(wx_nc *f)
{
  const bool constants = wx_index_how(f->index)->invariant;
  bool any_space = false, any_course = false;

  for (int pass = 0; pass < 2; pass++) {
    for (int v = 0; v < f->n_seen; v++) {
      bool space = false, course = false;

      if (!may_hold(f, v)) {
        continue;
      }
      WEIR_TRY(reach(f, v, &space, &course));
      if (pass == 0) {
        any_space = any_space || space;
        any_course = any_course || (space && course);
      } else if (any_space ? space && (course || !any_course || constants) : course) {
        WEIR_TRY(wx_nc_add_var(f, v));
      } else {
        weir_debug("archive", "%s: variable %s is left out: it has no dimension of %s", f->path,
                   f->seen[v].name, space ? "initialisation times, leads or members" : "a grid");
      }
    }
  }
  for (int v = 0; f->n_vars == 0 && v < f->n_seen; v++) {
    if (!f->seen[v].supported) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: variable %s is of a type or rank that is not read, and no other has "
                       "fields: make it one of numbers with a sign",
                       f->path, f->seen[v].name);
    }
  }
  if (f->n_vars == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: no variable has fields: dimensions named latitude and longitude (or y "
                     "and x, or a dimension of sites) are looked for",
                     f->path);
  }
  return WEIR_OK;
}

static void close_file(void **state)
{
  wx_nc *f = *state;

  if (f == NULL) {
    return;
  }
  weir_netcdf_close(&f->nc);
  weir_free(&f->path);
  weir_free(&f->seen);
  weir_free(&f->vars);
  weir_free(&f->lat);
  weir_free(&f->lon);
  weir_free(&f->raw);
  weir_free(&f->stored);
  weir_free(state);
}

static weir_status open_file(const char *path, wx_index *index, void **state)
{
  static const char *const kept[] = {"title",   "institution", "source",      "references",
                                     "licence", "license",     "attribution", NULL};
  wx_nc *f = NULL;
  wx_attrs notes;

  WEIR_TRY(weir_alloc(1, sizeof *f, (void **)&f));
  *state = f;
  f->index = index;
  WEIR_TRY(weir_strdup(path, &f->path));
  WEIR_TRY(weir_netcdf_open(path, &f->nc));
  f->bytes = weir_netcdf_bytes(f->nc);
  WEIR_TRY(look(f));
  WEIR_TRY(take_vars(f));
  WEIR_TRY(wx_attrs_read(f->nc, WEIR_NETCDF_FILE, kept, &notes));
  WEIR_TRY(wx_index_notes(index, &notes));
  f->index = NULL;
  return WEIR_OK;
}

/* Numbers as they are stored into values. */
static void unpack(const wx_nc_var *p, const void *raw, int64_t n, float *out)
{
  for (int64_t e = 0; e < n; e++) {
    const double stored = weir_dtype_load_real(p->dtype, raw, e);
    bool missing = !(stored >= p->lo && stored <= p->hi);

    for (int i = 0; i < p->n_missing; i++) {
      missing = missing || stored == p->missing[i];
    }
    const float value = (float)(stored * p->scale + p->offset);

    out[e] = missing || !isfinite(value) ? NAN : value;
  }
}

/* Rows and columns that the file has the other way round. */
static void transpose(const wx_grid *g, const float *in, float *out)
{
  for (int64_t j = 0; j < g->n_lat; j++) {
    for (int64_t i = 0; i < g->n_lon; i++) {
      out[j * g->n_lon + i] = in[i * g->n_lat + j];
    }
  }
}

static bool in_order(const wx_grid_order *o)
{
  return !o->flip_rows && !o->flip_columns && o->shift == 0;
}

/* n members from field `at` on, which the file has next to each other. */
static weir_status read_run(wx_nc *f, const wx_nc_var *p, int64_t at, int64_t n, float *out)
{
  const wx_grid *g = &f->grid;
  const int64_t cells = wx_grid_cells(g);
  int64_t start[WEIR_NETCDF_MAX_DIMS] = {0}, count[WEIR_NETCDF_MAX_DIMS] = {0};
  int64_t rest = at - p->base;
  const bool turned = p->row >= 0 && p->column < p->row;

  for (int d = p->n_dims - 1; d >= 0; d--) {
    const bool of_field = d == p->row || d == p->column;

    start[d] = of_field ? 0 : rest % p->length[d];
    count[d] = of_field ? p->length[d] : d == p->member ? n : 1;
    rest /= of_field ? 1 : p->length[d];
  }
  WEIR_TRY(
      weir_reserve(&f->raw, &f->raw_capacity, n * cells * (int64_t)weir_dtype_size(p->dtype), 1));
  WEIR_TRY(weir_reserve(&f->stored, &f->stored_capacity, 2 * cells, sizeof *f->stored));
  WEIR_TRY(weir_netcdf_read(f->nc, p->var, start, count, f->raw));
  if (in_order(&f->order) && !turned) {
    unpack(p, f->raw, n * cells, out);
    return WEIR_OK;
  }
  for (int64_t k = 0; k < n; k++) {
    const char *const raw = (const char *)f->raw + (size_t)(k * cells) * weir_dtype_size(p->dtype);
    float *const field = turned ? f->stored + cells : f->stored;

    unpack(p, raw, cells, field);
    if (turned) {
      transpose(g, field, f->stored);
    }
    wx_grid_reorder(g, &f->order, f->stored, out + k * cells);
  }
  return WEIR_OK;
}

static const wx_nc_var *var_of(const wx_nc *f, int64_t number)
{
  int64_t k = 0;

  while (number >= f->vars[k].base + f->vars[k].fields) {
    k++;
  }
  return &f->vars[k];
}

/* A file that rested is opened again, and has to be as it was. */
static weir_status wake(wx_nc *f)
{
  if (f->nc != NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_open(f->path, &f->nc));
  for (int64_t k = 0; k < f->n_vars; k++) {
    const wx_nc_var *const p = &f->vars[k];
    weir_netcdf_shape shape = {.text = true};
    int dims[WEIR_NETCDF_MAX_DIMS], n = 0;
    bool supported = false;

    WEIR_TRY(weir_netcdf_count(f->nc, &n));
    if (p->var < n) {
      WEIR_TRY(weir_netcdf_look(f->nc, p->var, &shape, dims, &supported));
    }
    bool same = supported && !shape.text && shape.dtype == p->dtype && shape.n_dims == p->n_dims;

    for (int d = 0; same && d < p->n_dims; d++) {
      same = shape.lengths[d] == p->length[d];
    }
    if (!same) {
      weir_netcdf_close(&f->nc);
      return weir_fail(WEIR_ERR_DATA, "%s: changed while it was read: start again", f->path);
    }
  }
  return WEIR_OK;
}

static void rest(void *state)
{
  wx_nc *const f = state;

  weir_netcdf_close(&f->nc);
  weir_free(&f->raw);
  weir_free(&f->stored);
  f->raw_capacity = f->stored_capacity = 0;
}

static weir_status read_fields(void *state, const int64_t *number, int64_t n, float *out)
{
  wx_nc *f = state;
  const int64_t cells = wx_grid_cells(&f->grid);

  WEIR_TRY(wake(f));
  for (int64_t at = 0, run = 0; at < n; at += run) {
    const wx_nc_var *p = var_of(f, number[at]);

    const int64_t left = p->whole && p->member_stride > 0
                             ? p->length[p->member] -
                                   (number[at] - p->base) / p->member_stride % p->length[p->member]
                             : 1;

    run = 1;
    while (at + run < n && run < left && number[at + run] == number[at] + run * p->member_stride) {
      run++;
    }
    WEIR_TRY(read_run(f, p, number[at], run, out + at * cells));
  }
  return WEIR_OK;
}

const wx_format wx_format_netcdf = {
    .name = "NetCDF",
    .find = find,
    .is_folder = weir_netcdf_is_store,
    .open = open_file,
    .read = read_fields,
    .rest = rest,
    .close = close_file,
    .sink = &wx_sink_netcdf,
};
