/* store_file.c - the store as a file, and back.
 *
 * magic, byte-order mark, bytes of the header; header: number of arrays, and for each the name,
 * dtype, rank, extents and digest of its elements; digest of all that; then the elements, array by
 * array. Numbers are 64-bit in the byte order of the mark. Digests are SHA-256 in hex. */
#include "graph/weir_store_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"

enum { DIGEST = 64, PREAMBLE = 24, DTYPE_TEXT = 8, MAX_HEADER = 1 << 26 };

static const char magic[8] = {'W', 'E', 'I', 'R', 'S', 'T', 'O', '1'};
static const uint64_t order_mark = UINT64_C(0x0102030405060708);

/* Bytes being put together. */
struct text {
  char *bytes;
  int64_t n, capacity;
};

static weir_status put(struct text *t, const void *data, size_t n)
{
  WEIR_TRY(weir_reserve(&t->bytes, &t->capacity, t->n + (int64_t)n, 1));
  memcpy(t->bytes + t->n, data, n);
  t->n += (int64_t)n;
  return WEIR_OK;
}

static weir_status put_number(struct text *t, int64_t x)
{
  return put(t, &x, sizeof x);
}

static void digest_of(const void *data, size_t bytes, char hex[DIGEST + 1])
{
  weir_sha256(bytes > 0 ? data : "", bytes, hex);
}

static weir_status put_array(struct text *t, const char *name, const weir_tensor *x)
{
  char dtype[DTYPE_TEXT] = {0}, hex[DIGEST + 1];
  const size_t length = strlen(name);

  snprintf(dtype, sizeof dtype, "%s", weir_dtype_name(x->dtype));
  digest_of(x->data, weir_tensor_bytes(x), hex);
  WEIR_TRY(put_number(t, (int64_t)length));
  WEIR_TRY(put(t, name, length));
  WEIR_TRY(put(t, dtype, sizeof dtype));
  WEIR_TRY(put_number(t, x->rank));
  for (int d = 0; d < x->rank; d++) {
    WEIR_TRY(put_number(t, x->shape[d]));
  }
  WEIR_TRY(put(t, hex, DIGEST));
  return WEIR_OK;
}

static weir_status put_header(const weir_store *s, struct text *t)
{
  char hex[DIGEST + 1];

  WEIR_TRY(put(t, magic, sizeof magic));
  WEIR_TRY(put(t, &order_mark, sizeof order_mark));
  WEIR_TRY(put_number(t, 0));
  WEIR_TRY(put_number(t, weir_store_count(s)));
  for (int64_t i = 0; i < weir_store_count(s); i++) {
    const char *name = weir_store_name(s, i);
    const weir_tensor *x = NULL;

    WEIR_TRY(weir_store_read(s, name, &x));
    WEIR_TRY(put_array(t, name, x));
  }
  const int64_t length = t->n - PREAMBLE;
  memcpy(t->bytes + PREAMBLE - sizeof length, &length, sizeof length);
  digest_of(t->bytes, (size_t)t->n, hex);
  WEIR_TRY(put(t, hex, DIGEST));
  return WEIR_OK;
}

weir_status weir_store_save(const weir_store *s, const char *path)
{
  struct text t = {0};
  weir_writer *w = NULL;
  weir_status status;

  WEIR_TRY_GOTO(put_header(s, &t), done);
  WEIR_TRY_GOTO(weir_writer_open(path, &w), done);
  WEIR_TRY_GOTO(weir_writer_write(w, t.bytes, (size_t)t.n), done);
  for (int64_t i = 0; i < weir_store_count(s); i++) {
    const weir_tensor *x = NULL;

    WEIR_TRY_GOTO(weir_store_read(s, weir_store_name(s, i), &x), done);
    if (weir_tensor_bytes(x) > 0) {
      WEIR_TRY_GOTO(weir_writer_write(w, x->data, weir_tensor_bytes(x)), done);
    }
  }
  WEIR_TRY_GOTO(weir_writer_commit(&w), done);
done:
  weir_writer_destroy(&w);
  weir_free(&t.bytes);
  return status;
}

/* A file being read; `left` bytes of it are still to come. */
struct source {
  FILE *file;
  const char *path;
  int64_t left;
};

static weir_status damaged(const struct source *s, const char *what)
{
  return weir_fail(WEIR_ERR_DATA, "%s: %s; the file is damaged or not a saved store", s->path,
                   what);
}

static weir_status get(struct source *s, void *data, int64_t n)
{
  if (n < 0 || n > s->left) {
    return damaged(s, "it is shorter than its header says");
  }
  if (n > 0 && fread(data, 1, (size_t)n, s->file) != (size_t)n) {
    return damaged(s, "reading fails");
  }
  s->left -= n;
  return WEIR_OK;
}

/* What the header says of one array. */
struct entry {
  char name[256];
  weir_dtype dtype;
  int64_t rank, shape[WEIR_MAX_RANK], bytes;
  char digest[DIGEST];
};

/* Header bytes not yet read. */
struct cursor {
  const char *at;
  int64_t left;
};

static bool take(struct cursor *c, void *out, int64_t n)
{
  if (n < 0 || n > c->left) {
    return false;
  }
  memcpy(out, c->at, (size_t)n);
  c->at += n;
  c->left -= n;
  return true;
}

static bool take_dtype(struct cursor *c, weir_dtype *out)
{
  char text[DTYPE_TEXT + 1] = {0};

  if (!take(c, text, DTYPE_TEXT)) {
    return false;
  }
  for (int i = 0; i < WEIR_DTYPE_COUNT; i++) {
    if (strcmp(text, weir_dtype_name((weir_dtype)i)) == 0) {
      *out = (weir_dtype)i;
      return true;
    }
  }
  return false;
}

static bool take_entry(struct cursor *c, struct entry *e)
{
  int64_t length;

  memset(e, 0, sizeof *e);
  if (!take(c, &length, sizeof length) || length < 1 || length >= (int64_t)sizeof e->name ||
      !take(c, e->name, length) || strlen(e->name) != (size_t)length || !take_dtype(c, &e->dtype) ||
      !take(c, &e->rank, sizeof e->rank) || e->rank < 0 || e->rank > WEIR_MAX_RANK) {
    return false;
  }
  e->bytes = (int64_t)weir_dtype_size(e->dtype);
  for (int64_t d = 0; d < e->rank; d++) {
    if (!take(c, &e->shape[d], sizeof e->shape[d]) || e->shape[d] < 0 ||
        !weir_mul_ok(e->bytes, e->shape[d], &e->bytes)) {
      return false;
    }
  }
  return take(c, e->digest, DIGEST);
}

static weir_status read_header(struct source *s, char **header, struct cursor *c, int64_t *count)
{
  char preamble[PREAMBLE], stated[DIGEST], hex[DIGEST + 1];
  int64_t length;
  uint64_t mark;
  void *bytes = NULL;
  weir_status status;

  WEIR_TRY(get(s, preamble, PREAMBLE));
  memcpy(&mark, preamble + sizeof magic, sizeof mark);
  memcpy(&length, preamble + PREAMBLE - sizeof length, sizeof length);
  if (memcmp(preamble, magic, sizeof magic) != 0 || mark != order_mark) {
    return damaged(s, "it does not start as one, or has another byte order");
  }
  if (length < (int64_t)sizeof *count || length > MAX_HEADER || length > s->left - DIGEST) {
    return damaged(s, "the length of its header is impossible");
  }
  WEIR_TRY(weir_alloc(PREAMBLE + length, 1, &bytes));
  memcpy(bytes, preamble, PREAMBLE);
  WEIR_TRY_GOTO(get(s, (char *)bytes + PREAMBLE, length), failed);
  WEIR_TRY_GOTO(get(s, stated, DIGEST), failed);
  digest_of(bytes, (size_t)(PREAMBLE + length), hex);
  *c = (struct cursor){(const char *)bytes + PREAMBLE, length};
  if (memcmp(stated, hex, DIGEST) != 0 || !take(c, count, sizeof *count)) {
    status = damaged(s, "the digest of its header does not match");
    goto failed;
  }
  *header = bytes;
  return WEIR_OK;
failed:
  weir_free(&bytes);
  return status;
}

static int64_t find_name(const weir_store *s, const char *name)
{
  for (int64_t i = 0; i < weir_store_count(s); i++) {
    if (strcmp(weir_store_name(s, i), name) == 0) {
      return i;
    }
  }
  return -1;
}

/* Elements of one array, checked, into fresh memory: taken[i] when the store has the array. */
static weir_status read_array(struct source *s, const weir_store *store, const struct entry *e,
                              void **taken)
{
  const int64_t i = find_name(store, e->name);
  char hex[DIGEST + 1];
  void *data;

  if (i >= 0) {
    const weir_tensor *t = weir_store_find(store, e->name);
    bool same = t->dtype == e->dtype && t->rank == e->rank;
    for (int d = 0; same && d < t->rank; d++) {
      same = t->shape[d] == e->shape[d];
    }
    if (!same) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: array '%s' has another dtype or shape than here",
                       s->path, e->name);
    }
  }
  if (e->bytes > s->left) {
    return damaged(s, "it is shorter than its header says");
  }
  WEIR_TRY(weir_alloc(e->bytes, 1, &data));
  weir_status status = get(s, data, e->bytes);
  if (status == WEIR_OK) {
    digest_of(data, (size_t)e->bytes, hex);
    if (memcmp(hex, e->digest, DIGEST) != 0) {
      status = weir_fail(WEIR_ERR_DATA,
                         "%s: the digest of array '%s' does not match; the file is damaged",
                         s->path, e->name);
    }
  }
  if (status == WEIR_OK && i >= 0) {
    taken[i] = data;
    return WEIR_OK;
  }
  weir_free(&data);
  return status;
}

static weir_status read_all(struct source *s, const weir_store *store, void **taken, bool *found)
{
  char *header = NULL;
  struct cursor c = {NULL, 0};
  struct entry e;
  int64_t count = 0;
  weir_status status;

  WEIR_TRY(read_header(s, &header, &c, &count));
  for (int64_t k = 0; k < count; k++) {
    if (!take_entry(&c, &e)) {
      status = damaged(s, "its header is malformed");
      goto done;
    }
    const int64_t i = find_name(store, e.name);
    if (i >= 0 && found[i]) {
      status = damaged(s, "it contains an array twice");
      goto done;
    }
    WEIR_TRY_GOTO(read_array(s, store, &e, taken), done);
    if (i >= 0) {
      found[i] = true;
    }
  }
  status = count < 0 || c.left != 0 || s->left != 0 ? damaged(s, "bytes follow its end") : WEIR_OK;
  for (int64_t i = 0; status == WEIR_OK && i < weir_store_count(store); i++) {
    if (!found[i]) {
      status = weir_fail(WEIR_ERR_DATA, "%s: there is no array '%s'", s->path,
                         weir_store_name(store, i));
    }
  }
done:
  weir_free(&header);
  return status;
}

static weir_status add_entries(struct source *source, const char *prefix, weir_store *s)
{
  char *header = NULL;
  struct cursor c = {NULL, 0};
  struct entry e;
  int64_t count = 0;
  weir_status status;

  WEIR_TRY(read_header(source, &header, &c, &count));
  for (int64_t k = 0; k < count; k++) {
    if (!take_entry(&c, &e)) {
      status = damaged(source, "its header is malformed");
      goto done;
    }
    if (strncmp(e.name, prefix, strlen(prefix)) == 0) {
      WEIR_TRY_GOTO(weir_store_add(s, e.name, e.dtype, (int)e.rank, e.shape), done);
    }
  }
  status = WEIR_OK;
done:
  weir_free(&header);
  return status;
}

static weir_status open_source(const char *path, struct source *out)
{
  *out = (struct source){.path = path};
  WEIR_TRY(weir_file_size(path, &out->left));
  out->file = fopen(path, "rb");
  return out->file != NULL ? WEIR_OK : weir_fail(WEIR_ERR_DATA, "%s: cannot open: %m", path);
}

weir_status weir_store_add_from(weir_store *s, const char *path, const char *prefix)
{
  struct source source;

  WEIR_TRY(open_source(path, &source));
  const weir_status status = add_entries(&source, prefix, s);

  fclose(source.file);
  return status;
}

weir_status weir_store_load(weir_store *s, const char *path)
{
  struct source source;
  const int64_t n = weir_store_count(s);
  void *taken = NULL, *found = NULL;
  weir_status status;

  WEIR_TRY(open_source(path, &source));
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(void *), &taken), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(bool), &found), done);
  WEIR_TRY_GOTO(read_all(&source, s, taken, found), done);
  for (int64_t i = 0; i < n; i++) {
    weir_tensor *t = NULL;

    WEIR_TRY_GOTO(weir_store_write(s, weir_store_name(s, i), &t), done);
    if (weir_tensor_bytes(t) > 0) {
      memcpy(t->data, ((void **)taken)[i], weir_tensor_bytes(t));
    }
  }
done:
  for (int64_t i = 0; taken != NULL && i < n; i++) {
    weir_free(&((void **)taken)[i]);
  }
  weir_free(&taken);
  weir_free(&found);
  fclose(source.file);
  return status;
}
