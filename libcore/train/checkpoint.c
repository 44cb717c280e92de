/* checkpoint.c - which variables a store is, the raw dump, and loading into a scratch store first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "graph/weir_store_file.h"
#include "io/weir_netcdf.h"
#include "train/checkpoint_priv.h"

/* In a raw dump: what tells checkpoints of different networks apart, and other dumps from both. */
static const char layout_name[] = "weir.layout";
static const char raw_magic[] = "WEIRSTO", raw_version = '1';

/* ---- Pieces ---- */

static weir_status add_piece(train_pieces *p, const char *name, const weir_tensor *view)
{
  WEIR_TRY(weir_reserve(&p->piece, &p->capacity, p->n + 1, sizeof *p->piece));
  train_piece *piece = &p->piece[p->n];

  if (strlen(name) >= sizeof piece->name) {
    return weir_fail(WEIR_ERR_CONFIG, "checkpoint: the name '%.40s...' is too long", name);
  }
  snprintf(piece->name, sizeof piece->name, "%s", name);
  for (char *c = piece->name; *c != 0; c++) {
    *c = *c == '/' ? '.' : *c; /* would begin a group */
  }
  piece->view = *view;
  piece->view.owned = NULL;
  p->n++;
  return WEIR_OK;
}

/* Adds the slices of one array, in order and without gaps; *any: it has some. */
static weir_status add_slices(const weir_checkpoint *c, const char *array, const weir_tensor *t,
                              train_pieces *p, bool *any)
{
  const int64_t size = (int64_t)weir_dtype_size(t->dtype);
  int64_t end = 0;

  *any = false;
  for (int64_t i = 0; i < c->n_slices; i++) {
    const weir_checkpoint_slice *slice = &c->slice[i];

    if (strcmp(slice->array, array) != 0) {
      continue;
    }
    *any = true;
    const weir_tensor view = weir_tensor_wrap((char *)t->data + slice->first * size, t->dtype,
                                              slice->rank, slice->shape);

    if (slice->first != end || weir_tensor_numel(&view) > weir_tensor_numel(t) - end) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "checkpoint: slice '%s' does not follow the previous one of '%s'",
                       slice->name, array);
    }
    end += weir_tensor_numel(&view);
    WEIR_TRY(add_piece(p, slice->name, &view));
  }
  if (*any && (t->rank != 1 || end != t->shape[0])) {
    return weir_fail(WEIR_ERR_SHAPE, "checkpoint: slices cover %" PRId64 " elements of '%s'", end,
                     array);
  }
  return WEIR_OK;
}

static bool is_left(const weir_checkpoint *c, const char *array)
{
  for (int i = 0; i < c->n_exclude; i++) {
    if (strcmp(c->exclude[i], array) == 0) {
      return true;
    }
  }
  return false;
}

/* That the file has a name for each: "a/b" and "a.b" would be one. */
static weir_status check_names(const train_pieces *p)
{
  for (int64_t i = 0; i < p->n; i++) {
    for (int64_t k = 0; k < i; k++) {
      if (strcmp(p->piece[i].name, p->piece[k].name) == 0) {
        return weir_fail(
            WEIR_ERR_CONFIG,
            "checkpoint: two arrays would both be stored as '%s', where '/' becomes '.'",
            p->piece[i].name);
      }
    }
  }
  return WEIR_OK;
}

/* write: the pieces will be written to. */
static weir_status make_pieces(const weir_checkpoint *c, bool write, train_pieces *p)
{
  for (int64_t i = 0; i < weir_store_count(c->store); i++) {
    const char *array = weir_store_name(c->store, i);
    const weir_tensor *t = NULL;
    weir_tensor *written = NULL;
    bool any = false;

    if (!is_left(c, array)) {
      WEIR_TRY(write ? weir_store_write(c->store, array, &written)
                     : weir_store_read(c->store, array, &t));
      t = write ? written : t;
      WEIR_TRY(add_slices(c, array, t, p, &any));
      if (!any) {
        WEIR_TRY(add_piece(p, array, t));
      }
    }
  }
  return WEIR_OK;
}

/* Likewise of the arrays of a store without slices, of host memory alone. */
static weir_status add_extra(weir_store *extra, train_pieces *p)
{
  for (int64_t i = 0; extra != NULL && i < weir_store_count(extra); i++) {
    const char *array = weir_store_name(extra, i);
    weir_tensor *t = NULL;

    WEIR_TRY(weir_store_write(extra, array, &t));
    WEIR_TRY(add_piece(p, array, t));
  }
  return WEIR_OK;
}

/* ---- The raw dump ---- */

enum { LINE = TRAIN_NAME + 32 + 24 * WEIR_MAX_RANK };

static int by_text(const void *a, const void *b)
{
  return strcmp(a, b);
}

/* Digest of "name dtype extents" of each piece, a line each, by name: arrays are loaded by their
 * names, and their order in a store may differ. */
static weir_status layout_of(const train_pieces *p, char hex[TRAIN_DIGEST + 1])
{
  void *memory = NULL;
  int64_t at = 0;

  WEIR_TRY(weir_alloc(p->n + 1, LINE, &memory));
  char *text = memory;

  for (int64_t i = 0; i < p->n; i++) {
    const train_piece *piece = &p->piece[i];
    char *const line = text + i * LINE;
    int n = snprintf(line, LINE, "%s %s", piece->name, weir_dtype_name(piece->view.dtype));

    for (int d = 0; d < piece->view.rank; d++) {
      n += snprintf(line + n, 24, " %" PRId64, piece->view.shape[d]);
    }
    line[n] = '\n';
    line[n + 1] = '\0';
  }
  qsort(text, (size_t)p->n, LINE, by_text);
  for (int64_t i = 0; i < p->n; i++) {
    const size_t n = strlen(text + i * LINE);

    memmove(text + at, text + i * LINE, n);
    at += (int64_t)n;
  }
  weir_sha256(text, (size_t)at, hex);
  weir_free(&memory);
  return WEIR_OK;
}

static weir_status add_layout(weir_store *s, const char *hex)
{
  weir_tensor *t = NULL;

  WEIR_TRY(weir_store_add(s, layout_name, WEIR_U8, 1, (int64_t[]){TRAIN_DIGEST}));
  WEIR_TRY(weir_store_write(s, layout_name, &t));
  memcpy(t->data, hex, TRAIN_DIGEST);
  return WEIR_OK;
}

/* A store with an array per piece, zeroed. */
static weir_status make_scratch(const train_pieces *p, weir_store **out)
{
  weir_store *s = NULL;
  weir_status status;

  WEIR_TRY(weir_store_create(&s));
  for (int64_t i = 0; i < p->n; i++) {
    const weir_tensor *v = &p->piece[i].view;

    status = weir_store_add(s, p->piece[i].name, v->dtype, v->rank, v->shape);
    if (status != WEIR_OK) {
      weir_store_destroy(&s);
      return weir_trace_at(status, __FILE__, __LINE__, __func__);
    }
  }
  *out = s;
  return WEIR_OK;
}

/* Between pieces and the arrays of the scratch store, which are in the same order. */
static weir_status move(const train_pieces *p, weir_store *scratch, bool into_scratch)
{
  for (int64_t i = 0; i < p->n; i++) {
    const weir_tensor *v = &p->piece[i].view;
    weir_tensor *t = NULL;

    WEIR_TRY(weir_store_write(scratch, weir_store_name(scratch, i), &t));
    if (weir_tensor_bytes(v) > 0) {
      memcpy(into_scratch ? t->data : v->data, into_scratch ? v->data : t->data,
             weir_tensor_bytes(v));
    }
  }
  return WEIR_OK;
}

static weir_status save_raw(const train_pieces *p, const char *path)
{
  char hex[TRAIN_DIGEST + 1];
  weir_store *scratch = NULL;
  weir_status status;

  WEIR_TRY(make_scratch(p, &scratch));
  WEIR_TRY_GOTO(move(p, scratch, true), done);
  WEIR_TRY_GOTO(layout_of(p, hex), done);
  WEIR_TRY_GOTO(add_layout(scratch, hex), done);
  WEIR_TRY_GOTO(weir_store_save(scratch, path), done);
done:
  weir_store_destroy(&scratch);
  return status;
}

/* That the dump has the same arrays. */
static weir_status check_layout(const train_pieces *p, const char *path)
{
  char hex[TRAIN_DIGEST + 1];
  const weir_tensor *theirs = NULL;
  weir_store *s = NULL;
  weir_status status;

  WEIR_TRY(weir_store_create(&s));
  WEIR_TRY_GOTO(weir_store_add(s, layout_name, WEIR_U8, 1, (int64_t[]){TRAIN_DIGEST}), done);
  WEIR_TRY_GOTO(weir_store_load(s, path), done);
  WEIR_TRY_GOTO(layout_of(p, hex), done);
  WEIR_TRY_GOTO(weir_store_read(s, layout_name, &theirs), done);
  if (memcmp(theirs->data, hex, TRAIN_DIGEST) != 0) {
    status = weir_fail(WEIR_ERR_SHAPE,
                       "%s: the checkpoint belongs to another network or training: names or shapes "
                       "of its arrays differ",
                       path);
  }
done:
  weir_store_destroy(&s);
  return status;
}

static weir_status load_raw(const train_pieces *p, const char *path, bool more, weir_store *scratch)
{
  if (!more) {
    WEIR_TRY(check_layout(p, path));
  }
  return weir_store_load(scratch, path);
}

/* ---- Both ---- */

weir_status weir_checkpoint_save(const weir_checkpoint *c, weir_checkpoint_format format,
                                 const char *path)
{
  train_pieces p = {0};
  weir_status status;

  if (format == WEIR_CHECKPOINT_AUTO) {
    format = weir_netcdf_available() ? WEIR_CHECKPOINT_NETCDF : WEIR_CHECKPOINT_RAW;
  }
  WEIR_TRY_GOTO(make_pieces(c, false, &p), done);
  WEIR_TRY_GOTO(add_extra(c->extra != NULL ? *c->extra : NULL, &p), done);
  WEIR_TRY_GOTO(check_names(&p), done);
  status = format == WEIR_CHECKPOINT_NETCDF ? train_save_netcdf(c, &p, path) : save_raw(&p, path);
done:
  weir_free(&p.piece);
  return status;
}

/* By content, whatever the file is called: *format. */
static weir_status find_format(const char *path, weir_checkpoint_format *format)
{
  static const char hdf5[] = "\211HDF\r\n\032\n", classic[] = "CDF";
  enum { FIRST = sizeof raw_magic };
  char begin[FIRST] = {0};
  FILE *f = fopen(path, "rb");

  if (f == NULL) {
    return weir_fail(WEIR_ERR_EXTERNAL, "%s: cannot be opened: %s", path, strerror(errno));
  }
  const bool whole = fread(begin, 1, FIRST, f) == FIRST;
  const char version = begin[FIRST - 1];

  fclose(f);
  if (whole && memcmp(begin, raw_magic, FIRST - 1) == 0) {
    if (version > raw_version && version <= '9') {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "%s: dump version %c is not supported; this build reads version %c", path,
                       version, raw_version);
    }
    if (version == raw_version) {
      *format = WEIR_CHECKPOINT_RAW;
      return WEIR_OK;
    }
  }
  if (whole && (memcmp(begin, hdf5, FIRST) == 0 || memcmp(begin, classic, 3) == 0)) {
    *format = WEIR_CHECKPOINT_NETCDF;
    return WEIR_OK;
  }
  return weir_fail(
      WEIR_ERR_DATA,
      "%s: not a checkpoint, or damaged: it starts neither as NetCDF nor as a store dump", path);
}

/* Makes a store of the extra arrays of the file, zeroed; NULL if there are none. */
static weir_status find_extra(const weir_checkpoint *c, weir_checkpoint_format format,
                              const char *path, weir_store **out)
{
  weir_store *s = NULL;
  weir_status status;

  WEIR_TRY(weir_store_create(&s));
  status = format == WEIR_CHECKPOINT_RAW ? weir_store_add_from(s, path, c->extra_prefix)
                                         : train_add_netcdf(path, c->extra_prefix, s);
  if (status != WEIR_OK || weir_store_count(s) == 0) {
    weir_store_destroy(&s);
  }
  *out = s;
  WEIR_TRY(status);
  return WEIR_OK;
}

weir_status weir_checkpoint_load(const weir_checkpoint *c, const char *path, bool more)
{
  train_pieces p = {0};
  weir_store *scratch = NULL, *extra = NULL;
  weir_checkpoint_format format = WEIR_CHECKPOINT_AUTO;
  weir_status status;
  int64_t bytes = 0;

  WEIR_TRY(weir_file_size(path, &bytes)); /* names a file that is not there */
  WEIR_TRY_GOTO(make_pieces(c, true, &p), done);
  WEIR_TRY_GOTO(check_names(&p), done);
  WEIR_TRY_GOTO(find_format(path, &format), done);
  if (c->extra != NULL) {
    WEIR_TRY_GOTO(find_extra(c, format, path, &extra), done);
    WEIR_TRY_GOTO(add_extra(extra, &p), done);
  }
  WEIR_TRY_GOTO(make_scratch(&p, &scratch), done);
  WEIR_TRY_GOTO(format == WEIR_CHECKPOINT_RAW ? load_raw(&p, path, more, scratch)
                                              : train_load_netcdf(&p, path, more, scratch),
                done);
  WEIR_TRY_GOTO(move(&p, scratch, false), done);
  if (c->extra != NULL) {
    *c->extra = extra;
    extra = NULL;
  }
done:
  weir_store_destroy(&scratch);
  weir_store_destroy(&extra);
  weir_free(&p.piece);
  return status;
}
