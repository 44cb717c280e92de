/* values.c - values of a variable, passed on in pieces: while Weir copies one out of the shared
 * memory, the next is read. A piece ends where chunks end, so that none is unpacked twice. */
#include <string.h>
#include <sys/mman.h>
#include "reader.h"

enum {
  PIECE = 1 << 20,  /* bytes: of a processor's cache, and far more than a message costs */
  TWICE = 16 << 20, /* larger pieces are not read ahead, and their memory is given back */
  LARGEST = 256 << 20
};

/* A box that is split along one dimension; those before it are stepped through one by one. */
typedef struct pieces {
  int n_dims, along;
  int64_t row;    /* bytes of one index of `along` */
  int64_t aligns; /* pieces end at multiples of it, in rows */
  int64_t max;    /* bytes of the largest piece */
  size_t start[WEIR_NETCDF_MAX_DIMS], count[WEIR_NETCDF_MAX_DIMS];
} pieces;

/* Rows of a piece, as many as fit into `bytes`, at least one alignment of them. */
static int64_t rows_of(const pieces *p, int64_t bytes)
{
  const int64_t unit = p->row * p->aligns;

  return unit <= bytes ? bytes / unit * p->aligns : p->aligns;
}

static bool split(const weir_reader_request *q, weir_reader_reply *r, pieces *p, int64_t *total)
{
  size_t chunks[NC_MAX_VAR_DIMS] = {0}, size = 0;
  int storage = NC_CONTIGUOUS;
  nc_type type = NC_BYTE;
  const char *const what = "reading a variable";

  if (!reader_good(r, nc_inq_var(q->file, q->var, NULL, &type, &p->n_dims, NULL, NULL), what) ||
      !reader_good(r, nc_inq_type(q->file, type, NULL, &size), what)) {
    return false;
  }
  if (p->n_dims > WEIR_NETCDF_MAX_DIMS || type == NC_STRING) {
    reader_refuse(r, WEIR_ERR_SHAPE,
                  "variables of %d dimensions and text variables cannot be read this way",
                  p->n_dims);
    return false;
  }
  *total = (int64_t)size;
  for (int d = 0; d < p->n_dims; d++) {
    p->start[d] = (size_t)q->start[d];
    p->count[d] = (size_t)q->count[d];
    *total *= q->count[d];
  }
  if (p->n_dims > 0 && nc_inq_var_chunking(q->file, q->var, &storage, chunks) != NC_NOERR) {
    storage = NC_CONTIGUOUS; /* the classic formats have none */
  }
  p->row = *total;
  p->aligns = 1;
  for (int d = 0; d<p->n_dims && * total> 0; d++) {
    p->along = d;
    p->row /= q->count[d];
    p->aligns = storage == NC_CHUNKED ? (int64_t)chunks[d] : 1;
    const int64_t rows = p->aligns < q->count[d] ? p->aligns : q->count[d];

    if (q->count[d] > 1 && (storage == NC_CHUNKED ? rows * p->row <= LARGEST : p->row <= PIECE)) {
      break;
    }
  }
  if (p->row * p->aligns > LARGEST) {
    p->aligns = 1;
  }
  p->max = *total < PIECE ? *total : rows_of(p, PIECE) * p->row;
  p->max = p->max < *total ? p->max : *total;
  return true;
}

/* The library's answer to a read; a failure names the variable. */
static bool has_read(const weir_reader_request *q, weir_reader_reply *r, int code)
{
  char name[NC_MAX_NAME + 1] = "", what[NC_MAX_NAME + 16];

  if (code == NC_NOERR) {
    return true;
  }
  (void)nc_inq_varname(q->file, q->var, name);
  (void)snprintf(what, sizeof what, "variable %s", name);
  return reader_good(r, code, what);
}

/* Reads the next piece; false at the end of the box, or where it fails. */
static bool read_piece(const weir_reader_request *q, weir_reader_reply *r, const pieces *p,
                       int64_t *at, char *out)
{
  size_t start[WEIR_NETCDF_MAX_DIMS] = {0}, count[WEIR_NETCDF_MAX_DIMS] = {0};
  int64_t rows = rows_of(p, PIECE);

  for (int d = 0; d < p->n_dims; d++) {
    start[d] = p->start[d] + (size_t)at[d];
    count[d] = d < p->along ? 1 : p->count[d];
  }
  if (p->n_dims > 0) {
    const int64_t index = (int64_t)start[p->along];
    const int64_t left = (int64_t)p->count[p->along] - at[p->along];

    rows -= index % p->aligns; /* the first piece ends where a chunk does */
    rows = rows < left ? rows : left;
    count[p->along] = (size_t)rows;
    at[p->along] += rows;
    r->bytes = rows * p->row;
    for (int d = p->along; d > 0 && at[d] == (int64_t)p->count[d]; d--) {
      at[d] = 0;
      at[d - 1]++;
    }
  } else {
    r->bytes = p->row;
  }
  return has_read(q, r, nc_get_vara(q->file, q->var, start, count, out));
}

void reader_read(reader_state *s, const weir_reader_request *q, weir_reader_reply *r)
{
  pieces p = {.along = 0};
  int64_t at[WEIR_NETCDF_MAX_DIMS] = {0}, total = 0, done = 0;

  if (!split(q, r, &p, &total)) {
    return;
  }
  const int slots = p.max <= TWICE && p.max < total ? WEIR_READER_PIECES : 1;
  const int64_t slot = (p.max + 63) / 64 * 64;

  reader_allow(s, total);
  if (!reader_share(s, r, slot * slots)) {
    return;
  }
  if (total == 0) { /* nothing to read: is it inside? */
    (void)has_read(q, r, nc_get_vara(q->file, q->var, p.start, p.count, s->memory.at));
    return;
  }
  for (int64_t i = 0; done < total; i++) {
    if (i >= slots) {
      reader_wait();
    }
    r->offset = i % slots * slot;
    if (!read_piece(q, r, &p, at, s->memory.at + r->offset)) {
      return;
    }
    done += r->bytes;
    r->last = done == total;
    if (!r->last) {
      reader_send(r);
    }
  }
}
