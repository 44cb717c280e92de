/* volume_netcdf.c - identification of variables of NetCDF files. */
#include "data/volume/volume_netcdf.h"
#include "base/weir_alloc.h"
#include <math.h>
#include <string.h>

weir_status cf_netcdf_seek(weir_netcdf *nc, const char *name, int *var, weir_netcdf_shape *shape,
                           int *dims)
{
  char found[260];
  bool can = false;
  int n = 0;

  *var = CF_NETCDF_NONE;
  WEIR_TRY(weir_netcdf_count(nc, &n));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(weir_netcdf_name(nc, i, found, sizeof found));
    if (strcmp(found, name) == 0) {
      WEIR_TRY(weir_netcdf_look(nc, i, shape, dims, &can));
      *var = can ? i : CF_NETCDF_OTHER;
    }
  }
  return WEIR_OK;
}

/* Whether a variable is the coordinate of its dimension: it has the name of that. */
static weir_status is_coordinate(weir_netcdf *nc, const char *name, const weir_netcdf_shape *s,
                                 const int *dims, bool *is)
{
  char dim[260] = "";

  *is = false;
  if (s->n_dims == 1) {
    WEIR_TRY(weir_netcdf_dim_name(nc, dims[0], dim, sizeof dim));
    *is = strcmp(dim, name) == 0;
  }
  return WEIR_OK;
}

/* Whether `y` is a position along an axis of the voxels, which HDF5 without dimension scales does
 * not name; along the dimension of samples it is a label. */
static weir_status is_position(weir_netcdf *nc, const cf_netcdf_voxels *v, const char *name,
                               const weir_netcdf_shape *s, const int *dims, bool *is)
{
  const bool sample = v->n_dims > 3 && v->dims[0] == dims[0];
  char voxels[260] = "";

  *is = false;
  if (s->n_dims != 1 || strcmp(name, "y") != 0 || sample) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_name(nc, v->var, voxels, sizeof voxels));
  for (int d = 0; d < v->n_dims; d++) {
    *is = *is || (v->dims[d] == dims[0] && strcmp(voxels, "x") != 0);
  }
  return WEIR_OK;
}

static weir_status seek_usual_labels(weir_netcdf *nc, const cf_netcdf_voxels *v, int *var,
                                     weir_netcdf_shape *s)
{
  static const char *const names[] = {"unitPar", "y", "label_raw", NULL};
  int dims[WEIR_NETCDF_MAX_DIMS];

  *var = CF_NETCDF_NONE;
  for (int i = 0; *var < 0 && names[i]; i++) {
    bool coordinate = false, position = false;

    WEIR_TRY(cf_netcdf_seek(nc, names[i], var, s, dims));
    if (*var >= 0) {
      WEIR_TRY(is_coordinate(nc, names[i], s, dims, &coordinate));
      WEIR_TRY(is_position(nc, v, names[i], s, dims, &position));
    }
    *var = coordinate || position ? CF_NETCDF_NONE : *var;
  }
  return WEIR_OK;
}

weir_status cf_netcdf_seek_labels(weir_netcdf *nc, const cf_volume_file *f,
                                  const cf_netcdf_voxels *voxels, int *var,
                                  weir_netcdf_shape *shape)
{
  const char *const name = f->opts->labels;
  int dims[WEIR_NETCDF_MAX_DIMS];
  bool coordinate = false;

  if (name[0] == 0) {
    return seek_usual_labels(nc, voxels, var, shape);
  }
  WEIR_TRY(cf_netcdf_seek(nc, name, var, shape, dims));
  if (*var < 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: has no variable %s (files.labels): correct the name, or leave it out for "
                     "samples without labels",
                     f->path, name);
  }
  WEIR_TRY(is_coordinate(nc, name, shape, dims, &coordinate));
  return !coordinate
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: its variable %s (files.labels) is the coordinate of the dimension of "
                         "that name: name the variable of labels, or write them along another "
                         "dimension",
                         f->path, name);
}

weir_status cf_netcdf_seek_universe(weir_netcdf *nc, const cf_volume_file *f,
                                    cf_netcdf_universe *out)
{
  int dims[WEIR_NETCDF_MAX_DIMS];
  weir_netcdf_shape *const s = &out->shape;

  *out = (cf_netcdf_universe){.missing = {NAN, NAN}};
  WEIR_TRY(cf_netcdf_seek(nc, "universe", &out->var, s, dims));
  if (out->var == CF_NETCDF_NONE) {
    return WEIR_OK;
  }
  if (out->var == CF_NETCDF_OTHER) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: universe has a type or rank that is not supported: store integers with a "
                     "sign",
                     f->path);
  }
  if (s->text || s->chars || s->n_dims > 1 ||
      (weir_dtype_is_real(s->dtype) && s->dtype != WEIR_F64) ||
      (s->n_dims == 1 ? s->lengths[0] : 1) != f->count) {
    return weir_fail(WEIR_ERR_DATA, "%s: universe is no integer for each of %lld samples", f->path,
                     (long long)f->count);
  }
  if (weir_netcdf_count_numbers(nc, out->var, "missing_value") == 1) {
    WEIR_TRY(weir_netcdf_get_numbers(nc, out->var, "missing_value", &out->missing[1], 1));
  }
  return weir_netcdf_fill_value(nc, out->var, &out->missing[0]);
}

weir_status cf_netcdf_read_universe(weir_netcdf *nc, const cf_netcdf_universe *u, int64_t sample,
                                    int64_t *out)
{
  const int64_t one = 1;
  double number = 0; /* of F64; missing ones may be NaN */

  *out = -1;
  if (u->var < 0) {
    return WEIR_OK;
  }
  if (u->shape.dtype == WEIR_F64) {
    WEIR_TRY(weir_netcdf_read(nc, u->var, &sample, &one, &number));
    if (isnan(number) || number == u->missing[0] || number == u->missing[1]) {
      return WEIR_OK;
    }
  }
  WEIR_TRY(weir_netcdf_read_whole(nc, u->var, &u->shape, &sample, &one, out));
  if (*out < 0 || (double)*out == u->missing[0] || (double)*out == u->missing[1]) {
    *out = -1;
  }
  return WEIR_OK;
}

bool cf_netcdf_is_cubes(const weir_netcdf_shape *s)
{
  for (int d = 0; !s->text && !s->chars && d + 2 < s->n_dims && d < 2; d++) {
    if (s->lengths[d] > 1 && s->lengths[d] == s->lengths[d + 1] &&
        s->lengths[d] == s->lengths[d + 2]) {
      return s->n_dims <= 5;
    }
  }
  return false;
}

weir_status cf_netcdf_get_line_of_sight(weir_netcdf *nc, const char *path, char *axis)
{
  char *text = NULL;

  *axis = 0;
  if (!weir_netcdf_has(nc, WEIR_NETCDF_FILE, "line_of_sight")) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "line_of_sight", &text));
  *axis = cf_axis_letter(text);
  const weir_status status =
      *axis != 0
          ? WEIR_OK
          : weir_fail(WEIR_ERR_DATA, "%s: line_of_sight is \"%.32s\", not x, y or z", path, text);

  weir_free(&text);
  return status;
}
