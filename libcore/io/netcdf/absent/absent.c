/* absent.c - weir_netcdf.h in a build without the library. */
#include "io/netcdf/weir_zarr.h"

static weir_status refuse(const void *a, const void *b, const void *c, int64_t d)
{
  (void)a;
  (void)b;
  (void)c;
  (void)d;
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "this build has no NetCDF: install the library and build again");
}

bool weir_netcdf_available(void)
{
  return false;
}

int64_t weir_netcdf_bytes(const weir_netcdf *nc)
{
  (void)nc;
  return 0;
}

bool weir_netcdf_is_store(const char *path)
{
  (void)path;
  return false;
}

weir_status weir_netcdf_reader_path(char *path, size_t size)
{
  return refuse(path, path, path, (int64_t)size);
}

weir_status weir_netcdf_create(const char *path, weir_netcdf **out)
{
  *out = NULL;
  return refuse(path, out, out, 0);
}

weir_status weir_netcdf_create_cf(const char *path, const char *title, weir_netcdf **out)
{
  *out = NULL;
  return refuse(path, title, out, 0);
}

weir_status weir_netcdf_commit(weir_netcdf **nc)
{
  return refuse(nc, nc, nc, 0);
}

weir_status weir_netcdf_finish(weir_netcdf **nc, weir_writer **file)
{
  *file = NULL;
  return refuse(nc, nc, nc, 0);
}

weir_status weir_netcdf_open(const char *path, weir_netcdf **out)
{
  *out = NULL;
  return refuse(path, out, out, 0);
}

void weir_netcdf_close(weir_netcdf **nc)
{
  *nc = NULL; /* there never is one */
}

weir_status weir_netcdf_group(weir_netcdf *nc, const char *name, weir_netcdf **group)
{
  *group = NULL;
  return refuse(nc, name, group, 0);
}

weir_status weir_netcdf_count_groups(weir_netcdf *nc, int *n)
{
  return refuse(nc, n, n, 0);
}

weir_status weir_netcdf_group_name(weir_netcdf *nc, int i, char *name, size_t size)
{
  return refuse(nc, name, name, i + (int64_t)size);
}

weir_status weir_netcdf_open_group(weir_netcdf *nc, const char *name, weir_netcdf **group)
{
  *group = NULL;
  return refuse(nc, name, group, 0);
}

weir_status weir_netcdf_dim(weir_netcdf *nc, const char *name, int64_t length, int *dim)
{
  return refuse(nc, name, dim, length);
}

weir_status weir_netcdf_var(weir_netcdf *nc, const char *name, weir_dtype dtype, int n_dims,
                            const int *dims, int *var)
{
  (void)dtype;
  (void)var;
  return refuse(nc, name, dims, n_dims);
}

weir_status weir_netcdf_whole_var(weir_netcdf *nc, const char *name, int64_t max, int n_dims,
                                  const int *dims, int *var)
{
  return refuse(nc, name, dims, n_dims + max + (var != NULL));
}

weir_status weir_netcdf_text_var(weir_netcdf *nc, const char *name, int n_dims, const int *dims,
                                 int *var)
{
  (void)var;
  return refuse(nc, name, dims, n_dims);
}

weir_status weir_netcdf_char_var(weir_netcdf *nc, const char *name, int n_dims, const int *dims,
                                 int *var)
{
  (void)var;
  return refuse(nc, name, dims, n_dims);
}

weir_status weir_netcdf_chunk(weir_netcdf *nc, int var, const int64_t *chunks, int level)
{
  (void)var;
  return refuse(nc, chunks, chunks, level);
}

weir_status weir_netcdf_put_text(weir_netcdf *nc, int var, const char *name, const char *text)
{
  return refuse(nc, name, text, var);
}

weir_status weir_netcdf_put_numbers(weir_netcdf *nc, int var, const char *name, weir_dtype dtype,
                                    const void *values, int64_t n)
{
  (void)dtype;
  (void)var;
  return refuse(nc, name, values, n);
}

weir_status weir_netcdf_write(weir_netcdf *nc, int var, const int64_t *start, const int64_t *count,
                              const void *data)
{
  (void)var;
  (void)data;
  return refuse(nc, start, count, 0);
}

weir_status weir_netcdf_write_texts(weir_netcdf *nc, int var, const int64_t *start,
                                    const int64_t *count, const char *const *texts)
{
  (void)var;
  (void)texts;
  return refuse(nc, start, count, 0);
}

weir_status weir_netcdf_find(weir_netcdf *nc, const char *name, int *var, weir_netcdf_shape *shape)
{
  (void)var;
  return refuse(nc, name, shape, 0);
}

weir_status weir_netcdf_count(weir_netcdf *nc, int *n)
{
  return refuse(nc, n, n, 0);
}

weir_status weir_netcdf_name(weir_netcdf *nc, int var, char *name, size_t size)
{
  (void)var;
  return refuse(nc, name, name, (int64_t)size);
}

weir_status weir_netcdf_look(weir_netcdf *nc, int var, weir_netcdf_shape *shape, int *dims,
                             bool *supported)
{
  (void)supported;
  return refuse(nc, shape, dims, var);
}

weir_status weir_netcdf_dim_name(weir_netcdf *nc, int dim, char *name, size_t size)
{
  (void)dim;
  return refuse(nc, name, name, (int64_t)size);
}

weir_status weir_netcdf_count_attributes(weir_netcdf *nc, int var, int *n)
{
  return refuse(nc, n, n, var);
}

weir_status weir_netcdf_attribute(weir_netcdf *nc, int var, int i, char *name, size_t size,
                                  int64_t *count, bool *text)
{
  (void)var;
  (void)i;
  (void)size;
  return refuse(nc, name, count, text != NULL);
}

bool weir_netcdf_is_real(const weir_netcdf *nc, int var, const char *name)
{
  (void)nc;
  (void)var;
  (void)name;
  return false;
}

int64_t weir_netcdf_count_numbers(const weir_netcdf *nc, int var, const char *name)
{
  (void)nc;
  (void)var;
  (void)name;
  return 0;
}

bool weir_netcdf_has(const weir_netcdf *nc, int var, const char *name)
{
  (void)nc;
  (void)var;
  (void)name;
  return false;
}

weir_status weir_netcdf_read(weir_netcdf *nc, int var, const int64_t *start, const int64_t *count,
                             void *data)
{
  (void)var;
  (void)data;
  return refuse(nc, start, count, 0);
}

weir_status weir_netcdf_read_text(weir_netcdf *nc, int var, const int64_t *index, char **text)
{
  (void)var;
  return refuse(nc, index, text, 0);
}

weir_status weir_netcdf_get_text(weir_netcdf *nc, int var, const char *name, char **text)
{
  (void)var;
  return refuse(nc, name, text, 0);
}

weir_status weir_netcdf_fill_value(weir_netcdf *nc, int var, double *value)
{
  (void)var;
  return refuse(nc, "_FillValue", value, 1);
}

weir_status weir_netcdf_get_numbers(weir_netcdf *nc, int var, const char *name, double *values,
                                    int64_t n)
{
  (void)var;
  return refuse(nc, name, values, n);
}
