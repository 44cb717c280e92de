/* index.c - what is known of the messages of a set, in memory and as a file. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/grib/grib_priv.h"

enum { VERSION = 3, ORDER = 0x01020304, MAX_POINTS = 1 << 28 };

/* First bytes of an index file. What follows, in the layout of this build: counts; for each file
 * its size, time and path; kinds; for each grid its numbers, lat and lon; fields. */
typedef struct head {
  char magic[8];
  int32_t version, order;
  int64_t sizes[2]; /* of a kind and of a field */
  char sha256[65];
  char zero[7];
} head;

typedef struct counts {
  int64_t n_files, n_kinds, n_grids, n_fields, damaged;
} counts;

_Static_assert(offsetof(head, sha256) == WEIR_GRIB_INDEX_SUM &&
                   sizeof(head) == WEIR_GRIB_INDEX_HEAD,
               "the layout of the head");

typedef struct grid_head {
  int64_t n_lat, n_lon, gaussian, wraps, reduced, rotated;
  double south_pole[2];
} grid_head;

static const char magic[8] = "WEIRGRB";

weir_status weir_grib_add_kind(weir_grib *g, const weir_grib_kind *kind, int64_t *number)
{
  for (int64_t i = g->n_kinds; i-- > 0;) { /* the latest is the likeliest */
    if (memcmp(&g->kinds[i], kind, sizeof *kind) == 0) {
      *number = i;
      return WEIR_OK;
    }
  }
  WEIR_TRY(weir_reserve(&g->kinds, &g->kinds_capacity, g->n_kinds + 1, sizeof *kind));
  g->kinds[g->n_kinds] = *kind;
  *number = g->n_kinds++;
  return WEIR_OK;
}

static bool same_grid(const weir_grib_grid *a, const weir_grib_grid *b)
{
  return a->n_lat == b->n_lat && a->n_lon == b->n_lon && a->gaussian == b->gaussian &&
         a->wraps == b->wraps && a->reduced == b->reduced && a->rotated == b->rotated &&
         memcmp(a->south_pole, b->south_pole, sizeof a->south_pole) == 0 &&
         memcmp(a->lat, b->lat, (size_t)weir_grib_grid_lats(a) * sizeof(double)) == 0 &&
         memcmp(a->lon, b->lon, (size_t)a->n_lon * sizeof(double)) == 0;
}

weir_status weir_grib_add_grid(weir_grib *g, const weir_grib_grid *grid, int64_t *number)
{
  void *memory = NULL;

  for (int64_t i = g->n_grids; i-- > 0;) {
    if (same_grid(&g->grids[i], grid)) {
      *number = i;
      return WEIR_OK;
    }
  }
  WEIR_TRY(weir_reserve(&g->grids, &g->grids_capacity, g->n_grids + 1, sizeof *grid));
  const int64_t lats = weir_grib_grid_lats(grid);

  WEIR_TRY(weir_alloc(lats + grid->n_lon, sizeof(double), &memory));
  double *const lat = memory, *const lon = lat + lats;

  memcpy(lat, grid->lat, (size_t)lats * sizeof(double));
  memcpy(lon, grid->lon, (size_t)grid->n_lon * sizeof(double));
  g->grids[g->n_grids] = *grid;
  g->grids[g->n_grids].lat = lat;
  g->grids[g->n_grids].lon = lon;
  *number = g->n_grids++;
  return WEIR_OK;
}

weir_status weir_grib_add_field(weir_grib *g, const weir_grib_field *field)
{
  WEIR_TRY(weir_reserve(&g->fields, &g->fields_capacity, g->n_fields + 1, sizeof *field));
  g->fields[g->n_fields++] = *field;
  return WEIR_OK;
}

void weir_grib_forget(weir_grib *g)
{
  for (int64_t i = 0; i < g->n_grids; i++) {
    void *lat = (void *)(uintptr_t)g->grids[i].lat;

    weir_free(&lat);
  }
  g->n_fields = g->n_kinds = g->n_grids = g->damaged = 0;
}

/* Bytes of the index file that is being made. */
typedef struct text {
  uint8_t *bytes;
  int64_t size, capacity;
} text;

static weir_status put(text *t, const void *data, int64_t bytes)
{
  WEIR_TRY(weir_reserve(&t->bytes, &t->capacity, t->size + bytes, 1));
  if (bytes > 0) {
    memcpy(t->bytes + t->size, data, (size_t)bytes);
  }
  t->size += bytes;
  return WEIR_OK;
}

static weir_status put_all(const weir_grib *g, text *t)
{
  const counts n = {g->n_files, g->n_kinds, g->n_grids, g->n_fields, g->damaged};

  WEIR_TRY(put(t, &n, sizeof n));
  for (int64_t i = 0; i < g->n_files; i++) {
    const weir_grib_file *const f = &g->files[i];
    const int64_t numbers[] = {f->size, f->mtime, (int64_t)strlen(f->path)};

    WEIR_TRY(put(t, numbers, sizeof numbers));
    WEIR_TRY(put(t, f->path, numbers[2]));
  }
  WEIR_TRY(put(t, g->kinds, g->n_kinds * (int64_t)sizeof *g->kinds));
  for (int64_t i = 0; i < g->n_grids; i++) {
    const weir_grib_grid *const grid = &g->grids[i];
    const grid_head h = {grid->n_lat,
                         grid->n_lon,
                         grid->gaussian,
                         grid->wraps,
                         grid->reduced,
                         grid->rotated,
                         {grid->south_pole[0], grid->south_pole[1]}};

    WEIR_TRY(put(t, &h, sizeof h));
    WEIR_TRY(put(t, grid->lat, weir_grib_grid_lats(grid) * (int64_t)sizeof(double)));
    WEIR_TRY(put(t, grid->lon, h.n_lon * (int64_t)sizeof(double)));
  }
  return put(t, g->fields, g->n_fields * (int64_t)sizeof *g->fields);
}

weir_status weir_grib_index_write(const weir_grib *g, const char *path)
{
  head h = {.version = VERSION,
            .order = ORDER,
            .sizes = {sizeof(weir_grib_kind), sizeof(weir_grib_field)}};
  weir_writer *w = NULL;
  text t = {0};
  weir_status status = WEIR_OK;

  memcpy(h.magic, magic, sizeof magic);
  WEIR_TRY_GOTO(put_all(g, &t), done);
  weir_sha256(t.bytes, (size_t)t.size, h.sha256);
  WEIR_TRY_GOTO(weir_writer_open(path, &w), done);
  WEIR_TRY_GOTO(weir_writer_write(w, &h, sizeof h), done);
  WEIR_TRY_GOTO(weir_writer_write(w, t.bytes, (size_t)t.size), done);
  status = weir_writer_commit(&w);
done:
  weir_writer_destroy(&w);
  weir_free(&t.bytes);
  return status;
}

/* What is left of an index file. */
typedef struct source {
  const uint8_t *at;
  int64_t left;
} source;

/* n elements of `size` bytes; NULL where they are not there. */
static const void *get(source *s, int64_t n, size_t size)
{
  const void *const at = s->at;
  int64_t bytes = 0;

  if (n < 0 || !weir_mul_ok(n, (int64_t)size, &bytes) || bytes > s->left) {
    return NULL;
  }
  s->at += bytes;
  s->left -= bytes;
  return at;
}

static weir_status refuse(const char *what)
{
  return weir_fail(WEIR_ERR_DATA, "index of GRIB files: %s", what);
}

static weir_status get_files(const weir_grib *g, source *s)
{
  for (int64_t i = 0; i < g->n_files; i++) {
    const weir_grib_file *const f = &g->files[i];
    int64_t numbers[3];
    const void *const said = get(s, 3, sizeof(int64_t));

    if (!said) {
      return refuse("it ends in the list of files");
    }
    memcpy(numbers, said, sizeof numbers);
    const char *const path = get(s, numbers[2], 1);

    if (!path || numbers[2] != (int64_t)strlen(f->path) ||
        memcmp(path, f->path, (size_t)numbers[2]) != 0 || numbers[0] != f->size ||
        numbers[1] != f->mtime) {
      return refuse("it belongs to other files, or they have changed since");
    }
  }
  return WEIR_OK;
}

/* Texts end, and numbers are of this build's range. */
static bool is_kind(const weir_grib_kind *k)
{
  const struct {
    const char *text;
    size_t size;
  } texts[] = {{k->short_name, sizeof k->short_name},
               {k->units, sizeof k->units},
               {k->standard_name, sizeof k->standard_name},
               {k->level_type, sizeof k->level_type},
               {k->step_type, sizeof k->step_type},
               {k->type, sizeof k->type},
               {k->stream, sizeof k->stream},
               {k->packing, sizeof k->packing},
               {k->refused, sizeof k->refused}};

  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (!memchr(texts[i].text, 0, texts[i].size)) {
      return false;
    }
  }
  return true;
}

static weir_status get_kinds(weir_grib *g, source *s, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    const void *const said = get(s, 1, sizeof(weir_grib_kind));
    weir_grib_kind kind;

    if (!said) {
      return refuse("it ends in the list of kinds");
    }
    memcpy(&kind, said, sizeof kind);
    if (!is_kind(&kind)) {
      return refuse("a text has no end");
    }
    WEIR_TRY(weir_reserve(&g->kinds, &g->kinds_capacity, g->n_kinds + 1, sizeof kind));
    g->kinds[g->n_kinds++] = kind;
  }
  return WEIR_OK;
}

static weir_status get_grids(weir_grib *g, source *s, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    const void *const said = get(s, 1, sizeof(grid_head));
    void *memory = NULL;
    grid_head h;

    if (!said) {
      return refuse("it ends in the list of grids");
    }
    memcpy(&h, said, sizeof h);
    if (h.n_lat < 1 || h.n_lon < 1 || h.n_lat > MAX_POINTS || h.n_lon > MAX_POINTS ||
        h.gaussian < 0 || (h.reduced != 0 && h.n_lat != 1)) {
      return refuse("invalid size of a grid");
    }
    const int64_t lats = h.reduced != 0 ? h.n_lon : h.n_lat;
    const void *const points = get(s, lats + h.n_lon, sizeof(double));

    if (!points) {
      return refuse("it ends in the list of grids");
    }
    WEIR_TRY(weir_reserve(&g->grids, &g->grids_capacity, g->n_grids + 1, sizeof *g->grids));
    WEIR_TRY(weir_alloc(lats + h.n_lon, sizeof(double), &memory));
    memcpy(memory, points, (size_t)(lats + h.n_lon) * sizeof(double));
    g->grids[g->n_grids++] = (weir_grib_grid){.n_lat = h.n_lat,
                                              .n_lon = h.n_lon,
                                              .gaussian = h.gaussian,
                                              .lat = memory,
                                              .lon = (double *)memory + lats,
                                              .wraps = h.wraps != 0,
                                              .reduced = h.reduced != 0,
                                              .rotated = h.rotated != 0,
                                              .south_pole = {h.south_pole[0], h.south_pole[1]}};
  }
  return WEIR_OK;
}

static bool is_field(const weir_grib *g, const weir_grib_field *f)
{
  if (f->file < 0 || f->file >= g->n_files || f->kind < 0 || f->kind >= g->n_kinds ||
      f->grid < -1 || f->grid >= g->n_grids || f->message < 1 || f->submessage < 0) {
    return false;
  }
  return (f->grid >= 0 || g->kinds[f->kind].refused[0]) && f->offset >= 0 && f->length > 0 &&
         f->length <= g->files[f->file].size && f->offset <= g->files[f->file].size - f->length;
}

static weir_status get_fields(weir_grib *g, source *s, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    const void *const said = get(s, 1, sizeof(weir_grib_field));
    weir_grib_field field;

    if (!said) {
      return refuse("it ends in the list of fields");
    }
    memcpy(&field, said, sizeof field);
    if (!is_field(g, &field)) {
      return refuse("invalid position of a field");
    }
    WEIR_TRY(weir_grib_add_field(g, &field));
  }
  return s->left == 0 ? WEIR_OK : refuse("bytes follow its end");
}

/* Whether the head is one of this version, and the sum that of what follows. */
static weir_status get_head(source *s)
{
  const void *const said = get(s, 1, sizeof(head));
  const head wanted = {.version = VERSION,
                       .order = ORDER,
                       .sizes = {sizeof(weir_grib_kind), sizeof(weir_grib_field)}};
  char sha256[65];
  head h;

  if (!said) {
    return refuse("it is too short for an index");
  }
  memcpy(&h, said, sizeof h);
  if (memcmp(h.magic, magic, sizeof magic) != 0 || h.version != wanted.version ||
      h.order != wanted.order || memcmp(h.sizes, wanted.sizes, sizeof h.sizes) != 0) {
    return refuse("it is not an index, or one of another version");
  }
  weir_sha256(s->at, (size_t)s->left, sha256);
  if (memcmp(sha256, h.sha256, sizeof sha256) != 0 ||
      memcmp(h.zero, wanted.zero, sizeof h.zero) != 0) {
    return refuse("it is damaged");
  }
  return WEIR_OK;
}

weir_status weir_grib_index_parse(weir_grib *g, const uint8_t *bytes, int64_t size)
{
  source s = {bytes, size};
  counts n;

  WEIR_TRY(get_head(&s));
  const void *const said = get(&s, 1, sizeof n);

  if (!said) {
    return refuse("it is too short for an index");
  }
  memcpy(&n, said, sizeof n);
  if (n.n_files != g->n_files || n.damaged < 0) {
    return refuse("it belongs to another set of files");
  }
  WEIR_TRY(get_files(g, &s));
  WEIR_TRY(get_kinds(g, &s, n.n_kinds));
  WEIR_TRY(get_grids(g, &s, n.n_grids));
  WEIR_TRY(get_fields(g, &s, n.n_fields));
  g->damaged = n.damaged;
  return WEIR_OK;
}
