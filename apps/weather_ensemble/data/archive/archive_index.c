/* archive_index.c - what files tell of their fields, put together to one cube: one grid, each
 * quantity in one unit, no field twice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/archive/archive_cube.h"
#include "data/date.h"

weir_status wx_archive_copy(void *out, const void *from, int64_t n, size_t size)
{
  void *memory = NULL;

  if (from != NULL) {
    WEIR_TRY(weir_alloc(n, size, &memory));
    memcpy(memory, from, (size_t)n * size);
  }
  memcpy(out, &memory, sizeof memory);
  return WEIR_OK;
}

weir_status wx_archive_take_grid(wx_archive *a, const wx_grid *grid)
{
  const int64_t cells = wx_grid_cells(grid);
  wx_grid *g = &a->facts.grid;

  *g = *grid;
  WEIR_TRY(wx_archive_copy(
      &a->lat, grid->lat,
      grid->kind == WX_GRID_SITES || grid->kind == WX_GRID_POINTS ? grid->n_lon : grid->n_lat,
      sizeof *a->lat));
  WEIR_TRY(wx_archive_copy(&a->lon, grid->lon, grid->n_lon, sizeof *a->lon));
  WEIR_TRY(wx_archive_copy(&a->height, grid->height, grid->n_lon, sizeof *a->height));
  WEIR_TRY(wx_archive_copy(&a->mapping, grid->mapping, 1, sizeof *a->mapping));
  g->lat = a->lat;
  g->lon = a->lon;
  g->height = a->height;
  g->mapping = a->mapping;
  WEIR_TRY(wx_archive_copy(&a->weight, grid->weight, cells, sizeof *a->weight));
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

  if (grid->n_lat < 1 || grid->n_lon < 1 || grid->n_lat > WX_MAX_LINE ||
      grid->n_lon > WX_MAX_LINE || !weir_mul_ok(grid->n_lat, grid->n_lon, &cells) ||
      cells > WX_MAX_CELLS) {
    return weir_fail(WEIR_ERR_DATA, "%s: %s: a grid of %lld x %lld; 1 to %d cells are handled",
                     path, what, (long long)grid->n_lat, (long long)grid->n_lon, WX_MAX_CELLS);
  }
  if (grid->kind == WX_GRID_POINTS && !index->how->regrid) {
    wx_grid_text(grid, one, sizeof one);
    return weir_fail(WEIR_ERR_DATA,
                     "%s: %s: its grid (%s) is not a regular latitude-longitude grid: bring it to "
                     "one by prepare, with import.grid.spacing or import.grid.file",
                     path, what, one);
  }
  if (index->of_grid < 0) {
    index->of_grid = index->now;
    return wx_archive_take_grid(a, grid);
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

/* Quantities of one name in files, that units or their absence keep apart: "t2m" in degC is not the
 * "2t" of another file. */
static weir_status refuse_alike(const wx_index *index, const wx_quantity *q, int64_t other)
{
  const wx_archive *a = index->a;
  const wx_quantity *const known = &a->quantity[other];

  return weir_fail(WEIR_ERR_DATA,
                   "%s: %s is in '%s', %s of %s in '%s': they have one name in files and are not "
                   "the same: give both the same units, or rename one",
                   a->files[index->now].path, q->name, q->units, known->name,
                   a->files[index->of_quantity[other]].path, known->units);
}

/* An instant and a mean, say, of one name. */
static weir_status refuse_methods(const wx_index *index, const wx_quantity *q, int64_t other)
{
  const wx_archive *a = index->a;
  const wx_quantity *const known = &a->quantity[other];
  const char *const now = a->files[index->now].path;
  const char *const before = a->files[index->of_quantity[other]].path;

  return weir_fail(
      WEIR_ERR_DATA, "%s: %s is %s here and %s in %s: these are two quantities: leave one out%s",
      now, q->name, q->method[0] != 0 ? q->method : "of an instant",
      known->method[0] != 0 ? known->method : "of an instant",
      index->of_quantity[other] == index->now ? "another variable" : before,
      strcmp(q->method, WX_METHOD_UNKNOWN) == 0 || strcmp(known->method, WX_METHOD_UNKNOWN) == 0
          ? ", or state its cell_methods"
          : "");
}

weir_status wx_index_quantity(wx_index *index, const wx_quantity *q, const wx_naming *as,
                              int64_t *number)
{
  wx_archive *a = index->a;
  const char *const path = a->files[index->now].path;
  int64_t *const n = &a->facts.n_quantities;

  for (int64_t k = 0; k < *n; k++) {
    wx_quantity *const known = &a->quantity[k];

    if (strcmp(known->name, q->name) != 0) {
      if (wx_quantity_confused(known, q)) {
        return refuse_alike(index, q, k);
      }
      continue;
    }
    if (!wx_quantity_same_units(known->units, q->units)) {
      return weir_fail(
          WEIR_ERR_DATA,
          "%s: %s is in '%s', that of %s in '%s': convert one of the files, or state its units",
          path, q->name, q->units, a->files[index->of_quantity[k]].path, known->units);
    }
    if (strcmp(known->method, q->method) != 0) {
      return refuse_methods(index, q, k);
    }
    *number = k;
    return wx_archive_convert(&a->files[index->now], q, k, as);
  }
  if (*n == WX_MAX_QUANTITIES) {
    return weir_fail(WEIR_ERR_DATA, "%s: more than %d variables and levels", path,
                     WX_MAX_QUANTITIES);
  }
  WEIR_TRY(weir_reserve(&a->quantity, &a->quantity_capacity, *n + 1, sizeof *a->quantity));
  a->quantity[*n] = *q;
  a->facts.quantity = a->quantity;
  index->of_quantity[*n] = index->now;
  *number = (*n)++;
  return wx_archive_convert(&a->files[index->now], q, *number, as);
}

weir_status wx_index_field(wx_index *index, const wx_field *field)
{
  wx_archive *a = index->a;

  if (a->n_entries == WX_MAX_FIELDS) {
    return weir_fail(WEIR_ERR_DATA, "%s: more than %d fields: open fewer files at once",
                     a->files[index->now].path, WX_MAX_FIELDS);
  }
  WEIR_TRY(weir_reserve(&a->entries, &a->entry_capacity, a->n_entries + 1, sizeof *a->entries));
  a->entries[a->n_entries++] = (wx_entry){.u.field = *field, .file = index->now};
  return WEIR_OK;
}

weir_status wx_index_notes(wx_index *index, const wx_attrs *notes)
{
  wx_archive *a = index->a;

  if (a->notes == NULL && notes->n > 0) {
    WEIR_TRY(wx_archive_copy(&a->notes, notes, 1, sizeof *a->notes));
    a->facts.notes = a->notes;
  }
  return WEIR_OK;
}

const wx_archive_in *wx_index_how(const wx_index *index)
{
  return index->how;
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
  const wx_entry *const a = one, *const b = other;

  return a->u.at.key != b->u.at.key ? (a->u.at.key > b->u.at.key) - (a->u.at.key < b->u.at.key)
                                    : (a->file > b->file) - (a->file < b->file);
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

/* Start and lead of a field in the archive: of a truth the time that it is valid at, and 0. */
static int64_t start_of(const wx_field *field, bool truth)
{
  return truth ? field->start + llround(field->lead * 3600) : field->start;
}

static double lead_of(const wx_field *field, bool truth)
{
  return truth ? 0 : field->lead;
}

/* The axes of all files together. Leads that differ by rounding only are one. */
static weir_status take_axes(wx_archive *a, bool truth)
{
  wx_archive_info *f = &a->facts;
  const int64_t n = a->n_entries;

  WEIR_TRY(weir_alloc(n, sizeof *a->start, (void **)&a->start));
  WEIR_TRY(weir_alloc(n, sizeof *a->lead, (void **)&a->lead));
  WEIR_TRY(weir_alloc(n, sizeof *a->member, (void **)&a->member));
  for (int64_t i = 0; i < n; i++) {
    wx_field *const field = &a->entries[i].u.field;

    field->lead = round(field->lead * 3600) / 3600;
    a->start[i] = start_of(field, truth);
    a->lead[i] = lead_of(field, truth);
    a->member[i] = field->member;
  }
  f->n_init_times = unique(a->start, n, sizeof *a->start, by_int);
  f->n_leads = unique(a->lead, n, sizeof *a->lead, by_real);
  f->n_members = unique(a->member, n, sizeof *a->member, by_int);
  WEIR_TRY(weir_realloc((void **)&a->start, n, f->n_init_times, sizeof *a->start));
  WEIR_TRY(weir_realloc((void **)&a->lead, n, f->n_leads, sizeof *a->lead));
  WEIR_TRY(weir_realloc((void **)&a->member, n, f->n_members, sizeof *a->member));
  f->start = a->start;
  f->lead = a->lead;
  f->member = a->member;
  return WEIR_OK;
}

bool wx_archive_key(const wx_archive_info *f, int64_t start, int64_t lead, int64_t quantity,
                    int64_t member, int64_t *key)
{
  return weir_mul_ok(start, f->n_leads, key) && weir_add_ok(*key, lead, key) &&
         weir_mul_ok(*key, f->n_quantities, key) && weir_add_ok(*key, quantity, key) &&
         weir_mul_ok(*key, f->n_members, key) && weir_add_ok(*key, member, key);
}

/* Two files, or one, that hold the same field; of a truth also by two initialisation times and
 * steps. */
static weir_status refuse_twice(const wx_archive *a, bool truth, const wx_entry *one,
                                const wx_entry *other)
{
  const wx_archive_info *f = &a->facts;
  int64_t rest = one->u.at.key;
  const int64_t member = rest % f->n_members;
  const int64_t quantity = (rest /= f->n_members) % f->n_quantities;
  const int64_t lead = (rest /= f->n_quantities) % f->n_leads, start = rest / f->n_leads;
  const char *const path = a->files[one->file].path, *const also = a->files[other->file].path;
  char date[32];

  wx_date_text((double)f->start[start] / 86400, date, sizeof date);
  if (truth && one->u.at.step != other->u.at.step) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: two fields of %s are valid at %s: one at a step of %g h, one%s%s at a "
                     "step of %g h: leave one out, so that a time has one truth",
                     path, f->quantity[quantity].name, date, one->u.at.step,
                     one->file != other->file ? " of " : "", one->file != other->file ? also : "",
                     other->u.at.step);
  }
  return weir_fail(
      WEIR_ERR_DATA,
      "%s: %s of initialisation time %s, lead %g h, member %lld is there twice%s%s: leave one out",
      path, f->quantity[quantity].name, date, f->lead[lead], (long long)f->member[member],
      one->file != other->file ? ", also in " : "", one->file != other->file ? also : "");
}

/* Which of ascending values this one is; it is among them. */
static int64_t number_of_int(const int64_t *x, int64_t n, int64_t value)
{
  const int64_t *const at = bsearch(&value, x, (size_t)n, sizeof *x, by_int);

  return at - x;
}

/* The first of two times that the tolerance makes one: which of them a forecast is compared with
 * would be chance. */
static weir_status check_times(const wx_archive *a)
{
  const wx_archive_info *f = &a->facts;
  char one[32], other[32];

  for (int64_t i = 1; i < f->n_init_times; i++) {
    if (f->start[i] - f->start[i - 1] <= llround(f->tolerance * 3600)) {
      wx_date_text((double)f->start[i - 1] / 86400, one, sizeof one);
      wx_date_text((double)f->start[i] / 86400, other, sizeof other);
      return weir_fail(WEIR_ERR_DATA,
                       "%s: fields are valid at %s and at %s, which are the same time within %g h: "
                       "leave one out, so that a time has one truth",
                       f->name, one, other, f->tolerance);
    }
  }
  return WEIR_OK;
}

static weir_status take_keys(wx_archive *a, bool truth)
{
  const wx_archive_info *f = &a->facts;

  for (int64_t i = 0; i < a->n_entries; i++) {
    const wx_field field = a->entries[i].u.field;
    int64_t key = 0;

    if (!wx_archive_key(f, number_of_int(f->start, f->n_init_times, start_of(&field, truth)),
                        wx_archive_lead_number(f, lead_of(&field, truth)), field.quantity,
                        number_of_int(f->member, f->n_members, field.member), &key)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: too many initialisation times, leads, variables and members", f->name);
    }
    a->entries[i].u.at.key = key;
    a->entries[i].u.at.number = field.number;
    a->entries[i].u.at.step = field.lead;
  }
  qsort(a->entries, (size_t)a->n_entries, sizeof *a->entries, by_key);
  for (int64_t i = 1; i < a->n_entries; i++) {
    if (a->entries[i].u.at.key == a->entries[i - 1].u.at.key) {
      return refuse_twice(a, truth, &a->entries[i - 1], &a->entries[i]);
    }
  }
  return weir_alloc(f->n_members, sizeof *a->number, (void **)&a->number);
}

weir_status wx_archive_arrange(wx_archive *a, bool truth)
{
  WEIR_TRY(take_axes(a, truth));
  WEIR_TRY(wx_archive_take_periods(a, truth));
  WEIR_TRY(take_keys(a, truth));
  return truth ? check_times(a) : WEIR_OK;
}
