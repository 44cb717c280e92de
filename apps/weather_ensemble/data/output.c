/* output.c - see output.h. */
#include "data/output.h"
#include <string.h>
#include "base/weir_alloc.h"

enum { LEVEL = 1 }; /* of compression */

static weir_status define_field(wx_output *o, int k, const wx_output_field *f, const int *grid)
{
  const wx_facts *facts = o->facts;
  int dims[2 + WX_SPACE] = {grid[0]};
  int64_t chunk[2 + WX_SPACE] = {1, 1};
  char text[WX_LIST];

  o->n_channels[k] = f->n_channels;
  if (k > 0 && strcmp(f->dim, f[-1].dim) == 0) {
    dims[1] = o->dim;
  } else {
    WEIR_TRY(weir_netcdf_dim(o->nc, f->dim, f->n_channels, &dims[1]));
    o->dim = dims[1];
  }
  for (int d = 0; d < facts->rank; d++) {
    dims[2 + d] = grid[1 + d];
    chunk[2 + d] = facts->axis[d].length;
  }
  WEIR_TRY(weir_netcdf_var(o->nc, f->name, WEIR_F32, 2 + facts->rank, dims, &o->var[k]));
  WEIR_TRY(weir_netcdf_chunk(o->nc, o->var[k], chunk, LEVEL));
  WEIR_TRY(weir_netcdf_put_text(o->nc, o->var[k], "long_name", f->long_name));
  wx_channels_text(f->channel, f->n_channels, false, text);
  WEIR_TRY(weir_netcdf_put_text(o->nc, o->var[k], "channels", text));
  wx_channels_text(f->channel, f->n_channels, true, text);
  return weir_netcdf_put_text(o->nc, o->var[k], "units", text);
}

static weir_status define_line(wx_output *o, const char *name, int dim, const char *units, int *var)
{
  WEIR_TRY(weir_netcdf_var(o->nc, name, WEIR_F64, 1, &dim, var));
  return weir_netcdf_put_text(o->nc, *var, "units", units);
}

static weir_status write_time(wx_output *o, int var, const int64_t *sample, int64_t n)
{
  double *hours = NULL;
  const int64_t zero = 0;

  WEIR_TRY(weir_alloc(n, sizeof *hours, (void **)&hours));
  for (int64_t i = 0; i < n; i++) {
    hours[i] = 24 * o->facts->time[sample != NULL ? sample[i] : i];
  }
  const weir_status status = weir_netcdf_write(o->nc, var, &zero, &n, hours);

  weir_free(&hours);
  return status;
}

static weir_status begin(wx_output *o, const wx_output_field *field, int n_fields,
                         const int64_t *sample, int64_t n)
{
  const wx_facts *f = o->facts;
  int grid[1 + WX_SPACE] = {0}, time = 0, axis[WX_SPACE] = {0};
  const int64_t zero = 0;

  WEIR_TRY(weir_netcdf_put_text(o->nc, WEIR_NETCDF_FILE, "Conventions", "CF-1.8"));
  WEIR_TRY(weir_netcdf_dim(o->nc, "sample", n, &grid[0]));
  for (int d = 0; d < f->rank; d++) {
    WEIR_TRY(weir_netcdf_dim(o->nc, f->axis[d].name, f->axis[d].length, &grid[1 + d]));
  }
  WEIR_TRY(define_line(o, "time", grid[0], "hours since 1970-01-01 00:00:00", &time));
  WEIR_TRY(weir_netcdf_put_text(o->nc, time, "standard_name", "time"));
  WEIR_TRY(weir_netcdf_put_text(o->nc, time, "calendar", "proleptic_gregorian"));
  for (int d = 0; d < f->rank; d++) {
    if (f->axis[d].value != NULL) {
      WEIR_TRY(define_line(o, f->axis[d].name, grid[1 + d], f->axis[d].units, &axis[d]));
    }
  }
  for (int k = 0; k < n_fields; k++) {
    WEIR_TRY(define_field(o, k, &field[k], grid));
  }
  WEIR_TRY(write_time(o, time, sample, n));
  for (int d = 0; d < f->rank; d++) {
    if (f->axis[d].value != NULL) {
      WEIR_TRY(weir_netcdf_write(o->nc, axis[d], &zero, &f->axis[d].length, f->axis[d].value));
    }
  }
  return WEIR_OK;
}

weir_status wx_output_open(const char *path, const wx_facts *facts, const wx_output_field *field,
                           int n_fields, const int64_t *sample, int64_t n, wx_output *out)
{
  *out = (wx_output){.facts = facts};
  WEIR_TRY(weir_netcdf_create(path, &out->nc));
  const weir_status status = begin(out, field, n_fields, sample, n);

  if (status != WEIR_OK) {
    wx_output_close(out);
  }
  return status;
}

weir_status wx_output_write(wx_output *o, int k, int64_t i, const float *values)
{
  int64_t start[2 + WX_SPACE] = {i}, count[2 + WX_SPACE] = {1, o->n_channels[k]};

  for (int d = 0; d < o->facts->rank; d++) {
    count[2 + d] = o->facts->axis[d].length;
  }
  return weir_netcdf_write(o->nc, o->var[k], start, count, values);
}

weir_status wx_output_commit(wx_output *o)
{
  return weir_netcdf_commit(&o->nc);
}

void wx_output_close(wx_output *o)
{
  weir_netcdf_close(&o->nc);
}
