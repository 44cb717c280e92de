/* head.c - the lines before the samples: '#' preamble, names, units. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/csv/csv_priv.h"
#include "io/io_priv.h"

/* Where `word` stands in a field, in any case; -1 when it does not. */
static int64_t find_word(weir_csv_field f, const char *word)
{
  const int64_t size = (int64_t)strlen(word);

  for (int64_t i = 0; i + size <= f.size; i++) {
    if (strncasecmp(f.at + i, word, (size_t)size) == 0) {
      return i;
    }
  }
  return -1;
}

static bool same_word(weir_csv_field f, const char *word)
{
  return (size_t)f.size == strlen(word) && strncasecmp(f.at, word, (size_t)f.size) == 0;
}

static weir_status keep(char **out, weir_csv_field f)
{
  void *memory = NULL;

  weir_free(out);
  WEIR_TRY(weir_alloc(f.size + 1, 1, &memory));
  *out = memory;
  for (int64_t i = 0; i < f.size; i++) {
    (*out)[i] = (unsigned char)f.at[i] < 32 ? '?' : f.at[i];
  }
  return WEIR_OK;
}

/* The text after the last of "=:" of a preamble line, blanks taken off. */
static weir_csv_field after_sign(weir_csv_field line)
{
  int64_t at = line.size;
  weir_csv_field out = line;

  while (at > 0 && line.at[at - 1] != '=' && line.at[at - 1] != ':') {
    at--;
  }
  out.at += at;
  out.size -= at;
  (void)weir_csv_split(out, '\n', &out, 1);
  return out;
}

/* Names of a preamble: column by column, as far as they go. */
static weir_status take_labels(weir_csv_head *h, weir_csv_field line)
{
  weir_csv_field fields[WEIR_CSV_COLUMNS];
  const weir_csv_field labels = after_sign(line);
  int n = weir_csv_split(labels, weir_csv_delimiter(labels), fields, WEIR_CSV_COLUMNS);

  n = n > WEIR_CSV_COLUMNS ? WEIR_CSV_COLUMNS : n;
  WEIR_TRY(weir_reserve(&h->names, &h->names_capacity, n, sizeof *h->names));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(keep(&h->names[i], fields[i]));
  }
  return WEIR_OK;
}

static weir_status take_comment(weir_csv_lines *l, weir_csv_head *h, weir_csv_field line)
{
  const bool rate = find_word(line, "sampling rate") >= 0 || find_word(line, "sample rate") >= 0 ||
                    find_word(line, "sampling frequency") >= 0;

  if (rate) {
    const weir_csv_field number = after_sign(line);

    if (!weir_io_parse_decimal(number.at, (size_t)number.size, &h->fs_num, &h->fs_den) ||
        h->fs_num <= 0 || h->fs_num > INT64_MAX / WEIR_CSV_COLUMNS) {
      return weir_fail(WEIR_ERR_DATA, "%s:%lld: the sampling rate '%.*s' is not a positive number",
                       l->path, (long long)l->line, (int)(number.size < 40 ? number.size : 40),
                       number.at);
    }
  }
  return find_word(line, "labels") >= 0 ? take_labels(h, line) : WEIR_OK;
}

/* Fields between semicolons, one of them a number with a comma for its point. */
static bool has_decimal_comma(weir_csv_field line)
{
  weir_csv_field fields[8];
  int n = weir_csv_split(line, ';', fields, 8);
  bool found = false;

  n = n > 8 ? 8 : n;
  for (int i = 0; i < n && !found; i++) {
    const char *const comma = memchr(fields[i].at, ',', (size_t)fields[i].size);
    const int64_t before = comma ? comma - fields[i].at : 0;
    int64_t fraction = 0;
    double value = 0;

    found = comma && weir_io_parse_real(fields[i].at, (size_t)before, &value) &&
            weir_io_parse_int(comma + 1, (size_t)(fields[i].size - before - 1), 0, INT64_MAX,
                              &fraction);
  }
  return found && memchr(line.at, ';', (size_t)line.size);
}

/* The next line that is no comment. */
static weir_status next_row(weir_csv_lines *l, weir_csv_head *h, weir_csv_field *line, bool *found)
{
  for (;;) {
    h->offset = l->offset;
    h->line = l->line;
    WEIR_TRY(weir_csv_next_line(l, line, found));
    if (!*found) {
      return WEIR_OK;
    }
    const int mark = h->offset == 0 ? weir_text_mark(line->at, line->size) : 0;

    line->at += mark;
    line->size -= mark;
    if (memchr(line->at, 0, (size_t)line->size)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s:%lld: zero bytes, as in UTF-16: not UTF-8 text: save it as UTF-8 (in a "
                       "spreadsheet, 'CSV UTF-8')",
                       l->path, (long long)l->line);
    }
    int64_t skip = 0;

    while (skip < line->size && isspace((unsigned char)line->at[skip])) {
      skip++;
    }
    if (skip == line->size) {
      continue;
    }
    if (line->at[skip] != '#' && has_decimal_comma(*line)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s:%lld: decimal commas are not supported: write 0.5, not 0,5", l->path,
                       (long long)l->line);
    }
    if (line->at[skip] != '#') {
      return WEIR_OK;
    }
    WEIR_TRY(take_comment(l, h, *line));
  }
}

/* "ECG (mV)", "ECG [mV]": the units, and the name without them. */
static weir_csv_field cut_units(weir_csv_field *name)
{
  const char last = name->size > 2 ? name->at[name->size - 1] : 0;
  weir_csv_field units = {name->at, 0};

  if (last != ')' && last != ']') {
    return units;
  }
  for (int64_t i = name->size - 2; i > 0; i--) {
    if (name->at[i] == (last == ')' ? '(' : '[')) {
      units.at = name->at + i + 1;
      units.size = name->size - i - 2;
      name->size = i;
      (void)weir_csv_split(*name, '\n', name, 1);
      return units;
    }
  }
  return units;
}

/* A unit in a separate row: mV, (mV) or [mV]. */
static weir_csv_field without_brackets(weir_csv_field f)
{
  const bool bracketed = f.size > 2 && ((f.at[0] == '(' && f.at[f.size - 1] == ')') ||
                                        (f.at[0] == '[' && f.at[f.size - 1] == ']'));

  return bracketed ? (weir_csv_field){f.at + 1, f.size - 2} : f;
}

/* The unit after the last '_' of a name such as ECG_mV. Not V, which is a lead too. */
static weir_csv_field unit_suffix(weir_csv_field name)
{
  static const char *const known[] = {"mV", "uV",   "\xC2\xB5V", "\xCE\xBCV",
                                      "nV", "mmHg", "kPa",       "cmH2O"};
  int64_t at = name.size;

  while (at > 0 && name.at[at - 1] != '_') {
    at--;
  }
  for (size_t i = 0; at > 0 && i < sizeof known / sizeof known[0]; i++) {
    if ((size_t)(name.size - at) == strlen(known[i]) &&
        memcmp(name.at + at, known[i], strlen(known[i])) == 0) {
      return (weir_csv_field){name.at + at, name.size - at};
    }
  }
  return (weir_csv_field){name.at, 0};
}

static weir_status take_names(weir_csv_head *h, const weir_csv_field *fields, int n)
{
  WEIR_TRY(weir_reserve(&h->names, &h->names_capacity, n, sizeof *h->names));
  WEIR_TRY(weir_reserve(&h->units, &h->units_capacity, n, sizeof *h->units));
  for (int i = 0; i < n; i++) {
    weir_csv_field name = fields[i];
    const weir_csv_field units = cut_units(&name);

    WEIR_TRY(keep(&h->names[i], name));
    if (units.size > 0) {
      WEIR_TRY(keep(&h->units[i], units));
    } else if (unit_suffix(name).size > 0) {
      WEIR_TRY(keep(&h->units[i], unit_suffix(name)));
    }
  }
  return WEIR_OK;
}

/* True when a field is neither value nor time. */
static bool is_word(weir_csv_field f)
{
  weir_csv_ns ns = 0;

  return !weir_csv_is_absent(f) && weir_csv_time(f, 1, &ns) == WEIR_CSV_CLOCK_NONE;
}

static int count_words(const weir_csv_field *fields, int n)
{
  int words = 0;

  for (int i = 0; i < n; i++) {
    words += is_word(fields[i]);
  }
  return words;
}

/* Unit of a numeric time column, from "(ms)" or a suffix such as "_ms"; 0: `units` are not known;
 * seconds where nothing is stated. */
static int64_t unit_of(const char *name, const char *units)
{
  static const struct {
    const char *text;
    int64_t ns;
  } known[] = {{"ms", 1000000},
               {"us", 1000},
               {"ns", 1},
               {"s", 1000000000},
               {"min", INT64_C(60000000000)},
               {"msec", 1000000},
               {"usec", 1000},
               {"sec", 1000000000},
               {"secs", 1000000000},
               {"second", 1000000000},
               {"seconds", 1000000000},
               {"msecs", 1000000},
               {"millisecond", 1000000},
               {"milliseconds", 1000000},
               {"usecs", 1000},
               {"microsecond", 1000},
               {"microseconds", 1000},
               {"\xC2\xB5s", 1000},
               {"\xCE\xBCs", 1000},
               {"minutes", INT64_C(60000000000)},
               {"h", INT64_C(3600000000000)}};
  const char *const bar = name ? strrchr(name, '_') : NULL;
  const char *const unit = units ? units : bar ? bar + 1 : "s";

  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcasecmp(unit, known[i].text) == 0) {
      return known[i].ns;
    }
  }
  return units ? 0 : 1000000000;
}

/* The unit of column 0, a number of time. Without one that is stated it is seconds, which a time of
 * over 10^11 cannot be. */
static weir_status take_unit(const weir_csv_lines *l, weir_csv_head *h, const char *name,
                             weir_csv_field first)
{
  const char *const units = h->units ? h->units[0] : NULL;
  double value = 0;

  h->unit_ns = unit_of(name, units);
  h->unit_missing =
      h->unit_ns == 1000000000 && !units && !strchr(name, '_') && strncasecmp(name, "sec", 3) != 0;
  if (h->unit_ns == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: unknown unit '%s' of the time column: write s, ms, us, ns, min or h",
                     l->path, units);
  }
  if (h->unit_missing && weir_io_parse_real(first.at, (size_t)first.size, &value) &&
      fabs(value) >= 1e11) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: the first time is %.*s, too large for seconds, and the column states no "
                     "unit: state it in the name, as in 'time (ms)'",
                     l->path, (int)(first.size < 40 ? first.size : 40), first.at);
  }
  return WEIR_OK;
}

static bool names_time(const char *name)
{
  static const char *const starts[] = {"time", "t", "date", "elapsed", "seconds", "sec"};
  const weir_csv_field f = {name, (int64_t)strcspn(name, " _(")};
  bool found = false;

  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
    found = found || same_word(f, starts[i]);
  }
  return found || find_word((weir_csv_field){name, (int64_t)strlen(name)}, "timestamp") == 0 ||
         find_word((weir_csv_field){name, (int64_t)strlen(name)}, "datetime") == 0;
}

/* Whether a column that is not the first is one of times, by its name: `time`, `time_s`, `t (ms)`.
 * `T` may be a temperature, and `time_of_flight` is no time of a sample. */
static bool names_time_anywhere(const char *name, const char *units)
{
  const char *const bar = strrchr(name, '_');
  const bool known = units ? unit_of(name, units) != 0 : !bar || unit_of(name, bar + 1) != 0;

  return names_time(name) && known && strcmp(name, "T") != 0;
}

static void name_to_front(char **names, int k)
{
  char *const name = names[k];

  memmove(names + 1, names, (size_t)k * sizeof *names);
  names[0] = name;
}

/* Where column 0 is neither times nor sample numbers, the column that has times by its name. */
static void find_time(weir_csv_head *h, weir_csv_field *fields)
{
  weir_csv_ns ns = 0;

  for (int k = 1; k < h->n_columns; k++) {
    if (h->names[k] && names_time_anywhere(h->names[k], h->units[k]) &&
        weir_csv_time(fields[k], 1, &ns) != WEIR_CSV_CLOCK_NONE) {
      h->time_column = k;
      name_to_front(h->names, k);
      name_to_front(h->units, k);
      weir_csv_to_front(fields, k);
      return;
    }
  }
}

/* Whether column 0 counts samples or has times. */
static bool is_clock(const weir_csv_head *h, const weir_csv_field *fields)
{
  const char *const name = h->names[0] ? h->names[0] : "";
  weir_csv_ns ns = 0;
  const weir_csv_clock looks = weir_csv_time(fields[0], 1, &ns);

  return find_word((weir_csv_field){name, (int64_t)strlen(name)}, "sample") == 0 ||
         strcasecmp(name, "index") == 0 || names_time(name) || looks == WEIR_CSV_CLOCK_COLON ||
         looks == WEIR_CSV_CLOCK_ISO;
}

/* What column 0 is, from its name and its first field. */
static weir_status judge_first(const weir_csv_lines *l, weir_csv_head *h,
                               const weir_csv_field *fields, bool named, bool fs_known)
{
  const char *const name = named && h->names[0] ? h->names[0] : "";
  weir_csv_ns ns = 0;
  const weir_csv_clock looks = weir_csv_time(fields[0], 1, &ns);
  const bool index = find_word((weir_csv_field){name, (int64_t)strlen(name)}, "sample") == 0 ||
                     strcasecmp(name, "index") == 0;

  if (h->n_columns < 2) {
    return WEIR_OK;
  }
  if (index && looks == WEIR_CSV_CLOCK_NUMBER) {
    h->index = true;
    h->first_value = 1;
  } else if (looks == WEIR_CSV_CLOCK_COLON || looks == WEIR_CSV_CLOCK_ISO || names_time(name) ||
             (!named && !fs_known)) {
    h->clock = looks == WEIR_CSV_CLOCK_NONE ? WEIR_CSV_CLOCK_NUMBER : looks;
    h->first_value = 1;
    return h->clock == WEIR_CSV_CLOCK_NUMBER ? take_unit(l, h, name, fields[0]) : WEIR_OK;
  }
  return WEIR_OK;
}

weir_status weir_csv_head_read(weir_csv_lines *l, bool fs_known, weir_csv_head *h)
{
  weir_csv_field fields[WEIR_CSV_COLUMNS];
  weir_csv_field line = {0};
  bool found = false;
  bool named = false;

  *h = (weir_csv_head){.unit_ns = 1000000000};
  WEIR_TRY(next_row(l, h, &line, &found));
  if (!found) {
    return weir_fail(WEIR_ERR_DATA, "%s: there are no samples", l->path);
  }
  h->delimiter = weir_csv_delimiter(line);
  h->n_columns = weir_csv_split(line, h->delimiter, fields, WEIR_CSV_COLUMNS);
  if (h->n_columns > WEIR_CSV_COLUMNS) {
    return weir_fail(WEIR_ERR_DATA, "%s:%lld: more than %d columns", l->path, (long long)l->line,
                     WEIR_CSV_COLUMNS);
  }
  for (int rows = 0; found && rows < 2; rows++) { /* names, then perhaps units */
    const int words = count_words(fields, h->n_columns);

    if (words == 0 || (rows == 1 && words < h->n_columns)) {
      break;
    }
    if (rows == 0) {
      WEIR_TRY(take_names(h, fields, h->n_columns));
      named = true;
    } else {
      for (int i = 0; i < h->n_columns; i++) {
        WEIR_TRY(keep(&h->units[i], without_brackets(fields[i])));
      }
    }
    WEIR_TRY(next_row(l, h, &line, &found));
    const int n = found ? weir_csv_split(line, h->delimiter, fields, WEIR_CSV_COLUMNS) : 0;

    if (found && n != h->n_columns) {
      return weir_fail(WEIR_ERR_DATA, "%s:%lld: %d fields where the names have %d", l->path,
                       (long long)l->line, n, h->n_columns);
    }
  }
  if (!found) {
    return weir_fail(WEIR_ERR_DATA, "%s: there are no samples", l->path);
  }
  if (named && !is_clock(h, fields)) {
    find_time(h, fields);
  }
  return judge_first(l, h, fields, named, fs_known || h->fs_num > 0);
}

void weir_csv_head_fini(weir_csv_head *h)
{
  for (int64_t i = 0; i < h->names_capacity; i++) {
    weir_free(&h->names[i]);
  }
  for (int64_t i = 0; i < h->units_capacity; i++) {
    weir_free(&h->units[i]);
  }
  weir_free(&h->names);
  weir_free(&h->units);
  *h = (weir_csv_head){0};
}
