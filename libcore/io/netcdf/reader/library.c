/* library.c - requests about what is in a file, answered by the library. Sizes that a file states
 * are compared with its own before anybody allocates by them. */
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "io/netcdf/netcdf_priv.h"
#include "base/weir_alloc.h"
#include "reader.h"

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

static void put_name(weir_reader_reply *r, const char *name)
{
  strncpy(r->name, name, sizeof r->name - 1);
}

/* The largest chunk of a variable, in bytes; 0 where it has none. */
static int64_t chunk_bytes(int id, int var)
{
  size_t chunks[NC_MAX_VAR_DIMS], size = 0;
  int n = 0, storage = NC_CONTIGUOUS;
  nc_type type = NC_BYTE;
  int64_t bytes = 0;

  if (nc_inq_var(id, var, NULL, &type, &n, NULL, NULL) != NC_NOERR || n < 1 ||
      nc_inq_var_chunking(id, var, &storage, chunks) != NC_NOERR || storage != NC_CHUNKED ||
      nc_inq_type(id, type, NULL, &size) != NC_NOERR) {
    return 0;
  }
  bytes = (int64_t)size;
  for (int d = 0; d < n; d++) {
    if (chunks[d] > INT64_MAX || !weir_mul_ok(bytes, (int64_t)chunks[d], &bytes)) {
      return INT64_MAX;
    }
  }
  return bytes;
}

/* Memory for some copies of the largest chunk, which the library and its filters make. */
static void allow_memory(int64_t chunk)
{
  struct rlimit memory = {0};

  if (getrlimit(RLIMIT_DATA, &memory) == 0) {
    const rlim_t wanted = (rlim_t)(1 << 30) + 5 * (rlim_t)chunk;

    if (wanted > memory.rlim_cur) {
      memory.rlim_cur = wanted < memory.rlim_max ? wanted : memory.rlim_max;
      (void)setrlimit(RLIMIT_DATA, &memory);
    }
  }
}

/* Variables of an opened file: what Weir keeps of them, and that their chunks are sensible. */
static bool list(reader_state *s, weir_reader_reply *r, int n)
{
  weir_reader_var *const var = (weir_reader_var *)(void *)s->memory.at;
  int64_t largest = 0;

  for (int i = 0; i < n; i++) {
    const int64_t bytes = chunk_bytes(r->file, i);
    nc_type type = NC_BYTE;
    size_t size = 0;
    int dims = 0;

    if (bytes > reader_max_bytes(s)) {
      r->doubtful = true;
      reader_refuse(r, WEIR_ERR_DATA,
                    "a variable has chunks of %lld bytes, the file %lld: it is damaged: copy or "
                    "create it again",
                    (long long)bytes, (long long)s->file_bytes);
      return false;
    }
    largest = bytes > largest ? bytes : largest;
    weir_netcdf_limit_cache(r->file, i);
    var[i] = (weir_reader_var){.n_dims = -1};
    if (nc_inq_vartype(r->file, i, &type) == NC_NOERR &&
        nc_inq_varndims(r->file, i, &dims) == NC_NOERR && dims <= WEIR_NETCDF_MAX_DIMS &&
        type != NC_STRING && nc_inq_type(r->file, type, NULL, &size) == NC_NOERR) {
      var[i] = (weir_reader_var){.n_dims = dims, .bytes = (int32_t)size};
    } else if (type == NC_STRING && dims <= WEIR_NETCDF_MAX_DIMS) {
      var[i].n_dims = dims;
    }
  }
  allow_memory(largest);
  return true;
}

/* The file of a group. */
static int root_of(int id)
{
  int parent = id;

  while (nc_inq_grp_parent(id, &parent) == NC_NOERR) {
    id = parent;
  }
  return id;
}

/* r->file, the file, becomes the group that is asked for. */
static bool enter_group(const weir_reader_request *q, weir_reader_reply *r)
{
  int group = 0;

  if (q->group[0] == 0) {
    return true;
  }
  const int code = nc_inq_grp_full_ncid(r->file, q->group, &group);

  if (code == NC_NOERR) {
    r->file = group;
    return true;
  }
  r->doubtful = code <= NC4_FIRST_ERROR || nc_close(r->file) != NC_NOERR;
  reader_refuse(r, WEIR_ERR_DATA, "has no group %s", q->group);
  return false;
}

static void open_file(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  const int64_t store = q->count[0];
  char address[WEIR_READER_NAME + 32];
  struct stat is;
  int n = 0;

  if (stat(q->name, &is) == 0 && is.st_size > s->file_bytes) {
    s->file_bytes = is.st_size;
  }
  s->file_bytes = store > s->file_bytes ? store : s->file_bytes;
  (void)snprintf(address, sizeof address, store > 0 ? "file://%s#mode=zarr,file" : "%s", q->name);
  const int code = nc_open(address, NC_NOWRITE, &r->file);

  if (code != NC_NOERR) {
    r->doubtful = code <= NC4_FIRST_ERROR || code == NC_ENOMEM;
    reader_refuse(r, WEIR_ERR_DATA, "not a NetCDF file, or a truncated one: %s", nc_strerror(code));
    return;
  }
  if (!enter_group(q, r)) {
    return;
  }
  if (!reader_good(r, nc_inq_nvars(r->file, &n), "number of variables") ||
      !reader_share(s, r, (int64_t)sizeof(weir_reader_var) * (n + 1)) || !list(s, r, n)) {
    r->doubtful = true; /* so that it does not stay open */
    return;
  }
  r->number = n;
  r->bytes = (int64_t)sizeof(weir_reader_var) * n;
}

static void close_file(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  (void)s;
  r->doubtful = nc_close(root_of(q->file)) != NC_NOERR;
}

static void find(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  int var = 0;
  const int code = nc_inq_varid(q->file, q->name, &var);

  (void)s;
  r->doubtful = code <= NC4_FIRST_ERROR;
  r->number = var;
  if (code != NC_NOERR) {
    reader_refuse(r, WEIR_ERR_DATA, "has no variable %s", q->name);
  }
}

/* The lengths of a variable, which its file can have. */
static bool take_lengths(const reader_state *s, const weir_reader_request *q, weir_reader_reply *r,
                         const int *ids)
{
  const char *const what = "shape of a variable";
  int64_t bytes = 1;

  for (int i = 0; i < r->shape.n_dims; i++) {
    size_t length = 0;

    if (!reader_good(r, nc_inq_dimlen(q->file, ids[i], &length), what)) {
      return false;
    }
    if (length > INT64_MAX || !weir_mul_ok(bytes, (int64_t)length, &bytes)) {
      bytes = INT64_MAX;
    }
    r->shape.lengths[i] = (int64_t)length;
    r->dims[i] = ids[i];
  }
  if (bytes > reader_max_bytes(s)) {
    char name[NC_MAX_NAME + 1] = "";

    (void)nc_inq_varname(q->file, q->var, name);
    r->doubtful = true;
    reader_refuse(r, WEIR_ERR_DATA,
                  "variable %s has %lld values or more by its dimensions, more than its bytes can "
                  "store: the file (%lld bytes) is damaged: copy or create it again",
                  name, (long long)bytes, (long long)s->file_bytes);
    return false;
  }
  return true;
}

static void look(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  const char *const what = "shape of a variable";
  int ids[NC_MAX_VAR_DIMS];
  nc_type type = 0;

  if (!reader_good(r, nc_inq_vartype(q->file, q->var, &type), what) ||
      !reader_good(r, nc_inq_varndims(q->file, q->var, &r->shape.n_dims), what)) {
    return;
  }
  r->supported = dtype_of(type, &r->shape) && r->shape.n_dims <= WEIR_NETCDF_MAX_DIMS;
  if (r->supported && reader_good(r, nc_inq_vardimid(q->file, q->var, ids), what)) {
    (void)take_lengths(s, q, r, ids);
  }
}

static void var_name(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  char text[NC_MAX_NAME + 1];

  (void)s;
  if (reader_good(r, nc_inq_varname(q->file, q->var, text), "name of a variable")) {
    put_name(r, text);
  }
}

static void dim_name(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  char text[NC_MAX_NAME + 1];

  (void)s;
  if (reader_good(r, nc_inq_dimname(q->file, q->number, text), "name of a dimension")) {
    put_name(r, text);
  }
}

static void group(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  enum { MAX = 4096 };
  const char *const what = "groups";
  char text[NC_MAX_NAME + 1];
  int ids[MAX], n = 0;

  (void)s;
  if (!reader_good(r, nc_inq_grps(q->file, &n, NULL), what)) {
    return;
  }
  if (n < 0 || n > MAX) {
    reader_refuse(r, WEIR_ERR_DATA, "has %d groups, more than %d", n, MAX);
    return;
  }
  r->count = n;
  if (q->number >= 0 && q->number < n && reader_good(r, nc_inq_grps(q->file, NULL, ids), what) &&
      reader_good(r, nc_inq_grpname(ids[q->number], text), what)) {
    put_name(r, text);
  }
}

static void count_attributes(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  int n = 0;

  (void)s;
  if (reader_good(r,
                  q->var == WEIR_NETCDF_FILE ? nc_inq_natts(q->file, &n)
                                             : nc_inq_varnatts(q->file, q->var, &n),
                  "number of attributes")) {
    r->number = n;
  }
}

/* Type and length of an attribute, which its file can have. */
static bool take_attribute(const reader_state *s, const weir_reader_request *q, const char *name,
                           nc_type *type, weir_reader_reply *r)
{
  size_t n = 0;

  if (!reader_good(r, nc_inq_att(q->file, weir_netcdf_target(q->var), name, type, &n), name)) {
    return false;
  }
  if (n > (size_t)s->file_bytes) {
    r->doubtful = true;
    reader_refuse(r, WEIR_ERR_DATA,
                  "attribute %s declares %zu values, but the file has %lld bytes: it is damaged: "
                  "copy or create it again",
                  name, n, (long long)s->file_bytes);
    return false;
  }
  r->count = (int64_t)n;
  r->text = *type == NC_CHAR || *type == NC_STRING;
  r->real = *type == NC_FLOAT || *type == NC_DOUBLE;
  return true;
}

static void attribute(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  char found[NC_MAX_NAME + 1];
  nc_type type = 0;

  if (reader_good(r, nc_inq_attname(q->file, weir_netcdf_target(q->var), q->number, found),
                  "attribute") &&
      take_attribute(s, q, found, &type, r)) {
    put_name(r, found);
  }
}

static void find_attribute(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  nc_type type = 0;

  if (take_attribute(s, q, q->name, &type, r)) {
    r->number = 1;
  } else if (!r->doubtful) {
    r->status = WEIR_OK; /* none */
  }
}

/* A text of the library, which is freed here. */
static void pass_string(reader_state *s, weir_reader_reply *r, char *found)
{
  const char *const text = found ? found : "";
  const int64_t bytes = (int64_t)strlen(text) + 1;

  if (reader_share(s, r, bytes)) {
    memcpy(s->memory.at, text, (size_t)bytes);
    r->bytes = bytes;
  }
  (void)nc_free_string(1, &found);
}

static void get_text(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  const int target = weir_netcdf_target(q->var);
  nc_type type = 0;
  char *found = NULL;

  if (!take_attribute(s, q, q->name, &type, r) || !r->text ||
      (type == NC_STRING && r->count != 1)) {
    if (!r->doubtful) {
      reader_refuse(r, WEIR_ERR_DATA, "has no text attribute %s", q->name);
    }
    return;
  }
  if (type == NC_STRING) {
    if (reader_good(r, nc_get_att_string(q->file, target, q->name, &found), q->name)) {
      pass_string(s, r, found);
    }
    return;
  }
  if (reader_share(s, r, r->count + 1) &&
      reader_good(r, nc_get_att_text(q->file, target, q->name, s->memory.at), q->name)) {
    s->memory.at[r->count] = 0;
    r->bytes = r->count + 1;
  }
}

static void get_numbers(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  nc_type type = 0;

  if (!take_attribute(s, q, q->name, &type, r) || r->text || r->count != q->count[0]) {
    if (!r->doubtful) {
      reader_refuse(r, WEIR_ERR_DATA, "has no attribute %s of %lld numbers", q->name,
                    (long long)q->count[0]);
    }
    return;
  }
  if (reader_share(s, r, (r->count + 1) * (int64_t)sizeof(double)) &&
      reader_good(r,
                  nc_get_att_double(q->file, weir_netcdf_target(q->var), q->name,
                                    (double *)(void *)s->memory.at),
                  q->name)) {
    r->bytes = r->count * (int64_t)sizeof(double);
  }
}

/* By type, where the variable has no attribute; of bytes the default is data as well ("Fill
 * Values", NetCDF Users Guide). */
static void fill_value(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  static const struct {
    nc_type type;
    double value;
  } known[] = {{NC_SHORT, NC_FILL_SHORT},
               {NC_USHORT, NC_FILL_USHORT},
               {NC_INT, NC_FILL_INT},
               {NC_UINT, NC_FILL_UINT},
               {NC_FLOAT, NC_FILL_FLOAT},
               {NC_DOUBLE, NC_FILL_DOUBLE},
               {NC_INT64, (double)NC_FILL_INT64},
               {NC_UINT64, (double)NC_FILL_UINT64}};
  const char *const what = "fill value of a variable";
  nc_type type = NC_NAT;
  int off = 0;

  if (!reader_good(r, nc_inq_vartype(q->file, q->var, &type), what) ||
      !reader_good(r, nc_inq_var_fill(q->file, q->var, &off, NULL), what) ||
      !reader_share(s, r, (int64_t)sizeof(double))) {
    return;
  }
  for (size_t i = 0; i < sizeof known / sizeof known[0] && !off; i++) {
    if (known[i].type == type) {
      memcpy(s->memory.at, &known[i].value, sizeof known[i].value);
      r->number = 1;
      r->bytes = (int64_t)sizeof known[i].value;
    }
  }
}

static void read_text(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  size_t at[WEIR_NETCDF_MAX_DIMS];
  char *found = NULL;

  for (int d = 0; d < WEIR_NETCDF_MAX_DIMS; d++) {
    at[d] = (size_t)q->start[d];
  }
  if (reader_good(r, nc_get_var1_string(q->file, q->var, at, &found), "reading a text")) {
    pass_string(s, r, found);
  }
}

typedef void answerer(reader_state *, const weir_reader_request *, weir_reader_reply *);

void reader_answer(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  static answerer *const answer[] = {
      [WEIR_READER_OPEN] = open_file,
      [WEIR_READER_CLOSE] = close_file,
      [WEIR_READER_FIND] = find,
      [WEIR_READER_LOOK] = look,
      [WEIR_READER_VAR_NAME] = var_name,
      [WEIR_READER_DIM_NAME] = dim_name,
      [WEIR_READER_COUNT_ATTRIBUTES] = count_attributes,
      [WEIR_READER_ATTRIBUTE] = attribute,
      [WEIR_READER_FIND_ATTRIBUTE] = find_attribute,
      [WEIR_READER_GET_TEXT] = get_text,
      [WEIR_READER_GET_NUMBERS] = get_numbers,
      [WEIR_READER_FILL] = fill_value,
      [WEIR_READER_READ] = reader_read,
      [WEIR_READER_READ_TEXT] = read_text,
      [WEIR_READER_GROUP] = group,
  };

  if (q->op < 0 || q->op >= WEIR_READER_NEXT) {
    reader_refuse(r, WEIR_ERR_EXTERNAL, "an unknown request");
    return;
  }
  answer[q->op](s, q, r);
}
