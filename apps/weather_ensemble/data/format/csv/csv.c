/* csv.c - observations at stations as text, a line for a station and a time, as a format of
 * archives: what pandas.DataFrame.to_csv writes. The first line names the columns, with units in
 * brackets: "station,time,lat,lon,alt (m),t2m (degC)". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_integer.h"
#include "data/archive/archive_format.h"
#include "data/date.h"

enum { COLUMNS = 256, NAME = 96 };
#define MAX_BYTES ((int64_t)1 << 31)

typedef enum role { STATION, TIME, LATITUDE, LONGITUDE, ALTITUDE, ROLES, VALUE = ROLES } role;

typedef struct column {
  role is;
  char name[NAME], units[WX_SHORT];
  int64_t quantity; /* VALUE: in the archive */
  int64_t period;   /* VALUE: of wx_field */
} column;

typedef struct row {
  const char *name; /* of the station, in the text */
  int64_t time, station, line;
  double at[ROLES]; /* LATITUDE, LONGITUDE, ALTITUDE */
} row;

typedef struct table {
  char *path, *text, *next; /* next: the rest of the text */
  char delimiter;
  int n_columns, n_values;
  int of_role[ROLES]; /* -1: none */
  column column[COLUMNS];
  int64_t n_rows, n_stations, n_times;
  row *row;                   /* [n_rows] in the order of the file */
  float *value;               /* [n_rows, n_values] */
  int64_t *order;             /* [n_rows] rows by time, then station */
  int64_t *begin;             /* [n_times + 1] of a time in order */
  double *lat, *lon, *height; /* [n_stations] */
} table;

/* ---- Lines ---- */

/* The next field of a line, NUL-terminated in place, without quotes and blanks around it; false:
 * there is none. *at NULL after the last. */
static bool next_field(char **at, char delimiter, char **field)
{
  if (*at == NULL) {
    return false;
  }
  char *begin = *at + strspn(*at, " \t"), *end = NULL;

  if (*begin == '"' && (end = strchr(begin + 1, '"')) != NULL) {
    *end++ = 0;
    begin++;
    end += strcspn(end, (char[]){delimiter, 0});
  } else {
    end = begin + strcspn(begin, (char[]){delimiter, 0});
  }
  *at = *end == delimiter ? end + 1 : NULL;
  *end = 0;
  for (char *last = begin + strlen(begin); last > begin && strchr(" \t\r", last[-1]) != NULL;) {
    *--last = 0;
  }
  *field = begin;
  return true;
}

/* The next line that is not empty, NUL-terminated in place; NULL: the end. */
static char *next_line(table *t, int64_t *number)
{
  while (t->next != NULL) {
    char *const line = t->next;
    char *const end = strchr(line, '\n');

    t->next = end != NULL ? end + 1 : NULL;
    if (end != NULL) {
      *end = 0;
    }
    ++*number;
    if (line[strspn(line, " \t\r")] != 0) {
      return line;
    }
  }
  return NULL;
}

/* ---- Columns ---- */

static role role_of(const char *name)
{
  static const struct {
    const char *name;
    role is;
  } known[] = {
      {"station", STATION},    {"station_id", STATION},  {"site", STATION}, {"wmo_id", STATION},
      {"time", TIME},          {"valid_time", TIME},     {"lat", LATITUDE}, {"latitude", LATITUDE},
      {"lon", LONGITUDE},      {"longitude", LONGITUDE}, {"alt", ALTITUDE}, {"altitude", ALTITUDE},
      {"elevation", ALTITUDE},
  };

  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    if (strcasecmp(known[k].name, name) == 0) {
      return known[k].is;
    }
  }
  return VALUE;
}

/* "t2m (degC)" or "t2m [degC]" as name and units. */
static void split_units(const char *text, column *c)
{
  const size_t n = strcspn(text, "([");
  const size_t of_units = text[n] != 0 ? strcspn(text + n + 1, ")]") : 0;

  (void)snprintf(c->name, sizeof c->name, "%.*s", (int)n, text);
  for (size_t end = strlen(c->name); end > 0 && c->name[end - 1] == ' ';) {
    c->name[--end] = 0;
  }
  (void)snprintf(c->units, sizeof c->units, "%.*s", (int)of_units,
                 text[n] != 0 ? text + n + 1 : "");
}

/* A column of values is a quantity, whose units are known. */
static weir_status take_quantity(const table *t, wx_index *index, column *c)
{
  wx_quantity q = {.kind = WX_LEVEL_SURFACE};
  wx_naming as;
  double hours = 0;

  (void)snprintf(q.variable, sizeof q.variable, "%.*s", WX_SHORT - 1, c->name);
  memcpy(q.units, c->units, sizeof q.units);
  WEIR_TRY(wx_index_name(index, c->name, &q, &as));
  if (q.units[0] == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: column %s states no units: name it \"%s (K)\", for example, or give "
                     "units in a row of data.names.rename",
                     t->path, c->name, c->name);
  }
  const char *const method = wx_quantity_method(&q, &hours);

  (void)snprintf(q.method, sizeof q.method, "%s", method != NULL ? method : "");
  c->period = method == NULL ? 0 : hours > 0 ? (int64_t)(hours * 3600) : WX_PERIOD_UNKNOWN;
  return wx_index_quantity(index, &q, &as, &c->quantity);
}

static weir_status check_columns(const table *t)
{
  static const char *const wanted[] = {"station", "time", "lat", "lon"};

  for (int k = 0; k <= LONGITUDE; k++) {
    if (t->of_role[k] < 0) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: its first line names no column %s: a table of observations has "
                       "station, time, lat, lon, alt (m) and values with units, as \"2t (K)\"",
                       t->path, wanted[k]);
    }
  }
  if (t->of_role[ALTITUDE] >= 0 && strcmp(t->column[t->of_role[ALTITUDE]].units, "m") != 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: column %s is in '%s': give it in m, as \"alt (m)\"",
                     t->path, t->column[t->of_role[ALTITUDE]].name,
                     t->column[t->of_role[ALTITUDE]].units);
  }
  return t->n_values > 0 ? WEIR_OK : weir_fail(WEIR_ERR_DATA, "%s: no column has values", t->path);
}

static weir_status take_header(table *t, wx_index *index, char *line)
{
  char *field = NULL;

  t->delimiter = strchr(line, ',') != NULL ? ',' : ';';
  memset(t->of_role, -1, sizeof t->of_role);
  while (next_field(&line, t->delimiter, &field)) {
    if (t->n_columns == COLUMNS) {
      return weir_fail(WEIR_ERR_DATA, "%s: more than %d columns", t->path, COLUMNS);
    }
    column *const c = &t->column[t->n_columns];

    split_units(field, c);
    c->is = role_of(c->name);
    if (c->is != VALUE && t->of_role[c->is] >= 0) {
      return weir_fail(WEIR_ERR_DATA, "%s: columns %s and %s are the same thing: leave one out",
                       t->path, t->column[t->of_role[c->is]].name, c->name);
    }
    if (c->is != VALUE) {
      t->of_role[c->is] = t->n_columns;
    } else {
      WEIR_TRY(take_quantity(t, index, c));
      t->n_values++;
    }
    t->n_columns++;
  }
  return check_columns(t);
}

/* ---- Rows ---- */

/* A number; NaN: empty, NaN, NA. */
static bool take_number(const char *text, double *out)
{
  char *end = NULL;

  *out = NAN;
  if (text[0] == 0 || strcasecmp(text, "nan") == 0 || strcmp(text, "NA") == 0) {
    return true;
  }
  *out = strtod(text, &end);
  return end != text && *end == 0 && isfinite(*out) && strpbrk(text, "xX") == NULL;
}

static bool take_time(char *text, int64_t *seconds)
{
  char *const zone = strstr(text, "+00:00"); /* as pandas writes UTC */
  double days = 0;

  if (zone != NULL && zone[6] == 0) {
    *zone = 0;
  }
  const bool is = wx_date_parse(text, &days) && fabs(days) < 4e6;

  *seconds = is ? llround(days * 86400) : 0;
  return is;
}

static weir_status refuse_field(const table *t, int64_t line, int k, const char *text)
{
  return weir_fail(WEIR_ERR_DATA, "%s: line %lld: %s is '%.40s'%s", t->path, (long long)line,
                   t->column[k].name, text,
                   t->column[k].is == TIME ? ": a time is written 2020-01-31 12:00, in UTC" : "");
}

static weir_status take_row(table *t, char *line, int64_t number, int64_t at)
{
  row *const r = &t->row[at];
  char *field = NULL;
  int k = 0;
  int64_t values = 0;

  *r = (row){.line = number, .at = {[ALTITUDE] = NAN}};
  for (; next_field(&line, t->delimiter, &field); k++) {
    const role is = k < t->n_columns ? t->column[k].is : ROLES;
    double x = 0;
    bool good = k < t->n_columns;

    if (is == STATION) {
      r->name = field;
      good = field[0] != 0;
    } else if (is == TIME) {
      good = take_time(field, &r->time);
    } else if (good) {
      good = take_number(field, &x);
    }
    good = good && (is != LATITUDE || fabs(x) <= 90) && (is != LONGITUDE || fabs(x) <= 360);
    if (!good && k < t->n_columns) {
      return refuse_field(t, number, k, field);
    }
    if (is == VALUE && good) {
      t->value[at * t->n_values + values++] = (float)x;
    } else if (good && is >= LATITUDE) {
      r->at[is] = is == ALTITUDE && !(x >= -1000 && x <= 9000) ? NAN : x;
    }
  }
  return k == t->n_columns
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: line %lld: %d fields, and the first line has %d",
                         t->path, (long long)number, k, t->n_columns);
}

static weir_status take_rows(table *t, int64_t number)
{
  int64_t lines = 1;

  for (const char *at = t->next; at != NULL && (at = strchr(at, '\n')) != NULL; at++) {
    lines++;
  }
  WEIR_TRY(weir_alloc(lines, sizeof *t->row, (void **)&t->row));
  WEIR_TRY(weir_alloc(lines * t->n_values, sizeof *t->value, (void **)&t->value));
  for (char *line = next_line(t, &number); line != NULL; line = next_line(t, &number)) {
    WEIR_TRY(take_row(t, line, number, t->n_rows));
    t->n_rows++;
  }
  return t->n_rows > 0 ? WEIR_OK : weir_fail(WEIR_ERR_DATA, "%s: has no observation", t->path);
}

/* ---- Stations and times ---- */

static int by_name(const void *one, const void *other)
{
  const row *const *const a = one, *const *const b = other;
  const int names = strcmp((*a)->name, (*b)->name);

  return names != 0 ? names : (*a > *b) - (*a < *b);
}

static int by_row(const void *one, const void *other)
{
  const row *const *const a = one, *const *const b = other;

  return (*a > *b) - (*a < *b);
}

static int by_time(const void *one, const void *other)
{
  const row *const *const a = one, *const *const b = other;

  return (*a)->time != (*b)->time ? ((*a)->time > (*b)->time) - ((*a)->time < (*b)->time)
         : (*a)->station != (*b)->station
             ? ((*a)->station > (*b)->station) - ((*a)->station < (*b)->station)
             : by_row(one, other);
}

static bool same_place(const row *a, const row *b)
{
  const bool height =
      isnan(a->at[ALTITUDE]) ? isnan(b->at[ALTITUDE]) : a->at[ALTITUDE] == b->at[ALTITUDE];

  return a->at[LATITUDE] == b->at[LATITUDE] && a->at[LONGITUDE] == b->at[LONGITUDE] && height;
}

/* Stations in the order of their first lines; sorted, scratch: [n_rows]. */
static weir_status number_stations(table *t, row **sorted, row **first)
{
  for (int64_t i = 0; i < t->n_rows; i++) {
    sorted[i] = &t->row[i];
  }
  qsort(sorted, (size_t)t->n_rows, sizeof *sorted, by_name);
  for (int64_t i = 0; i < t->n_rows; i++) {
    if (i == 0 || strcmp(sorted[i]->name, sorted[i - 1]->name) != 0) {
      first[t->n_stations++] = sorted[i];
    } else if (!same_place(sorted[i], sorted[i - 1])) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: lines %lld and %lld: station %.40s is at two places: give each a name",
                       t->path, (long long)sorted[i - 1]->line, (long long)sorted[i]->line,
                       sorted[i]->name);
    }
  }
  qsort(first, (size_t)t->n_stations, sizeof *first, by_row);
  for (int64_t k = 0; k < t->n_stations; k++) {
    first[k]->station = k;
  }
  for (int64_t i = 1; i < t->n_rows; i++) {
    if (strcmp(sorted[i]->name, sorted[i - 1]->name) == 0) {
      sorted[i]->station = sorted[i - 1]->station;
    }
  }
  return WEIR_OK;
}

static weir_status take_places(table *t, row *const *first)
{
  WEIR_TRY(weir_alloc(t->n_stations, sizeof *t->lat, (void **)&t->lat));
  WEIR_TRY(weir_alloc(t->n_stations, sizeof *t->lon, (void **)&t->lon));
  if (t->of_role[ALTITUDE] >= 0) {
    WEIR_TRY(weir_alloc(t->n_stations, sizeof *t->height, (void **)&t->height));
  }
  for (int64_t k = 0; k < t->n_stations; k++) {
    t->lat[k] = first[k]->at[LATITUDE];
    t->lon[k] = first[k]->at[LONGITUDE];
    if (t->height != NULL) {
      t->height[k] = first[k]->at[ALTITUDE];
    }
  }
  return WEIR_OK;
}

static weir_status sort_times(table *t, row **sorted)
{
  WEIR_TRY(weir_alloc(t->n_rows, sizeof *t->order, (void **)&t->order));
  WEIR_TRY(weir_alloc(t->n_rows + 1, sizeof *t->begin, (void **)&t->begin));
  qsort(sorted, (size_t)t->n_rows, sizeof *sorted, by_time);
  for (int64_t i = 0; i < t->n_rows; i++) {
    const bool next = i == 0 || sorted[i]->time != sorted[i - 1]->time;

    if (!next && sorted[i]->station == sorted[i - 1]->station) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: lines %lld and %lld: an observation of station %.40s at one time is "
                       "there twice: leave one out",
                       t->path, (long long)sorted[i - 1]->line, (long long)sorted[i]->line,
                       sorted[i]->name);
    }
    if (next) {
      t->begin[t->n_times++] = i;
    }
    t->order[i] = sorted[i] - t->row;
  }
  t->begin[t->n_times] = t->n_rows;
  return WEIR_OK;
}

static weir_status arrange(table *t)
{
  row **sorted = NULL, **first = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(t->n_rows, sizeof *sorted, (void **)&sorted), done);
  WEIR_TRY_GOTO(weir_alloc(t->n_rows, sizeof *first, (void **)&first), done);
  WEIR_TRY_GOTO(number_stations(t, sorted, first), done);
  WEIR_TRY_GOTO(take_places(t, first), done);
  WEIR_TRY_GOTO(sort_times(t, sorted), done);
done:
  weir_free(&sorted);
  weir_free(&first);
  return status;
}

/* ---- The format ---- */

/* Text whose first line has columns, one of them of stations. GRIB may follow a text. */
static int64_t find(const unsigned char *bytes, int64_t n)
{
  static const char *const words[] = {"station", "site", "wmo_id"};
  char line[256] = "";
  bool named = false;

  for (int64_t i = 0; i < n && i + 1 < (int64_t)sizeof line && bytes[i] != '\n'; i++) {
    if (bytes[i] < ' ' && bytes[i] != '\t' && bytes[i] != '\r') {
      return -1;
    }
    line[i] = (char)bytes[i];
  }
  for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
    named = named || strcasestr(line, words[k]) != NULL;
  }
  return named && strpbrk(line, ",;") != NULL && memmem(bytes, (size_t)n, "GRIB", 4) == NULL ? 0
                                                                                             : -1;
}

static void close_file(void **state)
{
  table *t = *state;

  if (t == NULL) {
    return;
  }
  weir_free(&t->path);
  weir_free(&t->text);
  weir_free(&t->row);
  weir_free(&t->value);
  weir_free(&t->order);
  weir_free(&t->begin);
  weir_free(&t->lat);
  weir_free(&t->lon);
  weir_free(&t->height);
  weir_free(state);
}

/* Fields: of each column of values all times. */
static weir_status tell(const table *t, wx_index *index)
{
  int64_t number = 0;

  for (int k = 0; k < t->n_columns; k++) {
    for (int64_t i = 0; i < t->n_times && t->column[k].is == VALUE; i++) {
      const wx_field field = {.start = t->row[t->order[t->begin[i]]].time,
                              .quantity = t->column[k].quantity,
                              .number = number++,
                              .period = t->column[k].period};

      WEIR_TRY(wx_index_field(index, &field));
    }
  }
  return WEIR_OK;
}

static weir_status open_file(const char *path, wx_index *index, void **state)
{
  table *t = NULL;
  int64_t size = 0, number = 0;

  WEIR_TRY(weir_alloc(1, sizeof *t, (void **)&t));
  *state = t;
  WEIR_TRY(weir_strdup(path, &t->path));
  WEIR_TRY(weir_file_read(path, MAX_BYTES, &t->text, &size));
  if (memchr(t->text, 0, (size_t)size) != NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: has a byte 0: it is no text", path);
  }
  t->next = t->text + weir_text_mark(t->text, size);
  char *const header = next_line(t, &number);

  if (header == NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: is empty", path);
  }
  WEIR_TRY(take_header(t, index, header));
  WEIR_TRY(take_rows(t, number));
  WEIR_TRY(arrange(t));
  const wx_grid g = {.kind = WX_GRID_SITES,
                     .n_lat = 1,
                     .n_lon = t->n_stations,
                     .lat = t->lat,
                     .lon = t->lon,
                     .height = t->height,
                     .units = {"degrees_north", "degrees_east"}};

  WEIR_TRY(wx_index_grid(index, &g, "its stations"));
  return tell(t, index);
}

static weir_status read_fields(void *state, const int64_t *number, int64_t n, float *out)
{
  const table *const t = state;

  for (int64_t k = 0; k < n; k++) {
    const int64_t value = number[k] / t->n_times, time = number[k] % t->n_times;

    for (int64_t i = 0; i < t->n_stations; i++) {
      out[k * t->n_stations + i] = NAN;
    }
    for (int64_t i = t->begin[time]; i < t->begin[time + 1]; i++) {
      const int64_t at = t->order[i];

      out[k * t->n_stations + t->row[at].station] = t->value[at * t->n_values + value];
    }
  }
  return WEIR_OK;
}

const wx_format wx_format_csv = {
    .name = "CSV",
    .endings = ".csv",
    .find = find,
    .open = open_file,
    .read = read_fields,
    .close = close_file,
};
