/* archive.c - see archive.h: the files, and which of them holds a field. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/archive_priv.h"
#include "data/date.h"

static const wx_format *const formats[] = {&wx_format_netcdf, &wx_format_grib};
enum { N_FORMATS = sizeof formats / sizeof formats[0], FIRST_BYTES = 16 };

enum { MOST_QUANTITIES = 4096 };

typedef struct entry {
  union {
    wx_field field; /* while the files are opened */
    struct {
      int64_t key, place; /* key: [start, lead, quantity, member] */
    } at;
  } u;
  int64_t file;
} entry;

typedef struct file {
  const wx_format *format;
  void *state;
  char *path;
  int64_t used; /* when it was read last; 0: it rests */
} file;

/* Files that are open at once: systems allow 1024 by default. */
enum { MOST_AWAKE = 128 };

struct wx_archive {
  wx_archive_facts facts;
  int64_t *start, *member;
  double *lead, *lat, *lon, *weight;
  wx_notes *mapping, *notes;
  wx_quantity *quantity;
  int64_t quantity_capacity;
  int64_t n_files, n_awake, most_awake, clock;
  file *files;
  int64_t n_entries, entry_capacity;
  entry *entries;      /* ascending key */
  int64_t *place;      /* [n_members] */
  const float *values; /* of memory; NULL: of files */
};

/* What is being opened: file `now`; of_grid: the file of the grid, -1 before there is one. */
struct wx_index {
  wx_archive *a;
  int64_t now, of_grid;
  int64_t of_quantity[MOST_QUANTITIES]; /* the file of each */
};

static weir_status copy(void *out, const void *from, int64_t n, size_t size)
{
  void *memory = NULL;

  if (from != NULL) {
    WEIR_TRY(weir_alloc(n, size, &memory));
    memcpy(memory, from, (size_t)n * size);
  }
  memcpy(out, &memory, sizeof memory);
  return WEIR_OK;
}

/* The archive's own copy of a grid. */
static weir_status take_grid(wx_archive *a, const wx_grid *grid)
{
  const int64_t cells = wx_grid_cells(grid);
  wx_grid *g = &a->facts.grid;

  *g = *grid;
  WEIR_TRY(copy(&a->lat, grid->lat, grid->kind == WX_GRID_SITES ? grid->n_lon : grid->n_lat,
                sizeof *a->lat));
  WEIR_TRY(copy(&a->lon, grid->lon, grid->n_lon, sizeof *a->lon));
  WEIR_TRY(copy(&a->mapping, grid->mapping, 1, sizeof *a->mapping));
  g->lat = a->lat;
  g->lon = a->lon;
  g->mapping = a->mapping;
  WEIR_TRY(copy(&a->weight, grid->weight, cells, sizeof *a->weight));
  if (a->weight == NULL) {
    WEIR_TRY(weir_alloc(cells, sizeof *a->weight, (void **)&a->weight));
    wx_grid_weights(g, a->weight);
  }
  g->weight = a->weight;
  return WEIR_OK;
}

weir_status wx_index_grid(wx_index *index, const wx_grid *grid, const char *what)
{
  wx_archive *a = index->a;
  const char *const path = a->files[index->now].path;
  char one[WX_LONG], other[WX_LONG];
  int64_t cells = 0;

  if (grid->n_lat < 1 || grid->n_lon < 1 || grid->n_lat > WX_MOST_LINE ||
      grid->n_lon > WX_MOST_LINE || !weir_mul_ok(grid->n_lat, grid->n_lon, &cells) ||
      cells > WX_MOST_CELLS) {
    return weir_fail(WEIR_ERR_DATA, "%s: %s: a grid of %lld x %lld; 1 to %d cells are handled",
                     path, what, (long long)grid->n_lat, (long long)grid->n_lon, WX_MOST_CELLS);
  }
  if (index->of_grid < 0) {
    index->of_grid = index->now;
    return take_grid(a, grid);
  }
  const char *const reason = wx_grid_differs(&a->facts.grid, grid);

  if (reason != NULL) {
    wx_grid_text(grid, one, sizeof one);
    wx_grid_text(&a->facts.grid, other, sizeof other);
    return weir_fail(WEIR_ERR_DATA,
                     "%s: %s is on another grid (%s) than %s (%s): %s; give files of one grid",
                     path, what, one, a->files[index->of_grid].path, other, reason);
  }
  return WEIR_OK;
}

weir_status wx_index_quantity(wx_index *index, const wx_quantity *q, int64_t *number)
{
  wx_archive *a = index->a;
  const char *const path = a->files[index->now].path;
  int64_t *const n = &a->facts.n_quantities;

  for (int64_t k = 0; k < *n; k++) {
    wx_quantity *const known = &a->quantity[k];

    if (strcmp(known->name, q->name) != 0) {
      continue;
    }
    if (!wx_quantity_same_units(known->units, q->units)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: %s is in '%s', that of %s in '%s': convert one of the files", path,
                       q->name, q->units, a->files[index->of_quantity[k]].path, known->units);
    }
    *number = k;
    return WEIR_OK;
  }
  if (*n == MOST_QUANTITIES) {
    return weir_fail(WEIR_ERR_DATA, "%s: more than %d variables and levels", path, MOST_QUANTITIES);
  }
  WEIR_TRY(weir_reserve(&a->quantity, &a->quantity_capacity, *n + 1, sizeof *a->quantity));
  a->quantity[*n] = *q;
  a->facts.quantity = a->quantity;
  index->of_quantity[*n] = index->now;
  *number = (*n)++;
  return WEIR_OK;
}

weir_status wx_index_field(wx_index *index, const wx_field *field)
{
  wx_archive *a = index->a;

  if (a->n_entries == WX_MOST_FIELDS) {
    return weir_fail(WEIR_ERR_DATA, "%s: more than %d fields: open fewer files at once",
                     a->files[index->now].path, WX_MOST_FIELDS);
  }
  WEIR_TRY(weir_reserve(&a->entries, &a->entry_capacity, a->n_entries + 1, sizeof *a->entries));
  a->entries[a->n_entries++] = (entry){.u.field = *field, .file = index->now};
  return WEIR_OK;
}

weir_status wx_index_notes(wx_index *index, const wx_notes *notes)
{
  wx_archive *a = index->a;

  if (a->notes == NULL && notes->n > 0) {
    WEIR_TRY(copy(&a->notes, notes, 1, sizeof *a->notes));
    a->facts.notes = a->notes;
  }
  return WEIR_OK;
}

void wx_index_tolerance(wx_index *index, double hours)
{
  index->a->facts.tolerance = fmax(index->a->facts.tolerance, hours);
}

static int by_int(const void *one, const void *other)
{
  int64_t a = 0, b = 0;

  memcpy(&a, one, sizeof a);
  memcpy(&b, other, sizeof b);
  return (a > b) - (a < b);
}

static int by_real(const void *one, const void *other)
{
  double a = 0, b = 0;

  memcpy(&a, one, sizeof a);
  memcpy(&b, other, sizeof b);
  return (a > b) - (a < b);
}

static int by_key(const void *one, const void *other)
{
  const entry *const a = one, *const b = other;

  return a->u.at.key != b->u.at.key ? (a->u.at.key > b->u.at.key) - (a->u.at.key < b->u.at.key)
                                    : (a->file > b->file) - (a->file < b->file);
}

/* The number of the nearest of ascending values, -1: none within the tolerance. */
static int64_t nearest_int(const int64_t *x, int64_t n, int64_t value, int64_t tolerance)
{
  int64_t lo = 0, hi = n;

  while (lo < hi) { /* the first that is not less */
    const int64_t middle = lo + (hi - lo) / 2;

    if (x[middle] < value) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  const bool before = lo > 0 && (lo == n || value - x[lo - 1] < x[lo] - value);
  const int64_t best = before ? lo - 1 : lo;

  return best < n && llabs(x[best] - value) <= tolerance ? best : -1;
}

static int64_t nearest_real(const double *x, int64_t n, double value, double tolerance)
{
  int64_t lo = 0, hi = n;

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (x[middle] < value) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  const bool before = lo > 0 && (lo == n || value - x[lo - 1] < x[lo] - value);
  const int64_t best = before ? lo - 1 : lo;

  return best < n && fabs(x[best] - value) <= tolerance ? best : -1;
}

/* Sorts, and leaves of equal values one: how many stay. */
static int64_t unique(void *values, int64_t n, size_t size,
                      int (*compare)(const void *, const void *))
{
  char *const x = values;
  int64_t kept = 0;

  qsort(x, (size_t)n, size, compare);
  for (int64_t i = 0; i < n; i++) {
    if (kept == 0 || compare(x + (size_t)(kept - 1) * size, x + (size_t)i * size) != 0) {
      memmove(x + (size_t)kept * size, x + (size_t)i * size, size);
      kept++;
    }
  }
  return kept;
}

/* The axes of all files together. Leads that differ by rounding only are one. */
static weir_status take_axes(wx_archive *a)
{
  wx_archive_facts *f = &a->facts;
  const int64_t n = a->n_entries;

  WEIR_TRY(weir_alloc(n, sizeof *a->start, (void **)&a->start));
  WEIR_TRY(weir_alloc(n, sizeof *a->lead, (void **)&a->lead));
  WEIR_TRY(weir_alloc(n, sizeof *a->member, (void **)&a->member));
  for (int64_t i = 0; i < n; i++) {
    wx_field *const field = &a->entries[i].u.field;

    field->lead = round(field->lead * 3600) / 3600;
    a->start[i] = field->start;
    a->lead[i] = field->lead;
    a->member[i] = field->member;
  }
  f->n_starts = unique(a->start, n, sizeof *a->start, by_int);
  f->n_leads = unique(a->lead, n, sizeof *a->lead, by_real);
  f->n_members = unique(a->member, n, sizeof *a->member, by_int);
  WEIR_TRY(weir_realloc((void **)&a->start, n, f->n_starts, sizeof *a->start));
  WEIR_TRY(weir_realloc((void **)&a->lead, n, f->n_leads, sizeof *a->lead));
  WEIR_TRY(weir_realloc((void **)&a->member, n, f->n_members, sizeof *a->member));
  f->start = a->start;
  f->lead = a->lead;
  f->member = a->member;
  return WEIR_OK;
}

static bool key_of(const wx_archive_facts *f, int64_t start, int64_t lead, int64_t quantity,
                   int64_t member, int64_t *key)
{
  return weir_mul_ok(start, f->n_leads, key) && weir_add_ok(*key, lead, key) &&
         weir_mul_ok(*key, f->n_quantities, key) && weir_add_ok(*key, quantity, key) &&
         weir_mul_ok(*key, f->n_members, key) && weir_add_ok(*key, member, key);
}

/* Two files, or one, that hold the same field. */
static weir_status refuse_twice(const wx_archive *a, const entry *one, const entry *other)
{
  const wx_archive_facts *f = &a->facts;
  int64_t rest = one->u.at.key;
  const int64_t member = rest % f->n_members;
  const int64_t quantity = (rest /= f->n_members) % f->n_quantities;
  const int64_t lead = (rest /= f->n_quantities) % f->n_leads, start = rest / f->n_leads;
  char date[32];

  wx_date_text((double)f->start[start] / 86400, date, sizeof date);
  return weir_fail(WEIR_ERR_DATA,
                   "%s: %s of start %s, lead %g h, member %lld is there twice%s%s: leave one out",
                   a->files[one->file].path, f->quantity[quantity].name, date, f->lead[lead],
                   (long long)f->member[member], one->file != other->file ? ", also in " : "",
                   one->file != other->file ? a->files[other->file].path : "");
}

static weir_status take_keys(wx_archive *a)
{
  const wx_archive_facts *f = &a->facts;

  for (int64_t i = 0; i < a->n_entries; i++) {
    const wx_field field = a->entries[i].u.field;
    int64_t key = 0;

    if (!key_of(f, nearest_int(f->start, f->n_starts, field.start, 0),
                nearest_real(f->lead, f->n_leads, field.lead, 0), field.quantity,
                nearest_int(f->member, f->n_members, field.member, 0), &key)) {
      return weir_fail(WEIR_ERR_DATA, "%s: too many starts, leads, variables and members", f->name);
    }
    a->entries[i].u.at.key = key;
    a->entries[i].u.at.place = field.place;
  }
  qsort(a->entries, (size_t)a->n_entries, sizeof *a->entries, by_key);
  for (int64_t i = 1; i < a->n_entries; i++) {
    if (a->entries[i].u.at.key == a->entries[i - 1].u.at.key) {
      return refuse_twice(a, &a->entries[i - 1], &a->entries[i]);
    }
  }
  return weir_alloc(f->n_members, sizeof *a->place, (void **)&a->place);
}

/* Sends the file that was not used for longest to rest. */
static void rest_one(wx_archive *a)
{
  file *oldest = NULL;

  for (int64_t i = 0; i < a->n_files; i++) {
    file *const f = &a->files[i];

    if (f->used > 0 && (oldest == NULL || f->used < oldest->used)) {
      oldest = f;
    }
  }
  oldest->format->rest(oldest->state);
  oldest->used = 0;
  a->n_awake--;
}

/* Notes that a file is used, and lets others rest where too many are open. */
static void use(wx_archive *a, file *f)
{
  if (f->format->rest == NULL) {
    return;
  }
  a->n_awake += f->used == 0;
  f->used = ++a->clock;
  while (a->n_awake > a->most_awake) {
    rest_one(a);
  }
}

void wx_archive_keep_awake(wx_archive *a, int64_t n)
{
  a->most_awake = n;
}

static weir_status first_bytes(const char *path, unsigned char *bytes, int64_t *n)
{
  FILE *f = fopen(path, "rb");

  if (f == NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot be opened: is it there, and may it be read?", path);
  }
  *n = (int64_t)fread(bytes, 1, FIRST_BYTES, f);
  (void)fclose(f);
  return WEIR_OK;
}

static weir_status open_file(wx_index *index, const char *path)
{
  file *const f = &index->a->files[index->now];
  unsigned char bytes[FIRST_BYTES];
  char names[WX_LONG] = "";
  int64_t n = 0;
  size_t used = 0;

  WEIR_TRY(weir_strdup(path, &f->path));
  WEIR_TRY(first_bytes(path, bytes, &n));
  for (int k = 0; k < N_FORMATS; k++) {
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", k > 0 ? " or " : "",
                             formats[k]->name);
    if (formats[k]->claims(bytes, n)) {
      const int64_t before = index->a->n_entries;

      f->format = formats[k];
      WEIR_TRY(f->format->open(path, index, &f->state));
      use(index->a, f);
      return index->a->n_entries > before
                 ? WEIR_OK
                 : weir_fail(WEIR_ERR_DATA, "%s: there are no fields in it", path);
    }
  }
  return weir_fail(WEIR_ERR_DATA, "%s: begins like no file of %s: is it the right file, and whole?",
                   path, names);
}

static weir_status open_all(wx_archive *a, wx_index *index, const char *const *paths)
{
  for (int64_t i = 0; i < a->n_files; i++) {
    index->now = i;
    WEIR_TRY(open_file(index, paths[i]));
  }
  a->facts.name = a->files[0].path;
  WEIR_TRY(take_axes(a));
  return take_keys(a);
}

weir_status wx_archive_open(const char *const *paths, int n, wx_archive **out)
{
  wx_archive *a = NULL;
  wx_index *index = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  if (n < 1) {
    return weir_fail(WEIR_ERR_CONFIG, "no files are given: data.forecast and data.truth are lists");
  }
  WEIR_TRY(weir_alloc(1, sizeof *a, (void **)&a));
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *index, (void **)&index), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *a->files, (void **)&a->files), done);
  a->n_files = n;
  a->most_awake = MOST_AWAKE;
  index->a = a;
  index->of_grid = -1;
  WEIR_TRY_GOTO(open_all(a, index, paths), done);
  *out = a;
  a = NULL;
done:
  weir_free(&index);
  wx_archive_close(&a);
  return status;
}

/* Facts of a caller, checked: what an archive says of itself has to hold. */
static weir_status check_facts(const wx_archive_facts *f)
{
  bool good = f->n_starts > 0 && f->n_leads > 0 && f->n_members > 0 && f->n_quantities > 0 &&
              f->grid.n_lat > 0 && f->grid.n_lon > 0 &&
              (f->grid.kind != WX_GRID_SITES || f->grid.n_lat == 1) &&
              (f->grid.kind == WX_GRID_SITES || (f->grid.lat != NULL && f->grid.lon != NULL));

  for (int64_t i = 1; good && i < f->n_starts; i++) {
    good = f->start[i] > f->start[i - 1];
  }
  for (int64_t i = 1; good && i < f->n_leads; i++) {
    good = f->lead[i] > f->lead[i - 1];
  }
  for (int64_t i = 1; good && i < f->n_members; i++) {
    good = f->member[i] > f->member[i - 1];
  }
  return good ? WEIR_OK
              : weir_fail(WEIR_ERR_SHAPE, "an archive of memory: starts, leads and members have to "
                                          "be there and ascend, the grid needs coordinates");
}

static weir_status take_facts(wx_archive *a, const wx_archive_facts *f)
{
  a->facts = *f;
  a->facts.grid.weight = NULL;
  WEIR_TRY(copy(&a->start, f->start, f->n_starts, sizeof *a->start));
  WEIR_TRY(copy(&a->lead, f->lead, f->n_leads, sizeof *a->lead));
  WEIR_TRY(copy(&a->member, f->member, f->n_members, sizeof *a->member));
  WEIR_TRY(copy(&a->quantity, f->quantity, f->n_quantities, sizeof *a->quantity));
  WEIR_TRY(take_grid(a, &f->grid));
  WEIR_TRY(copy(&a->notes, f->notes, 1, sizeof *a->notes));
  a->facts.notes = a->notes;
  WEIR_TRY(weir_alloc(1, sizeof *a->files, (void **)&a->files));
  a->n_files = 1;
  WEIR_TRY(weir_strdup(f->name != NULL ? f->name : "memory", &a->files[0].path));
  a->facts.name = a->files[0].path;
  a->facts.start = a->start;
  a->facts.lead = a->lead;
  a->facts.member = a->member;
  a->facts.quantity = a->quantity;
  return WEIR_OK;
}

weir_status wx_archive_of_memory(const wx_archive_facts *facts, const float *values,
                                 wx_archive **out)
{
  wx_archive *a = NULL;

  *out = NULL;
  WEIR_TRY(check_facts(facts));
  WEIR_TRY(weir_alloc(1, sizeof *a, (void **)&a));
  const weir_status status = take_facts(a, facts);

  if (status != WEIR_OK) {
    wx_archive_close(&a);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  a->values = values;
  *out = a;
  return WEIR_OK;
}

void wx_archive_close(wx_archive **a)
{
  if (*a == NULL) {
    return;
  }
  for (int64_t i = 0; (*a)->files != NULL && i < (*a)->n_files; i++) {
    file *const f = &(*a)->files[i];

    if (f->format != NULL) {
      f->format->close(&f->state);
    }
    weir_free(&f->path);
  }
  weir_free(&(*a)->files);
  weir_free(&(*a)->start);
  weir_free(&(*a)->lead);
  weir_free(&(*a)->member);
  weir_free(&(*a)->quantity);
  weir_free(&(*a)->lat);
  weir_free(&(*a)->lon);
  weir_free(&(*a)->weight);
  weir_free(&(*a)->mapping);
  weir_free(&(*a)->notes);
  weir_free(&(*a)->entries);
  weir_free(&(*a)->place);
  weir_free(a);
}

const wx_archive_facts *wx_archive_get(const wx_archive *a)
{
  return &a->facts;
}

static bool is_there(const wx_archive_facts *f, int64_t start, int64_t lead, int64_t quantity,
                     int64_t member, int64_t n)
{
  return start >= 0 && start < f->n_starts && lead >= 0 && lead < f->n_leads && quantity >= 0 &&
         quantity < f->n_quantities && member >= 0 && n >= 0 && member <= f->n_members - n;
}

/* The entry of a field; NULL: no file holds it. */
static const entry *find(const wx_archive *a, int64_t start, int64_t lead, int64_t quantity,
                         int64_t member)
{
  int64_t lo = 0, hi = a->n_entries, key = 0;

  (void)key_of(&a->facts, start, lead, quantity, member, &key);
  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (a->entries[middle].u.at.key < key) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo < a->n_entries && a->entries[lo].u.at.key == key ? &a->entries[lo] : NULL;
}

const wx_format *wx_archive_place(const wx_archive *a, int64_t start, int64_t lead,
                                  int64_t quantity, int64_t member, void **state, int64_t *place)
{
  const entry *const e = is_there(&a->facts, start, lead, quantity, member, 1) && a->values == NULL
                             ? find(a, start, lead, quantity, member)
                             : NULL;

  if (e == NULL) {
    return NULL;
  }
  *state = a->files[e->file].state;
  *place = e->u.at.place;
  return a->files[e->file].format;
}

bool wx_archive_has(const wx_archive *a, int64_t start, int64_t lead, int64_t quantity,
                    int64_t member)
{
  return is_there(&a->facts, start, lead, quantity, member, 1) &&
         (a->values != NULL || find(a, start, lead, quantity, member) != NULL);
}

/* Members in runs of one file, so that a format can read many at once. */
static weir_status read_files(wx_archive *a, int64_t start, int64_t lead, int64_t quantity,
                              int64_t member, int64_t n, float *out)
{
  const int64_t cells = wx_grid_cells(&a->facts.grid);

  for (int64_t at = 0, run = 0; at < n; at += run) {
    const entry *const first = find(a, start, lead, quantity, member + at);

    run = 1;
    if (first == NULL) {
      for (int64_t e = 0; e < cells; e++) {
        out[at * cells + e] = NAN;
      }
      continue;
    }
    a->place[0] = first->u.at.place;
    for (; at + run < n; run++) {
      const entry *const next = find(a, start, lead, quantity, member + at + run);

      if (next == NULL || next->file != first->file) {
        break;
      }
      a->place[run] = next->u.at.place;
    }
    file *const f = &a->files[first->file];

    use(a, f);
    WEIR_TRY(f->format->read(f->state, a->place, run, out + at * cells));
  }
  return WEIR_OK;
}

weir_status wx_archive_read(wx_archive *a, int64_t start, int64_t lead, int64_t quantity,
                            int64_t member, int64_t n, float *out)
{
  const wx_archive_facts *f = &a->facts;
  const int64_t cells = wx_grid_cells(&f->grid);

  if (!is_there(f, start, lead, quantity, member, n)) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s: there is no start %lld, lead %lld, quantity %lld, members %lld to %lld",
                     f->name, (long long)start, (long long)lead, (long long)quantity,
                     (long long)member, (long long)(member + n - 1));
  }
  if (a->values == NULL) {
    return read_files(a, start, lead, quantity, member, n, out);
  }
  const int64_t field =
      ((start * f->n_leads + lead) * f->n_quantities + quantity) * f->n_members + member;

  memcpy(out, a->values + field * cells, (size_t)(n * cells) * sizeof *out);
  return WEIR_OK;
}

int64_t wx_archive_find_quantity(const wx_archive_facts *f, const char *name)
{
  for (int64_t k = 0; k < f->n_quantities; k++) {
    if (strcmp(f->quantity[k].name, name) == 0) {
      return k;
    }
  }
  return -1;
}

int64_t wx_archive_find_start(const wx_archive_facts *f, int64_t seconds)
{
  return nearest_int(f->start, f->n_starts, seconds, llround(f->tolerance * 3600));
}

int64_t wx_archive_find_lead(const wx_archive_facts *f, double hours)
{
  return nearest_real(f->lead, f->n_leads, hours, fmax(f->tolerance, 1e-6));
}

int64_t wx_archive_find_truth(const wx_archive_facts *truth, const wx_archive_facts *forecast,
                              int64_t start, int64_t lead)
{
  const double tolerance = fmax(truth->tolerance, forecast->tolerance);
  const int64_t valid = forecast->start[start] + llround(forecast->lead[lead] * 3600);

  return nearest_int(truth->start, truth->n_starts, valid, llround(tolerance * 3600));
}
