/* read_netcdf.c - reading files back. */
#include <string.h>
#include "base/weir_alloc.h"
#include "io/netcdf/netcdf_priv.h"

/* False for a type that weir_dtype does not have. */
static bool dtype_of(nc_type type, weir_netcdf_shape *shape)
{
  static const struct {
    nc_type type;
    weir_dtype dtype;
  } known[] = {{NC_FLOAT, WEIR_F32}, {NC_DOUBLE, WEIR_F64}, {NC_BYTE, WEIR_I8},
               {NC_UBYTE, WEIR_U8},  {NC_CHAR, WEIR_U8},    {NC_SHORT, WEIR_I16},
               {NC_INT, WEIR_I32},   {NC_INT64, WEIR_I64}};

  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (known[i].type == type) {
      shape->dtype = known[i].dtype;
      shape->chars = type == NC_CHAR;
      return true;
    }
  }
  shape->text = type == NC_STRING;
  return shape->text;
}

weir_status weir_netcdf_open(const char *path, weir_netcdf **out)
{
  void *memory = NULL;
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;
  int code = NC_NOERR;
  int64_t size = 0;

  *out = NULL;
  WEIR_TRY(
      weir_file_size(path, &size)); /* also keeps names that the library takes for addresses out */
  WEIR_TRY(weir_netcdf_check_length(path, size));
  WEIR_TRY(weir_alloc(1, sizeof *nc, &memory));
  nc = memory;
  nc->id = -1;
  WEIR_TRY_GOTO(weir_strdup(path, &nc->path), fail);
  code = WEIR_NC_ALONE(nc_open(path, NC_NOWRITE, &nc->id));
  if (code != NC_NOERR) {
    nc->id = -1;
    status = weir_fail(weir_netcdf_status(code, WEIR_ERR_DATA),
                       "%s: no NetCDF file, or one that is cut: %s", path, nc_strerror(code));
    goto fail;
  }
  int n = 0;

  for (int i = 0; WEIR_NC_ALONE(nc_inq_nvars(nc->id, &n)) == NC_NOERR && i < n; i++) {
    weir_netcdf_limit_cache(nc, i);
  }
  *out = nc;
  return WEIR_OK;
fail:
  weir_netcdf_close(&nc);
  return status;
}

weir_status weir_netcdf_look(weir_netcdf *nc, int var, weir_netcdf_shape *shape, int *dims,
                             bool *held)
{
  const char *const what = "shape of a variable";
  int ids[NC_MAX_VAR_DIMS];
  nc_type type = 0;
  weir_netcdf_shape s = {0};

  WEIR_NC(nc_inq_vartype(nc->id, var, &type));
  WEIR_NC(nc_inq_varndims(nc->id, var, &s.n_dims));
  *held = dtype_of(type, &s) && s.n_dims <= WEIR_NETCDF_MAX_DIMS;
  if (!*held) {
    return WEIR_OK;
  }
  WEIR_NC(nc_inq_vardimid(nc->id, var, ids));
  for (int i = 0; i < s.n_dims; i++) {
    size_t length = 0;

    WEIR_NC(nc_inq_dimlen(nc->id, ids[i], &length));
    s.lengths[i] = (int64_t)length;
    dims[i] = ids[i];
  }
  *shape = s;
  return WEIR_OK;
}

weir_status weir_netcdf_find(weir_netcdf *nc, const char *name, int *var, weir_netcdf_shape *shape)
{
  int dims[WEIR_NETCDF_MAX_DIMS];
  bool held = false;
  int id = 0;

  if (WEIR_NC_ALONE(nc_inq_varid(nc->id, name, &id)) != NC_NOERR) {
    return weir_fail(WEIR_ERR_DATA, "%s: has no variable %s", nc->path, name);
  }
  WEIR_TRY(weir_netcdf_look(nc, id, shape, dims, &held));
  if (!held) {
    return weir_fail(WEIR_ERR_DATA, "%s: variable %s has a type or rank that is not handled",
                     nc->path, name);
  }
  *var = id;
  return WEIR_OK;
}

weir_status weir_netcdf_count(weir_netcdf *nc, int *n)
{
  const char *const what = "number of variables";

  WEIR_NC(nc_inq_nvars(nc->id, n));
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
  const char *const what = "name of a variable";
  char text[NC_MAX_NAME + 1];

  WEIR_NC(nc_inq_varname(nc->id, var, text));
  return give_name(nc, text, "variable", name, size);
}

weir_status weir_netcdf_dim_name(weir_netcdf *nc, int dim, char *name, size_t size)
{
  const char *const what = "name of a dimension";
  char text[NC_MAX_NAME + 1];

  WEIR_NC(nc_inq_dimname(nc->id, dim, text));
  return give_name(nc, text, "dimension", name, size);
}

weir_status weir_netcdf_count_attributes(weir_netcdf *nc, int var, int *n)
{
  const char *const what = "number of attributes";

  if (var == WEIR_NETCDF_FILE) {
    WEIR_NC(nc_inq_natts(nc->id, n));
  } else {
    WEIR_NC(nc_inq_varnatts(nc->id, var, n));
  }
  return WEIR_OK;
}

weir_status weir_netcdf_attribute(weir_netcdf *nc, int var, int i, char *name, size_t size,
                                  int64_t *count, bool *text)
{
  const char *const what = "attribute";
  char found[NC_MAX_NAME + 1];
  nc_type type = 0;
  size_t n = 0;

  WEIR_NC(nc_inq_attname(nc->id, weir_netcdf_target(var), i, found));
  WEIR_NC(nc_inq_att(nc->id, weir_netcdf_target(var), found, &type, &n));
  *count = (int64_t)n;
  *text = type == NC_CHAR || type == NC_STRING;
  return give_name(nc, found, "attribute", name, size);
}

int64_t weir_netcdf_count_numbers(const weir_netcdf *nc, int var, const char *name)
{
  nc_type type = NC_CHAR;
  size_t n = 0;
  const int code = WEIR_NC_ALONE(nc_inq_att(nc->id, weir_netcdf_target(var), name, &type, &n));

  return code == NC_NOERR && type != NC_CHAR && type != NC_STRING ? (int64_t)n : 0;
}

bool weir_netcdf_is_real(const weir_netcdf *nc, int var, const char *name)
{
  nc_type type = NC_CHAR;
  size_t n = 0;
  const int code = WEIR_NC_ALONE(nc_inq_att(nc->id, weir_netcdf_target(var), name, &type, &n));

  return code == NC_NOERR && (type == NC_FLOAT || type == NC_DOUBLE);
}

bool weir_netcdf_has(const weir_netcdf *nc, int var, const char *name)
{
  return WEIR_NC_ALONE(nc_inq_attid(nc->id, weir_netcdf_target(var), name, NULL)) == NC_NOERR;
}

weir_status weir_netcdf_read(weir_netcdf *nc, int var, const int64_t *start, const int64_t *count,
                             void *data)
{
  const char *const what = "reading a variable";
  size_t corner[WEIR_NETCDF_MAX_DIMS];
  size_t edges[WEIR_NETCDF_MAX_DIMS];

  WEIR_TRY(weir_netcdf_box(nc, var, start, count, corner, edges));
  WEIR_NC(nc_get_vara(nc->id, var, corner, edges, data));
  return WEIR_OK;
}

weir_status weir_netcdf_read_text(weir_netcdf *nc, int var, const int64_t *index, char **text)
{
  const char *const what = "reading a text";
  size_t corner[WEIR_NETCDF_MAX_DIMS];
  size_t edges[WEIR_NETCDF_MAX_DIMS];
  char *found = NULL;

  WEIR_TRY(weir_netcdf_box(nc, var, index, index, corner, edges));
  WEIR_NC(nc_get_var1_string(nc->id, var, corner, &found));
  const weir_status status = weir_strdup(found ? found : "", text);

  (void)WEIR_NC_ALONE(nc_free_string(1, &found));
  return status;
}

/* The one text of an attribute of texts. */
static weir_status get_string(weir_netcdf *nc, int var, const char *name, char **text)
{
  const char *const what = name;
  char *found = NULL;

  WEIR_NC(nc_get_att_string(nc->id, weir_netcdf_target(var), name, &found));
  const weir_status status = weir_strdup(found ? found : "", text);

  (void)WEIR_NC_ALONE(nc_free_string(1, &found));
  return status;
}

weir_status weir_netcdf_get_text(weir_netcdf *nc, int var, const char *name, char **text)
{
  const char *const what = name;
  nc_type type = 0;
  size_t size = 0;
  void *memory = NULL;

  if (WEIR_NC_ALONE(nc_inq_att(nc->id, weir_netcdf_target(var), name, &type, &size)) != NC_NOERR ||
      (type != NC_CHAR && (type != NC_STRING || size != 1))) {
    return weir_fail(WEIR_ERR_DATA, "%s: has no text attribute %s", nc->path, name);
  }
  if (type == NC_STRING) {
    return get_string(nc, var, name, text);
  }
  WEIR_TRY(weir_alloc((int64_t)size + 1, 1, &memory));
  *text = memory;
  const int code = WEIR_NC_ALONE(nc_get_att_text(nc->id, weir_netcdf_target(var), name, *text));

  if (code != NC_NOERR) {
    weir_free(text);
  }
  WEIR_NC(code);
  return WEIR_OK;
}

weir_status weir_netcdf_get_numbers(weir_netcdf *nc, int var, const char *name, double *values,
                                    int64_t n)
{
  const char *const what = name;
  nc_type type = 0;
  size_t size = 0;

  if (WEIR_NC_ALONE(nc_inq_att(nc->id, weir_netcdf_target(var), name, &type, &size)) != NC_NOERR ||
      type == NC_CHAR || type == NC_STRING || (int64_t)size != n) {
    return weir_fail(WEIR_ERR_DATA, "%s: has no attribute %s of %lld numbers", nc->path, name,
                     (long long)n);
  }
  WEIR_NC(nc_get_att_double(nc->id, weir_netcdf_target(var), name, values));
  return WEIR_OK;
}
