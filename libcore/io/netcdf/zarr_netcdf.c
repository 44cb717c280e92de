/* zarr_netcdf.c - whether a folder is a Zarr store of version 2 that the NetCDF library reads as it
 * is meant. Version 4.9.0 of the library crashes on some arrays, and takes compressed, transposed
 * or cut chunks for plain ones: numbers that are wrong. Such stores are refused before it sees
 * them. Metadata: "Zarr Storage Specification Version 2". */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <netcdf_meta.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/weir_alloc.h"
#include "io/netcdf/netcdf_priv.h"
#include "io/netcdf/weir_zarr.h"

enum { METADATA = 1 << 20, DEEPEST_VALUE = 32, DEEPEST_GROUP = 8, NAME = 128, TYPE = 16 };

/* What .zarray says of an array. */
typedef struct array {
  int64_t shape[WEIR_NETCDF_MAX_DIMS], chunks[WEIR_NETCDF_MAX_DIMS], version;
  int n_dims, n_chunks; /* -1: not stated, or no list of lengths */
  char type[TYPE], order[TYPE], separator[TYPE];
  bool compressor, filters; /* there is one */
  char codec[NAME];         /* its id */
  bool fill, fill_nan;      /* a value is stated; it is NaN */
} array;

/* ---- JSON ---- */

static const char *skip_space(const char *at)
{
  return at + strspn(at, " \t\r\n");
}

/* After the string at `at`, which begins with a quote; NULL: it has no end. Its text, with escapes
 * as they stand, goes to `text`, cut to `size`. */
static const char *read_string(const char *at, char *text, size_t size)
{
  size_t n = 0;

  if (*at != '"') {
    return NULL;
  }
  for (at++; *at != '"'; at++) {
    if (*at == 0 || (*at == '\\' && at[1] == 0)) {
      return NULL;
    }
    for (int k = *at == '\\' ? 2 : 1; k > 0; k--) {
      if (n + 1 < size) {
        text[n++] = *at;
      }
      at += k > 1;
    }
  }
  if (size > 0) {
    text[n] = 0;
  }
  return at + 1;
}

/* After any value; NULL: it is none. */
static const char *skip_value(const char *at, int depth)
{
  at = skip_space(at);
  if (*at == '"') {
    return read_string(at, NULL, 0);
  }
  if (*at != '{' && *at != '[') {
    const size_t n = strcspn(at, ",]} \t\r\n");

    return n > 0 ? at + n : NULL;
  }
  const char end = (char)(*at == '{' ? '}' : ']');

  for (at = skip_space(at + 1); *at != end;) {
    if (depth == 0) {
      return NULL;
    }
    if (end == '}') {
      at = read_string(at, NULL, 0);
      at = at != NULL ? skip_space(at) : NULL;
      if (at == NULL || *at++ != ':') {
        return NULL;
      }
    }
    at = skip_value(at, depth - 1);
    at = at != NULL ? skip_space(at) : NULL;
    if (at == NULL || (*at != ',' && *at != end)) {
      return NULL;
    }
    at = *at == ',' ? skip_space(at + 1) : at;
  }
  return at + 1;
}

/* The value of a key of the object at `at`; NULL: there is none, or it is no object. */
static const char *find_key(const char *at, const char *key)
{
  char name[NAME];

  at = skip_space(at);
  if (*at != '{') {
    return NULL;
  }
  for (at = skip_space(at + 1); *at != '}'; at = *at == ',' ? skip_space(at + 1) : at) {
    at = read_string(at, name, sizeof name);
    at = at != NULL ? skip_space(at) : NULL;
    if (at == NULL || *at != ':') {
      return NULL;
    }
    if (strcmp(name, key) == 0) {
      return skip_space(at + 1);
    }
    at = skip_value(at + 1, DEEPEST_VALUE);
    at = at != NULL ? skip_space(at) : NULL;
    if (at == NULL || (*at != ',' && *at != '}')) {
      return NULL;
    }
  }
  return NULL;
}

/* A list of whole numbers; -1: it is none, or one too long. */
static int read_lengths(const char *at, int64_t *out)
{
  int n = 0;

  if (at == NULL || *at != '[') {
    return -1;
  }
  for (at = skip_space(at + 1); *at != ']'; at = *at == ',' ? skip_space(at + 1) : at) {
    char *end = NULL;

    errno = 0;
    const long long value = strtoll(at, &end, 10);

    if (n == WEIR_NETCDF_MAX_DIMS || end == at || errno != 0 || value < 0) {
      return -1;
    }
    out[n++] = value;
    at = skip_space(end);
    if (*at != ',' && *at != ']') {
      return -1;
    }
  }
  return n;
}

static bool is_null(const char *at)
{
  return at == NULL || strncmp(at, "null", 4) == 0;
}

static void read_text(const char *json, const char *key, const char *none, char *out, size_t size)
{
  const char *const at = find_key(json, key);

  if (at == NULL || read_string(at, out, size) == NULL) {
    (void)snprintf(out, size, "%s", none);
  }
}

static void read_array(const char *json, array *out)
{
  const char *const version = find_key(json, "zarr_format"), *const fill =
                                                                 find_key(json, "fill_value");
  const char *const compressor = find_key(json, "compressor");

  *out = (array){.version = version != NULL ? strtoll(version, NULL, 10) : 0,
                 .compressor = !is_null(compressor),
                 .filters = !is_null(find_key(json, "filters")),
                 .fill = !is_null(fill),
                 .fill_nan = fill != NULL && strncmp(fill, "\"NaN\"", 5) == 0};
  out->n_dims = read_lengths(find_key(json, "shape"), out->shape);
  out->n_chunks = read_lengths(find_key(json, "chunks"), out->chunks);
  read_text(json, "dtype", "", out->type, sizeof out->type);
  read_text(json, "order", "", out->order, sizeof out->order);
  read_text(json, "dimension_separator", ".", out->separator, sizeof out->separator);
  if (out->compressor) {
    read_text(compressor, "id", "unknown", out->codec, sizeof out->codec);
  }
}

/* ---- Arrays ---- */

/* Bytes of an element; 0: of a type that the library crashes on or misreads. */
static int64_t type_bytes(const char *type)
{
  static const char *const known[] = {"<f4", "<f8", "|i1", "<i2", "<i4",
                                      "<i8", "|u1", "<u2", "<u4", "<u8"};

  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(type, known[i]) == 0) {
      return type[2] - '0';
    }
  }
  return 0;
}

#define COPY "; copy it to NetCDF (xarray: open_zarr(...).to_netcdf(...)), or "

static weir_status check_array(const char *path, const array *a)
{
  if (a->version != 2) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: Zarr of version %lld; 2 is read" COPY "write it "
                     "with zarr_format=2",
                     path, (long long)a->version);
  }
  if (a->compressor || a->filters) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: its chunks are stored with %s '%s', which the NetCDF library does not "
                     "have for Zarr" COPY "write it without compressor and filters",
                     path, a->compressor ? "the compressor" : "filters",
                     a->compressor ? a->codec : "");
  }
  if (type_bytes(a->type) == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: its dtype '%.15s' is none that the NetCDF library reads of Zarr: "
                     "little-endian numbers are" COPY "drop the variable",
                     path, a->type);
  }
  if (a->n_dims == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: a variable without a dimension, on which the NetCDF library fails" COPY
                     "drop it, or make it a dimension (expand_dims)",
                     path);
  }
  if (strcmp(a->order, "C") != 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: its order is '%.15s'; C is read" COPY "write it in that order", path,
                     a->order);
  }
  if (a->fill && !a->fill_nan) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: its fill_value is neither null nor NaN: it means missing values, which "
                     "the NetCDF library does not say" COPY "set the encoding _FillValue to NaN",
                     path);
  }
  bool good = a->n_dims > 0 && a->n_chunks == a->n_dims &&
              (strcmp(a->separator, ".") == 0 || strcmp(a->separator, "/") == 0);

  for (int d = 0; good && d < a->n_dims; d++) {
    good = a->chunks[d] > 0;
  }
  return good ? WEIR_OK
              : weir_fail(WEIR_ERR_DATA,
                          "%s: .zarray has no sound shape and chunks (1 to %d dimensions): the "
                          "store is damaged: copy or create it again",
                          path, WEIR_NETCDF_MAX_DIMS);
}

/* The chunks that there are have their size, and all are there unless a missing one is NaN. */
static weir_status check_chunks(const char *path, const array *a, int64_t *bytes)
{
  int64_t each = type_bytes(a->type), all = 1, index[WEIR_NETCDF_MAX_DIMS] = {0};

  for (int d = 0; d < a->n_dims; d++) {
    if (!weir_mul_ok(each, a->chunks[d], &each) ||
        !weir_mul_ok(all, a->shape[d] / a->chunks[d] + (a->shape[d] % a->chunks[d] > 0), &all)) {
      return weir_fail(WEIR_ERR_DATA, "%s: its chunks are too many or too large", path);
    }
  }
  if (all > INT32_MAX) {
    return weir_fail(WEIR_ERR_DATA, "%s: its chunks are too many", path);
  }
  for (int64_t i = 0; i < all; i++) {
    char name[PATH_MAX];
    struct stat info;
    int64_t rest = i;
    size_t n = (size_t)snprintf(name, sizeof name, "%s/", path);

    for (int d = a->n_dims - 1; d >= 0; d--) {
      const int64_t along = a->shape[d] / a->chunks[d] + (a->shape[d] % a->chunks[d] > 0);

      index[d] = rest % along;
      rest /= along;
    }
    for (int d = 0; d < a->n_dims && n < sizeof name; d++) {
      n += (size_t)snprintf(name + n, sizeof name - n, "%s%lld", d > 0 ? a->separator : "",
                            (long long)index[d]);
    }
    const bool there = n < sizeof name && stat(name, &info) == 0;

    if (there ? !S_ISREG(info.st_mode) || (int64_t)info.st_size != each : !a->fill_nan) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: chunk %s %s: the store is incomplete or damaged: copy or create it "
                       "again",
                       path, name + strlen(path) + 1,
                       there ? "has not the size of its numbers" : "is missing");
    }
    *bytes += there ? each : 0;
  }
  return WEIR_OK;
}

static bool has(const char *path, const char *name)
{
  char file[PATH_MAX];

  return snprintf(file, sizeof file, "%s/%s", path, name) < (int)sizeof file &&
         weir_file_exists(file);
}

static weir_status check_one(const char *path, int64_t *bytes)
{
  char file[PATH_MAX], *json = NULL;
  int64_t size = 0;
  array a;

  WEIR_TRY(weir_path_join(path, ".zarray", file, sizeof file));
  WEIR_TRY(weir_file_read(file, METADATA, &json, &size));
  read_array(json, &a);
  weir_free(&json);
  WEIR_TRY(check_array(path, &a));
  return check_chunks(path, &a, bytes);
}

/* A group, and all in it. */
static weir_status check_group(const char *path, int depth, int64_t *bytes)
{
  char inner[PATH_MAX];
  weir_status status = WEIR_OK;
  DIR *const dir = opendir(path);

  if (dir == NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: the folder cannot be read: %s", path, strerror(errno));
  }
  for (const struct dirent *e = readdir(dir); e != NULL && status == WEIR_OK; e = readdir(dir)) {
    if (e->d_name[0] == '.') {
      continue;
    }
    status = weir_path_join(path, e->d_name, inner, sizeof inner);
    if (status == WEIR_OK && has(inner, ".zarray")) {
      status = check_one(inner, bytes);
    } else if (status == WEIR_OK && has(inner, ".zgroup")) {
      status = depth > 0 ? check_group(inner, depth - 1, bytes)
                         : weir_fail(WEIR_ERR_DATA, "%s: too many groups in groups", path);
    }
  }
  closedir(dir);
  return status;
}

bool weir_netcdf_is_store(const char *path)
{
  struct stat info;

  return stat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
         (has(path, ".zgroup") || has(path, ".zarray") || has(path, "zarr.json"));
}

weir_status weir_netcdf_check_store(const char *path, int64_t *bytes)
{
  *bytes = 0;
  if (has(path, "zarr.json")) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: Zarr of version 3 (zarr.json), which is not read" COPY
                     "write version 2 (to_zarr(..., zarr_format=2))",
                     path);
  }
#ifdef NC_HAS_NCZARR
  const bool reads = NC_HAS_NCZARR;
#else
  const bool reads = false;
#endif
  if (!reads) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: the NetCDF library of this build does not read Zarr (NCZarr)" COPY
                     "build with one that does",
                     path);
  }
  if (strchr(path, '#') != NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: the NetCDF library reads no Zarr store whose path "
                     "has a #: rename it",
                     path);
  }
  if (!has(path, ".zgroup")) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: a single Zarr array; a group of arrays (.zgroup) is read: "
                     "name the folder that it is in",
                     path);
  }
  return check_group(path, DEEPEST_GROUP, bytes);
}
