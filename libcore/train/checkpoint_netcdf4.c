/* checkpoint_netcdf4.c - checkpoints as NetCDF-4: a variable per piece with the digest of its
 * elements, and a digest of the list of all variables, so that damage anywhere is found. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "train/checkpoint_priv.h"

/* Attributes: of each variable, of the file, and the kind of the file. */
static const char digest_name[] = "sha256", list_name[] = "variables_sha256",
                  kind_name[] = "weir_checkpoint", kind[] = "1";

/* SHA-256 of elements. */
static void digest_elements(const weir_tensor *t, char hex[TRAIN_DIGEST + 1])
{
  const size_t n = weir_tensor_bytes(t);

  weir_sha256(n > 0 ? t->data : "", n, hex);
}

/* Lines that the digest of the file is of. */
struct list {
  char *text;
  int64_t n, capacity;
};

static weir_status list_add(struct list *l, const char *name, const weir_netcdf_shape *s,
                            const char *digest)
{
  enum { LINE = TRAIN_NAME + TRAIN_DIGEST + 32 + 24 * WEIR_NETCDF_MAX_DIMS };
  WEIR_TRY(weir_reserve(&l->text, &l->capacity, l->n + LINE, 1));
  l->n += snprintf(l->text + l->n, TRAIN_NAME + 16, "%s %s", name, weir_dtype_name(s->dtype));
  for (int d = 0; d < s->n_dims; d++) {
    l->n += snprintf(l->text + l->n, 24, " %" PRId64, s->lengths[d]);
  }
  l->n += snprintf(l->text + l->n, TRAIN_DIGEST + 3, " %.64s\n", digest);
  return WEIR_OK;
}

/* ---- Writing ---- */

/* A file being written: dimensions by length. */
struct file {
  weir_netcdf *nc;
  struct length {
    int64_t length;
    int dim;
  } * length;
  int64_t n_lengths, capacity;
  int pair, pair_dim; /* of the components of complex numbers, where pair is 1 */
  struct list list;
};

static weir_status dim_of(struct file *f, int64_t length, int *dim)
{
  char name[32];

  for (int64_t i = 0; i < f->n_lengths; i++) {
    if (f->length[i].length == length) {
      *dim = f->length[i].dim;
      return WEIR_OK;
    }
  }
  WEIR_TRY(weir_reserve(&f->length, &f->capacity, f->n_lengths + 1, sizeof *f->length));
  (void)snprintf(name, sizeof name, "n%" PRId64, length);
  WEIR_TRY(weir_netcdf_dim(f->nc, name, length, dim));
  f->length[f->n_lengths++] = (struct length){length, *dim};
  return WEIR_OK;
}

/* Complex numbers have their components along a last dimension of this name (decision 0026). */
static const char pair_name[] = "complex";

static weir_netcdf_shape shape_of(const weir_tensor *t)
{
  const bool pair = weir_dtype_is_complex(t->dtype);
  weir_netcdf_shape s = {.dtype = t->dtype == WEIR_BOOL ? WEIR_U8 : weir_dtype_part(t->dtype),
                         .n_dims = t->rank + pair};

  for (int d = 0; d < t->rank && d < WEIR_NETCDF_MAX_DIMS; d++) {
    s.lengths[d] = t->shape[d];
  }
  if (pair && t->rank < WEIR_NETCDF_MAX_DIMS) {
    s.lengths[t->rank] = 2;
  }
  return s;
}

static weir_status define(struct file *f, const train_piece *piece, int *var)
{
  char hex[TRAIN_DIGEST + 1];
  int dims[WEIR_NETCDF_MAX_DIMS];

  const weir_netcdf_shape shape = shape_of(&piece->view);

  if (shape.n_dims > WEIR_NETCDF_MAX_DIMS) {
    return weir_fail(WEIR_ERR_SHAPE, "checkpoint: '%s' has %d dimensions, a NetCDF file here %d",
                     piece->name, shape.n_dims, WEIR_NETCDF_MAX_DIMS);
  }
  for (int d = 0; d < piece->view.rank; d++) {
    WEIR_TRY(dim_of(f, shape.lengths[d], &dims[d]));
  }
  if (shape.n_dims > piece->view.rank) {
    WEIR_TRY(f->pair > 0 ? WEIR_OK : weir_netcdf_dim(f->nc, pair_name, 2, &f->pair_dim));
    f->pair = 1;
    dims[piece->view.rank] = f->pair_dim;
  }
  WEIR_TRY(weir_netcdf_var(f->nc, piece->name, shape.dtype, shape.n_dims, dims, var));
  digest_elements(&piece->view, hex);
  WEIR_TRY(weir_netcdf_put_text(f->nc, *var, digest_name, hex));
  return list_add(&f->list, piece->name, &shape, hex);
}

static weir_status write_all(struct file *f, const weir_checkpoint *c, const train_pieces *p)
{
  static const int64_t zero[WEIR_NETCDF_MAX_DIMS] = {0};
  char hex[TRAIN_DIGEST + 1];

  WEIR_TRY(weir_netcdf_put_text(f->nc, WEIR_NETCDF_FILE, kind_name, kind));
  for (int i = 0; i < c->n_notes; i++) {
    WEIR_TRY(weir_netcdf_put_text(f->nc, WEIR_NETCDF_FILE, c->note[i].name, c->note[i].text));
  }
  for (int64_t i = 0; i < p->n; i++) {
    const weir_tensor *t = &p->piece[i].view;
    const weir_netcdf_shape shape = shape_of(t);
    int var = 0;

    if (weir_tensor_numel(t) > 0) { /* a dimension of length 0 would be one that grows */
      WEIR_TRY(define(f, &p->piece[i], &var));
      WEIR_TRY(weir_netcdf_write(f->nc, var, zero, shape.lengths, t->data));
    }
  }
  weir_sha256(f->list.n > 0 ? f->list.text : "", (size_t)f->list.n, hex);
  return weir_netcdf_put_text(f->nc, WEIR_NETCDF_FILE, list_name, hex);
}

weir_status train_save_netcdf(const weir_checkpoint *c, const train_pieces *p, const char *path)
{
  struct file f = {0};
  weir_status status;

  WEIR_TRY_GOTO(weir_netcdf_create(path, &f.nc), done);
  WEIR_TRY_GOTO(write_all(&f, c, p), done);
  WEIR_TRY_GOTO(weir_netcdf_commit(&f.nc), done);
done:
  if (f.nc != NULL) {
    weir_netcdf_close(&f.nc);
  }
  weir_free(&f.length);
  weir_free(&f.list.text);
  return status;
}

/* ---- Reading ---- */

/* Variables that the library cannot read in a file that it opened are damage. */
static weir_status damaged(const char *path, const char *what)
{
  char reason[512];

  (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
  return weir_fail(WEIR_ERR_DATA, "%s: %s; the file is damaged%s%s", path, what,
                   reason[0] != 0 ? ": " : "", reason);
}

/* A text attribute of 64 characters. */
static weir_status get_digest(weir_netcdf *nc, int var, const char *name,
                              char hex[TRAIN_DIGEST + 1])
{
  char *text = NULL;

  WEIR_TRY(weir_netcdf_get_text(nc, var, name, &text));
  const bool good = strlen(text) == TRAIN_DIGEST;

  if (good) {
    memcpy(hex, text, TRAIN_DIGEST + 1);
  }
  weir_free(&text);
  return good ? WEIR_OK : weir_fail(WEIR_ERR_DATA, "%s is not a digest", name);
}

static weir_status list_file(weir_netcdf *nc, struct list *l)
{
  weir_netcdf_shape shape;
  char name[TRAIN_NAME], hex[TRAIN_DIGEST + 1];
  int n = 0, var = 0;

  WEIR_TRY(weir_netcdf_count(nc, &n));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(weir_netcdf_name(nc, i, name, sizeof name));
    WEIR_TRY(weir_netcdf_find(nc, name, &var, &shape));
    WEIR_TRY(get_digest(nc, var, digest_name, hex));
    WEIR_TRY(list_add(l, name, &shape, hex));
  }
  return WEIR_OK;
}

/* A number above ours: written by a later version, and no damage. */
static bool is_newer(const char *text)
{
  char *end = NULL;
  const long theirs = strtol(text, &end, 10);

  return end != text && *end == 0 && theirs > strtol(kind, NULL, 10);
}

/* That names, dtypes, shapes and digests are those that were written. */
static weir_status check_list(weir_netcdf *nc, const char *path)
{
  struct list l = {0};
  char made[TRAIN_DIGEST + 1], stated[TRAIN_DIGEST + 1];
  char *text = NULL;
  weir_status status;

  if (!weir_netcdf_has(nc, WEIR_NETCDF_FILE, kind_name)) {
    return weir_fail(WEIR_ERR_DATA, "%s: a NetCDF file, but not a checkpoint", path);
  }
  WEIR_TRY_GOTO(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, kind_name, &text), done);
  if (is_newer(text)) {
    status = weir_fail(WEIR_ERR_UNSUPPORTED,
                       "%s: checkpoint of kind '%.40s'; this build reads '%s'", path, text, kind);
    goto done;
  }
  if (strcmp(text, kind) != 0) {
    status = weir_fail(WEIR_ERR_DATA, "checkpoint of kind '%.40s', not '%s'", text, kind);
    goto done;
  }
  WEIR_TRY_GOTO(list_file(nc, &l), done);
  WEIR_TRY_GOTO(get_digest(nc, WEIR_NETCDF_FILE, list_name, stated), done);
  weir_sha256(l.n > 0 ? l.text : "", (size_t)l.n, made);
  if (memcmp(made, stated, TRAIN_DIGEST) != 0) {
    status =
        weir_fail(WEIR_ERR_DATA, "names, shapes and digests differ from those that were written");
  }
done:
  weir_free(&l.text);
  weir_free(&text);
  return status == WEIR_OK || status == WEIR_ERR_MEMORY || status == WEIR_ERR_UNSUPPORTED
             ? status
             : damaged(path, "its list of variables is wrong");
}

/* Whether the last dimension is that of the components: a real array of that shape has another. */
static bool is_pair(weir_netcdf *nc, int var)
{
  weir_netcdf_shape shape;
  int dims[WEIR_NETCDF_MAX_DIMS];
  char name[16];
  bool supported = false;

  const bool found = weir_netcdf_look(nc, var, &shape, dims, &supported) == WEIR_OK && supported &&
                     shape.n_dims > 0 &&
                     weir_netcdf_dim_name(nc, dims[shape.n_dims - 1], name, sizeof name) == WEIR_OK;

  if (!found) {
    weir_clear_failure();
  }
  return found && strcmp(name, pair_name) == 0;
}

static void shape_text(const weir_netcdf_shape *s, char *out, size_t size)
{
  size_t n = (size_t)snprintf(out, size, "%s [", weir_dtype_name(s->dtype));

  for (int d = 0; d < s->n_dims && n < size; d++) {
    n += (size_t)snprintf(out + n, size - n, "%s%" PRId64, d > 0 ? ", " : "", s->lengths[d]);
  }
  if (n < size) {
    (void)snprintf(out + n, size - n, "]");
  }
}

/* That the file has the variable as the store has it: checked before anything is read. */
static weir_status check_piece(weir_netcdf *nc, const char *path, const train_piece *piece)
{
  const weir_netcdf_shape mine = shape_of(&piece->view);
  weir_netcdf_shape theirs;
  char ours[256], found[256];
  int var = 0;

  if (weir_netcdf_find(nc, piece->name, &var, &theirs) != WEIR_OK) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s: the checkpoint belongs to another network or training: it has no '%s'",
                     path, piece->name);
  }
  bool same = mine.dtype == theirs.dtype && mine.n_dims == theirs.n_dims;

  for (int d = 0; same && d < mine.n_dims; d++) {
    same = mine.lengths[d] == theirs.lengths[d];
  }
  if (same && is_pair(nc, var) != weir_dtype_is_complex(piece->view.dtype)) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s: the checkpoint belongs to another network or training: '%s' is complex "
                     "in one of the two and real in the other",
                     path, piece->name);
  }
  if (!same) {
    shape_text(&mine, ours, sizeof ours);
    shape_text(&theirs, found, sizeof found);
    return weir_fail(
        WEIR_ERR_SHAPE,
        "%s: the checkpoint belongs to another network or training: '%s' is %s there, %s here",
        path, piece->name, found, ours);
  }
  return WEIR_OK;
}

/* A variable of the file that the store has not. */
static weir_status check_more(weir_netcdf *nc, const char *path, const train_pieces *p)
{
  char name[TRAIN_NAME];
  int n = 0;

  WEIR_TRY(weir_netcdf_count(nc, &n));
  for (int i = 0; i < n; i++) {
    bool known = false;

    WEIR_TRY(weir_netcdf_name(nc, i, name, sizeof name));
    for (int64_t k = 0; k < p->n && !known; k++) {
      /* Both are in the order of the store. */
      known = strcmp(p->piece[(i + k) % p->n].name, name) == 0;
    }
    if (!known) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "%s: the checkpoint belongs to another network or training: it has '%s'",
                       path, name);
    }
  }
  return WEIR_OK;
}

static weir_status read_elements(weir_netcdf *nc, const char *name, weir_tensor *t,
                                 char stated[TRAIN_DIGEST + 1])
{
  static const int64_t zero[WEIR_NETCDF_MAX_DIMS] = {0};
  weir_netcdf_shape shape;
  int var = 0;

  WEIR_TRY(weir_netcdf_find(nc, name, &var, &shape));
  WEIR_TRY(get_digest(nc, var, digest_name, stated));
  return weir_netcdf_read(nc, var, zero, shape_of(t).lengths, t->data);
}

static weir_status read_piece(weir_netcdf *nc, const char *path, const char *name, weir_tensor *t)
{
  char made[TRAIN_DIGEST + 1], stated[TRAIN_DIGEST + 1], what[TRAIN_NAME + 64];
  const weir_status status = read_elements(nc, name, t, stated);

  if (status != WEIR_OK) {
    (void)snprintf(what, sizeof what, "variable '%s' cannot be read", name);
    return status == WEIR_ERR_MEMORY || status == WEIR_ERR_SPACE ? status : damaged(path, what);
  }
  digest_elements(t, made);
  if (memcmp(made, stated, TRAIN_DIGEST) != 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: the digest of '%s' is wrong; the file is damaged", path,
                     name);
  }
  return WEIR_OK;
}

weir_status train_load_netcdf(const train_pieces *p, const char *path, bool more, weir_store *into)
{
  weir_netcdf *nc = NULL;
  weir_status status;

  WEIR_TRY(weir_netcdf_open(path, &nc));
  WEIR_TRY_GOTO(check_list(nc, path), done);
  for (int64_t i = 0; i < p->n; i++) {
    if (weir_tensor_numel(&p->piece[i].view) > 0) {
      WEIR_TRY_GOTO(check_piece(nc, path, &p->piece[i]), done);
    }
  }
  if (!more) {
    WEIR_TRY_GOTO(check_more(nc, path, p), done);
  }
  for (int64_t i = 0; i < p->n; i++) {
    weir_tensor *t = NULL;

    WEIR_TRY_GOTO(weir_store_write(into, p->piece[i].name, &t), done);
    if (weir_tensor_numel(t) > 0) {
      WEIR_TRY_GOTO(read_piece(nc, path, p->piece[i].name, t), done);
    }
  }
done:
  weir_netcdf_close(&nc);
  return status;
}

static weir_status add_variables(weir_netcdf *nc, const char *prefix, weir_store *s)
{
  weir_netcdf_shape shape;
  char name[TRAIN_NAME];
  int n = 0, var = 0;

  WEIR_TRY(weir_netcdf_count(nc, &n));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(weir_netcdf_name(nc, i, name, sizeof name));
    if (strncmp(name, prefix, strlen(prefix)) == 0) {
      WEIR_TRY(weir_netcdf_find(nc, name, &var, &shape));
      WEIR_TRY(weir_store_add(s, name, shape.dtype, shape.n_dims, shape.lengths));
    }
  }
  return WEIR_OK;
}

weir_status train_add_netcdf(const char *path, const char *prefix, weir_store *s)
{
  weir_netcdf *nc = NULL;
  weir_status status;

  WEIR_TRY(weir_netcdf_open(path, &nc));
  WEIR_TRY_GOTO(check_list(nc, path), done);
  WEIR_TRY_GOTO(add_variables(nc, prefix, s), done);
done:
  weir_netcdf_close(&nc);
  return status;
}
