/* open_eccodes.c - pass 1: every message of every file into the index. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "io/grib/eccodes_priv.h"

#define MAX_INDEX ((int64_t)8 << 30) /* bytes of an index file */

enum { KNOWN = 256, MAX_WARNINGS = 8 /* of a file */ };

/* What is known of messages with these octets, at the index that their hash gives. */
typedef struct known_field {
  weir_grib_print print;
  weir_grib_kind kind;   /* as the keys gave it */
  weir_grib_field field; /* of the index */
  bool quick;            /* weir_grib_quick says of them what the library says */
} known_field;

/* The pass over one file. */
typedef struct scan {
  weir_grib *g;
  int64_t file, message, offset;
  const weir_grib_opts *opts;
  int64_t damaged; /* of the file */
  bool lost;       /* the last was damaged: what follows it is reported with it */
  weir_grib_keys keys;
  known_field *known;           /* [KNOWN] */
  struct weir_grib_shape shape; /* the last that was made a grid, `grid` */
  int64_t grid;
  double *points; /* lat, lon and rows of a shape that is being made */
  int64_t capacity;
  bool wraps, sound;
  char why[WEIR_GRIB_WHY];
} scan;

static const char *path_of(const scan *s)
{
  return s->g->files[s->file].path;
}

/* A section of a file that is no sound message. */
static weir_status damage(scan *s)
{
  if (!s->opts->skip_damaged) {
    const char *const how = s->opts->how_to_skip ? s->opts->how_to_skip : "skip it";

    return weir_fail(WEIR_ERR_DATA,
                     "%s: message %lld (byte %lld) is damaged: %s: repair the file, or %s",
                     path_of(s), (long long)s->message, (long long)s->offset, s->why, how);
  }
  s->lost = true;
  s->g->damaged++;
  if (s->damaged++ < MAX_WARNINGS) {
    weir_warn("grib", "%s: message %lld (byte %lld) is damaged and skipped: %s", path_of(s),
              (long long)s->message, (long long)s->offset, s->why);
  }
  return WEIR_OK;
}

static int64_t lats_of(const struct weir_grib_shape *shape)
{
  return shape->reduced ? shape->n_lon : shape->n_lat;
}

static weir_status make_points(void *context)
{
  scan *const s = context;
  const struct weir_grib_shape *const shape = &s->keys.shape;
  double *const lon = s->points + lats_of(shape);

  s->wraps = false;
  s->sound = shape->reduced
                 ? weir_grib_reduced_points(&s->keys, s->points, lon, s->why)
                 : weir_grib_points(shape, s->points, lon, lon + shape->n_lon, &s->wraps, s->why);
  return WEIR_OK;
}

/* Number of the grid that the keys describe; a shape that is none refuses the kind. */
static weir_status find_grid(scan *s, int64_t *grid)
{
  const struct weir_grib_shape *const shape = &s->keys.shape;

  *grid = s->grid;
  if (s->grid >= 0 && memcmp(&s->shape, shape, sizeof *shape) == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&s->points, &s->capacity,
                        lats_of(shape) + shape->n_lon + 2 * shape->gaussian, sizeof(double)));
  WEIR_TRY(weir_grib_alone(make_points, s));
  if (!s->sound) {
    snprintf(s->keys.kind.refused, sizeof s->keys.kind.refused, "%s", s->why);
    *grid = -1;
    return WEIR_OK;
  }
  const weir_grib_grid made = {.n_lat = shape->n_lat,
                               .n_lon = shape->n_lon,
                               .gaussian = shape->gaussian,
                               .lat = s->points,
                               .lon = s->points + lats_of(shape),
                               .wraps = s->wraps,
                               .reduced = shape->reduced != 0,
                               .rotated = shape->rotated != 0,
                               .south_pole = {shape->south_pole[0], shape->south_pole[1]}};

  WEIR_TRY(weir_grib_add_grid(s->g, &made, grid));
  s->shape = *shape;
  s->grid = *grid;
  return WEIR_OK;
}

/* The field that the frame has found, by the keys of the library. */
static weir_status take_keys(scan *s, const weir_grib_frame *frame, int64_t n_fields)
{
  weir_grib *const g = s->g;
  weir_grib_keys *const k = &s->keys;

  k->bytes = frame->bytes;
  k->size = frame->length;
  if (n_fields > 1) {
    k->size = weir_grib_frame_size(frame);
    WEIR_TRY(weir_reserve(&g->copy, &g->copy_capacity, k->size, 1));
    weir_grib_frame_copy(frame, g->copy);
    k->bytes = g->copy;
  }
  WEIR_TRY(weir_grib_alone(weir_grib_keys_take, k));
  k->field.grid = -1;
  if (!k->kind.refused[0]) {
    WEIR_TRY(find_grid(s, &k->field.grid));
  }
  return weir_grib_add_kind(g, &k->kind, &k->field.kind);
}

/* Whether the octets alone say of this message what the library said: then they do of others that
 * differ in nothing else. */
static bool is_quick(const weir_grib_keys *k, const weir_grib_frame *frame)
{
  const weir_grib_field *const f = &k->field;
  weir_grib_field own;

  return !k->reforecast && f->grid >= 0 && weir_grib_quick(frame, &own) && own.start == f->start &&
         own.step_seconds[0] == f->step_seconds[0] && own.step_seconds[1] == f->step_seconds[1] &&
         own.number == f->number && own.packing_error == f->packing_error;
}

/* The field that the frame has found: from its octets where a message that is like it is known. */
static weir_status index_field(scan *s, const weir_grib_frame *frame, int64_t n_fields)
{
  weir_grib_print print;
  uint64_t hash = 0;
  const bool short_enough = weir_grib_print_take(frame, &print, &hash);
  known_field *const like = &s->known[hash % KNOWN];
  const bool same = short_enough && like->print.size == print.size &&
                    memcmp(like->print.bytes, print.bytes, (size_t)print.size) == 0;
  weir_grib_field field = like->field;

  if (!same || !like->quick || !weir_grib_quick(frame, &field)) {
    s->keys.known = same ? &like->kind : NULL;
    WEIR_TRY(take_keys(s, frame, n_fields));
    field = s->keys.field;
    if (short_enough && !same && s->keys.kind.param != 0) {
      *like = (known_field){print, s->keys.kind, field, is_quick(&s->keys, frame)};
    }
  }
  field.file = s->file;
  field.message = s->message;
  field.submessage = frame->n_fields - 1;
  field.offset = s->offset;
  field.length = frame->length;
  return weir_grib_add_field(s->g, &field);
}

/* The message at s->offset; *next: where to continue. */
static weir_status index_message(scan *s, int64_t *next)
{
  const weir_grib_file *const f = &s->g->files[s->file];
  weir_grib_frame frame;
  int found = 1;

  s->message++;
  *next = s->offset + 4;
  if (!weir_grib_frame_open(f->bytes + s->offset, f->size - s->offset, &frame, s->why)) {
    return damage(s);
  }
  *next = s->offset + frame.length;
  while (found > 0) {
    found = weir_grib_frame_next(&frame, s->why);
  }
  if (found < 0) {
    return damage(s);
  }
  const int64_t n_fields = frame.n_fields;

  (void)weir_grib_frame_open(f->bytes + s->offset, f->size - s->offset, &frame, s->why);
  while (weir_grib_frame_next(&frame, s->why) > 0) {
    WEIR_TRY(index_field(s, &frame, n_fields));
  }
  s->lost = false;
  return WEIR_OK;
}

static bool is_padding(const uint8_t *bytes, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    if (bytes[i] != 0) {
      return false;
    }
  }
  return true;
}

/* Lines of text, as bulletins have them around a message (start and end of heading and text are
 * characters 1 to 3). No message is: its end would be among them. */
static bool is_heading(const uint8_t *bytes, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    const uint8_t c = bytes[i];

    if (c > 3 && c != '\n' && c != '\r' && c != '\t' && !(c >= ' ' && c <= '~')) {
      return false;
    }
  }
  return n == 0 || memmem(bytes, (size_t)n, "7777", 4) == NULL;
}

/* The bytes from `at` to s->offset, which are before, between or after messages; *warned: whether
 * skipped bytes were reported. A message whose "GRIB" is damaged is among those that are refused.
 */
static weir_status pass_over(scan *s, int64_t at, bool *warned)
{
  const weir_grib_file *const f = &s->g->files[s->file];
  const int64_t next = s->offset, n = next - at;
  weir_status status = WEIR_OK;

  if (is_padding(f->bytes + at, n) || s->lost) {
    return WEIR_OK;
  }
  if (!is_heading(f->bytes + at, n)) {
    s->message++;
    s->offset = at;
    snprintf(s->why, sizeof s->why,
             "identifier: %lld bytes neither begin with 'GRIB' nor are padding or the heading of "
             "a bulletin",
             (long long)n);
    status = damage(s);
    s->offset = next;
  } else if (!*warned) {
    weir_info("grib", "%s: bytes %lld to %lld are not a GRIB message and are skipped", f->path,
              (long long)at, (long long)next);
    *warned = true;
  }
  return status;
}

static weir_status index_file(scan *s)
{
  const weir_grib_file *const f = &s->g->files[s->file];
  bool warned = false;
  int64_t at = 0;

  s->message = s->damaged = 0;
  s->lost = false;
  while (at < f->size) {
    s->offset = weir_grib_frame_find(f->bytes, f->size, at);
    WEIR_TRY(pass_over(s, at, &warned));
    at = s->offset;
    if (s->offset < f->size) {
      WEIR_TRY(index_message(s, &at));
    }
  }
  if (s->message == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: the file has no GRIB message", f->path);
  }
  if (s->damaged > MAX_WARNINGS) {
    weir_warn("grib", "%s: %lld messages are damaged and skipped", f->path, (long long)s->damaged);
  }
  return WEIR_OK;
}

/* True when the index was read from its file. */
static bool recall(weir_grib *g, const char *path)
{
  char *bytes = NULL;
  int64_t size = 0;
  bool same = false;

  if (!weir_file_exists(path)) {
    return false;
  }
  if (weir_file_read(path, MAX_INDEX, &bytes, &size) == WEIR_OK) {
    same = weir_grib_index_parse(g, (const uint8_t *)bytes, size) == WEIR_OK;
  }
  if (!same) {
    weir_info("grib", "%s: the index is rebuilt: %s", path, weir_last_message());
    weir_clear_failure();
    weir_grib_forget(g);
  }
  weir_free(&bytes);
  return same;
}

static void keep(const weir_grib *g, const char *path)
{
  if (weir_grib_index_write(g, path) != WEIR_OK) {
    weir_warn("grib", "the index is not saved: %s", weir_last_message());
    weir_clear_failure();
  }
}

static weir_status fill(weir_grib *g, const char *const *paths, int64_t n,
                        const weir_grib_opts *opts)
{
  scan s = {.g = g, .opts = opts, .grid = -1};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(n, sizeof *g->files, (void **)&g->files));
  g->n_files = n;
  for (int64_t i = 0; i < n; i++) {
    WEIR_TRY(weir_grib_file_open(paths[i], &g->files[i]));
  }
  if (opts->index && recall(g, opts->index)) {
    if (g->damaged == 0 || opts->skip_damaged) {
      return WEIR_OK;
    }
    weir_grib_forget(g); /* to say what is damaged */
  }
  WEIR_TRY(weir_alloc(KNOWN, sizeof *s.known, (void **)&s.known));
  for (s.file = 0; status == WEIR_OK && s.file < n; s.file++) {
    status = index_file(&s);
  }
  weir_free(&s.points);
  weir_free(&s.known);
  if (status == WEIR_OK && opts->index) {
    keep(g, opts->index);
  }
  return status;
}

weir_status weir_grib_open(const char *const *paths, int64_t n, const weir_grib_opts *opts,
                           weir_grib **out)
{
  const weir_grib_opts usual = {.index = NULL};
  void *memory = NULL;

  *out = NULL;
  if (n < 1) {
    return weir_fail(WEIR_ERR_CONFIG, "no GRIB file is given");
  }
  WEIR_TRY(weir_alloc(1, sizeof(weir_grib), &memory));
  weir_grib *g = memory;
  const weir_status status = fill(g, paths, n, opts ? opts : &usual);

  if (status != WEIR_OK) {
    weir_grib_close(&g);
  }
  *out = g;
  return status;
}
