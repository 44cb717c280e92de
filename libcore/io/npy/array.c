/* array.c - .npy: "\x93NUMPY", version, length of the header, a dictionary of Python as text, the
 * numbers. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/io_priv.h"
#include "io/weir_npy.h"

enum {
  MAGIC = 6,
  MAX = 1 << 16, /* bytes of a header */
  BLOCK = 64,    /* the numbers begin at a multiple */
};

struct weir_npy {
  char *path;
  int fd;
  weir_npy_shape shape;
  int64_t count, offset;
  bool swapped;
};

/* Letter and bytes of a type of NumPy. */
static const struct {
  char letter, bytes;
  weir_dtype dtype;
} types[] = {{'f', 4, WEIR_F32}, {'f', 8, WEIR_F64}, {'i', 1, WEIR_I8},  {'u', 1, WEIR_U8},
             {'i', 2, WEIR_I16}, {'i', 4, WEIR_I32}, {'i', 8, WEIR_I64}, {'b', 1, WEIR_BOOL}};
enum { TYPES = sizeof types / sizeof types[0] };

void weir_npy_close(weir_npy **n)
{
  if (*n) {
    if ((*n)->fd >= 0) {
      close((*n)->fd);
    }
    weir_free(&(*n)->path);
  }
  weir_free(n);
}

const weir_npy_shape *weir_npy_get(const weir_npy *n)
{
  return &n->shape;
}

/* Where the value of a key of the dictionary begins; NULL where it has none. */
static const char *value_of(const char *text, const char *key)
{
  char quoted[32];

  for (int i = 0; i < 2; i++) {
    (void)snprintf(quoted, sizeof quoted, "%c%s%c", "'\""[i], key, "'\""[i]);
    const char *at = strstr(text, quoted);

    if (at) {
      at += strlen(quoted);
      at += strspn(at, " ");
      return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
    }
  }
  return NULL;
}

/* '<i2' and the like. */
static bool parse_type(weir_npy *n, const char *at)
{
  if (!at || (at[0] != '\'' && at[0] != '"') || !at[1] || !strchr("<>|=", at[1]) || !at[2] ||
      at[3] < '1' || at[3] > '8' || at[4] != at[0]) {
    return false;
  }
  for (int i = 0; i < TYPES; i++) {
    if (types[i].letter == at[2] && types[i].bytes == at[3] - '0') {
      n->shape.dtype = types[i].dtype;
      n->swapped = at[1] == '>';
      return true;
    }
  }
  return false;
}

/* (2, 3), (5,), () */
static bool parse_shape(weir_npy *n, const char *at)
{
  if (!at || *at++ != '(') {
    return false;
  }
  n->count = 1;
  while (*(at += strspn(at, " ")) != ')') {
    const size_t digits = strspn(at, "0123456789");
    int64_t *const length = &n->shape.lengths[n->shape.n_dims];

    if (n->shape.n_dims == WEIR_NPY_MAX_DIMS ||
        !weir_io_parse_int(at, digits, 0, INT64_MAX, length) ||
        __builtin_mul_overflow(n->count, *length, &n->count)) {
      return false;
    }
    n->shape.n_dims++;
    at += digits;
    at += strspn(at, " ");
    if (*at == ',') {
      at++;
    } else if (*at != ')') {
      return false;
    }
  }
  return true;
}

static weir_status parse(weir_npy *n, const char *text, int64_t size)
{
  const char *const order = value_of(text, "fortran_order");
  const int64_t left = size - n->offset;
  int64_t bytes = 0;

  if (!order || (strncmp(order, "False", 5) != 0 && strncmp(order, "True", 4) != 0)) {
    return weir_fail(WEIR_ERR_DATA, "%s: the header does not state the order: %.80s", n->path,
                     text);
  }
  if (!parse_type(n, value_of(text, "descr"))) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: the type in the header is not supported (i1, i2, i4, i8, u1, b1, f4, f8): %.80s",
        n->path, text);
  }
  if (!parse_shape(n, value_of(text, "shape"))) {
    return weir_fail(WEIR_ERR_DATA, "%s: the header has no shape of at most %d dimensions: %.80s",
                     n->path, WEIR_NPY_MAX_DIMS, text);
  }
  if (order[0] == 'T' && n->shape.n_dims > 1) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: the array is in Fortran order: write it with numpy.ascontiguousarray",
                     n->path);
  }
  if (__builtin_mul_overflow(n->count, (int64_t)weir_dtype_size(n->shape.dtype), &bytes) ||
      bytes > left) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: its header claims %lld elements of %s, the file has %lld "
                     "bytes for them",
                     n->path, (long long)n->count, weir_dtype_name(n->shape.dtype),
                     (long long)left);
  }
  return WEIR_OK;
}

static weir_status read_header(weir_npy *n, int64_t size)
{
  uint8_t head[12] = {0};
  char *text = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_io_pread(n->fd, n->path, head, size < 12 ? (size_t)size : 12, 0));
  const int version = head[MAGIC], wide = version > 1 ? 4 : 2;
  int64_t length = head[8] | head[9] << 8;

  if (memcmp(head, "\x93NUMPY", MAGIC) != 0 || version < 1 || version > 3) {
    return weir_fail(WEIR_ERR_DATA, "%s: the file is not a .npy file of version 1 to 3", n->path);
  }
  if (wide == 4) {
    length |= (int64_t)head[10] << 16 | (int64_t)head[11] << 24;
  }
  n->offset = MAGIC + 2 + wide + length;
  if (length > MAX || n->offset > size) {
    return weir_fail(WEIR_ERR_DATA, "%s: claims a header of %lld bytes; the file is damaged",
                     n->path, (long long)length);
  }
  WEIR_TRY(weir_alloc(length + 1, 1, (void **)&text));
  WEIR_TRY_GOTO(weir_io_pread(n->fd, n->path, text, (size_t)length, n->offset - length), done);
  WEIR_TRY_GOTO(parse(n, text, size), done);
done:
  weir_free(&text);
  return status;
}

weir_status weir_npy_open(const char *path, weir_npy **out)
{
  weir_npy *n = NULL;
  int64_t size = 0;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *n, (void **)&n));
  n->fd = -1;
  WEIR_TRY_GOTO(weir_io_open(path, &n->fd, &size), done);
  WEIR_TRY_GOTO(weir_strdup(path, &n->path), done);
  WEIR_TRY_GOTO(read_header(n, size), done);
  *out = n;
  n = NULL;
done:
  weir_npy_close(&n);
  return status;
}

static void swap(void *data, int64_t count, size_t size)
{
  uint8_t *b = data;

  for (int64_t i = 0; i < count; i++, b += size) {
    for (size_t k = 0; k < size / 2; k++) {
      const uint8_t low = b[k];

      b[k] = b[size - 1 - k];
      b[size - 1 - k] = low;
    }
  }
}

weir_status weir_npy_read(weir_npy *n, int64_t first, int64_t count, void *out)
{
  const size_t each = weir_dtype_size(n->shape.dtype);

  if (first < 0 || count < 0 || first > n->count - count) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: elements %lld to %lld of %lld", n->path, (long long)first,
                     (long long)(first + count), (long long)n->count);
  }
  WEIR_TRY(
      weir_io_pread(n->fd, n->path, out, (size_t)count * each, n->offset + first * (int64_t)each));
  if (n->swapped) {
    swap(out, count, each);
  }
  return WEIR_OK;
}

/* The header that NumPy itself writes, of version 1. */
static size_t make_header(const weir_npy_shape *shape, char *text, size_t size)
{
  const char *type = "<f4";
  char name[8];

  for (int i = 0; i < TYPES; i++) {
    if (types[i].dtype == shape->dtype) {
      (void)snprintf(name, sizeof name, "%c%c%d", types[i].bytes == 1 ? '|' : '<', types[i].letter,
                     types[i].bytes);
      type = name;
    }
  }
  int n = snprintf(text, size, "%cNUMPY%c%c..{'descr': '%s', 'fortran_order': False, 'shape': (",
                   0x93, 1, 'v', type);

  for (int d = 0; d < shape->n_dims; d++) {
    n += snprintf(text + n, size - (size_t)n, d > 0 ? ", %lld" : "%lld",
                  (long long)shape->lengths[d]);
  }
  n += snprintf(text + n, size - (size_t)n, shape->n_dims == 1 ? ",), }" : "), }");
  for (; (n + 1) % BLOCK != 0; n++) {
    text[n] = ' ';
  }
  text[n++] = '\n';
  text[MAGIC + 1] = 0;
  text[MAGIC + 2] = (char)((n - 10) & 0xff);
  text[MAGIC + 3] = (char)((n - 10) >> 8);
  return (size_t)n;
}

weir_status weir_npy_write(const char *path, const weir_npy_shape *shape, const void *data)
{
  char text[512];
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;
  const size_t head = make_header(shape, text, sizeof text);
  size_t bytes = weir_dtype_size(shape->dtype);

  for (int d = 0; d < shape->n_dims; d++) {
    bytes *= (size_t)shape->lengths[d];
  }

  WEIR_TRY(weir_writer_open(path, &w));
  WEIR_TRY_GOTO(weir_writer_write(w, text, head), done);
  WEIR_TRY_GOTO(weir_writer_write(w, data, bytes), done);
  WEIR_TRY_GOTO(weir_writer_commit(&w), done);
done:
  weir_writer_destroy(&w);
  return status;
}
