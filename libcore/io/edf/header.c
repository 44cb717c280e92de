/* header.c - the header of an EDF or BDF file: fixed fields of ASCII text, strictly checked. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/edf/edf_priv.h"
#include "io/io_priv.h"

/* A field of the header: blanks taken off. */
typedef struct field {
  const char *at;
  size_t size;
  int64_t byte; /* where it stands in the file */
} field;

typedef struct parser {
  const char *path;
  const char *text; /* the header, as far as it is read */
} parser;

static field take(const parser *p, int64_t byte, int64_t size)
{
  field f = {p->text + byte, (size_t)size, byte};

  while (f.size > 0 && f.at[f.size - 1] == ' ') {
    f.size--;
  }
  while (f.size > 0 && f.at[0] == ' ') {
    f.at++;
    f.size--;
  }
  return f;
}

static weir_status refuse(const parser *p, field f, const char *what, const char *reason)
{
  char text[81];
  size_t n = f.size < sizeof text - 1 ? f.size : sizeof text - 1;

  for (size_t i = 0; i < n; i++) {
    text[i] = (unsigned char)f.at[i] < 32 || (unsigned char)f.at[i] > 126 ? '?' : f.at[i];
  }
  text[n] = 0;
  return weir_fail(WEIR_ERR_DATA, "%s: byte %lld: %s is '%s': %s", p->path, (long long)f.byte, what,
                   text, reason);
}

static weir_status take_int(const parser *p, int64_t byte, int64_t size, const char *what,
                            int64_t lo, int64_t hi, int64_t *out)
{
  const field f = take(p, byte, size);
  char reason[96];

  if (!weir_io_parse_int(f.at, f.size, lo, hi, out)) {
    snprintf(reason, sizeof reason, "expected an integer in [%lld, %lld]", (long long)lo,
             (long long)hi);
    return refuse(p, f, what, reason);
  }
  return WEIR_OK;
}

/* A text for people: what is no ASCII becomes '?', but for the micro sign that units often hold. */
static weir_status take_text(const parser *p, int64_t byte, int64_t size, const char *what,
                             char *out)
{
  const field f = take(p, byte, size);
  size_t n = 0;

  for (size_t i = 0; i < f.size; i++) {
    const unsigned char c = (unsigned char)f.at[i];

    if (c < 32 || c == 127) {
      return refuse(p, f, what, "it holds a control character: not an EDF header");
    }
    if (c == 0xC2 && i + 1 < f.size && (unsigned char)f.at[i + 1] == 0xB5) {
      continue;
    }
    if (c == 0xCE && i + 1 < f.size && (unsigned char)f.at[i + 1] == 0xBC) { /* the Greek letter */
      out[n++] = 'u';
      i++;
      continue;
    }
    out[n++] = c == 0xB5 ? 'u' : c > 126 ? '?' : (char)c;
  }
  out[n] = 0;
  return WEIR_OK;
}

/* A remark on a signal: what is no printable ASCII becomes a blank. */
static void take_remark(const parser *p, int64_t byte, int64_t size, char *out)
{
  const field f = take(p, byte, size);

  for (size_t i = 0; i < f.size; i++) {
    out[i] = f.at[i] < 32 || f.at[i] > 126 ? ' ' : f.at[i];
  }
  out[f.size] = 0;
}

/* The code of an absent sample, where the reserved field of signal i states one. */
static void take_missing(const parser *p, int64_t i, weir_edf_header *h, weir_edf_signal *s)
{
  const int64_t limit = INT64_C(1) << (8 * h->width - 1);
  const field f = take(p, 256 + h->n_signals * 224 + i * 32, 32);
  const size_t n = strlen(WEIR_EDF_MISSING);
  int64_t code = 0;

  if (f.size > n && memcmp(f.at, WEIR_EDF_MISSING, n) == 0 &&
      weir_io_parse_int(f.at + n, f.size - n, -limit, limit - 1, &code)) {
    s->has_missing = true;
    s->missing = (int32_t)code;
    h->has_missing = true;
  }
}

/* Two digits at text[0]. */
static bool two_digits(const char *text, int64_t *out)
{
  return weir_io_parse_int(text, 2, 0, 99, out) && text[0] != '+' && text[0] != '-';
}

/* Year of the recording field of EDF+, "Startdate 02-MAY-2104 ...": dates after 2084 stand there
 * alone. 0: not stated. */
static int64_t stated_year(const parser *p)
{
  const field f = take(p, 88, 80);
  int64_t year = 0;

  return f.size >= 21 && memcmp(f.at, "Startdate ", 10) == 0 &&
                 weir_io_parse_int(f.at + 17, 4, 1, 9999, &year)
             ? year
             : 0;
}

/* Whether the date n = day, month, year of two digits stands for an unknown one: EDF+ has
 * "Startdate X" and 01.01.85 for it. */
static bool is_anonymous(const parser *p, bool plus, const int64_t n[3])
{
  const field f = take(p, 88, 80);

  return plus && f.size >= 11 && memcmp(f.at, "Startdate X", 11) == 0 && n[0] == 1 && n[1] == 1 &&
         n[2] == 85;
}

/* In microseconds; false: there is no such date. */
static bool take_date(const parser *p, const int64_t n[3], int64_t *us)
{
  return weir_io_date_us(n[2] < 0    ? stated_year(p)
                         : n[2] > 84 ? n[2] + 1900
                                     : n[2] + 2000,
                         n[1], n[0], us);
}

/* dd.mm.yy hh.mm.ss. Files without names often hold no real date either: what is no date or time is
 * not known, and no error. EDF+ has no sign for an unknown time: midnight of an unknown date is
 * what writers put for it. */
static void take_start(const parser *p, weir_edf_header *h)
{
  const char *const date = p->text + 168;
  const char *const time = p->text + 176;
  int64_t n[6];
  int64_t day_us = 0;

  for (int i = 0; i < 3; i++) {
    if (!two_digits(time + 3 * i, &n[i])) {
      return;
    }
  }
  if (n[0] > 23 || n[1] > 59 || n[2] > 59) {
    return;
  }
  h->start_kind = 1;
  h->start_us = ((n[0] * 60 + n[1]) * 60 + n[2]) * 1000000;
  for (int i = 0; i < 3; i++) {
    if (i == 2 && h->plus && memcmp(date + 6, "yy", 2) == 0) {
      n[5] = -1; /* after 2084 */
    } else if (!two_digits(date + 3 * i, &n[3 + i])) {
      return;
    }
  }
  if (is_anonymous(p, h->plus, n + 3)) {
    h->start_kind = h->start_us != 0;
  } else if (take_date(p, n + 3, &day_us)) {
    h->start_kind = 2;
    h->start_us += day_us;
  }
}

/* What kind of file it is: EDF or BDF, plain or "plus", with or without interruptions. */
static weir_status take_kind(const parser *p, weir_edf_header *h)
{
  const field reserved = take(p, 192, 44);
  const bool bdf = memcmp(p->text,
                          "\xFF"
                          "BIOSEMI",
                          8) == 0;

  if (!bdf && memcmp(p->text, "0       ", 8) != 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: neither an EDF file (begins with '0       ') nor a BDF file", p->path);
  }
  h->width = bdf ? 3 : 2;
  h->plus = reserved.size >= 5 && memcmp(reserved.at, bdf ? "BDF+" : "EDF+", 4) == 0;
  h->interrupted = h->plus && reserved.at[4] == 'D';
  if (h->plus && reserved.at[4] != 'C' && reserved.at[4] != 'D') {
    return refuse(p, reserved, "the kind of file", "expected +C (continuous) or +D (interrupted)");
  }
  return WEIR_OK;
}

static weir_status take_fixed(const parser *p, int64_t size, weir_edf_header *h)
{
  const field duration = take(p, 244, 8);

  WEIR_TRY(take_kind(p, h));
  take_start(p, h);
  WEIR_TRY(take_int(p, 252, 4, "number of signals", 1, WEIR_EDF_MAX_SIGNALS, &h->n_signals));
  WEIR_TRY(take_int(p, 184, 8, "number of header bytes", (h->n_signals + 1) * WEIR_EDF_HEAD,
                    (h->n_signals + 1) * WEIR_EDF_HEAD, &h->bytes));
  WEIR_TRY(take_int(p, 236, 8, "number of data records", -1, INT32_MAX, &h->records));
  if (!weir_io_parse_decimal(duration.at, duration.size, &h->duration_num, &h->duration_den) ||
      h->duration_num < 0 || h->duration_num > WEIR_EDF_MAX_RATE ||
      h->duration_den > WEIR_EDF_MAX_RATE) {
    return refuse(p, duration, "duration of a data record", "expected seconds, 0 or more");
  }
  if (size < h->bytes) {
    return weir_fail(WEIR_ERR_DATA, "%s: %lld bytes, shorter than its header of %lld", p->path,
                     (long long)size, (long long)h->bytes);
  }
  return WEIR_OK;
}

static weir_status take_scale(const parser *p, int64_t i, int64_t n, const weir_edf_header *h,
                              weir_edf_signal *s)
{
  const int64_t limit = INT64_C(1) << (8 * h->width - 1);
  const field lo = take(p, 256 + n * 104 + i * 8, 8);
  const field hi = take(p, 256 + n * 112 + i * 8, 8);
  int64_t value = 0;

  if (!weir_io_parse_real(lo.at, lo.size, &s->physical_min)) {
    return refuse(p, lo, "physical minimum", "expected a number");
  }
  if (!weir_io_parse_real(hi.at, hi.size, &s->physical_max)) {
    return refuse(p, hi, "physical maximum", "expected a number");
  }
  if (s->physical_max == s->physical_min) {
    return refuse(p, hi, "physical maximum", "equals the minimum: the signal has no scale");
  }
  if (!isfinite(s->physical_max - s->physical_min)) {
    return refuse(p, hi, "physical maximum", "is too far from the minimum");
  }
  WEIR_TRY(take_int(p, 256 + n * 120 + i * 8, 8, "digital minimum", -limit, limit - 1, &value));
  s->digital_min = (int32_t)value;
  WEIR_TRY(take_int(p, 256 + n * 128 + i * 8, 8, "digital maximum", value + 1, limit - 1, &value));
  s->digital_max = (int32_t)value;
  return WEIR_OK;
}

/* Samples per second: per_record / duration. */
static weir_status take_rate(const parser *p, const weir_edf_header *h, weir_edf_signal *s)
{
  if (h->duration_num == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: byte 244: duration of a data record is 0, but signal %s has samples",
                     p->path, s->name);
  }
  s->fs_den = h->duration_num;
  if (!weir_mul_ok(s->per_record, h->duration_den, &s->fs_num)) {
    s->fs_num = INT64_MAX;
  }
  weir_io_reduce(&s->fs_num, &s->fs_den);
  if (s->fs_num > WEIR_EDF_MAX_RATE) {
    return weir_fail(WEIR_ERR_DATA, "%s: signal %s: its sampling rate is too large", p->path,
                     s->name);
  }
  return WEIR_OK;
}

static weir_status take_signal(const parser *p, int64_t i, weir_edf_header *h)
{
  const int64_t n = h->n_signals;
  weir_edf_signal *const s = &h->signals[i];
  int64_t bytes = 0;

  WEIR_TRY(take_text(p, 256 + i * 16, 16, "a label", s->name));
  WEIR_TRY(take_text(p, 256 + n * 96 + i * 8, 8, "a unit", s->units));
  s->notes = strcmp(s->name, h->width == 3 ? "BDF Annotations" : "EDF Annotations") == 0;
  s->offset = h->record_bytes;
  s->fs_den = 1;
  WEIR_TRY(take_int(p, 256 + n * 216 + i * 8, 8, "samples of a data record", 1, INT32_MAX,
                    &s->per_record));
  if (!weir_mul_ok(s->per_record, (int64_t)h->width, &bytes) ||
      !weir_add_ok(h->record_bytes, bytes, &h->record_bytes)) {
    return weir_fail(WEIR_ERR_DATA, "%s: its data records are too large", p->path);
  }
  if (s->notes) {
    return WEIR_OK;
  }
  take_remark(p, 256 + n * 16 + i * 80, 80, s->transducer);
  take_remark(p, 256 + n * 136 + i * 80, 80, s->prefilter);
  take_missing(p, i, h, s);
  if (!s->name[0]) {
    snprintf(s->name, sizeof s->name, "signal %d", (int)i);
  }
  WEIR_TRY(take_scale(p, i, n, h, s));
  return take_rate(p, h, s);
}

weir_status weir_edf_header_read(int fd, const char *path, int64_t size, weir_edf_header *out)
{
  char fixed[WEIR_EDF_HEAD];
  parser p = {.path = path, .text = fixed};
  weir_edf_header h = {0};
  void *text = NULL;
  weir_status status = WEIR_OK;

  *out = (weir_edf_header){0};
  if (size < WEIR_EDF_HEAD) {
    return weir_fail(WEIR_ERR_DATA, "%s: %lld bytes, shorter than the header of an EDF file", path,
                     (long long)size);
  }
  WEIR_TRY(weir_io_pread(fd, path, fixed, sizeof fixed, 0));
  WEIR_TRY(take_fixed(&p, size, &h));
  WEIR_TRY(weir_alloc(h.bytes, 1, &text)); /* the file holds them */
  WEIR_TRY_GOTO(weir_io_pread(fd, path, text, (size_t)h.bytes, 0), done);
  p.text = text;
  WEIR_TRY_GOTO(weir_reserve(&h.signals, &h.signal_capacity, h.n_signals, sizeof *h.signals), done);
  for (int64_t i = 0; i < h.n_signals; i++) {
    WEIR_TRY_GOTO(take_signal(&p, i, &h), done);
  }
  *out = h;
  h = (weir_edf_header){0};
done:
  weir_free(&text);
  weir_edf_header_fini(&h);
  return status;
}

void weir_edf_header_fini(weir_edf_header *h)
{
  weir_free(&h->signals);
  *h = (weir_edf_header){0};
}
