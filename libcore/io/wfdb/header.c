/* header.c - the text of a WFDB header: header(5), reference 9.1, hostile input 9.7. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/io_priv.h"
#include "io/wfdb/wfdb_priv.h"

typedef struct parser {
  const char *text, *path;
  int64_t size, at, line;
  bool zero_gain;
  char *comments; /* so far, each ended by a newline */
  int64_t comments_size, comments_capacity;
  char buffer[WEIR_WFDB_MAX_LINE + 1]; /* the current line, terminated */
  char *rest;                          /* what is not taken of it */
} parser;

#define REFUSE(p, ...) refuse((p), __FILE__, __LINE__, __func__, __VA_ARGS__)

static weir_status refuse(const parser *p, const char *file, int line, const char *function,
                          const char *reason, const char *word)
{
  return weir_fail_at(WEIR_ERR_DATA, file, line, function, "%s:%lld: %s%s%s%s", p->path,
                      (long long)p->line, reason, word ? ": '" : "", word ? word : "",
                      word ? "'" : "");
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/* Keeps the text of a comment, for readers of the record; control characters become blanks. */
static weir_status keep_comment(parser *p, const char *text, int64_t length)
{
  char *to = NULL;

  WEIR_TRY(weir_reserve(&p->comments, &p->comments_capacity, p->comments_size + length + 2, 1));
  to = p->comments + p->comments_size;
  for (int64_t i = 0; i < length; i++) {
    to[i] = (unsigned char)text[i] < 32 && text[i] != '\t' ? ' ' : text[i];
  }
  memcpy(to + length, "\n", 2);
  p->comments_size += length + 1;
  return WEIR_OK;
}

/* The next line that is neither blank nor a comment; *found is false at the end. */
static weir_status next_line(parser *p, bool *found)
{
  *found = false;
  while (p->at < p->size && !*found) {
    const char *const start = p->text + p->at;
    const char *const end = memchr(start, '\n', (size_t)(p->size - p->at));
    int64_t length = end ? end - start : p->size - p->at;

    p->at += length + (end != NULL);
    p->line++;
    while (length > 0 && (is_blank(start[length - 1]) || start[length - 1] == '\r')) {
      length--;
    }
    int64_t skip = 0;

    while (skip < length && is_blank(start[skip])) {
      skip++;
    }
    if (skip < length && start[skip] == '#') {
      WEIR_TRY(keep_comment(p, start + skip + 1, length - skip - 1));
    }
    if (skip == length || start[skip] == '#') {
      continue;
    }
    if (length - skip > WEIR_WFDB_MAX_LINE) {
      return REFUSE(p, "the line is longer than 1024 characters", NULL);
    }
    for (int64_t i = skip; i < length; i++) {
      if ((unsigned char)start[i] < 32 && start[i] != '\t') {
        return REFUSE(p, "the line contains a control character: not a header", NULL);
      }
    }
    memcpy(p->buffer, start + skip, (size_t)(length - skip));
    p->buffer[length - skip] = 0;
    p->rest = p->buffer;
    *found = true;
  }
  return WEIR_OK;
}

/* Takes the next word of the line, NULL at its end. */
static char *next_word(parser *p)
{
  char *const word = p->rest + strspn(p->rest, " \t");

  if (!word[0]) {
    p->rest = word;
    return NULL;
  }
  p->rest = word + strcspn(word, " \t");
  if (p->rest[0]) {
    *p->rest++ = 0;
  }
  return word;
}

/* Splits `word` at the first `c`; returns the rest after it, or NULL. */
static char *split_at(char *word, char c)
{
  char *const at = strchr(word, c);

  if (!at) {
    return NULL;
  }
  *at = 0;
  return at + 1;
}

static weir_status take_int(const parser *p, const char *what, const char *word, int64_t lo,
                            int64_t hi, int64_t *out)
{
  if (!weir_io_parse_int(word, strlen(word), lo, hi, out)) {
    return weir_fail(WEIR_ERR_DATA, "%s:%lld: %s is '%s', expected an integer in [%lld, %lld]",
                     p->path, (long long)p->line, what, word, (long long)lo, (long long)hi);
  }
  return WEIR_OK;
}

/* A file or segment name: it must stay in the header's folder. */
static weir_status check_name(const parser *p, const char *name)
{
  const char *component = name;

  if (!name[0] || name[0] == '/') {
    return REFUSE(p, "a name must be relative to the header's folder", name);
  }
  while (component) {
    const size_t length = strcspn(component, "/");

    if (length == 2 && component[0] == '.' && component[1] == '.') {
      return REFUSE(p, "a name must not leave the header's folder", name);
    }
    component = component[length] ? component + length + 1 : NULL;
  }
  if (strlen(name) > 255) {
    return REFUSE(p, "a name is longer than 255 characters", NULL);
  }
  return WEIR_OK;
}

/* "[[HH:]MM:]SS[.sss]" as microseconds. */
static bool parse_time(const char *word, int64_t *us)
{
  int64_t total = 0;
  int fields = 0;

  for (const char *at = word; at; fields++) {
    const size_t length = strcspn(at, ":");
    const bool last = !at[length];
    int64_t whole = 0;
    double seconds = 0;

    if (last ? !weir_io_parse_real(at, length, &seconds) || seconds < 0 || seconds >= 1e6
             : !weir_io_parse_int(at, length, 0, 1000000, &whole)) {
      return false;
    }
    if (fields == 3) {
      return false;
    }
    total = total * 60 + (last ? llround(seconds * 1e6) : whole * 1000000);
    at = last ? NULL : at + length + 1;
  }
  *us = total;
  return true;
}

static weir_status take_start(parser *p, weir_wfdb_header *h)
{
  char *const time = next_word(p);
  char *const date = time ? next_word(p) : NULL;
  int64_t day_us = 0;
  int64_t n[3] = {0};
  char *component = date;

  if (!time) {
    return WEIR_OK;
  }
  if (!parse_time(time, &h->start_us)) {
    return REFUSE(p, "the start time is not HH:MM:SS", time);
  }
  h->start_kind = 1;
  if (!date) {
    return WEIR_OK;
  }
  for (int i = 0; i < 3; i++) {
    char *const rest = component ? split_at(component, '/') : NULL;

    if (!component || (i == 2 && rest) ||
        !weir_io_parse_int(component, strlen(component), 0, 9999, &n[i])) {
      return REFUSE(p, "the start date is not DD/MM/YYYY", NULL);
    }
    component = rest;
  }
  if (!weir_io_date_us(n[2], n[1], n[0], &day_us)) {
    return REFUSE(p, "the start date does not exist", NULL);
  }
  h->start_kind = 2;
  h->start_us += day_us;
  return WEIR_OK;
}

static weir_status take_rate(const parser *p, char *word, weir_wfdb_header *h)
{
  char *const counter = split_at(word, '/');
  char *const base = counter ? split_at(counter, '(') : NULL;
  double rate = 0;

  if (!weir_io_parse_decimal(word, strlen(word), &h->fs_num, &h->fs_den) || h->fs_num <= 0) {
    return REFUSE(p, "the sampling rate is not a positive number", word);
  }
  if (h->fs_num > INT64_MAX / WEIR_WFDB_MAX_SPF) {
    return REFUSE(p, "the sampling rate is too large", word);
  }
  if (counter && (!weir_io_parse_real(counter, strlen(counter), &rate) || rate < 0)) {
    return REFUSE(p, "the counter frequency is not a number", counter);
  }
  if (base) {
    const size_t length = strlen(base);

    if (length == 0 || base[length - 1] != ')' || !weir_io_parse_real(base, length - 1, &rate)) {
      return REFUSE(p, "the base counter value is not a number", base);
    }
  }
  return WEIR_OK;
}

static weir_status take_record_line(parser *p, weir_wfdb_header *h)
{
  bool found = false;
  int64_t number = 0;

  WEIR_TRY(next_line(p, &found));
  if (!found) {
    return REFUSE(p, "there is no record line", NULL);
  }
  char *word = next_word(p);
  char *const segments = split_at(word, '/');

  if (!word[0]) {
    return REFUSE(p, "the record has no name", NULL);
  }
  if (segments) {
    WEIR_TRY(
        take_int(p, "number of segments", segments, 1, WEIR_WFDB_MAX_SEGMENTS, &h->n_segments));
  }
  if (!weir_record_is_name(word, strlen(word))) {
    return REFUSE(p,
                  "a record name has up to 200 letters, digits, '_', '-' and '.', and does not "
                  "start with '.', since files are named after it",
                  word);
  }
  WEIR_TRY(weir_strdup(word, &h->name));
  word = next_word(p);
  if (!word) {
    return REFUSE(p, "the record line does not give the number of signals", NULL);
  }
  WEIR_TRY(take_int(p, "number of signals", word, 0, WEIR_WFDB_MAX_SIGNALS, &number));
  h->n_signals = (int)number;
  h->fs_num = 250;
  h->fs_den = 1;
  word = next_word(p);
  if (!word) {
    return WEIR_OK;
  }
  WEIR_TRY(take_rate(p, word, h));
  word = next_word(p);
  if (!word) {
    return WEIR_OK;
  }
  WEIR_TRY(take_int(p, "number of samples", word, 0, WEIR_WFDB_MAX_FRAMES, &h->frames));
  WEIR_TRY(take_start(p, h));
  word = next_word(p);
  return word ? REFUSE(p, "unexpected text at the end of the record line", word) : WEIR_OK;
}

static weir_status take_format(const parser *p, char *word, weir_wfdb_signal *s)
{
  char known[128];
  int64_t number = 0;
  int64_t value = 0;
  char *const offset = split_at(word, '+');
  char *const skew = split_at(word, ':');
  char *const spf = split_at(word, 'x');

  WEIR_TRY(take_int(p, "sample format", word, 0, INT32_MAX, &number));
  s->codec = weir_wfdb_codec_find(number);
  weir_wfdb_codec_list(known, sizeof known);
  if (!s->codec) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s:%lld: sample format %lld is not supported: choose one of %s", p->path,
                     (long long)p->line, (long long)number, known);
  }
  if (s->codec->compressed && !weir_wfdb_flac_available()) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s:%lld: sample format %lld (FLAC) is not available: this build reads %s: "
                     "build with libFLAC, or convert the record with xform",
                     p->path, (long long)p->line, (long long)number, known);
  }
  s->spf = 1;
  if (spf) {
    WEIR_TRY(take_int(p, "samples per frame", spf, 1, WEIR_WFDB_MAX_SPF, &value));
    s->spf = (int)value;
  }
  if (skew) {
    WEIR_TRY(take_int(p, "skew", skew, 0, 1000000, &value));
    s->skew = (int)value;
  }
  if (offset) {
    WEIR_TRY(take_int(p, "byte offset", offset, 0, WEIR_WFDB_MAX_FRAMES, &s->offset));
  }
  return WEIR_OK;
}

/* gain["("baseline")"]["/"units]; *has_baseline says whether the baseline is given. */
static weir_status take_gain(const parser *p, char *word, weir_wfdb_signal *s, bool *has_baseline)
{
  char *const units = split_at(word, '/');
  char *const baseline = split_at(word, '(');

  *has_baseline = baseline != NULL;
  if (baseline) {
    const size_t length = strlen(baseline);

    if (length == 0 || baseline[length - 1] != ')' ||
        !weir_io_parse_real(baseline, length - 1, &s->baseline) || fabs(s->baseline) > 1e12) {
      return REFUSE(p, "the baseline is not a number in parentheses", baseline);
    }
  }
  if (!weir_io_parse_real(word, strlen(word), &s->gain) || s->gain < 0) {
    return REFUSE(p, "the gain is not a positive number", word);
  }
  if (s->gain == 0) {
    if (!p->zero_gain) {
      return weir_fail_option(
          REFUSE(p,
                 "the gain is 0 (an uncalibrated signal): state a gain in the header, or open "
                 "the record with zero_gain to take 200 per unit",
                 NULL),
          "zero_gain");
    }
    s->gain = 200;
  }
  if (!isfinite(1 / s->gain)) {
    return REFUSE(p, "the gain is too small", word);
  }
  return units && units[0] ? weir_strdup(units, &s->units) : WEIR_OK;
}

/* adcres adczero init cksum block: each only when those before are there. */
static weir_status take_adc(parser *p, weir_wfdb_signal *s, bool has_baseline)
{
  static const char *const names[] = {"ADC resolution", "ADC zero", "initial value", "checksum",
                                      "block size"};
  int64_t value[5] = {0};
  int n = 0;

  for (char *word = NULL; n < 5 && (word = next_word(p)); n++) {
    WEIR_TRY(take_int(p, names[n], word, INT32_MIN, INT32_MAX, &value[n]));
  }
  if (!has_baseline) {
    s->baseline = (double)value[1];
  }
  s->initial = (int32_t)(n > 2 ? value[2] : value[1]);
  s->has_checksum = n > 3;
  s->checksum = (int)value[3];
  return WEIR_OK;
}

static weir_status take_signal_line(parser *p, weir_wfdb_header *h)
{
  weir_wfdb_signal *const s = &h->signals[h->n_listed - 1];
  bool has_baseline = false;
  char fallback[32];
  char *const file = next_word(p);
  char *const format = next_word(p);

  if (!format) {
    return REFUSE(p, "a signal line needs a file and a format", file);
  }
  WEIR_TRY(take_format(p, format, s));
  if (s->codec->number != 0) {
    WEIR_TRY(check_name(p, file));
    WEIR_TRY(weir_strdup(file, &s->file));
  }
  s->gain = 200;
  char *const gain = next_word(p);

  if (gain) {
    WEIR_TRY(take_gain(p, gain, s, &has_baseline));
  }
  WEIR_TRY(take_adc(p, s, has_baseline));
  if (!s->units) {
    WEIR_TRY(weir_strdup("mV", &s->units));
  }
  const char *const name = p->rest + strspn(p->rest, " \t");

  snprintf(fallback, sizeof fallback, "signal %lld", (long long)(h->n_listed - 1));
  return weir_strdup(name[0] ? name : fallback, &s->name);
}

/* Signals of one file stand together and agree on format and offset. */
static weir_status check_files(const parser *p, const weir_wfdb_header *h)
{
  const weir_wfdb_signal *const s = &h->signals[h->n_listed - 1];

  for (int64_t i = 0; s->file && i < h->n_listed - 1; i++) {
    const weir_wfdb_signal *const t = &h->signals[i];

    if (!t->file || strcmp(s->file, t->file) != 0) {
      continue;
    }
    if (!s[-1].file || strcmp(s->file, s[-1].file) != 0) {
      return REFUSE(p, "the signals of one file are not listed together", s->file);
    }
    if (s->codec != t->codec || s->offset != t->offset) {
      return REFUSE(p, "signals of one file differ in format or byte offset", s->file);
    }
    if (s->codec->compressed && s->spf != t->spf) {
      return REFUSE(p, "signals of one FLAC file differ in samples per frame", s->file);
    }
  }
  return WEIR_OK;
}

static weir_status take_segment_line(parser *p, weir_wfdb_header *h, int64_t index)
{
  weir_wfdb_segment *const segment = &h->segments[index];
  char *const name = next_word(p);
  char *const frames = next_word(p);

  if (!frames) {
    return REFUSE(p, "a segment line needs a name and a number of samples", name);
  }
  WEIR_TRY(take_int(p, "number of samples", frames, 0, WEIR_WFDB_MAX_FRAMES, &segment->frames));
  if (next_word(p)) {
    return REFUSE(p, "unexpected text at the end of a segment line", NULL);
  }
  if (strcmp(name, "~") == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(check_name(p, name));
  return weir_strdup(name, &segment->name);
}

/* The lines after the first: memory grows with the lines that are there, not with the counts. */
static weir_status take_lines(parser *p, weir_wfdb_header *h)
{
  const int64_t declared = h->n_segments ? h->n_segments : h->n_signals;
  const char *const what = h->n_segments ? "segments" : "signals";
  int64_t n = 0;
  bool found = false;

  for (;; n++) {
    WEIR_TRY(next_line(p, &found));
    if (!found) {
      break;
    }
    if (n == declared) {
      return weir_fail(WEIR_ERR_DATA, "%s:%lld: more lines than the %lld %s declared", p->path,
                       (long long)p->line, (long long)declared, what);
    }
    if (h->n_segments) {
      WEIR_TRY(weir_reserve(&h->segments, &h->segment_capacity, n + 1, sizeof *h->segments));
      WEIR_TRY(take_segment_line(p, h, n));
    } else {
      WEIR_TRY(weir_reserve(&h->signals, &h->signal_capacity, n + 1, sizeof *h->signals));
      h->n_listed = n + 1;
      WEIR_TRY(take_signal_line(p, h));
      WEIR_TRY(check_files(p, h));
    }
  }
  if (n < declared) {
    return weir_fail(WEIR_ERR_DATA, "%s: %lld %s declared, %lld listed: the header is truncated",
                     p->path, (long long)declared, what, (long long)n);
  }
  return WEIR_OK;
}

weir_status weir_wfdb_header_parse(const char *text, int64_t size, const char *path, bool zero_gain,
                                   weir_wfdb_header *out)
{
  parser p = {.text = text, .path = path, .size = size, .zero_gain = zero_gain};
  weir_wfdb_header h = {0};
  weir_status status = WEIR_OK;

  *out = (weir_wfdb_header){0};
  WEIR_TRY_GOTO(take_record_line(&p, &h), fail);
  WEIR_TRY_GOTO(take_lines(&p, &h), fail);
  h.comments = p.comments;
  *out = h;
  return WEIR_OK;
fail:
  weir_free(&p.comments);
  weir_wfdb_header_fini(&h);
  return status;
}

weir_status weir_wfdb_header_read(const char *path, bool zero_gain, weir_wfdb_header *out)
{
  char *text = NULL;
  int64_t size = 0;

  *out = (weir_wfdb_header){0};
  WEIR_TRY(weir_io_read(path, WEIR_WFDB_MAX_HEADER, &text, &size));
  const weir_status status = weir_wfdb_header_parse(text, size, path, zero_gain, out);

  weir_free(&text);
  return status;
}

void weir_wfdb_header_fini(weir_wfdb_header *h)
{
  for (int64_t i = 0; i < h->signal_capacity; i++) {
    weir_free(&h->signals[i].file);
    weir_free(&h->signals[i].name);
    weir_free(&h->signals[i].units);
  }
  for (int64_t i = 0; i < h->segment_capacity; i++) {
    weir_free(&h->segments[i].name);
  }
  weir_free(&h->signals);
  weir_free(&h->segments);
  weir_free(&h->name);
  weir_free(&h->comments);
  *h = (weir_wfdb_header){0};
}
