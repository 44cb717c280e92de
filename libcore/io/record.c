/* record.c - the neutral handle: picks the format and checks every range once for all of them. */
#include "io/weir_record.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "io/io_priv.h"
#include "io/weir_record_format.h"

/* Events: several weeks of beats. A damaged file may announce any number. */
enum { MAX_EVENTS = 1 << 22, HINT = 1024 };

struct weir_record {
  const weir_record_format *format;
  weir_record_body body;
};

static const weir_record_format *find_format(const char *path)
{
  for (const weir_record_format *const *f = weir_record_format_table; *f; f++) {
    if ((*f)->claims(path)) {
      return *f;
    }
  }
  return NULL;
}

/* What was probably meant: a record in a folder, or the record that a signal file belongs to. */
static const char *hint(const char *path, char *text, size_t size)
{
  const size_t n = strlen(path);
  const char *const dot = strrchr(path, '.');
  const char *const slash = strrchr(path, '/');
  struct stat info;

  text[0] = 0;
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
    snprintf(text, size, ": the path is a folder: name a record in it");
  } else if (dot && dot > (slash ? slash : path) && n < HINT) {
    char without[HINT];

    snprintf(without, sizeof without, "%.*s", (int)(dot - path), path);
    if (find_format(without)) {
      snprintf(text, size, ": name the record without suffix: %s", without);
    }
  }
  return text;
}

static weir_status refuse_path(const char *path)
{
  char known[512] = "";
  char meant[HINT + 64];
  size_t used = 0;

  for (const weir_record_format *const *f = weir_record_format_table; *f; f++) {
    const int n = snprintf(known + used, sizeof known - used, "%s%s: %s", used ? "; " : "",
                           (*f)->name, (*f)->help);

    if (n < 0 || (size_t)n >= sizeof known - used) {
      break;
    }
    used += (size_t)n;
  }
  if (hint(path, meant, sizeof meant)[0]) {
    return weir_fail(WEIR_ERR_DATA, "%s%s", path, meant);
  }
  return weir_fail(WEIR_ERR_DATA, "%s: no such record in a known format (%s)", path, known);
}

weir_status weir_record_open(const char *path, const weir_record_opts *opts, weir_record **out)
{
  const weir_record_opts defaults = {0};
  const weir_record_format *const format = find_format(path);
  weir_status status = WEIR_OK;
  void *memory = NULL;
  weir_record *r = NULL;

  *out = NULL;
  if (!format) {
    return refuse_path(path);
  }
  if (opts && opts->csv_fs > 0 && !format->takes_rate) {
    return weir_fail_option(
        weir_fail(WEIR_ERR_CONFIG,
                  "%s: the given rate is %.9g Hz, but files of format %s state their own", path,
                  opts->csv_fs, format->name),
        "csv_fs");
  }
  WEIR_TRY(weir_alloc(1, sizeof *r, &memory));
  r = memory;
  r->format = format;
  WEIR_TRY_GOTO(format->open(path, opts ? opts : &defaults, &r->body), fail);
  *out = r;
  return WEIR_OK;
fail:
  weir_free(&r);
  return status;
}

/* The clock of the first signal: that of its frames. */
static weir_status clock_of(const weir_record *r, weir_record_clock *out)
{
  if (r->body.n_signals == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: the record has no signal, so its length is not known",
                     r->body.name);
  }
  const weir_signal_info *const s = &r->body.signals[0];
  const int64_t per_frame = s->samples_per_frame > 0 ? s->samples_per_frame : 1;

  *out =
      (weir_record_clock){.fs_num = s->fs_num, .fs_den = s->fs_den, .frames = s->count / per_frame};
  if (!weir_mul_ok(s->fs_den, per_frame, &out->fs_den)) {
    return weir_fail(WEIR_ERR_DATA, "%s: its sampling rate is too low", r->body.name);
  }
  weir_io_reduce(&out->fs_num, &out->fs_den);
  return WEIR_OK;
}

weir_status weir_record_read_clock(const char *path, weir_record_clock *out)
{
  const weir_record_opts opts = {.allow_short = 1, .zero_gain = 1}; /* samples are not read */
  const weir_record_format *const format = find_format(path);
  weir_record_clock clock = {0};
  weir_record *r = NULL;

  if (format && format->clock) {
    WEIR_TRY(format->clock(path, &clock));
  }
  if (clock.frames > 0) {
    *out = clock;
    return WEIR_OK;
  }
  WEIR_TRY(weir_record_open(path, &opts, &r));
  const weir_status status = clock_of(r, out);

  weir_record_close(&r);
  return status;
}

weir_status weir_record_files(const char *path, weir_record_paths *out)
{
  const weir_record_format *const format = find_format(path);

  *out = (weir_record_paths){0};
  if (!format) {
    return refuse_path(path);
  }
  return format->files ? format->files(path, out) : weir_record_paths_add(out, path);
}

weir_status weir_record_paths_add(weir_record_paths *list, const char *path)
{
  WEIR_TRY(weir_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items));
  WEIR_TRY(weir_strdup(path, &list->items[list->count]));
  list->count++;
  return WEIR_OK;
}

void weir_record_paths_fini(weir_record_paths *list)
{
  for (int64_t i = 0; i < list->count; i++) {
    weir_free(&list->items[i]);
  }
  weir_free(&list->items);
  *list = (weir_record_paths){0};
}

void weir_record_close(weir_record **r)
{
  if (*r) {
    (*r)->format->close((*r)->body.state);
    weir_free(r);
  }
}

bool weir_record_is_name(const char *text, size_t size)
{
  for (size_t i = 0; i < size; i++) {
    const char c = text[i];
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || (c == '.' && i > 0);

    if (!plain) {
      return false;
    }
  }
  return size > 0 && size <= WEIR_RECORD_NAME;
}

const char *weir_record_name(const weir_record *r)
{
  return r->body.name;
}

const char *weir_record_comments(const weir_record *r)
{
  return r->body.comments != NULL ? r->body.comments : "";
}

int weir_record_signals(const weir_record *r)
{
  return r->body.n_signals;
}

const weir_signal_info *weir_record_signal(const weir_record *r, int i)
{
  WEIR_ASSERT(i >= 0 && i < r->body.n_signals);
  return &r->body.signals[i];
}

int weir_record_start(const weir_record *r, int64_t *us)
{
  *us = r->body.start_us;
  return r->body.start_kind;
}

bool weir_record_utc_offset(const weir_record *r, int *minutes)
{
  const bool known = r->body.has_utc_offset && r->body.start_kind == 2;

  *minutes = known ? r->body.utc_offset : 0;
  return known;
}

int64_t weir_record_missing_segments(const weir_record *r)
{
  return r->body.missing_segments;
}

static weir_status refuse_signal(const weir_record *r, const char *wanted)
{
  char known[512] = "";
  size_t used = 0;

  for (int i = 0; i < r->body.n_signals; i++) {
    const weir_signal_info *const s = &r->body.signals[i];
    const int n = snprintf(known + used, sizeof known - used, "%s%d %s (%s)", i ? ", " : "", i,
                           s->name, s->units);

    if (n < 0 || (size_t)n >= sizeof known - used) {
      memcpy(known + sizeof known - 4, "...", 4);
      break;
    }
    used += (size_t)n;
  }
  if (r->body.n_signals == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "record %s: has no signals, only annotations", r->body.name);
  }
  if (!wanted) {
    return weir_fail_option(
        weir_fail(WEIR_ERR_CONFIG,
                  "record %s: no signal is in mV, and not exactly one in another unit of "
                  "voltage: choose one of: %s",
                  r->body.name, known),
        "signal");
  }
  return weir_fail(WEIR_ERR_CONFIG, "record %s: there is no signal '%s': choose one of: %s",
                   r->body.name, wanted, known);
}

/* As recorders write it; the same spellings are understood in conversions (weir_unit_factor). */
static bool is_millivolts(const char *units)
{
  return strcmp(units, "mV") == 0 || strcmp(units, "mv") == 0;
}

static bool is_voltage(const char *units)
{
  static const char *const known[] = {"V", "uV", "UV", "\xC2\xB5V", "\xCE\xBCV", "nV"};
  bool found = false;

  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    found = found || strcmp(units, known[i]) == 0;
  }
  return found;
}

/* The only signal in a unit of voltage, -1 where there is none or more than one. */
static int only_voltage(const weir_record *r)
{
  int only = -1, n = 0;

  for (int i = 0; i < r->body.n_signals; i++) {
    if (is_voltage(r->body.signals[i].units)) {
      only = i;
      n++;
    }
  }
  return n == 1 ? only : -1;
}

weir_status weir_record_find(const weir_record *r, const char *name_or_index, int *signal)
{
  const bool any = !name_or_index || !name_or_index[0];
  int64_t index = 0;

  for (int i = 0; i < r->body.n_signals; i++) {
    const weir_signal_info *const s = &r->body.signals[i];

    if (any ? is_millivolts(s->units) : strcmp(s->name, name_or_index) == 0) {
      *signal = i;
      return WEIR_OK;
    }
  }
  if (any && only_voltage(r) >= 0) {
    *signal = only_voltage(r);
    return WEIR_OK;
  }
  if (any && r->body.n_signals != 1) {
    return refuse_signal(r, NULL);
  }
  if (!any &&
      !weir_io_parse_int(name_or_index, strlen(name_or_index), 0, r->body.n_signals - 1, &index)) {
    return refuse_signal(r, name_or_index);
  }
  *signal = (int)index;
  if (any && strcmp(r->body.signals[0].units, "NU") != 0 &&
      !strpbrk(r->body.signals[0].units, "Vv")) {
    weir_warn("io", "record %s: the only signal, %s, is in %s, not in mV", r->body.name,
              r->body.signals[0].name, r->body.signals[0].units);
  }
  return WEIR_OK;
}

static weir_status check_signal(const weir_record *r, int signal)
{
  if (signal < 0 || signal >= r->body.n_signals) {
    return weir_fail(WEIR_ERR_SHAPE, "record %s: signal %d of %d", r->body.name, signal,
                     r->body.n_signals);
  }
  return WEIR_OK;
}

/* The range [*lo, *hi) of [start, start + count) that lies in the record, relative to start. */
static weir_status clip(const weir_record *r, int signal, int64_t start, int64_t count, int64_t *lo,
                        int64_t *hi)
{
  int64_t end = 0;

  WEIR_TRY(check_signal(r, signal));
  if (count < 0 || !weir_add_ok(start, count, &end)) {
    return weir_fail(WEIR_ERR_SHAPE, "record %s: %lld slots from %lld", r->body.name,
                     (long long)count, (long long)start);
  }
  const int64_t total = r->body.signals[signal].count;
  const int64_t first = start < 0 ? 0 : start;
  const int64_t last = end > total ? total : end;

  *lo = first < end ? first - start : count;
  *hi = last > first ? last - start : *lo;
  return WEIR_OK;
}

/* A read goes through pieces where the caller requests no presence. */
static weir_status read_slots(weir_record *r, int signal, int64_t start, int64_t count,
                              weir_record_slots to)
{
  enum { PIECE = 4096 };
  uint8_t scratch[PIECE];
  int64_t lo = 0;
  int64_t hi = 0;

  WEIR_TRY(clip(r, signal, start, count, &lo, &hi));
  memset(to.values ? (void *)to.values : (void *)to.raw, 0, (size_t)count * 4);
  if (to.present) {
    memset(to.present, 0, (size_t)count);
  }
  while (lo < hi) {
    const int64_t n = to.present || hi - lo < PIECE ? hi - lo : PIECE;
    const weir_record_slots slots = {.values = to.values ? to.values + lo : NULL,
                                     .raw = to.raw ? to.raw + lo : NULL,
                                     .present = to.present ? to.present + lo : scratch};

    if (!to.present) {
      memset(scratch, 0, (size_t)n);
    }
    WEIR_TRY(r->format->read(r->body.state, signal, start + lo, n, &slots));
    lo += n;
  }
  return WEIR_OK;
}

weir_status weir_record_read(weir_record *r, int signal, int64_t start, int64_t count,
                             float *values, uint8_t *present)
{
  return read_slots(r, signal, start, count,
                    (weir_record_slots){.values = values, .present = present});
}

weir_status weir_record_read_raw(weir_record *r, int signal, int64_t start, int64_t count,
                                 int32_t *raw, uint8_t *present)
{
  if (!r->format->stores_integers) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "record %s: format %s does not store integers",
                     r->body.name, r->format->name);
  }
  return read_slots(r, signal, start, count, (weir_record_slots){.raw = raw, .present = present});
}

weir_status weir_record_next_run(const weir_record *r, int signal, int64_t start, int64_t *lo,
                                 int64_t *hi)
{
  WEIR_TRY(check_signal(r, signal));
  *lo = *hi = r->body.signals[signal].count;
  if (start < *hi) {
    r->format->next_run(r->body.state, signal, start < 0 ? 0 : start, lo, hi);
  }
  return WEIR_OK;
}

weir_status weir_record_checksum(weir_record *r, int signal, int *sum)
{
  WEIR_TRY(check_signal(r, signal));
  if (!r->format->checksum) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "record %s: format %s has no checksums", r->body.name,
                     r->format->name);
  }
  return r->format->checksum(r->body.state, signal, sum);
}

weir_status weir_record_events_read(weir_record *r, weir_record_events *out)
{
  *out = (weir_record_events){0};
  if (!r->format->events) {
    return WEIR_OK;
  }
  const weir_status status = r->format->events(r->body.state, out);

  if (status != WEIR_OK) {
    weir_record_events_fini(out);
  }
  return status;
}

weir_status weir_record_events_add(weir_record_events *events, const weir_record_event *event,
                                   const char *text, int64_t size)
{
  void *memory = NULL;

  if (events->count == MAX_EVENTS) {
    return weir_fail(WEIR_ERR_DATA, "more than %d events", MAX_EVENTS);
  }
  WEIR_TRY(
      weir_reserve(&events->items, &events->capacity, events->count + 1, sizeof *events->items));
  WEIR_TRY(weir_alloc(size + 1, 1, &memory));
  memcpy(memory, text, (size_t)size);
  events->items[events->count] = *event;
  events->items[events->count++].text = memory;
  return WEIR_OK;
}

size_t weir_record_text_fit(const char *text, size_t max_bytes)
{
  size_t n = text ? strlen(text) : 0;

  if (n > max_bytes) {
    n = max_bytes;
    while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) {
      n--;
    }
  }
  return n;
}

void weir_record_events_fini(weir_record_events *events)
{
  for (int64_t i = 0; i < events->count; i++) {
    weir_free(&events->items[i].text);
  }
  weir_free(&events->items);
  *events = (weir_record_events){0};
}
