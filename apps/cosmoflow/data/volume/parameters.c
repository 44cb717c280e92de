/* parameters.c - see parameters.h. */
#include "data/volume/parameters.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"

enum { MAX_BYTES = 1 << 28, MAX_COLUMNS = 256, NAME = CF_MAX_NAME, TWICE = -2 };

const weir_opt cf_parameters_options[] = {
    WEIR_OPT_PATH(cf_parameters_opts, table, "",
                  "table of the parameters of the simulations, a line for each (CAMELS: "
                  "CosmoAstroSeed_*.txt; Quijote: latin_hypercube_params.txt): a file is of the "
                  "line whose name is a folder of its path, or whose number, from 0, is one"),
    WEIR_OPT_STRING_LIST(cf_parameters_opts, columns, "",
                         "names of the columns of a table whose first line does not state them "
                         "(Quijote: [Omega_m, Omega_b, h, n_s, sigma_8])"),
    WEIR_OPT_STRING_LIST(cf_parameters_opts, labels, "",
                         "columns that become labels, in this order; empty: all but name and seed"),
    WEIR_OPT_REAL_LIST(cf_parameters_opts, range, "", -1e30, 1e30, "",
                       "parameter at the label -1 and at 1, two numbers for each label; empty: the "
                       "smallest and the largest of the table"),
    WEIR_OPT_END,
};

struct cf_parameters {
  char *path;
  const char *section; /* of its options */
  char (*name)[NAME];  /* [n] simulations; NULL: numbers are their names */
  char column[MAX_COLUMNS][NAME];
  double *value; /* [n, columns] */
  int64_t n, columns, capacity, name_capacity;
  int64_t n_labels, label[CF_MAX_LABELS];
  double lo[CF_MAX_LABELS], hi[CF_MAX_LABELS];
};

/* ---- Names ---- */

/* Copies a name, that of `prepare` for one of the usual parameters. */
static void take_name(const char *text, size_t n, char out[NAME])
{
  static const char *const known[][2] = {
      {"Omega_m", "omega_m"}, {"Om", "omega_m"},      {"Omega_b", "omega_b"},
      {"Ob", "omega_b"},      {"sigma_8", "sigma_8"}, {"sigma8", "sigma_8"},
      {"s8", "sigma_8"},      {"n_s", "n_s"},         {"ns", "n_s"}};

  (void)snprintf(out, NAME, "%.*s", (int)(n < NAME ? n : NAME - 1), text);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcasecmp(out, known[i][0]) == 0) {
      (void)snprintf(out, NAME, "%s", known[i][1]);
      return;
    }
  }
}

static int64_t column_of(const cf_parameters *p, const char *name)
{
  char plain[NAME];

  take_name(name, strlen(name), plain);
  for (int64_t c = 0; c < p->columns; c++) {
    if (strcasecmp(p->column[c], plain) == 0) {
      return c;
    }
  }
  return -1;
}

/* ---- Reading ---- */

/* The next word of a line; NULL: there is none. */
static const char *next_word(const char **at, size_t *n)
{
  const char *const between = " \t,;\r";
  const char *const word = *at + strspn(*at, between);

  *n = strcspn(word, between);
  *at = word + *n;
  return *n > 0 ? word : NULL;
}

/* The names of the first line: `#Name Omega_m ...`, or options in their place. */
static weir_status take_columns(cf_parameters *p, const cf_parameters_opts *opts, const char *line)
{
  const char *word = NULL;
  size_t n = 0;

  for (int64_t c = 0; c < opts->columns.count && c < MAX_COLUMNS; c++) {
    const char *const name = opts->columns.items[c];

    take_name(name, strlen(name), p->column[p->columns++]);
  }
  if (opts->columns.count > 0 || line[0] != '#') {
    return WEIR_OK;
  }
  line++;
  while ((word = next_word(&line, &n)) != NULL && p->columns < MAX_COLUMNS) {
    take_name(word, n, p->column[p->columns++]);
  }
  return WEIR_OK;
}

static weir_status take_number(const cf_parameters *p, int64_t line, const char *word, size_t n,
                               double *out)
{
  char text[64], *end = NULL;

  (void)snprintf(text, sizeof text, "%.*s", (int)(n < sizeof text ? n : sizeof text - 1), word);
  *out = strtod(text, &end);
  return n < sizeof text && end == text + n && isfinite(*out)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: line %lld: '%s' is no finite number", p->path,
                         (long long)line, text);
}

/* Whether the first column is names: its header says so, or a word that does not begin as a number
 * does. */
static bool is_name(const cf_parameters *p, const char *word)
{
  const bool named = strcasecmp(p->column[0], "Name") == 0; /* 1P_p1_n5 begins as a number does */

  return p->n == 0 ? named || strchr("+-.0123456789", word[0]) == NULL : p->name != NULL;
}

static weir_status take_line(cf_parameters *p, int64_t line, const char *text)
{
  const char *word = NULL;
  size_t n = 0;
  int64_t c = 0;

  for (bool first = true; (word = next_word(&text, &n)) != NULL; first = false) {
    if (first && is_name(p, word)) {
      WEIR_TRY(weir_reserve(&p->name, &p->name_capacity, p->n + 1, sizeof *p->name));
      (void)snprintf(p->name[p->n], NAME, "%.*s", (int)(n < NAME ? n : NAME - 1), word);
      continue;
    }
    WEIR_TRY(weir_reserve(&p->value, &p->capacity, p->n * p->columns + c + 1, sizeof *p->value));
    WEIR_TRY(take_number(p, line, word, n, &p->value[p->n * p->columns + c]));
    if (++c > MAX_COLUMNS) {
      return weir_fail(WEIR_ERR_DATA, "%s: line %lld: has more than %d numbers", p->path,
                       (long long)line, MAX_COLUMNS);
    }
  }
  if (p->n == 0) { /* the name has no column of its own */
    const int64_t named = p->name != NULL && p->columns == c + 1;

    memmove(p->column, p->column + named, (size_t)(MAX_COLUMNS - named) * sizeof *p->column);
    p->columns = p->columns - named > 0 ? p->columns - named : c;
  }
  if (c != p->columns || c == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: line %lld: has %lld numbers, not one for each of %lld columns", p->path,
                     (long long)line, (long long)c, (long long)p->columns);
  }
  p->n++;
  return WEIR_OK;
}

static weir_status take_lines(cf_parameters *p, const cf_parameters_opts *opts, char *text)
{
  int64_t line = 0;

  for (char *at = text, *end = NULL; at != NULL; at = end) {
    end = strchr(at, '\n');
    if (end != NULL) {
      *end++ = 0;
    }
    line++;
    if (line == 1) {
      WEIR_TRY(take_columns(p, opts, at));
    }
    if (at[strspn(at, " \t\r")] != 0 && at[0] != '#') {
      WEIR_TRY(take_line(p, line, at));
    }
  }
  return p->n > 0 ? WEIR_OK : weir_fail(WEIR_ERR_DATA, "%s: has no line of parameters", p->path);
}

/* ---- Labels ---- */

static weir_status take_labels(cf_parameters *p, const cf_parameters_opts *opts)
{
  if (p->column[0][0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: its first line does not name its %lld columns: set "
                     "%s.parameters.columns",
                     p->path, (long long)p->columns, p->section);
  }
  const int64_t n = opts->labels.count > 0 ? opts->labels.count : p->columns;

  for (int64_t i = 0; i < n; i++) {
    const char *const name = opts->labels.count > 0 ? opts->labels.items[i] : p->column[i];
    const int64_t c = column_of(p, name);

    if (c < 0) {
      return weir_fail(WEIR_ERR_CONFIG, "%s.parameters.labels: %s has no column %s", p->section,
                       p->path, name);
    }
    if (opts->labels.count == 0 && strcasecmp(name, "seed") == 0) {
      continue;
    }
    if (p->n_labels == CF_MAX_LABELS) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: has more than %d parameters: name those that are labels in "
                       "%s.parameters.labels",
                       p->path, CF_MAX_LABELS, p->section);
    }
    p->label[p->n_labels++] = c;
  }
  return WEIR_OK;
}

static weir_status take_ranges(cf_parameters *p, const weir_real_list *range)
{
  if (range->count != 0 && range->count != 2 * p->n_labels) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s.parameters.range: has %lld numbers, not two for each of %lld labels",
                     p->section, (long long)range->count, (long long)p->n_labels);
  }
  for (int64_t k = 0; k < p->n_labels; k++) {
    double lo = INFINITY, hi = -INFINITY;

    for (int64_t i = 0; i < p->n; i++) {
      const double x = p->value[i * p->columns + p->label[k]];

      lo = x < lo ? x : lo;
      hi = x > hi ? x : hi;
    }
    p->lo[k] = range->count > 0 ? range->items[2 * k] : lo;
    p->hi[k] = range->count > 0 ? range->items[2 * k + 1] : hi;
    if (!(p->lo[k] < p->hi[k]) || lo < p->lo[k] || hi > p->hi[k]) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: %s is from %g to %g, and its range from %g to %g: set "
                       "%s.parameters.range so that it contains them, or leave the column out "
                       "of %s.parameters.labels",
                       p->path, p->column[p->label[k]], lo, hi, p->lo[k], p->hi[k], p->section,
                       p->section);
    }
  }
  return WEIR_OK;
}

weir_status cf_parameters_read(const cf_parameters_opts *opts, const char *section,
                               cf_parameters **out)
{
  cf_parameters *p = NULL;
  char *text = NULL;
  int64_t size = 0;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *p, (void **)&p));
  p->section = section;
  WEIR_TRY_GOTO(weir_strdup(opts->table, &p->path), done);
  WEIR_TRY_GOTO(weir_file_read(opts->table, MAX_BYTES, &text, &size), done);
  WEIR_TRY_GOTO(take_lines(p, opts, text + weir_text_mark(text, size)), done);
  WEIR_TRY_GOTO(take_labels(p, opts), done);
  WEIR_TRY_GOTO(take_ranges(p, &opts->range), done);
  *out = p;
  p = NULL;
done:
  weir_free(&text);
  cf_parameters_destroy(&p);
  return status;
}

void cf_parameters_destroy(cf_parameters **p)
{
  if (*p) {
    weir_free(&(*p)->path);
    weir_free(&(*p)->name);
    weir_free(&(*p)->value);
  }
  weir_free(p);
}

int64_t cf_parameters_count(const cf_parameters *p)
{
  return p->n;
}

void cf_parameters_info(const cf_parameters *p, cf_volume_info *info)
{
  info->n_labels = p->n_labels;
  info->physical = p->n_labels > 0;
  for (int64_t k = 0; k < p->n_labels; k++) {
    (void)snprintf(info->label[k], NAME, "%s", p->column[p->label[k]]);
    info->lo[k] = p->lo[k];
    info->hi[k] = p->hi[k];
  }
}

/* ---- Simulations ---- */

/* The row of a folder; -1: it is none, TWICE: it is the name of two. */
static int64_t row_of(const cf_parameters *p, const char *folder, size_t n)
{
  int64_t row = 0, named = -1;

  for (int64_t i = 0; p->name != NULL && i < p->n; i++) {
    if (strlen(p->name[i]) == n && strncmp(p->name[i], folder, n) == 0) {
      named = named < 0 ? i : TWICE;
    }
  }
  if (named != -1) {
    return named;
  }
  for (size_t i = 0; i < n; i++) {
    if (p->name != NULL || n > 9 || !isdigit((unsigned char)folder[i])) {
      return -1;
    }
    row = 10 * row + (folder[i] - '0');
  }
  return n > 0 ? row : -1;
}

weir_status cf_parameters_find(const cf_parameters *p, const char *path, int64_t *row)
{
  *row = -1;
  for (const char *at = path, *slash = strchr(path, '/'); slash != NULL;
       at = slash + 1, slash = strchr(at, '/')) {
    const int64_t is = row_of(p, at, (size_t)(slash - at));

    if (is == TWICE) {
      return weir_fail(WEIR_ERR_DATA, "%s: its folder %.*s is the name of two lines of %s", path,
                       (int)(slash - at), at, p->path);
    }
    *row = is >= 0 ? is : *row;
  }
  if (*row < 0 || *row >= p->n) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: no folder of its path is %s of %s, which has %lld lines: keep the folders "
        "of the simulations, or choose the table that belongs to them",
        path, p->name != NULL ? "a name in the first column" : "the number of a line", p->path,
        (long long)p->n);
  }
  return WEIR_OK;
}

void cf_parameters_get(const cf_parameters *p, int64_t row, float *labels, cf_facts *facts)
{
  static const char *const names[CF_COSMOLOGY] = {"omega_m", "omega_b", "h", "n_s", "sigma_8"};
  const double *const value = p->value + row * p->columns;

  for (int64_t k = 0; k < p->n_labels; k++) {
    const double x = value[p->label[k]];

    labels[k] = (float)(2 * (x - p->lo[k]) / (p->hi[k] - p->lo[k]) - 1);
    facts->physical[k] = x;
  }
  facts->has_physical = p->n_labels > 0;
  facts->has_cosmology = true;
  for (int i = 0; i < CF_COSMOLOGY; i++) {
    const int64_t c = column_of(p, names[i]);

    facts->has_cosmology = facts->has_cosmology && c >= 0;
    facts->cosmology[i] = c >= 0 ? value[c] : 0;
  }
}
