/* volume_netcdf_write.c - samples as NetCDF-4, in the variables that data/format/netcdf.c reads. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/volume/volume_netcdf.h"

enum { CHUNK = 1 << 20 }; /* bytes that are compressed together, about */

typedef struct made {
  weir_netcdf *nc;
  int volume, labels, universe, classes;
  int sample, parameter;           /* dimensions */
  int physical, cosmology, corner; /* defined with the first sample; -1: not known */
} made;

void cf_netcdf_destroy(cf_volume_out *o)
{
  made *const m = o->state;

  if (m) {
    weir_netcdf_close(&m->nc);
  }
  weir_free(&o->state);
}

/* Names of the labels, as letters. */
static weir_status put_names(const made *m, const cf_volume_info *info, int label_dim)
{
  int dims[2] = {label_dim, 0}, var = 0;
  char text[CF_MAX_LABELS * CF_MAX_NAME];
  const int64_t width = CF_MAX_NAME - 1;

  if (!info->label[0][0]) {
    return WEIR_OK;
  }
  for (int64_t i = 0; i < info->n_labels; i++) {
    memcpy(text + i * width, info->label[i], (size_t)width);
  }
  WEIR_TRY(weir_netcdf_dim(m->nc, "letter", width, &dims[1]));
  WEIR_TRY(weir_netcdf_char_var(m->nc, "namePar", 2, dims, &var));
  return weir_netcdf_write(m->nc, var, (int64_t[]){0, 0}, (int64_t[]){info->n_labels, width}, text);
}

/* lo and hi of the labels; NaN where they are not known. */
static weir_status put_ranges(const made *m, const cf_volume_info *info)
{
  double range[CF_MAX_LABELS][2];
  int dims[2] = {m->parameter, 0}, var = 0;
  bool any = false;

  for (int64_t k = 0; k < info->n_labels; k++) {
    const bool known = info->lo[k] < info->hi[k];

    any = any || known;
    range[k][0] = known ? info->lo[k] : NAN;
    range[k][1] = known ? info->hi[k] : NAN;
  }
  if (!any) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_dim(m->nc, "end", 2, &dims[1]));
  WEIR_TRY(weir_netcdf_var(m->nc, "rangePar", WEIR_F64, 2, dims, &var));
  WEIR_TRY(weir_netcdf_put_text(m->nc, var, "long_name", "parameters at unitPar -1 and 1"));
  return weir_netcdf_write(m->nc, var, (int64_t[]){0, 0}, (int64_t[]){info->n_labels, 2}, range);
}

weir_status cf_netcdf_put_box(weir_netcdf *nc, double box, double cell)
{
  if (box > 0) {
    WEIR_TRY(weir_netcdf_put_numbers(nc, WEIR_NETCDF_FILE, "box_size_mpc_h", WEIR_F64, &box, 1));
  }
  return cell > 0
             ? weir_netcdf_put_numbers(nc, WEIR_NETCDF_FILE, "cell_size_mpc_h", WEIR_F64, &cell, 1)
             : WEIR_OK;
}

weir_status cf_netcdf_put_line_of_sight(weir_netcdf *nc, char axis)
{
  const char text[] = {axis, 0};

  return axis == 0 ? WEIR_OK : weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "line_of_sight", text);
}

/* Variables of what the first sample says, which all of the file do. */
static weir_status define_facts(made *m, const cf_facts *facts)
{
  int dims[2] = {m->sample, m->parameter};

  m->physical = m->cosmology = m->corner = -1;
  if (facts != NULL && facts->has_physical) {
    WEIR_TRY(weir_netcdf_var(m->nc, "physPar", WEIR_F64, 2, dims, &m->physical));
    WEIR_TRY(weir_netcdf_put_text(m->nc, m->physical, "long_name", "labels as they are"));
  }
  if (facts != NULL && facts->has_cosmology) {
    WEIR_TRY(weir_netcdf_dim(m->nc, "cosmology_number", CF_COSMOLOGY, &dims[1]));
    WEIR_TRY(weir_netcdf_var(m->nc, "cosmology", WEIR_F64, 2, dims, &m->cosmology));
    WEIR_TRY(weir_netcdf_put_text(m->nc, m->cosmology, "long_name", CF_COSMOLOGY_NAMES));
  }
  if (facts != NULL && facts->has_corner) {
    WEIR_TRY(weir_netcdf_dim(m->nc, "axis", 3, &dims[1]));
    WEIR_TRY(weir_netcdf_whole_var(m->nc, "corner", INT32_MAX, 2, dims, &m->corner));
    WEIR_TRY(
        weir_netcdf_put_text(m->nc, m->corner, "long_name", "first cell of the sample in its box"));
  }
  return WEIR_OK;
}

static weir_status write_facts(const made *m, const cf_volume_out *o, const cf_facts *facts)
{
  const int64_t start[2] = {o->done, 0};

  if (facts->has_physical != (m->physical >= 0) || facts->has_cosmology != (m->cosmology >= 0) ||
      facts->has_corner != (m->corner >= 0)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: the sources of its samples do not all say physPar, cosmology and corner: "
                     "convert them one by one, or with convert.per_file=1",
                     o->path);
  }
  if (m->physical >= 0) {
    WEIR_TRY(weir_netcdf_write(m->nc, m->physical, start, (int64_t[]){1, o->info.n_labels},
                               facts->physical));
  }
  if (m->cosmology >= 0) {
    WEIR_TRY(weir_netcdf_write(m->nc, m->cosmology, start, (int64_t[]){1, CF_COSMOLOGY},
                               facts->cosmology));
  }
  return m->corner < 0
             ? WEIR_OK
             : weir_netcdf_write(m->nc, m->corner, start, (int64_t[]){1, 3}, facts->corner);
}

static weir_status define(made *m, const cf_volume_out *o)
{
  static const char *const names[] = {"x", "y", "z", "channel"};
  const cf_volume_info *const info = &o->info;
  const int64_t plane = cf_volume_plane(info) * (int64_t)weir_dtype_size(info->dtype);
  const int64_t planes = CHUNK / plane < 1 ? 1 : CHUNK / plane;
  const int64_t chunks[5] = {1, planes < info->lengths[0] ? planes : info->lengths[0],
                             info->lengths[1], info->lengths[2], info->lengths[3]};
  const double unknown = -1; /* of the type that the variable is stored in */
  int dims[5] = {0}, pair[2], var = 0;

  WEIR_TRY(weir_netcdf_dim(m->nc, "sample", o->count, &dims[0]));
  for (int d = 0; d < 4; d++) {
    WEIR_TRY(weir_netcdf_dim(m->nc, names[d], info->lengths[d], &dims[d + 1]));
  }
  WEIR_TRY(weir_netcdf_var(m->nc, info->n_classes > 0 ? "volume" : "full", info->dtype, 5, dims,
                           &m->volume));
  WEIR_TRY(weir_netcdf_put_text(m->nc, m->volume, "long_name", "values of voxels"));
  if (info->quantity == CF_QUANTITY_COUNTS || info->quantity == CF_QUANTITY_DENSITY) {
    WEIR_TRY(weir_netcdf_put_text(m->nc, m->volume, "quantity", cf_quantity_name[info->quantity]));
  }
  WEIR_TRY(weir_netcdf_chunk(m->nc, m->volume, chunks, o->level));
  if (info->n_classes > 0) {
    WEIR_TRY(weir_netcdf_var(m->nc, CF_NETCDF_CLASSES, WEIR_U8, 4, dims, &m->classes));
    WEIR_TRY(weir_netcdf_put_text(m->nc, m->classes, "long_name", "class of a voxel"));
    WEIR_TRY(weir_netcdf_chunk(m->nc, m->classes, chunks, o->level));
  }
  WEIR_TRY(weir_netcdf_var(m->nc, "universe", WEIR_I64, 1, dims, &m->universe));
  WEIR_TRY(weir_netcdf_put_text(m->nc, m->universe, "long_name", "number of the universe"));
  WEIR_TRY(weir_netcdf_put_numbers(m->nc, m->universe, "_FillValue", WEIR_F64, &unknown, 1));
  if (info->n_redshifts > 0) {
    WEIR_TRY(weir_netcdf_var(m->nc, "redshifts", WEIR_F64, 1, &dims[4], &var));
    WEIR_TRY(weir_netcdf_put_text(m->nc, var, "long_name", "redshifts of the channels"));
    WEIR_TRY(weir_netcdf_write(m->nc, var, (int64_t[]){0}, &info->n_redshifts, info->redshift));
  }
  if (info->n_labels > 0) {
    pair[0] = dims[0];
    WEIR_TRY(weir_netcdf_dim(m->nc, "parameter", info->n_labels, &pair[1]));
    WEIR_TRY(weir_netcdf_var(m->nc, "unitPar", WEIR_F32, 2, pair, &m->labels));
    WEIR_TRY(weir_netcdf_put_text(m->nc, m->labels, "long_name", "labels in [-1, 1]"));
    WEIR_TRY(put_names(m, info, pair[1]));
    m->parameter = pair[1];
    WEIR_TRY(put_ranges(m, info));
  }
  m->sample = dims[0];
  if (info->simulation[0] != 0) {
    WEIR_TRY(weir_netcdf_put_text(m->nc, WEIR_NETCDF_FILE, "simulation", info->simulation));
  }
  WEIR_TRY(cf_netcdf_put_line_of_sight(m->nc, info->line_of_sight));
  WEIR_TRY(cf_netcdf_put_box(m->nc, info->box, info->cell));
  return info->unit > 0 ? weir_netcdf_put_numbers(m->nc, WEIR_NETCDF_FILE, "voxel_unit", WEIR_F64,
                                                  &info->unit, 1)
                        : WEIR_OK;
}

weir_status cf_netcdf_create(cf_volume_out *o)
{
  made *m = NULL;

  WEIR_TRY(weir_alloc(1, sizeof *m, (void **)&m));
  o->state = m;
  weir_status status = weir_netcdf_create_cf(o->path, "cosmoflow: samples", &m->nc);

  status = status == WEIR_OK ? define(m, o) : status;
  if (status != WEIR_OK) {
    cf_netcdf_destroy(o);
  }
  return status;
}

weir_status cf_netcdf_append(cf_volume_out *o, const void *voxels, const cf_volume_about *about)
{
  made *const m = o->state;
  const int64_t *const l = o->info.lengths;
  const int64_t start[5] = {o->done}, count[5] = {1, l[0], l[1], l[2], l[3]};

  if (o->done == 0) {
    WEIR_TRY(define_facts(m, about->facts));
  }
  if (about->facts) {
    WEIR_TRY(write_facts(m, o, about->facts));
  }
  WEIR_TRY(weir_netcdf_write(m->nc, m->volume, start, count, voxels));
  WEIR_TRY(weir_netcdf_write(m->nc, m->universe, start, count, &about->universe));
  if (o->info.n_classes > 0) {
    WEIR_TRY(weir_netcdf_write(m->nc, m->classes, start, count, about->classes));
  }
  if (o->info.n_labels > 0) {
    WEIR_TRY(weir_netcdf_write(m->nc, m->labels, start, (int64_t[]){1, o->info.n_labels},
                               about->labels));
  }
  return WEIR_OK;
}

weir_status cf_netcdf_commit(cf_volume_out *o)
{
  made *const m = o->state;

  return weir_netcdf_commit(&m->nc);
}
