/* weight_file.c - weights that other programs computed: NetCDF files of ESMF (ESMF_RegridWeightGen:
 * row, col, S; ESMF Reference Manual, "Regrid interpolation weight file format", and
 * ESMF_IOScrip.F90) and of SCRIP (src_address, dst_address, remap_matrix; SCRIP 1.4 User's Guide).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/regrid/regrid_priv.h"
#include "io/weir_netcdf.h"

/* Degrees: how far the cells of a file may be from ours; GRIB has them to a thousandth. */
static const double tolerance = 2e-3;
enum { MAX_LINKS = 1 << 28 };
/* Beyond any weight of a method that interpolates. */
static const double max_weight = 1e3;

enum { SOURCE, TARGET, SIDES };

/* What the two forms call the same. */
typedef struct form {
  const char *address[SIDES], *weight, *lat[SIDES], *lon[SIDES];
} form;
static const form esmf = {{"col", "row"}, "S", {"yc_a", "yc_b"}, {"xc_a", "xc_b"}};
static const form scrip = {{"src_address", "dst_address"},
                           "remap_matrix",
                           {"src_grid_center_lat", "dst_grid_center_lat"},
                           {"src_grid_center_lon", "dst_grid_center_lon"}};

typedef struct entry {
  int64_t to, from;
  double weight;
} entry;

typedef struct file {
  const char *path;
  weir_netcdf *nc;
  const form *as;
  int64_t n;            /* entries */
  int64_t *cell[SIDES]; /* [cells] ours of each of the file */
  entry *entries;
} file;

static bool has(weir_netcdf *nc, const char *name)
{
  weir_netcdf_shape shape;
  int var = 0;
  const bool found = weir_netcdf_find(nc, name, &var, &shape) == WEIR_OK;

  if (!found) {
    weir_clear_failure();
  }
  return found;
}

/* All numbers of a variable as doubles: [n], or [n, 1]; n -1: as many as there are. */
static weir_status read_reals(const file *f, const char *name, int64_t *n, double **out)
{
  static const int64_t start[2] = {0, 0};
  weir_netcdf_shape shape;
  int var = 0;

  WEIR_TRY(weir_netcdf_find(f->nc, name, &var, &shape));
  const bool vector = shape.n_dims == 1 || (shape.n_dims == 2 && shape.lengths[1] == 1);

  if (!vector || shape.text || (*n >= 0 && shape.lengths[0] != *n)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %s has to have one number for each of %lld: weights of the "
                     "first order, of these grids, are read",
                     f->path, name, (long long)*n);
  }
  if (shape.dtype != WEIR_F64 && shape.dtype != WEIR_F32) {
    return weir_fail(WEIR_ERR_DATA, "%s: variable %s is not of floating-point numbers", f->path,
                     name);
  }
  *n = shape.lengths[0];
  if (*n > MAX_LINKS) {
    return weir_fail(WEIR_ERR_DATA, "%s: variable %s has %lld numbers; %d are handled", f->path,
                     name, (long long)*n, MAX_LINKS);
  }
  WEIR_TRY(weir_alloc(*n, sizeof **out, (void **)out));
  WEIR_TRY(weir_netcdf_read(f->nc, var, start, shape.lengths, *out));
  if (shape.dtype == WEIR_F32) {
    for (int64_t i = *n; i-- > 0;) {
      float x;

      memcpy(&x, (const char *)*out + (size_t)i * sizeof x, sizeof x);
      (*out)[i] = (double)x;
    }
  }
  return WEIR_OK;
}

/* Degrees in a radian, where coordinates have that unit. */
static weir_status unit_of(const file *f, const char *name, double *unit)
{
  weir_netcdf_shape shape;
  char *text = NULL;
  int var = 0;

  WEIR_TRY(weir_netcdf_find(f->nc, name, &var, &shape));
  if (weir_netcdf_get_text(f->nc, var, "units", &text) != WEIR_OK) {
    return weir_fail(WEIR_ERR_DATA, "%s: variable %s has no units: degrees or radians", f->path,
                     name);
  }
  const bool radians = strncmp(text, "radian", 6) == 0, degrees = strncmp(text, "degree", 6) == 0;

  weir_free(&text);
  *unit = radians ? 180 / 3.14159265358979323846 : 1;
  return radians || degrees
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: variable %s is neither in degrees nor in radians",
                         f->path, name);
}

/* Which of our cells each cell of the file is: by where it is, so that the order of either does not
 * matter. */
static weir_status match(file *f, int side, const wx_rows *rows)
{
  static const char *const names[SIDES] = {"source", "target"};
  const int64_t cells = rows->begin[rows->n];
  int64_t n = cells;
  double *lat = NULL, *lon = NULL, unit[2];
  bool *taken = NULL; /* cells of ours that the file has */
  weir_status status = WEIR_OK;

  if (!has(f->nc, f->as->lat[side]) || !has(f->nc, f->as->lon[side])) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: it does not say where the cells of its %s grid are (%s, %s): the order of "
        "the weights is not known",
        f->path, names[side], f->as->lat[side], f->as->lon[side]);
  }
  WEIR_TRY_GOTO(read_reals(f, f->as->lat[side], &n, &lat), done);
  WEIR_TRY_GOTO(read_reals(f, f->as->lon[side], &n, &lon), done);
  WEIR_TRY_GOTO(unit_of(f, f->as->lat[side], &unit[0]), done);
  WEIR_TRY_GOTO(unit_of(f, f->as->lon[side], &unit[1]), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *f->cell[side], (void **)&f->cell[side]), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *taken, (void **)&taken), done);
  for (int64_t i = 0; i < n; i++) {
    const double at[2] = {lat[i] * unit[0], lon[i] * unit[1]};
    const int64_t cell =
        fabs(at[0]) <= 91 && fabs(at[1]) <= 720 ? wx_rows_find(rows, at[0], at[1], tolerance) : -1;

    if (cell < 0 || taken[cell]) {
      status = weir_fail(WEIR_ERR_DATA,
                         "%s: cell %lld (from 1) of its %s grid is at %g N, %g E, where our %s has "
                         "%s: these are weights of other grids",
                         f->path, (long long)i + 1, names[side], at[0], at[1], names[side],
                         cell < 0 ? "none" : "one that an earlier cell is");
      goto done;
    }
    taken[cell] = true;
    f->cell[side][i] = cell;
  }
done:
  weir_free(&taken);
  weir_free(&lat);
  weir_free(&lon);
  return status;
}

static int by_target(const void *one, const void *other)
{
  const entry *const a = one, *const b = other;

  return a->to != b->to ? (a->to > b->to) - (a->to < b->to)
                        : (a->from > b->from) - (a->from < b->from);
}

/* Addresses of a side, counted from 1. */
static weir_status read_addresses(const file *f, int side, int64_t cells, int64_t **out)
{
  static const int64_t start[1] = {0};
  const char *const name = f->as->address[side];
  weir_netcdf_shape shape;
  int var = 0;

  WEIR_TRY(weir_netcdf_find(f->nc, name, &var, &shape));
  if (shape.n_dims != 1 || shape.text || shape.lengths[0] != f->n) {
    return weir_fail(WEIR_ERR_DATA, "%s: variable %s is not as long as %s", f->path, name,
                     f->as->weight);
  }
  WEIR_TRY(weir_alloc(f->n, sizeof **out, (void **)out));
  WEIR_TRY(weir_netcdf_read_whole(f->nc, var, &shape, start, shape.lengths, *out));
  for (int64_t i = 0; i < f->n; i++) {
    if ((*out)[i] < 1 || (*out)[i] > cells) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: variable %s, element %lld (from 0): %lld: the grid has "
                       "cells 1 to %lld",
                       f->path, name, (long long)i, (long long)(*out)[i], (long long)cells);
    }
  }
  return WEIR_OK;
}

static weir_status read_entries(file *f, const wx_weights *w)
{
  int64_t *address[SIDES] = {NULL, NULL};
  double *weight = NULL;
  weir_status status = WEIR_OK;

  f->n = -1;
  WEIR_TRY_GOTO(read_reals(f, f->as->weight, &f->n, &weight), done);
  WEIR_TRY_GOTO(read_addresses(f, SOURCE, w->n_from, &address[SOURCE]), done);
  WEIR_TRY_GOTO(read_addresses(f, TARGET, w->n_to, &address[TARGET]), done);
  WEIR_TRY_GOTO(weir_alloc(f->n, sizeof *f->entries, (void **)&f->entries), done);
  for (int64_t i = 0; i < f->n; i++) {
    if (!(fabs(weight[i]) <= max_weight)) {
      status = weir_fail(WEIR_ERR_DATA, "%s: variable %s, element %lld (from 0): %g is no weight",
                         f->path, f->as->weight, (long long)i, weight[i]);
      goto done;
    }
    f->entries[i] = (entry){f->cell[TARGET][address[TARGET][i] - 1],
                            f->cell[SOURCE][address[SOURCE][i] - 1], weight[i]};
  }
  qsort(f->entries, (size_t)f->n, sizeof *f->entries, by_target);
done:
  weir_free(&weight);
  weir_free(&address[0]);
  weir_free(&address[1]);
  return status;
}

/* Whether an attribute of the file begins with a text. */
static bool says(const file *f, const char *attribute, const char *begin)
{
  char *text = NULL;

  if (weir_netcdf_get_text(f->nc, WEIR_NETCDF_FILE, attribute, &text) != WEIR_OK) {
    weir_clear_failure();
    return false;
  }
  const bool same = strncmp(text, begin, strlen(begin)) == 0;

  weir_free(&text);
  return same;
}

/* Conservative weights without normalisation are areas; those of "fracarea" add up to 1 at each
 * target, those of "destarea" to the share of it that sources cover. */
static weir_status check_normalization(const file *f)
{
  return says(f, "normalization", "none") && says(f, "map_method", "Conservative")
             ? weir_fail(WEIR_ERR_DATA,
                         "%s: conservative weights with normalization none are areas and give no "
                         "means: make them with fracarea or destarea",
                         f->path)
             : WEIR_OK;
}

static weir_status take(file *f, const wx_rows *from, const wx_grid *to, wx_weights *out)
{
  wx_rows rows = {.n = 0};
  weir_status status = WEIR_OK;

  f->as = has(f->nc, scrip.weight) ? &scrip : &esmf;
  if (!has(f->nc, f->as->weight) || !has(f->nc, f->as->address[0]) ||
      !has(f->nc, f->as->address[1])) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: has neither row, col and S (ESMF) nor src_address, dst_address and "
                     "remap_matrix (SCRIP): it is no file of weights",
                     f->path);
  }
  WEIR_TRY_GOTO(check_normalization(f), done);
  WEIR_TRY_GOTO(wx_rows_make(to, &rows), done);
  WEIR_TRY_GOTO(match(f, SOURCE, from), done);
  WEIR_TRY_GOTO(match(f, TARGET, &rows), done);
  WEIR_TRY_GOTO(read_entries(f, out), done);
  for (int64_t t = 0, e = 0; t < out->n_to; t++) {
    for (; e < f->n && f->entries[e].to == t; e++) {
      WEIR_TRY_GOTO(wx_weights_add(out, f->entries[e].from, f->entries[e].weight), done);
    }
    wx_weights_end_row(out);
  }
done:
  wx_rows_fini(&rows);
  return status;
}

weir_status wx_regrid_file(const char *path, const wx_rows *from, const wx_grid *to,
                           wx_weights *out)
{
  file f = {.path = path};

  WEIR_TRY(weir_netcdf_open(path, &f.nc));
  const weir_status status = take(&f, from, to, out);

  weir_netcdf_close(&f.nc);
  weir_free(&f.cell[0]);
  weir_free(&f.cell[1]);
  weir_free(&f.entries);
  return status;
}
