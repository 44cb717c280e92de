/* out_features.c - see out_features.h. */
#include "out_features.h"
#include <errno.h>
#include <string.h>
#include "base/weir_dtype.h"
#include "base/weir_file.h"
#include "data/record_time.h"
#include "model/graph.h"

enum { PATH_SIZE = 4096, BLOCK = 16384 };

const char *const ps_feature_names[PS_FEATURES] = {PS_RESULT_FILTERED, PS_RESULT_FEATURE,
                                                   PS_RESULT_PRESENT};

static weir_status define(ps_out_features *f, const ps_input_info *facts, int dim, int k)
{
  static const char *const meaning[PS_FEATURES] = {"signal in the band of the QRS complex",
                                                   "energy of its slope over the last window",
                                                   "1 where the signal has a sample, 0 in gaps"};
  static const weir_dtype dtype[PS_FEATURES] = {WEIR_F32, WEIR_F32, WEIR_U8};
  const int64_t chunk = facts->count < BLOCK ? facts->count : BLOCK;
  ps_feature *v = &f->feature[k];
  char units[128];

  v->kept = tmpfile();
  if (v->kept == NULL) {
    return weir_temporary_failed("features.nc", errno);
  }
  v->size = weir_dtype_size(dtype[k]);
  WEIR_TRY(weir_netcdf_var(f->nc, ps_feature_names[k], dtype[k], 1, &dim, &v->var));
  WEIR_TRY(weir_netcdf_chunk(f->nc, v->var, &chunk, 1));
  WEIR_TRY(weir_netcdf_put_text(f->nc, v->var, "long_name", meaning[k]));
  WEIR_TRY(weir_netcdf_put_rate(f->nc, v->var, facts->fs_num, facts->fs_den));
  if (k == PS_FEATURES - 1) {
    return WEIR_OK;
  }
  (void)snprintf(units, sizeof units, k == 0 ? "%s" : "%s2", facts->units);
  return weir_netcdf_put_text(f->nc, v->var, "units", units);
}

/* The coordinate of dimension `dim`, which has its name. */
static weir_status define_time(ps_out_features *f, int dim)
{
  const int64_t chunk = f->facts->count < BLOCK ? f->facts->count : BLOCK;

  WEIR_TRY(weir_netcdf_var(f->nc, "time", WEIR_I64, 1, &dim, &f->time));
  WEIR_TRY(weir_netcdf_chunk(f->nc, f->time, &chunk, 1));
  return ps_time_describe(f->facts, f->nc, f->time);
}

static weir_status write_time(const ps_out_features *f, int64_t at, int64_t n)
{
  int64_t time[BLOCK];

  for (int64_t i = 0; i < n; i++) {
    time[i] = ps_time_us(f->facts, f->facts->fs_num, f->facts->fs_den, at + i);
  }
  return weir_netcdf_write(f->nc, f->time, &at, &n, time);
}

/* Block by block, each variable in turn. */
static weir_status write_all(ps_out_features *f)
{
  float block[BLOCK];
  const int64_t end = f->feature[0].next;

  for (int k = 0; k < PS_FEATURES; k++) {
    if (fseek(f->feature[k].kept, 0, SEEK_SET) != 0) { /* writes what is left */
      return weir_temporary_failed("features.nc", errno);
    }
  }
  for (int64_t at = 0; at < end; at += BLOCK) {
    const int64_t n = end - at < BLOCK ? end - at : BLOCK;

    WEIR_TRY(write_time(f, at, n));
    for (int k = 0; k < PS_FEATURES; k++) {
      ps_feature *v = &f->feature[k];

      if (fread(block, v->size, (size_t)n, v->kept) != (size_t)n) {
        return weir_fail(WEIR_ERR_DATA, "features.nc: cannot read back what was kept: %s",
                         strerror(errno));
      }
      WEIR_TRY(weir_netcdf_write(f->nc, v->var, &at, &n, block));
    }
  }
  return WEIR_OK;
}

weir_status ps_out_features_open(const char *dir, const ps_input_info *facts, ps_out_features *out)
{
  char path[PATH_SIZE];
  int dim = 0;

  *out = (ps_out_features){.facts = facts};
  WEIR_TRY(weir_path_join(dir, "features.nc", path, sizeof path));
  WEIR_TRY(weir_netcdf_create_cf(path, "physio_stream: features of the detector", &out->nc));
  WEIR_TRY(weir_netcdf_put_text(out->nc, WEIR_NETCDF_FILE, "record", facts->name));
  WEIR_TRY(weir_netcdf_put_text(out->nc, WEIR_NETCDF_FILE, "signal", facts->signal));
  WEIR_TRY(weir_netcdf_dim(out->nc, "time",
                           facts->live != NULL ? WEIR_NETCDF_UNLIMITED : facts->count, &dim));
  WEIR_TRY(define_time(out, dim));
  for (int k = 0; k < PS_FEATURES; k++) {
    WEIR_TRY(define(out, facts, dim, k));
  }
  return WEIR_OK;
}

static weir_status keep(ps_feature *v, const void *values, int64_t n)
{
  if (fwrite(values, v->size, (size_t)n, v->kept) != (size_t)n) {
    return weir_temporary_failed("features.nc", errno);
  }
  v->next += n;
  return WEIR_OK;
}

weir_status ps_out_features_take(void *context, const weir_view *view, int64_t lo, int64_t hi,
                                 bool last)
{
  static const float nothing[BLOCK];
  ps_feature *v = context;

  (void)last;
  while (v->next < lo) {
    WEIR_TRY(keep(v, nothing, lo - v->next < BLOCK ? lo - v->next : BLOCK));
  }
  return hi > lo ? keep(v, weir_view_at(view, &lo), hi - lo) : WEIR_OK;
}

weir_status ps_out_features_commit(ps_out_features *f)
{
  WEIR_TRY(write_all(f));
  return weir_netcdf_commit(&f->nc);
}

void ps_out_features_close(ps_out_features *f)
{
  for (int k = 0; k < PS_FEATURES; k++) {
    if (f->feature[k].kept != NULL) {
      (void)fclose(f->feature[k].kept);
      f->feature[k].kept = NULL;
    }
  }
  weir_netcdf_close(&f->nc);
}
