/* archive.c - see archive.h: the files, and which of them holds a field. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/weir_alloc.h"
#include "data/archive/archive.h"
#include "data/archive/archive_cube.h"
#include "data/archive/file_names.h"

enum { FIRST_BYTES = 128 };

/* Files that are open at once: systems allow 1024 by default. */
enum { MAX_OPEN = 128 };

/* Sends the file that was not used for longest to rest. */
static void rest_one(wx_archive *a)
{
  wx_file *oldest = NULL;

  for (int64_t i = 0; i < a->n_files; i++) {
    wx_file *const f = &a->files[i];

    if (f->used > 0 && (oldest == NULL || f->used < oldest->used)) {
      oldest = f;
    }
  }
  oldest->format->rest(oldest->state);
  oldest->used = 0;
  a->n_open--;
}

/* Notes that a file is used, and lets others rest where too many are open. */
static void use(wx_archive *a, wx_file *f)
{
  if (f->format->rest == NULL) {
    return;
  }
  a->n_open += f->used == 0;
  f->used = ++a->clock;
  while (a->n_open > a->max_open) {
    rest_one(a);
  }
}

void wx_archive_set_max_open(wx_archive *a, int64_t n)
{
  a->max_open = n;
}

static weir_status first_bytes(const char *path, unsigned char *bytes, int64_t *n)
{
  struct stat info;

  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) { /* a pipe would be waited for */
    return weir_fail(WEIR_ERR_DATA, "%s: is no regular file: name the files, not their folder",
                     path);
  }
  FILE *f = fopen(path, "rb");

  if (f == NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot be opened: %m", path);
  }
  *n = (int64_t)fread(bytes, 1, FIRST_BYTES, f);
  (void)fclose(f);
  return WEIR_OK;
}

static weir_status find_format(const char *path, const wx_format **out)
{
  unsigned char bytes[FIRST_BYTES];
  char names[WX_LONG] = "";
  int64_t n = 0, first = FIRST_BYTES;
  size_t used = 0;

  *out = NULL;
  for (const wx_format *const *f = wx_format_table; *f != NULL; f++) {
    if ((*f)->is_folder != NULL && (*f)->is_folder(path)) {
      *out = *f;
      return WEIR_OK;
    }
  }
  WEIR_TRY(first_bytes(path, bytes, &n));
  for (const wx_format *const *f = wx_format_table; *f != NULL && used < sizeof names; f++) {
    const int64_t at = (*f)->find(bytes, n);

    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " or " : "",
                             (*f)->name);
    *out = at >= 0 && at < first ? *f : *out;
    first = at >= 0 && at < first ? at : first;
  }
  return *out != NULL
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: begins like no file of %s: is it the right file, whole and unpacked?",
                         path, names);
}

static weir_status open_file(wx_index *index, const char *path)
{
  wx_file *const f = &index->a->files[index->now];
  const int64_t before = index->a->n_entries;

  WEIR_TRY(weir_strdup(path, &f->path));
  WEIR_TRY(find_format(path, &f->format));
  WEIR_TRY(f->format->open(path, index, &f->state));
  use(index->a, f);
  return index->a->n_entries > before
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: there are no fields in it", path);
}

static weir_status open_all(wx_archive *a, wx_index *index, const char *const *paths)
{
  WEIR_TRY(weir_alloc(a->n_files, sizeof *a->files, (void **)&a->files));
  for (int64_t i = 0; i < a->n_files; i++) {
    index->now = i;
    WEIR_TRY(open_file(index, paths[i]));
  }
  a->facts.name = a->files[0].path;
  a->facts.n_files = a->n_files;
  return wx_archive_arrange(a, index->truth);
}

static weir_status open_archive(const char *const *paths, int n, const wx_archive_in *how,
                                bool truth, wx_archive **out)
{
  static const wx_archive_in usual = {.index = ""};
  wx_archive *a = NULL;
  wx_index *index = NULL;
  wx_file_names names = {.n = 0};
  weir_status status = WEIR_OK;

  *out = NULL;
  if (n < 1) {
    return weir_fail(WEIR_ERR_CONFIG, "no files are given: data.forecast and data.truth are lists");
  }
  WEIR_TRY(weir_alloc(1, sizeof *a, (void **)&a));
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *index, (void **)&index), done);
  WEIR_TRY_GOTO(wx_file_names_find(paths, n, &names), done);
  a->n_files = names.n;
  a->max_open = MAX_OPEN;
  index->a = a;
  index->how = how != NULL ? how : &usual;
  index->truth = truth;
  index->of_grid = -1;
  WEIR_TRY_GOTO(open_all(a, index, (const char *const *)names.path), done);
  *out = a;
  a = NULL;
done:
  weir_free(&index);
  wx_file_names_fini(&names);
  wx_archive_close(&a);
  return status;
}

weir_status wx_archive_open_as(const char *const *paths, int n, const wx_archive_in *how,
                               wx_archive **out)
{
  return open_archive(paths, n, how, false, out);
}

weir_status wx_archive_open_truth(const char *const *paths, int n, const wx_archive_in *how,
                                  wx_archive **out)
{
  return open_archive(paths, n, how, true, out);
}

weir_status wx_archive_open(const char *const *paths, int n, wx_archive **out)
{
  return wx_archive_open_as(paths, n, NULL, out);
}

/* Facts of a caller, checked: what an archive says of itself has to hold. */
static weir_status check_facts(const wx_archive_info *f)
{
  bool good = f->n_init_times > 0 && f->n_leads > 0 && f->n_members > 0 && f->n_quantities > 0 &&
              f->grid.n_lat > 0 && f->grid.n_lon > 0 &&
              (f->grid.kind != WX_GRID_SITES || f->grid.n_lat == 1) &&
              (f->grid.kind == WX_GRID_SITES || (f->grid.lat != NULL && f->grid.lon != NULL));

  for (int64_t i = 1; good && i < f->n_init_times; i++) {
    good = f->start[i] > f->start[i - 1];
  }
  for (int64_t i = 1; good && i < f->n_leads; i++) {
    good = f->lead[i] > f->lead[i - 1];
  }
  for (int64_t i = 1; good && i < f->n_members; i++) {
    good = f->member[i] > f->member[i - 1];
  }
  return good ? WEIR_OK
              : weir_fail(WEIR_ERR_SHAPE,
                          "an archive of memory: initialisation times, leads and members have to "
                          "be there and ascend, the grid needs coordinates");
}

static weir_status take_facts(wx_archive *a, const wx_archive_info *f)
{
  a->facts = *f;
  a->facts.n_files = 0;
  a->facts.grid.weight = NULL;
  WEIR_TRY(wx_archive_copy(&a->start, f->start, f->n_init_times, sizeof *a->start));
  WEIR_TRY(wx_archive_copy(&a->lead, f->lead, f->n_leads, sizeof *a->lead));
  WEIR_TRY(wx_archive_copy(&a->member, f->member, f->n_members, sizeof *a->member));
  WEIR_TRY(wx_archive_copy(&a->quantity, f->quantity, f->n_quantities, sizeof *a->quantity));
  WEIR_TRY(wx_archive_copy(&a->period, f->period, f->n_quantities * f->n_leads, sizeof *a->period));
  a->facts.period = a->period;
  WEIR_TRY(wx_archive_take_grid(a, &f->grid));
  WEIR_TRY(wx_archive_copy(&a->notes, f->notes, 1, sizeof *a->notes));
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

weir_status wx_archive_of_memory(const wx_archive_info *facts, const float *values,
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
    wx_file *const f = &(*a)->files[i];

    if (f->format != NULL) {
      f->format->close(&f->state);
    }
    weir_free(&f->path);
    weir_free(&f->converted);
  }
  weir_free(&(*a)->files);
  weir_free(&(*a)->start);
  weir_free(&(*a)->lead);
  weir_free(&(*a)->member);
  weir_free(&(*a)->quantity);
  weir_free(&(*a)->period);
  weir_free(&(*a)->lat);
  weir_free(&(*a)->lon);
  weir_free(&(*a)->height);
  weir_free(&(*a)->weight);
  weir_free(&(*a)->mapping);
  weir_free(&(*a)->notes);
  wx_archive_regrid_fini(*a);
  weir_free(&(*a)->entries);
  weir_free(&(*a)->number);
  weir_free(a);
}

const wx_archive_info *wx_archive_get(const wx_archive *a)
{
  return &a->facts;
}

static bool is_there(const wx_archive_info *f, int64_t start, int64_t lead, int64_t quantity,
                     int64_t member, int64_t n)
{
  return start >= 0 && start < f->n_init_times && lead >= 0 && lead < f->n_leads && quantity >= 0 &&
         quantity < f->n_quantities && member >= 0 && n >= 0 && member <= f->n_members - n;
}

/* The entry of a field; NULL: no file holds it. */
static const wx_entry *find(const wx_archive *a, int64_t start, int64_t lead, int64_t quantity,
                            int64_t member)
{
  int64_t lo = 0, hi = a->n_entries, key = 0;

  (void)wx_archive_key(&a->facts, start, lead, quantity, member, &key);
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

const wx_format *wx_archive_locate(const wx_archive *a, int64_t start, int64_t lead,
                                   int64_t quantity, int64_t member, void **state, int64_t *number)
{
  const wx_entry *const e = is_there(&a->facts, start, lead, quantity, member, 1) &&
                                    a->values == NULL && a->weights == NULL
                                ? find(a, start, lead, quantity, member)
                                : NULL;

  if (e == NULL) {
    return NULL;
  }
  if (wx_archive_converted(&a->files[e->file], quantity) != NULL) {
    return NULL;
  }
  *state = a->files[e->file].state;
  *number = e->u.at.number;
  return a->files[e->file].format;
}

bool wx_archive_has(const wx_archive *a, int64_t start, int64_t lead, int64_t quantity,
                    int64_t member)
{
  return is_there(&a->facts, start, lead, quantity, member, 1) &&
         (a->values != NULL || find(a, start, lead, quantity, member) != NULL);
}

static void convert(const wx_file *f, int64_t quantity, int64_t n, float *x)
{
  const wx_naming *const as = wx_archive_converted(f, quantity);

  for (int64_t e = 0; as != NULL && e < n; e++) {
    x[e] = (float)((double)x[e] * as->by.scale + as->by.offset);
  }
}

/* Cells of a field of the files. */
static int64_t stored_cells(const wx_archive *a)
{
  return a->weights != NULL ? a->weights->n_from : wx_grid_cells(&a->facts.grid);
}

/* Members in runs of one file, so that a format can read many at once. */
static weir_status read_files(wx_archive *a, int64_t start, int64_t lead, int64_t quantity,
                              int64_t member, int64_t n, float *out)
{
  const int64_t cells = stored_cells(a);

  for (int64_t at = 0, run = 0; at < n; at += run) {
    const wx_entry *const first = find(a, start, lead, quantity, member + at);

    run = 1;
    if (first == NULL) {
      for (int64_t e = 0; e < cells; e++) {
        out[at * cells + e] = NAN;
      }
      continue;
    }
    a->number[0] = first->u.at.number;
    for (; at + run < n; run++) {
      const wx_entry *const next = find(a, start, lead, quantity, member + at + run);

      if (next == NULL || next->file != first->file) {
        break;
      }
      a->number[run] = next->u.at.number;
    }
    wx_file *const f = &a->files[first->file];

    use(a, f);
    WEIR_TRY(f->format->read(f->state, a->number, run, out + at * cells));
    convert(f, quantity, run * cells, out + at * cells);
  }
  return WEIR_OK;
}

/* Fields on the grid of the files. */
static weir_status read_stored(wx_archive *a, int64_t start, int64_t lead, int64_t quantity,
                               int64_t member, int64_t n, float *out)
{
  const wx_archive_info *f = &a->facts;
  const int64_t cells = stored_cells(a);

  if (a->values == NULL) {
    return read_files(a, start, lead, quantity, member, n, out);
  }
  const int64_t field =
      ((start * f->n_leads + lead) * f->n_quantities + quantity) * f->n_members + member;

  memcpy(out, a->values + field * cells, (size_t)(n * cells) * sizeof *out);
  return WEIR_OK;
}

weir_status wx_archive_read(wx_archive *a, int64_t start, int64_t lead, int64_t quantity,
                            int64_t member, int64_t n, float *out)
{
  const wx_archive_info *f = &a->facts;
  float *stored = out;

  if (!is_there(f, start, lead, quantity, member, n)) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "%s: there is no initialisation time %lld, lead %lld, quantity %lld, members %lld to %lld",
        f->name, (long long)start, (long long)lead, (long long)quantity, (long long)member,
        (long long)(member + n - 1));
  }
  if (a->weights != NULL) {
    WEIR_TRY(wx_archive_regrid_fields(a, n, &stored));
  }
  WEIR_TRY(read_stored(a, start, lead, quantity, member, n, stored));
  if (a->weights != NULL) {
    wx_archive_regrid_apply(a, quantity, n, out);
  }
  return WEIR_OK;
}
