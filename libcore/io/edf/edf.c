/* edf.c - EDF, EDF+, BDF and BDF+ files: data records of a fixed length, adjacent or (+D) with gaps
 * between them. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "io/edf/edf_priv.h"
#include "io/io_priv.h"
#include "io/weir_record_format.h"

enum { BUFFER = 65536, NOTE_LIMIT = 64 << 20, STAMP = 256 };
#define MAX_SLOTS (INT64_C(1) << 50)
#define SECOND INT64_C(1000000000)

/* Data records that follow each other without a gap. */
typedef struct run {
  int64_t record, records;
  int64_t start; /* ns after the start of the first record */
} run;

typedef struct edf {
  int fd;
  char *path, *name;
  weir_edf_header head;
  int64_t records; /* whole ones in the file, at most those declared */
  int64_t declared;
  int64_t origin; /* ns: what the file gives as the start of its first record */
  int64_t n_runs, run_capacity;
  run *runs;
  int64_t n_infos;
  int16_t map[WEIR_EDF_MAX_SIGNALS]; /* of a record's signals: where the header has them */
  weir_signal_info *infos;
  int64_t snapped;  /* records whose start is on no slot of some signal */
  int64_t at, have; /* what the buffer holds of the file */
  uint8_t buffer[BUFFER];
} edf;

static bool has_suffix(const char *path, const char *suffix)
{
  const size_t n = strlen(path);
  const size_t m = strlen(suffix);

  return n > m && strcasecmp(path + n - m, suffix) == 0;
}

static bool claims(const char *path)
{
  return has_suffix(path, ".edf") || has_suffix(path, ".bdf");
}

static const weir_edf_signal *signal_of(const edf *e, int signal)
{
  return &e->head.signals[e->map[signal]];
}

/* The slot nearest to a time since the first record; 2^53 * 2^60 fit 128 bits. */
static int64_t slot_at(const weir_edf_signal *s, int64_t ns)
{
  const __int128 unit = (__int128)s->fs_den * SECOND;
  const __int128 slot = ((__int128)ns * s->fs_num * 2 + unit) / (2 * unit);

  return slot > MAX_SLOTS ? MAX_SLOTS : (int64_t)slot;
}

/* Whether a time, a text of whole ns, is that of a slot. */
static bool on_grid(const weir_edf_signal *s, int64_t ns)
{
  const __int128 off = (__int128)ns * s->fs_num - (__int128)slot_at(s, ns) * s->fs_den * SECOND;

  return off <= s->fs_num && off >= -(__int128)s->fs_num;
}

/* Half a sample of the fastest signal, in ns: what a record may start early or late without being a
 * gap or an overlap. */
static int64_t tolerance(const edf *e)
{
  int64_t tolerance_ns = e->n_infos ? INT64_MAX : 0;

  for (int i = 0; i < e->n_infos; i++) {
    const weir_edf_signal *const s = signal_of(e, i);
    const __int128 half = (__int128)s->fs_den * SECOND / (2 * (__int128)s->fs_num);

    tolerance_ns = half < tolerance_ns ? (int64_t)half : tolerance_ns;
  }
  return tolerance_ns;
}

static const weir_edf_signal *first_notes(const edf *e)
{
  for (int64_t i = 0; i < e->head.n_signals; i++) {
    if (e->head.signals[i].notes) {
      return &e->head.signals[i];
    }
  }
  return NULL;
}

/* Start of a data record, from the first list of its first annotation signal. */
static weir_status read_stamp(const edf *e, int64_t record, int64_t *ns, bool *found)
{
  const weir_edf_signal *const s = first_notes(e);
  char text[STAMP];

  *found = false;
  if (!s) {
    return WEIR_OK;
  }
  const int64_t from = e->head.bytes + record * e->head.record_bytes + s->offset;
  const int64_t all = s->per_record * e->head.width;
  const int64_t size = all < STAMP ? all : STAMP;

  WEIR_TRY(weir_io_pread(e->fd, e->path, text, (size_t)size, from));
  if (!weir_edf_tal_onset(text, size, ns, found)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: byte %lld: data record %lld does not begin with its start time", e->path,
                     (long long)from, (long long)record);
  }
  return WEIR_OK;
}

/* Adds data record `record`, which starts at `ns`, to the last run or as a new one. */
static weir_status add_record(edf *e, int64_t record, int64_t ns, int64_t slack)
{
  run *const last = e->n_runs ? &e->runs[e->n_runs - 1] : NULL;
  const __int128 den = e->head.duration_den;

  if (last) {
    const __int128 due = (__int128)last->records * e->head.duration_num * SECOND;
    const __int128 late = (__int128)(ns - last->start) * den - due;

    if (late < -slack * den) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: data record %lld starts at %.9g s, before the previous one ends: "
                       "overlapping or backward records are not supported",
                       e->path, (long long)record, (double)(ns + e->origin) / 1e9);
    }
    if (late <= slack * den) {
      last->records++;
      return WEIR_OK;
    }
  }
  bool grid = true;

  for (int i = 0; i < e->n_infos; i++) {
    grid = grid && on_grid(signal_of(e, i), ns);
  }
  e->snapped += !grid;
  WEIR_TRY(weir_reserve(&e->runs, &e->run_capacity, e->n_runs + 1, sizeof *e->runs));
  e->runs[e->n_runs++] = (run){.record = record, .records = 1, .start = ns};
  return WEIR_OK;
}

/* The runs of an interrupted file: every record says when it starts. */
static weir_status index_records(edf *e)
{
  const int64_t slack = tolerance(e);

  for (int64_t k = 0; k < e->records; k++) {
    int64_t ns = 0;
    bool found = false;

    WEIR_TRY(read_stamp(e, k, &ns, &found));
    if (!found) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: data record %lld of an interrupted file (+D) has no start "
                       "time",
                       e->path, (long long)k);
    }
    WEIR_TRY(add_record(e, k, ns - e->origin, slack));
  }
  if (e->snapped > 0) {
    weir_warn("io", "%s: %lld segments start between two samples and were moved to the nearest",
              e->path, (long long)e->snapped);
  }
  return WEIR_OK;
}

/* Whole records that the file holds, against those that it declares. */
static weir_status count_records(edf *e, int64_t size, bool allow_short)
{
  const int64_t bytes = size - e->head.bytes;
  const int64_t found = bytes / e->head.record_bytes;

  e->declared = e->head.records < 0 ? found : e->head.records;
  e->records = found < e->declared ? found : e->declared;
  if (e->records < e->declared && !allow_short) {
    return weir_fail_option(
        weir_fail(WEIR_ERR_DATA,
                  "%s: %lld data records declared, %lld found (of %lld bytes each): the file is "
                  "truncated; allow_short reads what exists",
                  e->path, (long long)e->declared, (long long)found,
                  (long long)e->head.record_bytes),
        "allow_short");
  }
  if (bytes > e->declared * e->head.record_bytes) {
    weir_warn("io", "%s: %lld bytes after its %lld data records are ignored", e->path,
              (long long)(bytes - e->declared * e->head.record_bytes), (long long)e->declared);
  }
  return WEIR_OK;
}

static weir_status index_file(edf *e)
{
  bool found = false;

  if (e->records > 0) {
    WEIR_TRY(read_stamp(e, 0, &e->origin, &found));
  }
  if (e->head.interrupted) {
    return index_records(e);
  }
  if (e->records > 0) {
    WEIR_TRY(weir_reserve(&e->runs, &e->run_capacity, 1, sizeof *e->runs));
    e->runs[e->n_runs++] = (run){.records = e->records};
  }
  return WEIR_OK;
}

/* Slots of a signal: to the end of the last record, or of the last one declared. */
static int64_t count_slots(const edf *e, const weir_edf_signal *s)
{
  const run *const last = e->n_runs ? &e->runs[e->n_runs - 1] : NULL;
  int64_t count = 0;

  if (!e->head.interrupted) {
    return weir_mul_ok(e->declared, s->per_record, &count) ? count : INT64_MAX;
  }
  if (last && !weir_mul_ok(last->records, s->per_record, &count)) {
    return INT64_MAX;
  }
  return last ? count + slot_at(s, last->start) : 0;
}

static weir_status describe(edf *e)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(e->n_infos, sizeof *e->infos, &memory));
  e->infos = memory;
  for (int i = 0; i < e->n_infos; i++) {
    const weir_edf_signal *const s = signal_of(e, i);
    weir_signal_info *const info = &e->infos[i];

    info->name = s->name;
    info->units = s->units;
    info->file = "";
    info->fs_num = s->fs_num;
    info->fs_den = s->fs_den;
    info->samples_per_frame = 1;
    info->gain = ((double)s->digital_max - s->digital_min) / (s->physical_max - s->physical_min);
    info->baseline = s->digital_min - s->physical_min * info->gain;
    info->format = e->head.width == 3 ? "BDF" : "EDF";
    info->bits = 8 * e->head.width;
    info->transducer = s->transducer;
    info->prefilter = s->prefilter;
    info->has_invalid = s->has_missing;
    info->invalid = s->missing;
    info->count = count_slots(e, s);
    info->n_truncated = (e->declared - e->records) * s->per_record;
    if (info->count > MAX_SLOTS) {
      return weir_fail(WEIR_ERR_DATA, "%s: signal %s: too many samples", e->path, s->name);
    }
  }
  return WEIR_OK;
}

static void close_edf(void *state)
{
  edf *e = state;

  if (e->fd >= 0) {
    close(e->fd);
  }
  weir_edf_header_fini(&e->head);
  weir_free(&e->runs);
  weir_free(&e->infos);
  weir_free(&e->path);
  weir_free(&e->name);
  weir_free(&e);
}

static weir_status fill(edf *e, const char *path, bool allow_short)
{
  const char *const slash = strrchr(path, '/');
  char *suffix = NULL;
  int64_t size = 0;

  WEIR_TRY(weir_strdup(path, &e->path));
  WEIR_TRY(weir_strdup(slash ? slash + 1 : path, &e->name));
  suffix = strrchr(e->name, '.');
  if (suffix) {
    *suffix = 0;
  }
  WEIR_TRY(weir_io_open(path, &e->fd, &size));
  WEIR_TRY(weir_edf_header_read(e->fd, path, size, &e->head));
  for (int i = 0; i < e->head.n_signals; i++) {
    if (!e->head.signals[i].notes) {
      e->map[e->n_infos++] = (int16_t)i;
    }
  }
  WEIR_TRY(count_records(e, size, allow_short));
  WEIR_TRY(index_file(e));
  return describe(e);
}

static weir_status open_edf(const char *path, const weir_record_opts *opts, weir_record_body *body)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(1, sizeof(edf), &memory));
  edf *const e = memory;

  e->fd = -1;
  const weir_status status = fill(e, path, opts->allow_short != 0);

  if (status != WEIR_OK) {
    close_edf(e);
    return status;
  }
  *body = (weir_record_body){.state = e,
                             .name = e->name,
                             .signals = e->infos,
                             .n_signals = (int)e->n_infos,
                             .start_kind = e->head.start_kind,
                             .start_us = e->head.start_us};
  if (e->head.start_kind) { /* the first sample may come a fraction of a second later */
    body->start_us += e->origin / 1000;
  }
  return WEIR_OK;
}

/* The last run that starts at or before a slot. */
static int64_t run_at(const edf *e, const weir_edf_signal *s, int64_t slot)
{
  int64_t lo = 0;
  int64_t hi = e->n_runs;

  while (hi - lo > 1) {
    const int64_t mid = lo + (hi - lo) / 2;

    if (slot_at(s, e->runs[mid].start) <= slot) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

/* Makes the buffer hold `bytes` from `from` on. Behind a long record lie samples of no use. */
static weir_status load(edf *e, int64_t from, int64_t bytes)
{
  const int64_t end = e->head.bytes + e->records * e->head.record_bytes;
  const int64_t wanted = e->head.record_bytes > BUFFER / 2 ? bytes : BUFFER;

  if (from >= e->at && from + bytes <= e->at + e->have) {
    return WEIR_OK;
  }
  e->have = 0;
  e->at = from;
  const int64_t size = wanted < end - from ? wanted : end - from;

  WEIR_TRY(weir_io_pread(e->fd, e->path, e->buffer, (size_t)size, from));
  e->have = size;
  return WEIR_OK;
}

/* Samples [first, first + n) of a data record, n * width at most a buffer, to slots from `to` on.
 */
static weir_status fetch(edf *e, const weir_edf_signal *s, int64_t record, int64_t first, int64_t n,
                         const weir_record_slots *out, int64_t to)
{
  const int width = e->head.width;
  const int64_t from = e->head.bytes + record * e->head.record_bytes + s->offset + first * width;
  const double scale =
      (s->physical_max - s->physical_min) / ((double)s->digital_max - s->digital_min);

  WEIR_TRY(load(e, from, n * width));
  const uint8_t *b = e->buffer + (from - e->at);

  for (int64_t i = 0; i < n; i++, b += width) {
    const uint32_t low = b[0] | (uint32_t)b[1] << 8;
    const int32_t raw =
        width == 2 ? (int16_t)low : (int32_t)((low | (uint32_t)b[2] << 16) << 8) >> 8;
    const bool missing = s->has_missing && raw == s->missing;

    if (out->raw) {
      out->raw[to + i] = raw;
    } else {
      out->values[to + i] =
          missing ? 0 : (float)(s->physical_min + ((double)raw - s->digital_min) * scale);
    }
    out->present[to + i] = !missing;
  }
  return WEIR_OK;
}

static weir_status read_slots(void *state, int signal, int64_t start, int64_t count,
                              const weir_record_slots *to)
{
  edf *const e = state;
  const weir_edf_signal *const s = signal_of(e, signal);

  for (int64_t r = run_at(e, s, start); r < e->n_runs; r++) {
    const int64_t first = slot_at(s, e->runs[r].start);
    const int64_t end = first + e->runs[r].records * s->per_record;
    int64_t at = first > start ? first : start;

    if (first >= start + count) {
      break;
    }
    while (at < end && at < start + count) {
      const int64_t k = (at - first) % s->per_record;
      const int64_t upto = end < start + count ? end : start + count;
      int64_t n = s->per_record - k < upto - at ? s->per_record - k : upto - at;

      n = n < BUFFER / 4 ? n : BUFFER / 4;
      WEIR_TRY(fetch(e, s, e->runs[r].record + (at - first) / s->per_record, k, n, to, at - start));
      at += n;
    }
  }
  return WEIR_OK;
}

static void next_run(const void *state, int signal, int64_t start, int64_t *lo, int64_t *hi)
{
  const edf *const e = state;
  const weir_edf_signal *const s = signal_of(e, signal);

  for (int64_t r = run_at(e, s, start); r < e->n_runs; r++) {
    const int64_t first = slot_at(s, e->runs[r].start);
    const int64_t end = first + e->runs[r].records * s->per_record;

    if (end > start) {
      *lo = first > start ? first : start;
      *hi = end;
      while (r + 1 < e->n_runs && slot_at(s, e->runs[r + 1].start) == *hi) {
        *hi += e->runs[++r].records * s->per_record;
      }
      return;
    }
  }
}

/* Whether a text says only what the codes of absent samples say. */
static bool says_missing(const edf *e, const char *text, int64_t size)
{
  const int64_t n = (int64_t)strlen(WEIR_EDF_MISSING_NOTE);

  return e->head.has_missing && size >= n && memcmp(text, WEIR_EDF_MISSING_NOTE, (size_t)n) == 0;
}

/* Texts of one list, each with its time. */
static weir_status add_texts(const edf *e, const weir_edf_tal *tal, weir_record_events *out)
{
  const char *at = tal->texts;
  int64_t left = tal->texts_size;

  while (left > 0) {
    const char *const end = memchr(at, 20, (size_t)left); /* a list ends with one */
    const weir_record_event event = {
        .time = tal->onset - e->origin, .duration = tal->duration, .code = WEIR_RECORD_NOTE};

    /* An empty text keeps the time of the record. */
    if (end > at && !says_missing(e, at, end - at)) {
      WEIR_TRY(weir_record_events_add(out, &event, at, end - at));
    }
    left -= end + 1 - at;
    at = end + 1;
  }
  return WEIR_OK;
}

static weir_status add_notes(const edf *e, int64_t record, const weir_edf_signal *s, char *text,
                             weir_record_events *out)
{
  const int64_t from = e->head.bytes + record * e->head.record_bytes + s->offset;
  const int64_t size = s->per_record * e->head.width;
  int64_t at = 0;
  bool found = true;

  WEIR_TRY(weir_io_pread(e->fd, e->path, text, (size_t)size, from));
  while (found) {
    weir_edf_tal tal = {0};

    if (!weir_edf_tal_next(text, size, &at, &tal, &found)) {
      return weir_fail(WEIR_ERR_DATA, "%s: byte %lld: not a time-stamped annotation", e->path,
                       (long long)(from + at));
    }
    WEIR_TRY(found ? add_texts(e, &tal, out) : WEIR_OK);
  }
  return WEIR_OK;
}

static weir_status read_events(void *state, weir_record_events *out)
{
  const edf *const e = state;
  int64_t longest = 0;
  void *text = NULL;
  weir_status status = WEIR_OK;

  for (int64_t i = 0; e->records > 0 && i < e->head.n_signals; i++) {
    const weir_edf_signal *const s = &e->head.signals[i];

    longest = s->notes && s->per_record > longest ? s->per_record : longest;
  }
  if (longest * e->head.width > NOTE_LIMIT) {
    return weir_fail(WEIR_ERR_DATA, "%s: more than 64 MiB of annotations in a data record",
                     e->path);
  }
  WEIR_TRY(weir_alloc(longest * e->head.width, 1, &text)); /* the file holds them */
  for (int64_t k = 0; longest > 0 && k < e->records; k++) {
    for (int64_t i = 0; i < e->head.n_signals; i++) {
      if (e->head.signals[i].notes) {
        WEIR_TRY_GOTO(add_notes(e, k, &e->head.signals[i], text, out), done);
      }
    }
  }
done:
  weir_free(&text);
  return status;
}

extern const weir_record_format weir_record_format_edf;
const weir_record_format weir_record_format_edf = {
    .name = "edf",
    .help = "an EDF, EDF+, BDF or BDF+ file (.edf, .bdf)",
    .claims = claims,
    .open = open_edf,
    .close = close_edf,
    .stores_integers = true,
    .read = read_slots,
    .next_run = next_run,
    .events = read_events,
};
