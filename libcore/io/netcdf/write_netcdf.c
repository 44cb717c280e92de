/* write_netcdf.c - creating files, and what writing and reading share. */
#include <hdf5.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_lock.h"
#include "base/weir_provenance.h"
#include "comm/weir_comm.h"
#include "io/netcdf/netcdf_priv.h"

bool weir_netcdf_available(void)
{
  return true;
}

static weir_lock library = WEIR_LOCK_INIT;

/* HDF5 would flush, when the program exits, what could not be written before, and crash. It must be
 * configured before its first call; doing so again changes nothing. */
void weir_netcdf_enter(void)
{
  weir_comm_borrow(NULL);
  weir_lock_take(&library);
  (void)H5dont_atexit();
  errno = 0;
}

int weir_netcdf_leave(int code)
{
  weir_lock_give(&library);
  weir_comm_return(NULL);
  return code;
}

weir_status weir_netcdf_failed(const weir_netcdf *nc, int code, const char *what)
{
  const int reason = errno;

  if (nc->writer != NULL && weir_no_space(reason)) {
    return weir_write_failed(nc->path, reason, WEIR_ERR_EXTERNAL);
  }
  return weir_fail(weir_netcdf_status(code, WEIR_ERR_EXTERNAL), "%s: %s: %s", nc->path, what,
                   nc_strerror(code));
}

static nc_type type_of(weir_dtype dtype)
{
  switch (dtype) {
  case WEIR_F32:
    return NC_FLOAT;
  case WEIR_F64:
    return NC_DOUBLE;
  case WEIR_I8:
    return NC_BYTE;
  case WEIR_I16:
    return NC_SHORT;
  case WEIR_I32:
    return NC_INT;
  case WEIR_I64:
    return NC_INT64;
  default: /* u8 and bool */
    return NC_UBYTE;
  }
}

/* The type that CF 1.8 has for it. */
static nc_type cf_type_of(weir_dtype dtype)
{
  return dtype == WEIR_I64                        ? NC_DOUBLE
         : dtype == WEIR_U8 || dtype == WEIR_BOOL ? NC_BYTE
                                                  : type_of(dtype);
}

weir_status weir_netcdf_box(const weir_netcdf *nc, int var, const int64_t *start,
                            const int64_t *count, size_t *corner, size_t *edges)
{
  const char *const what = "shape of a variable";
  int n = 0;

  WEIR_NC(nc_inq_varndims(nc->id, var, &n));
  if (n > WEIR_NETCDF_MAX_DIMS) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: a variable has %d dimensions: at most %d are supported",
                     nc->path, n, WEIR_NETCDF_MAX_DIMS);
  }
  for (int i = 0; i < n; i++) {
    if (start[i] < 0 || count[i] < 0) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: a box of %lld from %lld on", nc->path,
                       (long long)count[i], (long long)start[i]);
    }
    corner[i] = (size_t)start[i];
    edges[i] = (size_t)count[i];
  }
  return WEIR_OK;
}

weir_status weir_netcdf_create(const char *path, weir_netcdf **out)
{
  void *memory = NULL;
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;
  int code = NC_NOERR;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *nc, &memory));
  nc = memory;
  nc->id = -1;
  WEIR_TRY_GOTO(weir_strdup(path, &nc->path), fail);
  WEIR_TRY_GOTO(weir_writer_open(path, &nc->writer), fail);
  code = WEIR_NC_ALONE(nc_create(weir_writer_path(nc->writer), NC_NETCDF4 | NC_CLOBBER, &nc->id));
  if (code != NC_NOERR) {
    nc->id = -1;
    status = weir_no_space(errno) ? weir_write_failed(path, errno, WEIR_ERR_DATA)
                                  : weir_fail(weir_netcdf_status(code, WEIR_ERR_DATA),
                                              "%s: cannot be created: %s", path, nc_strerror(code));
    goto fail;
  }
  *out = nc;
  return WEIR_OK;
fail:
  weir_netcdf_close(&nc);
  return status;
}

weir_status weir_netcdf_create_cf(const char *path, const char *title, weir_netcdf **out)
{
  WEIR_TRY(weir_netcdf_create(path, out));
  (*out)->cf = true;
  weir_status status = weir_netcdf_put_text(*out, WEIR_NETCDF_FILE, "Conventions", "CF-1.8");
  char history[64];

  (void)snprintf(history, sizeof history, "written by Weir %s", weir_version());
  status = status == WEIR_OK && title != NULL
               ? weir_netcdf_put_text(*out, WEIR_NETCDF_FILE, "title", title)
               : status;
  status =
      status == WEIR_OK ? weir_netcdf_put_text(*out, WEIR_NETCDF_FILE, "history", history) : status;
  if (status != WEIR_OK) {
    weir_netcdf_close(out);
  }
  return status;
}

static void free_groups(weir_netcdf *nc)
{
  while (nc->groups != NULL) {
    weir_netcdf *group = nc->groups;

    nc->groups = group->next;
    free_groups(group);
    weir_free(&group->declared);
    weir_free(&group->path);
    weir_free(&group);
  }
}

void weir_netcdf_close(weir_netcdf **nc)
{
  if (!*nc) {
    return;
  }
  free_groups(*nc);
  if ((*nc)->id >= 0) {
    (void)WEIR_NC_ALONE(nc_close((*nc)->id)); /* what is abandoned has nothing to lose */
  }
  weir_netcdf_source_close(&(*nc)->source);
  weir_writer_destroy(&(*nc)->writer);
  weir_free(&(*nc)->declared);
  weir_free(&(*nc)->path);
  weir_free(nc);
}

static weir_status complete(weir_netcdf *nc)
{
  const char *const what = "end of the file";
  const int id = nc->id;

  nc->id = -1;
  WEIR_NC(nc_close(id));
  return WEIR_OK;
}

weir_status weir_netcdf_finish(weir_netcdf **nc, weir_writer **file)
{
  const weir_status status = complete(*nc);

  *file = NULL;
  if (status == WEIR_OK) {
    *file = (*nc)->writer;
    (*nc)->writer = NULL;
  }
  weir_netcdf_close(nc);
  return status;
}

weir_status weir_netcdf_commit(weir_netcdf **nc)
{
  weir_writer *file = NULL;

  WEIR_TRY(weir_netcdf_finish(nc, &file));
  return weir_writer_commit(&file);
}

weir_status weir_netcdf_group(weir_netcdf *nc, const char *name, weir_netcdf **group)
{
  const char *const what = name;
  void *memory = NULL;
  int id = 0;

  *group = NULL;
  WEIR_NC(nc_def_grp(nc->id, name, &id));
  WEIR_TRY(weir_alloc(1, sizeof **group, &memory));
  weir_netcdf *made = memory;
  const weir_status status = weir_strdup(nc->path, &made->path);

  if (status != WEIR_OK) {
    weir_free(&made);
    return status;
  }
  made->id = id;
  made->writer = nc->writer;
  made->cf = nc->cf;
  made->next = nc->groups;
  nc->groups = made;
  *group = made;
  return WEIR_OK;
}

weir_status weir_netcdf_dim(weir_netcdf *nc, const char *name, int64_t length, int *dim)
{
  const char *const what = name;
  int id = 0;

  WEIR_NC(nc_def_dim(nc->id, name, length == WEIR_NETCDF_UNLIMITED ? NC_UNLIMITED : (size_t)length,
                     &id));
  *dim = id;
  return WEIR_OK;
}

static weir_status define(weir_netcdf *nc, const char *what, nc_type type, int n_dims,
                          const int *dims, int *var)
{
  int id = 0;

  WEIR_NC(nc_def_var(nc->id, what, type, n_dims, dims, &id));
  *var = id;
  return WEIR_OK;
}

/* Keeps the type that the caller hands over. */
static weir_status declare(weir_netcdf *nc, int var, weir_dtype dtype)
{
  WEIR_TRY(weir_reserve(&nc->declared, &nc->declared_capacity, var + 1, sizeof *nc->declared));
  while (nc->n_declared < var) {
    nc->declared[nc->n_declared++] = WEIR_F32; /* texts: stored as they are */
  }
  nc->declared[var] = (uint8_t)dtype;
  nc->n_declared = var + 1;
  return WEIR_OK;
}

weir_status weir_netcdf_var(weir_netcdf *nc, const char *name, weir_dtype dtype, int n_dims,
                            const int *dims, int *var)
{
  if (weir_dtype_is_storage(dtype) || weir_dtype_is_complex(dtype)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "NetCDF variable '%s': NetCDF does not store %s: %s",
                     name, weir_dtype_name(dtype),
                     weir_dtype_is_storage(dtype)
                         ? "cast to f32"
                         : "write real and imaginary parts along a last dimension of 2");
  }
  WEIR_TRY(define(nc, name, nc->cf ? cf_type_of(dtype) : type_of(dtype), n_dims, dims, var));
  return nc->cf ? declare(nc, *var, dtype) : WEIR_OK;
}

weir_status weir_netcdf_whole_var(weir_netcdf *nc, const char *name, int64_t max, int n_dims,
                                  const int *dims, int *var)
{
  if (!nc->cf || max > INT32_MAX) {
    return weir_netcdf_var(nc, name, WEIR_I64, n_dims, dims, var);
  }
  WEIR_TRY(define(nc, name, NC_INT, n_dims, dims, var));
  return declare(nc, *var, WEIR_I64);
}

weir_status weir_netcdf_text_var(weir_netcdf *nc, const char *name, int n_dims, const int *dims,
                                 int *var)
{
  return define(nc, name, NC_STRING, n_dims, dims, var);
}

weir_status weir_netcdf_char_var(weir_netcdf *nc, const char *name, int n_dims, const int *dims,
                                 int *var)
{
  return define(nc, name, NC_CHAR, n_dims, dims, var);
}

weir_status weir_netcdf_chunk(weir_netcdf *nc, int var, const int64_t *chunks, int level)
{
  const char *const what = "chunks of a variable";
  size_t corner[WEIR_NETCDF_MAX_DIMS];
  size_t edges[WEIR_NETCDF_MAX_DIMS];

  WEIR_TRY(weir_netcdf_box(nc, var, chunks, chunks, corner, edges));
  WEIR_NC(nc_def_var_chunking(nc->id, var, NC_CHUNKED, edges));
  if (level > 0) {
    WEIR_NC(nc_def_var_deflate(nc->id, var, 1, 1, level));
  }
  weir_netcdf_enter();
  weir_netcdf_limit_cache(nc->id, var);
  (void)weir_netcdf_leave(NC_NOERR);
  return WEIR_OK;
}

weir_status weir_netcdf_put_text(weir_netcdf *nc, int var, const char *name, const char *text)
{
  const char *const what = name;

  WEIR_NC(nc_put_att_text(nc->id, weir_netcdf_target(var), name, strlen(text), text));
  return WEIR_OK;
}

#define LARGEST ((INT64_C(1) << 53) - 1) /* integers up to it are exact as doubles */

/* Refuses what the types of CF 1.8 do not hold exactly. */
static weir_status check_range(const weir_netcdf *nc, const char *what, weir_dtype dtype,
                               const void *values, int64_t n)
{
  const int64_t max = dtype == WEIR_I64 ? LARGEST : INT8_MAX;

  for (int64_t i = 0; i < n; i++) {
    const int64_t x =
        dtype == WEIR_I64 ? ((const int64_t *)values)[i] : ((const uint8_t *)values)[i];

    if (x > max || x < -max) {
      return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: %s: CF 1.8 has no type that holds %lld", nc->path,
                       what, (long long)x);
    }
  }
  return WEIR_OK;
}

/* Of 64-bit integers: int or double where that holds all. */
static nc_type attribute_type(const int64_t *values, int64_t n)
{
  nc_type type = NC_INT;

  for (int64_t i = 0; i < n; i++) {
    if (type == NC_INT && (values[i] > INT32_MAX || values[i] < INT32_MIN)) {
      type = NC_DOUBLE;
    }
    if (values[i] > LARGEST || values[i] < -LARGEST) {
      type = NC_INT64;
    }
  }
  return type;
}

weir_status weir_netcdf_put_numbers(weir_netcdf *nc, int var, const char *name, weir_dtype dtype,
                                    const void *values, int64_t n)
{
  const char *const what = name;

  const bool bytes = dtype == WEIR_U8 || dtype == WEIR_BOOL;

  if (nc->cf && (dtype == WEIR_I64 || bytes)) {
    if (bytes) {
      WEIR_TRY(check_range(nc, name, dtype, values, n));
      WEIR_NC(nc_put_att(nc->id, weir_netcdf_target(var), name, NC_BYTE, (size_t)n, values));
      return WEIR_OK;
    }
    WEIR_NC(nc_put_att_longlong(nc->id, weir_netcdf_target(var), name, attribute_type(values, n),
                                (size_t)n, values));
    return WEIR_OK;
  }
  WEIR_NC(nc_put_att(nc->id, weir_netcdf_target(var), name, type_of(dtype), (size_t)n, values));
  return WEIR_OK;
}

weir_status weir_netcdf_write(weir_netcdf *nc, int var, const int64_t *start, const int64_t *count,
                              const void *data)
{
  const char *const what = "writing a variable";
  size_t corner[WEIR_NETCDF_MAX_DIMS];
  size_t edges[WEIR_NETCDF_MAX_DIMS];

  WEIR_TRY(weir_netcdf_box(nc, var, start, count, corner, edges));
  if (nc->cf && var < nc->n_declared &&
      (nc->declared[var] == WEIR_I64 || nc->declared[var] == WEIR_U8 ||
       nc->declared[var] == WEIR_BOOL)) {
    int n_dims = 0;
    int64_t n = 1;

    WEIR_NC(nc_inq_varndims(nc->id, var, &n_dims));
    for (int d = 0; d < n_dims; d++) {
      n *= count[d];
    }
    WEIR_TRY(check_range(nc, what, (weir_dtype)nc->declared[var], data, n));
    if (nc->declared[var] == WEIR_I64) {
      WEIR_NC(nc_put_vara_longlong(nc->id, var, corner, edges, data));
      return WEIR_OK;
    }
  }
  WEIR_NC(nc_put_vara(nc->id, var, corner, edges, data));
  return WEIR_OK;
}

weir_status weir_netcdf_write_texts(weir_netcdf *nc, int var, const int64_t *start,
                                    const int64_t *count, const char *const *texts)
{
  const char *const what = "writing texts";
  size_t corner[WEIR_NETCDF_MAX_DIMS];
  size_t edges[WEIR_NETCDF_MAX_DIMS];

  WEIR_TRY(weir_netcdf_box(nc, var, start, count, corner, edges));
  /* The library takes `const char **` and does not write through it. */
  WEIR_NC(nc_put_vara_string(nc->id, var, corner, edges, (const char **)(uintptr_t)texts));
  return WEIR_OK;
}
