/* read_netcdf.c - reading files back: each call is a request to weir_netcdf_reader, since the
 * libraries below NetCDF crash in files that are damaged (docs/decisions/0023-reader-process.md).
 */
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "io/netcdf/client_priv.h"
#include "io/netcdf/weir_zarr.h"

/* The path from the root on. */
static weir_status whole_path(const char *path, char **out)
{
  char whole[WEIR_READER_NAME];
  size_t n = 0;

  if (path[0] != '/') {
    if (!getcwd(whole, PATH_MAX)) {
      return weir_fail(WEIR_ERR_DATA, "%s: the current folder cannot be found: %m", path);
    }
    n = strlen(whole);
    whole[n++] = '/';
  }
  if (n + strlen(path) >= sizeof whole) {
    return weir_fail(WEIR_ERR_DATA, "%.64s...: its path is too long", path);
  }
  strcpy(whole + n, path);
  return weir_strdup(whole, out);
}

weir_status weir_netcdf_open(const char *path, weir_netcdf **out)
{
  void *memory = NULL;
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;
  int64_t size = 0;

  *out = NULL;
  const bool store = weir_netcdf_is_store(path);

  if (store) {
    WEIR_TRY(weir_netcdf_check_store(path, &size));
  } else { /* also keeps names that the library takes for addresses out */
    WEIR_TRY(weir_file_size(path, &size));
    WEIR_TRY(weir_netcdf_check_length(path, size));
  }
  WEIR_TRY(weir_alloc(1, sizeof *nc, &memory));
  nc = memory;
  nc->id = -1;
  WEIR_TRY_GOTO(weir_strdup(path, &nc->path), fail);
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *nc->source, (void **)&nc->source), fail);
  WEIR_TRY_GOTO(whole_path(path, &nc->source->path), fail);
  nc->source->store_bytes = store ? size + 1 : 0;
  WEIR_TRY_GOTO(weir_reader_open(nc), fail);
  *out = nc;
  return WEIR_OK;
fail:
  weir_netcdf_close(&nc);
  return status;
}

int64_t weir_netcdf_bytes(const weir_netcdf *nc)
{
  const weir_netcdf_source *const s = nc->source;

  return s->store_bytes > 0 ? s->store_bytes : (int64_t)s->is.st_size;
}

/* The names of a group and of those it is in, with / between them. */
static weir_status name_group(const weir_netcdf *nc, const char *name, weir_netcdf *group)
{
  const char *const outer = nc->source->group;
  const size_t size = (outer != NULL ? strlen(outer) + 1 : 0) + strlen(name) + 1;

  if (size > WEIR_READER_GROUP_NAME) {
    return weir_fail(WEIR_ERR_DATA, "%s: group %.32s...: its name is too long", nc->path, name);
  }
  WEIR_TRY(weir_alloc((int64_t)size, 1, (void **)&group->source->group));
  (void)snprintf(group->source->group, size, "%s%s%s", outer != NULL ? outer : "",
                 outer != NULL ? "/" : "", name);
  return WEIR_OK;
}

weir_status weir_netcdf_open_group(weir_netcdf *nc, const char *name, weir_netcdf **group)
{
  weir_netcdf *made = NULL;
  weir_status status = WEIR_OK;

  *group = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *made, (void **)&made));
  made->id = -1;
  WEIR_TRY_GOTO(weir_strdup(nc->path, &made->path), fail);
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *made->source, (void **)&made->source), fail);
  WEIR_TRY_GOTO(weir_strdup(nc->source->path, &made->source->path), fail);
  made->source->store_bytes = nc->source->store_bytes;
  WEIR_TRY_GOTO(name_group(nc, name, made), fail);
  WEIR_TRY_GOTO(weir_reader_open(made), fail);
  *group = made;
  return WEIR_OK;
fail:
  weir_netcdf_close(&made);
  return status;
}

/* A request about `name`, which a file of the library cannot have where it is too long. */
static weir_reader_request request(weir_reader_op op, int var, const char *name)
{
  weir_reader_request q = {.op = (int32_t)op, .var = var};

  strncpy(q.name, name, sizeof q.name - 1);
  return q;
}

weir_status weir_netcdf_look(weir_netcdf *nc, int var, weir_netcdf_shape *shape, int *dims,
                             bool *supported)
{
  weir_reader_request q = request(WEIR_READER_LOOK, var, "");
  weir_reader_reply r;

  WEIR_TRY(weir_reader_ask(nc, &q, &r, NULL, -1));
  *supported = r.supported;
  if (*supported) {
    *shape = r.shape;
    memcpy(dims, r.dims, sizeof *dims * WEIR_NETCDF_MAX_DIMS);
  }
  return WEIR_OK;
}

weir_status weir_netcdf_find(weir_netcdf *nc, const char *name, int *var, weir_netcdf_shape *shape)
{
  weir_reader_request q = request(WEIR_READER_FIND, 0, name);
  weir_reader_reply r;
  int dims[WEIR_NETCDF_MAX_DIMS];
  bool supported = false;

  WEIR_TRY(weir_reader_ask(nc, &q, &r, NULL, -1));
  WEIR_TRY(weir_netcdf_look(nc, r.number, shape, dims, &supported));
  if (!supported) {
    return weir_fail(WEIR_ERR_DATA, "%s: the type or rank of variable %s is not supported",
                     nc->path, name);
  }
  *var = r.number;
  return WEIR_OK;
}

weir_status weir_netcdf_count(weir_netcdf *nc, int *n)
{
  *n = nc->source->n_vars;
  return WEIR_OK;
}

/* A name of the library, where it fits; `of`: what bears it. */
static weir_status give_name(const weir_netcdf *nc, const char *text, const char *of, char *name,
                             size_t size)
{
  if (strlen(text) >= size) {
    return weir_fail(WEIR_ERR_DATA, "%s: %s %.32s...: its name is too long", nc->path, of, text);
  }
  strcpy(name, text);
  return WEIR_OK;
}

weir_status weir_netcdf_name(weir_netcdf *nc, int var, char *name, size_t size)
{
  weir_reader_request q = request(WEIR_READER_VAR_NAME, var, "");
  weir_reader_reply r;

  WEIR_TRY(weir_reader_ask(nc, &q, &r, NULL, -1));
  return give_name(nc, r.name, "variable", name, size);
}

weir_status weir_netcdf_dim_name(weir_netcdf *nc, int dim, char *name, size_t size)
{
  weir_reader_request q = request(WEIR_READER_DIM_NAME, 0, "");
  weir_reader_reply r;

  q.number = dim;
  WEIR_TRY(weir_reader_ask(nc, &q, &r, NULL, -1));
  return give_name(nc, r.name, "dimension", name, size);
}

weir_status weir_netcdf_count_groups(weir_netcdf *nc, int *n)
{
  weir_reader_request q = request(WEIR_READER_GROUP, 0, "");
  weir_reader_reply r;

  q.number = -1;
  WEIR_TRY(weir_reader_ask(nc, &q, &r, NULL, -1));
  *n = (int)r.count;
  return WEIR_OK;
}

weir_status weir_netcdf_group_name(weir_netcdf *nc, int i, char *name, size_t size)
{
  weir_reader_request q = request(WEIR_READER_GROUP, 0, "");
  weir_reader_reply r;

  q.number = i;
  WEIR_TRY(weir_reader_ask(nc, &q, &r, NULL, -1));
  if (i < 0 || i >= r.count) {
    return weir_fail(WEIR_ERR_DATA, "%s: there is no group %d", nc->path, i);
  }
  return give_name(nc, r.name, "group", name, size);
}

weir_status weir_netcdf_count_attributes(weir_netcdf *nc, int var, int *n)
{
  weir_reader_request q = request(WEIR_READER_COUNT_ATTRIBUTES, var, "");
  weir_reader_reply r;

  WEIR_TRY(weir_reader_ask(nc, &q, &r, NULL, -1));
  *n = r.number;
  return WEIR_OK;
}

weir_status weir_netcdf_attribute(weir_netcdf *nc, int var, int i, char *name, size_t size,
                                  int64_t *count, bool *text)
{
  weir_reader_request q = request(WEIR_READER_ATTRIBUTE, var, "");
  weir_reader_reply r;

  q.number = i;
  WEIR_TRY(weir_reader_ask(nc, &q, &r, NULL, -1));
  *count = r.count;
  *text = r.text;
  return give_name(nc, r.name, "attribute", name, size);
}

/* Reads the kind of an attribute; false where it is absent or unreadable. */
static bool find_attribute(const weir_netcdf *nc, int var, const char *name, weir_reader_reply *r)
{
  weir_reader_request q = request(WEIR_READER_FIND_ATTRIBUTE, var, name);

  /* A reader may be started again for it; what is in the file does not change. */
  return weir_reader_ask((weir_netcdf *)(uintptr_t)nc, &q, r, NULL, -1) == WEIR_OK &&
         r->number == 1;
}

int64_t weir_netcdf_count_numbers(const weir_netcdf *nc, int var, const char *name)
{
  weir_reader_reply r;

  return find_attribute(nc, var, name, &r) && !r.text ? r.count : 0;
}

bool weir_netcdf_is_real(const weir_netcdf *nc, int var, const char *name)
{
  weir_reader_reply r;

  return find_attribute(nc, var, name, &r) && r.real;
}

bool weir_netcdf_has(const weir_netcdf *nc, int var, const char *name)
{
  weir_reader_reply r;

  return find_attribute(nc, var, name, &r);
}

/* Dimensions of a variable, as the reader lists them. */
static weir_status dims_of(const weir_netcdf *nc, int var, int *n)
{
  const weir_netcdf_source *const s = nc->source;

  if (var < 0 || var >= s->n_vars) {
    return weir_fail(WEIR_ERR_EXTERNAL, "%s: there is no variable %d", nc->path, var);
  }
  *n = s->vars[var].n_dims;
  if (*n < 0 || *n > WEIR_NETCDF_MAX_DIMS) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: variable %d has more than %d dimensions, or the file is damaged: copy or "
                     "create it again",
                     nc->path, var, WEIR_NETCDF_MAX_DIMS);
  }
  return WEIR_OK;
}

weir_status weir_netcdf_read(weir_netcdf *nc, int var, const int64_t *start, const int64_t *count,
                             void *data)
{
  weir_reader_request q = request(WEIR_READER_READ, var, "");
  weir_reader_reply r;
  int n = 0;

  WEIR_TRY(dims_of(nc, var, &n));
  int64_t bytes = nc->source->vars[var].bytes;

  for (int i = 0; i < n; i++) {
    if (start[i] < 0 || count[i] < 0 || !weir_mul_ok(bytes, count[i], &bytes)) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: a box of %lld from %lld on", nc->path,
                       (long long)count[i], (long long)start[i]);
    }
    q.start[i] = start[i];
    q.count[i] = count[i];
  }
  return weir_reader_ask(nc, &q, &r, data, bytes);
}

weir_status weir_netcdf_read_text(weir_netcdf *nc, int var, const int64_t *index, char **text)
{
  weir_reader_request q = request(WEIR_READER_READ_TEXT, var, "");
  int n = 0;

  WEIR_TRY(dims_of(nc, var, &n));
  for (int i = 0; i < n; i++) {
    if (index[i] < 0) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: a text at %lld", nc->path, (long long)index[i]);
    }
    q.start[i] = index[i];
  }
  return weir_reader_ask_text(nc, &q, text);
}

weir_status weir_netcdf_get_text(weir_netcdf *nc, int var, const char *name, char **text)
{
  weir_reader_request q = request(WEIR_READER_GET_TEXT, var, name);

  return weir_reader_ask_text(nc, &q, text);
}

weir_status weir_netcdf_get_numbers(weir_netcdf *nc, int var, const char *name, double *values,
                                    int64_t n)
{
  weir_reader_request q = request(WEIR_READER_GET_NUMBERS, var, name);
  weir_reader_reply r;

  q.count[0] = n;
  return weir_reader_ask(nc, &q, &r, values, n * (int64_t)sizeof *values);
}

weir_status weir_netcdf_fill_value(weir_netcdf *nc, int var, double *value)
{
  weir_reader_request q = request(WEIR_READER_FILL, var, "");
  weir_reader_reply r;

  if (weir_netcdf_count_numbers(nc, var, "_FillValue") == 1) {
    return weir_netcdf_get_numbers(nc, var, "_FillValue", value, 1);
  }
  *value = NAN;
  return weir_reader_ask(nc, &q, &r, value, (int64_t)sizeof *value);
}
