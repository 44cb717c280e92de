/* cfbin.c - samples as .cfbin: a header of 64 bytes, the labels, then the voxels as they are read
 * into memory, so that planes of depth are one range of bytes. One sample a file, all numbers
 * little-endian (docs/decisions/0074-cfbin.md):
 *
 *    0  8 bytes   89 43 46 42 49 4e 0d 0a
 *    8  u32       version, 1
 *   12  u32       type of the voxels: 1 int16, 2 float32
 *   16  u32[4]    depth, height, width, channels
 *   32  u32       labels, at most 16
 *   36  u32       bytes of text, less than 4096
 *   40  i64       universe; negative: not known
 *   48  16 bytes  0
 *   64  f32       [labels], then the text (about.h), then 0 up to a multiple of 64
 *       voxels    [depth, height, width, channels], up to the end of the file */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/volume/about.h"
#include "data/volume/volume_format.h"
#include "io/file/weir_io_file.h"

enum { HEAD = 64, MAGIC = 8, VERSION = 1, FIRST = HEAD + 4 * CF_MAX_LABELS };
static const uint8_t magic[MAGIC] = {0x89, 'C', 'F', 'B', 'I', 'N', '\r', '\n'};
static const weir_dtype types[] = {WEIR_BOOL /* no type */, WEIR_I16, WEIR_F32};

typedef struct state {
  int fd;
  int64_t text, offset; /* bytes of text; where the voxels begin */
  int64_t universe;
  float labels[CF_MAX_LABELS];
  cf_facts facts;
} state;

static bool knows(const uint8_t *head, int64_t n)
{
  return n >= MAGIC && memcmp(head, magic, MAGIC) == 0;
}

static void close_file(cf_volume_file *f)
{
  state *const h = f->state;

  if (h && h->fd >= 0) {
    (void)close(h->fd);
  }
  weir_free(&f->state);
}

/* ---- Numbers of the header ---- */

static uint32_t get(const uint8_t *at)
{
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put(uint8_t *at, uint32_t value)
{
  for (int i = 0; i < 4; i++) {
    at[i] = (uint8_t)(value >> 8 * i);
  }
}

static int64_t get_long(const uint8_t *at)
{
  return (int64_t)((uint64_t)get(at) | (uint64_t)get(at + 4) << 32);
}

static float get_float(const uint8_t *at)
{
  const uint32_t bits = get(at);
  float value;

  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Returns where the voxels begin. */
static int64_t offset_of(int64_t labels, int64_t text)
{
  return (HEAD + 4 * labels + text + HEAD - 1) / HEAD * HEAD;
}

/* ---- Read ---- */

/* Checks what the header says against the bytes that the file has. */
static weir_status take_header(cf_volume_file *f, const uint8_t *head, int64_t size)
{
  state *const h = f->state;
  const uint32_t version = get(head + 8), type = get(head + 12), labels = get(head + 32);
  const uint32_t text = get(head + 36);
  bool good = true;
  int64_t bytes = 0;

  for (int i = 48; i < HEAD; i++) {
    good = good && head[i] == 0;
  }
  if (!knows(head, HEAD) || version != VERSION || !good) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: is no .cfbin file of version %d: another version, or damaged (magic "
                     "89 CFBIN 0d 0a, then the version)",
                     f->path, VERSION);
  }
  if (type < 1 || type > 2 || labels > CF_MAX_LABELS || text >= CF_MAX_ABOUT) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: its header states type %u (1: int16, 2: float32), %u labels (at most %d) "
                     "and %u bytes of text (less than %d)",
                     f->path, type, labels, CF_MAX_LABELS, text, CF_MAX_ABOUT);
  }
  f->info.dtype = types[type];
  f->info.n_labels = (int64_t)labels;
  f->count = 1;
  h->universe = get_long(head + 40);
  h->text = (int64_t)text;
  h->offset = offset_of((int64_t)labels, h->text);
  bytes = (int64_t)weir_dtype_size(f->info.dtype);
  for (int d = 0; d < 4; d++) {
    f->info.lengths[d] = (int64_t)get(head + 16 + 4 * d);
    good = good && f->info.lengths[d] > 0 && weir_mul_ok(bytes, f->info.lengths[d], &bytes);
  }
  return good && bytes == size - h->offset
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: its header states %u x %u x %u voxels of %u channels of %s, and the "
                         "file has %lld bytes for them: truncated, or damaged",
                         f->path, get(head + 16), get(head + 20), get(head + 24), get(head + 28),
                         weir_dtype_name(f->info.dtype),
                         (long long)(size > h->offset ? size - h->offset : 0));
}

/* Reads labels and text, which follow the header. */
static weir_status take_labels(cf_volume_file *f)
{
  state *const h = f->state;
  uint8_t bytes[4 * CF_MAX_LABELS + CF_MAX_ABOUT];
  char text[CF_MAX_ABOUT];
  const size_t labels = 4 * (size_t)f->info.n_labels, length = (size_t)h->text;

  WEIR_TRY(weir_io_pread(h->fd, f->path, bytes, labels + length, HEAD));
  for (int64_t k = 0; k < f->info.n_labels; k++) {
    h->labels[k] = get_float(bytes + 4 * k);
  }
  memcpy(text, bytes + labels, length);
  text[length] = 0;
  const char *const key = cf_about_parse(text, &f->info, &h->facts);

  return key == NULL
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: its line %s is not of these labels and channels",
                         f->path, key);
}

static weir_status open_file(cf_volume_file *f)
{
  uint8_t head[HEAD];
  int64_t size = 0;
  state *h = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(1, sizeof *h, &f->state));
  h = f->state;
  h->fd = -1;
  WEIR_TRY_GOTO(weir_io_open(f->path, &h->fd, &size), done);
  if (size < HEAD) {
    status = weir_fail(WEIR_ERR_DATA, "%s: has %lld bytes; a .cfbin file begins with %d", f->path,
                       (long long)size, HEAD);
    goto done;
  }
  WEIR_TRY_GOTO(weir_io_pread(h->fd, f->path, head, HEAD, 0), done);
  WEIR_TRY_GOTO(take_header(f, head, size), done);
  WEIR_TRY_GOTO(take_labels(f), done);
  (void)snprintf(f->info.layout, sizeof f->info.layout, ".cfbin");
done:
  if (status != WEIR_OK) {
    close_file(f);
  }
  return status;
}

static weir_status read_planes(cf_volume_file *f, int64_t sample, int64_t d0, int64_t d1, void *out)
{
  const state *const h = f->state;
  const int64_t plane = cf_volume_plane(&f->info) * (int64_t)weir_dtype_size(f->info.dtype);

  (void)sample; /* the only one */
  return weir_io_pread(h->fd, f->path, out, (size_t)((d1 - d0) * plane), h->offset + d0 * plane);
}

static weir_status read_labels(cf_volume_file *f, int64_t sample, double *out)
{
  const state *const h = f->state;

  (void)sample;
  for (int64_t k = 0; k < f->info.n_labels; k++) {
    out[k] = (double)h->labels[k];
  }
  return WEIR_OK;
}

static weir_status read_facts(cf_volume_file *f, int64_t sample, cf_facts *out)
{
  const state *const h = f->state;

  (void)sample;
  *out = h->facts;
  return WEIR_OK;
}

static weir_status read_universe(cf_volume_file *f, int64_t sample, int64_t *out)
{
  const state *const h = f->state;

  (void)sample;
  *out = h->universe;
  return WEIR_OK;
}

/* ---- Written ---- */

static weir_status create(cf_volume_out *o)
{
  for (int d = 0; d < 4; d++) {
    if (o->info.lengths[d] > UINT32_MAX) {
      return weir_fail(WEIR_ERR_CONFIG, "%s: a length of %lld is beyond the header of .cfbin",
                       o->path, (long long)o->info.lengths[d]);
    }
  }
  return weir_writer_open(o->path, (weir_writer **)&o->state);
}

static weir_status append(cf_volume_out *o, const void *voxels, const cf_volume_about *about)
{
  uint8_t head[FIRST + CF_MAX_ABOUT + HEAD] = {0};
  const int64_t n = o->info.n_labels;
  char text[CF_MAX_ABOUT] = "";

  if (about->facts) {
    cf_about_print(&o->info, about->facts, text);
  }
  const int64_t length = (int64_t)strlen(text);

  memcpy(head, magic, MAGIC);
  put(head + 8, VERSION);
  put(head + 12, o->info.dtype == WEIR_I16 ? 1 : 2);
  for (int d = 0; d < 4; d++) {
    put(head + 16 + 4 * d, (uint32_t)o->info.lengths[d]);
  }
  put(head + 32, (uint32_t)n);
  put(head + 36, (uint32_t)length);
  put(head + 40, (uint32_t)((uint64_t)about->universe & UINT32_MAX));
  put(head + 44, (uint32_t)((uint64_t)about->universe >> 32));
  for (int64_t k = 0; k < n; k++) {
    uint32_t bits;

    memcpy(&bits, &about->labels[k], sizeof bits);
    put(head + HEAD + 4 * k, bits);
  }
  memcpy(head + HEAD + 4 * n, text, (size_t)length);
  WEIR_TRY(weir_writer_write(o->state, head, (size_t)offset_of(n, length)));
  return weir_writer_write(o->state, voxels,
                           (size_t)cf_volume_elements(&o->info) * weir_dtype_size(o->info.dtype));
}

static weir_status commit(cf_volume_out *o)
{
  weir_writer *w = o->state;

  o->state = NULL;
  return weir_writer_commit(&w);
}

static void destroy(cf_volume_out *o)
{
  weir_writer *w = o->state;

  weir_writer_destroy(&w);
  o->state = NULL;
}

const cf_volume_format cf_volume_format_cfbin = {
    .name = "cfbin",
    .help = "a header of 64 bytes, labels, and voxels as they stand in memory, one sample a file",
    .suffix = ".cfbin",
    .endings = ".cfbin",
    .knows = knows,
    .open = open_file,
    .close = close_file,
    .read = read_planes,
    .labels = read_labels,
    .facts = read_facts,
    .universe = read_universe,
    .single = true,
    .create = create,
    .append = append,
    .commit = commit,
    .destroy = destroy,
};
