/* csv.c - sampled signals in delimited text: `time,value...`, or values at a stated rate. The file
 * is checked whole when it is opened and read again on demand; memory does not grow with it. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "io/csv/csv_priv.h"
#include "io/io_priv.h"

enum { MARKS = 4096 }; /* entries of the coarse index */
#define MAX_SLOTS (INT64_C(1) << 50)

/* Where reading can continue: the next line, the slot filled last and its time, blank lines since.
 */
typedef struct cursor {
  int64_t offset, line, last, blanks;
  weir_csv_day day;
} cursor;

/* Rows from `from` on, up to the next mark, fill slots of [first, end). */
typedef struct mark {
  cursor from;
  int64_t first, end;
} mark;

typedef struct csv {
  char *path, *name;
  weir_csv_head head;
  int64_t fs_num, fs_den;
  weir_csv_ns origin; /* time of slot 0 */
  int64_t n_marks, mark_capacity, spacing;
  mark *marks;
  cursor *cursors; /* [signals]: after each signal's last read */
  int64_t rows, late, repeated;
  weir_signal_info *infos;
  weir_csv_lines lines;
  weir_csv_field fields[WEIR_CSV_COLUMNS];
} csv;

static int n_signals(const csv *c)
{
  return c->head.n_columns - c->head.first_value;
}

static weir_status refuse_field(const csv *c, int column, const char *reason)
{
  const weir_csv_field f = c->fields[column];
  const int moved = c->head.time_column; /* it is first of the fields */
  const int number = column == 0 ? moved : column - (column <= moved);

  return weir_fail(WEIR_ERR_DATA, "%s:%lld: column %d is '%.*s': %s", c->path,
                   (long long)c->lines.line, number + 1, (int)(f.size < 40 ? f.size : 40), f.at,
                   reason);
}

/* The next row of fields; blank lines and comments are skipped, the former counted. */
static weir_status next_row(csv *c, int64_t *blanks, bool *found)
{
  for (;;) {
    weir_csv_field line;

    WEIR_TRY(weir_csv_next_line(&c->lines, &line, found));
    if (!*found) {
      return WEIR_OK;
    }
    int64_t skip = 0;

    while (skip < line.size && isspace((unsigned char)line.at[skip])) {
      skip++;
    }
    if (skip == line.size) {
      ++*blanks;
      continue;
    }
    if (line.at[skip] == '#') {
      continue;
    }
    const int n = weir_csv_split(line, c->head.delimiter, c->fields, c->head.n_columns);

    weir_csv_to_front(c->fields, n < c->head.n_columns ? 0 : c->head.time_column);
    if (n != c->head.n_columns) {
      return weir_fail(WEIR_ERR_DATA, "%s:%lld: %s fields than the %d of the first row", c->path,
                       (long long)c->lines.line, n > c->head.n_columns ? "more" : "fewer",
                       c->head.n_columns);
    }
    return WEIR_OK;
  }
}

/* The time of the row at hand, which `day` takes on. */
static weir_status time_of_row(const csv *c, weir_csv_day *day, weir_csv_ns *ns)
{
  if (weir_csv_time(c->fields[0], c->head.unit_ns, ns) != c->head.clock) {
    return refuse_field(c, 0, "a time in another format than those above");
  }
  if (c->head.clock == WEIR_CSV_CLOCK_COLON && !weir_csv_pass_midnight(day, ns)) {
    return refuse_field(c, 0,
                        "a time of day after midnight that changes by more than 12 h, so that its "
                        "direction is ambiguous: write dates, as in 2026-01-31T12:00:00");
  }
  return WEIR_OK;
}

/* The slot of the row at hand; `at` is what stood before it, *day its time. */
static weir_status slot_of_row(csv *c, const cursor *at, weir_csv_day *day, int64_t *slot)
{
  weir_csv_ns ns = 0;
  int64_t index = 0;

  if (c->head.index) {
    if (!weir_io_parse_int(c->fields[0].at, (size_t)c->fields[0].size, -MAX_SLOTS, MAX_SLOTS,
                           &index)) {
      return refuse_field(c, 0, "not a sample number");
    }
    ns = index;
    *slot = (int64_t)(ns - c->origin);
    return WEIR_OK;
  }
  if (c->head.clock == WEIR_CSV_CLOCK_NONE) {
    /* One value a line: an empty line is an absent sample. */
    *slot = at->last + 1 + (c->head.n_columns == 1 ? at->blanks : 0);
    return WEIR_OK;
  }
  WEIR_TRY(time_of_row(c, day, &ns));
  const weir_csv_ns since = ns - c->origin;
  const weir_csv_ns limit = (weir_csv_ns)1 << 62;

  if (since > limit || since < -limit) {
    return refuse_field(c, 0, "the time is too far from the first");
  }
  const weir_csv_ns den = (weir_csv_ns)c->fs_den * 1000000000;
  const weir_csv_ns twice = since * c->fs_num * 2 + den; /* to the nearest slot */

  *slot = twice < 0 ? -1 : (int64_t)(twice / (2 * den) > MAX_SLOTS ? MAX_SLOTS : twice / (2 * den));
  if (*slot >= MAX_SLOTS) {
    return refuse_field(c, 0, "the time is too far from the first");
  }
  return WEIR_OK;
}

/* The next row that fills a new slot; moves `at` past it. */
static weir_status next_sample(csv *c, cursor *at, int64_t *slot, bool *found)
{
  weir_csv_seek(&c->lines, at->offset, at->line);
  for (;;) {
    WEIR_TRY(next_row(c, &at->blanks, found));
    if (!*found) {
      return WEIR_OK;
    }
    weir_csv_day day = at->day;

    WEIR_TRY(slot_of_row(c, at, &day, slot));
    at->offset = c->lines.offset;
    at->line = c->lines.line;
    at->blanks = 0;
    if (*slot > at->last) {
      at->last = *slot;
      at->day = day;
      return WEIR_OK;
    }
    c->repeated += *slot == at->last;
    c->late += *slot < at->last;
  }
}

/* Halves the index: twice the spacing from now on. */
static void thin_marks(csv *c)
{
  for (int64_t i = 0; i < c->n_marks / 2; i++) {
    c->marks[i] = c->marks[2 * i];
    c->marks[i].end = c->marks[2 * i + 1].end;
  }
  c->n_marks /= 2;
  c->spacing *= 2;
}

/* Notes that a row at `before` fills `slot`: in the mark at hand, or in a new one after enough
 * bytes or a long gap. */
static weir_status note_row(csv *c, const cursor *before, int64_t slot)
{
  mark *const m = c->n_marks ? &c->marks[c->n_marks - 1] : NULL;

  if (m && before->offset - m->from.offset < c->spacing && slot - m->end < c->spacing / 16) {
    m->end = slot + 1;
    return WEIR_OK;
  }
  if (c->n_marks == MARKS) {
    thin_marks(c);
  }
  WEIR_TRY(weir_reserve(&c->marks, &c->mark_capacity, c->n_marks + 1, sizeof *c->marks));
  c->marks[c->n_marks++] = (mark){.from = *before, .first = slot, .end = slot + 1};
  return WEIR_OK;
}

static weir_status check_values(csv *c)
{
  for (int i = c->head.first_value; i < c->head.n_columns; i++) {
    double value = 0;
    bool present = false;

    if (!weir_csv_value(c->fields[i], &value, &present) || fabs(value) > 3.4e38) {
      return refuse_field(c, i, "not a number in the range of samples");
    }
  }
  return WEIR_OK;
}

/* Reads the file once: every field is checked, slots are counted, the index is made. */
static weir_status scan(csv *c, bool given)
{
  cursor at = {.offset = c->head.offset, .line = c->head.line, .last = -1};
  int64_t slot = 0;
  bool found = true;

  c->spacing = WEIR_CSV_BUFFER;
  for (;;) {
    const cursor before = at;

    WEIR_TRY(next_sample(c, &at, &slot, &found));
    if (!found) {
      break;
    }
    WEIR_TRY(check_values(c));
    WEIR_TRY(note_row(c, &before, slot));
    c->rows++;
  }
  if (at.day.passed > 0) {
    weir_info("io", "%s: its times of day pass midnight (%lld): 24 h are added from there on",
              c->path, (long long)at.day.passed);
  }
  WEIR_TRY(weir_csv_check_repeated(c->path, c->repeated, c->rows + c->repeated, given));
  if (c->late + c->repeated > 0) {
    weir_warn("io",
              "%s: %lld rows with times that go back and %lld with times of the sample before "
              "are left out",
              c->path, (long long)c->late, (long long)c->repeated);
  }
  return WEIR_OK;
}

/* Two sources of the rate that contradict each other halve or double every interval: `used` is the
 * one of the options, or of the preamble where they give none. Times give the rate to 1 %. */
static weir_status compare_rates(const csv *c, bool given, double stated, bool times)
{
  const double used = (double)c->fs_num / (double)c->fs_den;

  if (fabs(used - stated) <= (times ? 0.01 : 1e-6) * stated) {
    return WEIR_OK;
  }
  if (!given) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: the preamble says %.9g Hz, but the times give %.9g Hz: correct one of them", c->path,
        used, stated);
  }
  return weir_fail_option(
      weir_fail(WEIR_ERR_CONFIG, "%s: the given rate is %.9g Hz, but the file states %.9g Hz (%s)",
                c->path, used, stated,
                times ? "its times; name a column of sample numbers 'sample', and state the "
                        "unit of times not in seconds in the name, as 'time (ms)'"
                      : "its preamble"),
      "csv_fs");
}

/* Why times give no rate: most frequently one below 1 Hz is a unit that is not stated. */
static weir_status refuse_times(const csv *c, double rough)
{
  if (c->head.clock == WEIR_CSV_CLOCK_NUMBER && rough > 0 && rough < 1) {
    return weir_fail_option(
        weir_fail(
            WEIR_ERR_CONFIG,
            "%s: its times%s give about %.3g samples per second, too slow to be determined "
            "exactly: if their unit is another, state it in the column name, as in 'time (us)'; "
            "else state the sampling rate",
            c->path, c->head.unit_missing ? ", read in seconds because no unit is stated," : "",
            rough),
        "csv_fs");
  }
  return weir_fail_option(
      weir_fail(WEIR_ERR_CONFIG,
                "%s: the sampling rate cannot be determined from the times (too few, too coarse "
                "or irregular): state it",
                c->path),
      "csv_fs");
}

/* The rate that the times give, or what is wrong with the one that is stated. Times that do not
 * tell a rate still contradict one of another unit. */
static weir_status take_rate(csv *c, bool given, const int64_t *times, int64_t n)
{
  int64_t num = 0;
  int64_t den = 1;
  double rough = 0;
  const bool regular = weir_csv_rate(times, n, &num, &den, &rough);

  if (c->fs_num > 0) {
    const double used = (double)c->fs_num / (double)c->fs_den;
    const bool far = rough > 0 && (rough < 0.1 * used || rough > 10 * used);

    return regular || far
               ? compare_rates(c, given, regular ? (double)num / (double)den : rough, true)
               : WEIR_OK;
  }
  if (!regular) {
    return refuse_times(c, rough);
  }
  c->fs_num = num;
  c->fs_den = den;
  if (c->head.unit_missing && c->fs_num < c->fs_den) {
    weir_warn("io",
              "%s: the time column states no unit and is read in seconds, which gives %.6g samples "
              "per second; if the unit is another, state it in the name, as in 'time (ms)'",
              c->path, (double)c->fs_num / (double)c->fs_den);
  }
  return WEIR_OK;
}

/* Time of the first row, and the rate from the first thousands. */
static weir_status learn_times(csv *c, bool given)
{
  int64_t times[WEIR_CSV_TIMES];
  int64_t n = 0;
  int64_t blanks = 0;
  weir_csv_day day = {0};
  bool found = true;

  weir_csv_seek(&c->lines, c->head.offset, c->head.line);
  for (; n < WEIR_CSV_TIMES; n++) {
    weir_csv_ns ns = 0;

    WEIR_TRY(next_row(c, &blanks, &found));
    if (!found) {
      break;
    }
    WEIR_TRY(time_of_row(c, &day, &ns));
    if (n == 0) {
      c->origin = ns;
    }
    if (ns - c->origin > INT64_MAX / 4 || c->origin - ns > INT64_MAX / 4) {
      return refuse_field(c, 0, "the time is too far from the first");
    }
    times[n] = (int64_t)(ns - c->origin);
  }
  return take_rate(c, given, times, n);
}

static weir_status learn_index(csv *c)
{
  int64_t blanks = 0;
  int64_t first = 0;
  bool found = false;

  weir_csv_seek(&c->lines, c->head.offset, c->head.line);
  WEIR_TRY(next_row(c, &blanks, &found));
  if (!found || !weir_io_parse_int(c->fields[0].at, (size_t)c->fields[0].size, -MAX_SLOTS,
                                   MAX_SLOTS, &first)) {
    return refuse_field(c, 0, "not a sample number");
  }
  c->origin = first;
  return WEIR_OK;
}

/* The rate: from the options, else the preamble, else the times. */
static weir_status learn_rate(csv *c, const weir_record_opts *opts)
{
  char text[64];

  c->fs_num = c->head.fs_num;
  c->fs_den = c->head.fs_den;
  if (opts->csv_fs > 0) {
    weir_io_real_text(opts->csv_fs, text, sizeof text);
    if (!weir_io_parse_decimal(text, strlen(text), &c->fs_num, &c->fs_den) || c->fs_num == 0) {
      return weir_fail(WEIR_ERR_CONFIG, "%s: a sampling rate of %s is out of range", c->path, text);
    }
    if (c->head.fs_num > 0) {
      const double stated = (double)c->head.fs_num / (double)c->head.fs_den;

      WEIR_TRY(compare_rates(c, true, stated, false));
    }
  }
  if (c->head.clock != WEIR_CSV_CLOCK_NONE) {
    return learn_times(c, opts->csv_fs > 0);
  }
  if (c->fs_num == 0) {
    return weir_fail_option(
        weir_fail(
            WEIR_ERR_CONFIG,
            "%s: there is neither a time column nor a sampling rate (times are the first column, "
            "or one named time, time_s, t (ms) or seconds): state the rate",
            c->path),
        "csv_fs");
  }
  return c->head.index ? learn_index(c) : WEIR_OK;
}

static const char *text_or(char *const *texts, int64_t n, int i, const char *otherwise)
{
  return i < n && texts[i] && texts[i][0] ? texts[i] : otherwise;
}

static weir_status describe(csv *c)
{
  const mark *const m = c->n_marks ? &c->marks[c->n_marks - 1] : NULL;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(n_signals(c), sizeof *c->infos, &memory));
  c->infos = memory;
  WEIR_TRY(weir_alloc(n_signals(c), sizeof *c->cursors, &memory));
  c->cursors = memory;
  for (int i = 0; i < n_signals(c); i++) {
    const int column = i + c->head.first_value;

    c->infos[i] = (weir_signal_info){
        .name = text_or(c->head.names, c->head.names_capacity, column, "value"),
        .units = text_or(c->head.units, c->head.units_capacity, column, "NU"),
        .file = c->path,
        .fs_num = c->fs_num,
        .fs_den = c->fs_den,
        .count = m ? m->end : 0,
        .samples_per_frame = 1,
        .gain = 1,
        .format = "csv",
    };
    c->cursors[i] = (cursor){.offset = c->head.offset, .line = c->head.line, .last = -1};
  }
  return WEIR_OK;
}

static void close_csv(void *state)
{
  csv *c = state;

  if (c->lines.fd >= 0) {
    close(c->lines.fd);
  }
  weir_csv_head_fini(&c->head);
  weir_free(&c->path);
  weir_free(&c->name);
  weir_free(&c->marks);
  weir_free(&c->cursors);
  weir_free(&c->infos);
  weir_free(&c);
}

static weir_status name_file(csv *c, const char *path)
{
  const char *const slash = strrchr(path, '/');

  WEIR_TRY(weir_strdup(path, &c->path));
  WEIR_TRY(weir_strdup(slash ? slash + 1 : path, &c->name));
  char *const dot = strrchr(c->name, '.');

  if (dot && dot != c->name) {
    *dot = 0;
  }
  return WEIR_OK;
}

weir_status weir_csv_open_fd(int fd, int64_t size, const char *path, const weir_record_opts *opts,
                             weir_record_body *body)
{
  void *memory = NULL;
  weir_status status = weir_alloc(1, sizeof(csv), &memory);

  if (status != WEIR_OK) {
    close(fd);
    return status;
  }
  csv *const c = memory;

  c->lines.fd = fd;
  c->lines.size = size;
  WEIR_TRY_GOTO(name_file(c, path), fail);
  c->lines.path = c->path;
  WEIR_TRY_GOTO(weir_csv_head_read(&c->lines, opts->csv_fs > 0, &c->head), fail);
  WEIR_TRY_GOTO(learn_rate(c, opts), fail);
  WEIR_TRY_GOTO(scan(c, opts->csv_fs > 0), fail);
  WEIR_TRY_GOTO(describe(c), fail);
  *body = (weir_record_body){
      .state = c, .name = c->name, .signals = c->infos, .n_signals = n_signals(c)};
  if (c->head.clock == WEIR_CSV_CLOCK_ISO) {
    body->start_kind = 2;
    body->start_us = (int64_t)(c->origin / 1000);
  }
  return WEIR_OK;
fail:
  close_csv(c);
  return status;
}

static weir_status open_csv(const char *path, const weir_record_opts *opts, weir_record_body *body)
{
  int fd = -1;
  int64_t size = 0;

  if (opts->csv_fs < 0 || !isfinite(opts->csv_fs)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: the sampling rate %g is not a positive number", path,
                     opts->csv_fs);
  }
  WEIR_TRY(weir_io_open(path, &fd, &size));
  WEIR_TRY(weir_csv_open_fd(fd, size, path, opts, body));
  return WEIR_OK;
}

static bool claims(const char *path)
{
  const size_t n = strlen(path);

  return n > 4 && (strcasecmp(path + n - 4, ".csv") == 0 || strcasecmp(path + n - 4, ".txt") == 0);
}

/* The last mark that starts at or before `slot`. */
static int64_t mark_at(const csv *c, int64_t slot)
{
  int64_t lo = 0;
  int64_t hi = c->n_marks;

  while (hi - lo > 1) {
    const int64_t mid = lo + (hi - lo) / 2;

    if (c->marks[mid].first <= slot) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

static weir_status read_slots(void *state, int signal, int64_t start, int64_t count,
                              const weir_record_slots *to)
{
  csv *const c = state;
  cursor at = c->cursors[signal];
  const mark *const m = &c->marks[mark_at(c, start)];

  if (at.last >= start || m->from.offset > at.offset) {
    at = m->from;
  }
  for (;;) {
    const cursor before = at;
    int64_t slot = 0;
    bool found = false;
    bool there = false;
    double value = 0;

    WEIR_TRY(next_sample(c, &at, &slot, &found));
    if (!found || slot >= start + count) {
      c->cursors[signal] = before;
      return WEIR_OK;
    }
    if (slot < start) {
      continue;
    }
    if (!weir_csv_value(c->fields[signal + c->head.first_value], &value, &there)) {
      return refuse_field(c, signal + c->head.first_value, "the file changed while it was read");
    }
    to->values[slot - start] = there ? (float)value : 0.0f;
    to->present[slot - start] = there;
  }
}

static void next_run(const void *state, int signal, int64_t start, int64_t *lo, int64_t *hi)
{
  const csv *const c = state;

  (void)signal;
  for (int64_t i = mark_at(c, start); i < c->n_marks; i++) {
    if (c->marks[i].end > start) {
      *lo = c->marks[i].first > start ? c->marks[i].first : start;
      *hi = c->marks[i].end;
      while (i + 1 < c->n_marks && c->marks[i + 1].first == *hi) {
        *hi = c->marks[++i].end;
      }
      return;
    }
  }
}

extern const weir_record_format weir_record_format_csv;
const weir_record_format weir_record_format_csv = {
    .name = "csv",
    .help = "a .csv or .txt file of samples",
    .claims = claims,
    .open = open_csv,
    .close = close_csv,
    .takes_rate = true,
    .read = read_slots,
    .next_run = next_run,
};
