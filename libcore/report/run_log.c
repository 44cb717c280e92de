/* run_log.c - a small JSON reader: one flat object a line, everything checked. */
#include "report/report_priv.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "conf/weir_number.h"

enum { MAX_FIELDS = 256, LINE_NOTE = 256 };

/* Memory of a log: texts lie in a copy of the file, decoded in place (a decoded text is never
 * longer than its source). */
typedef struct memory {
  char *text;
  weir_field *fields;
  int64_t n_fields, capacity;
} memory;

typedef struct reader {
  char *at, *end;
  const char *where;
  int64_t line;
} reader;

static weir_status refuse(const reader *r, const char *reason)
{
  return weir_fail(WEIR_ERR_DATA, "%s:%lld: %s", r->where, (long long)r->line, reason);
}

static void skip_blanks(reader *r)
{
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) {
    r->at++;
  }
}

static bool take(reader *r, char c)
{
  skip_blanks(r);
  if (r->at < r->end && *r->at == c) {
    r->at++;
    return true;
  }
  return false;
}

/* Four hex digits at r->at, or -1. */
static int32_t hex4(reader *r)
{
  int32_t value = 0;

  if (r->end - r->at < 4) {
    return -1;
  }
  for (int i = 0; i < 4; i++) {
    const char c = r->at[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;

    if (digit < 0) {
      return -1;
    }
    value = value * 16 + digit;
  }
  r->at += 4;
  return value;
}

static char *put_utf8(char *to, int32_t code)
{
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xC0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *to++ = (char)(0xE0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  } else {
    *to++ = (char)(0xF0 | code >> 18);
    *to++ = (char)(0x80 | (code >> 12 & 0x3F));
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  }
  return to;
}

/* A \u escape after its u; surrogates come in pairs; 0 cannot occur in a C string. */
static weir_status unicode(reader *r, char **to)
{
  int32_t code = hex4(r);

  if (code >= 0xD800 && code < 0xDC00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
      r->at[1] == 'u') {
    r->at += 2;
    const int32_t low = hex4(r);
    code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : -1;
  }
  if (code <= 0 || (code >= 0xD800 && code < 0xE000)) {
    return refuse(r, "an escape that is not a character");
  }
  *to = put_utf8(*to, code);
  return WEIR_OK;
}

static weir_status escape(reader *r, char **to)
{
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";

  if (r->at == r->end) {
    return refuse(r, "the line ends inside a text");
  }
  const char c = *r->at++;
  const char *known = c == 0 ? NULL : strchr(names, c);
  if (c == 'u') {
    return unicode(r, to);
  }
  if (known == NULL) {
    return refuse(r, "an escape that JSON does not define");
  }
  *(*to)++ = values[known - names];
  return WEIR_OK;
}

static weir_status read_text(reader *r, const char **out)
{
  if (!take(r, '"')) {
    return refuse(r, "a quoted text is missing");
  }
  char *const start = r->at, *to = r->at;
  while (r->at < r->end && *r->at != '"') {
    const char c = *r->at++;

    if (c == '\\') {
      WEIR_TRY(escape(r, &to));
    } else if ((unsigned char)c < 0x20) {
      return refuse(r, "a control character inside a text");
    } else {
      *to++ = c;
    }
  }
  if (r->at == r->end) {
    return refuse(r, "the line ends inside a text");
  }
  r->at++;
  *to = 0;
  *out = start;
  return WEIR_OK;
}

/* JSON has no leading '+' or '.', and no zero before a digit. */
static bool is_json_number(const char *text)
{
  const char *digits = text[0] == '-' ? text + 1 : text;

  return digits[0] >= '0' && digits[0] <= '9' &&
         !(digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9');
}

static weir_status read_word(reader *r, weir_field *f)
{
  char word[64];
  size_t n = 0;

  while (r->at < r->end && strchr(",} \t\r", *r->at) == NULL && n + 1 < sizeof word) {
    word[n++] = *r->at++;
  }
  word[n] = 0;
  if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
    f->kind = 'b';
    f->integer = word[0] == 't';
    f->real = (double)f->integer;
    return WEIR_OK;
  }
  if (strcmp(word, "null") == 0) {
    f->kind = 'n';
    return WEIR_OK;
  }
  if (is_json_number(word) && weir_number_int(word, &f->integer) == WEIR_NUMBER_OK) {
    f->kind = 'i';
    f->real = (double)f->integer;
    return WEIR_OK;
  }
  f->kind = 'r';
  if (is_json_number(word) && weir_number_real(word, &f->real) == WEIR_NUMBER_OK) {
    return WEIR_OK;
  }
  return refuse(r, word[0] == '{' || word[0] == '['
                       ? "events are flat: objects and lists are not allowed"
                       : "a value that is neither text nor a number");
}

static weir_status read_field(reader *r, memory *m, int64_t first)
{
  weir_field f = {0};

  WEIR_TRY(read_text(r, &f.key));
  if (!take(r, ':')) {
    return refuse(r, "a ':' is missing after a key");
  }
  for (int64_t i = first; i < m->n_fields; i++) {
    if (strcmp(m->fields[i].key, f.key) == 0) {
      return refuse(r, "a key is given twice");
    }
  }
  skip_blanks(r);
  if (r->at < r->end && *r->at == '"') {
    f.kind = 's';
    WEIR_TRY(read_text(r, &f.text));
  } else {
    WEIR_TRY(read_word(r, &f));
  }
  if (m->n_fields - first >= MAX_FIELDS) {
    return refuse(r, "more than 256 fields");
  }
  WEIR_TRY(weir_reserve(&m->fields, &m->capacity, m->n_fields + 1, sizeof *m->fields));
  m->fields[m->n_fields++] = f;
  return WEIR_OK;
}

static weir_status read_line(reader *r, memory *m, weir_run_event *event)
{
  const int64_t first = m->n_fields;

  if (!take(r, '{')) {
    return refuse(r, "not an object");
  }
  if (!take(r, '}')) {
    do {
      WEIR_TRY(read_field(r, m, first));
    } while (take(r, ','));
    if (!take(r, '}')) {
      return refuse(r, "a '}' is missing");
    }
  }
  skip_blanks(r);
  if (r->at != r->end) {
    return refuse(r, "characters after the object");
  }
  *event = (weir_run_event){.n = (int)(m->n_fields - first)};
  for (int64_t i = first; i < m->n_fields; i++) {
    if (strcmp(m->fields[i].key, "event") == 0 && m->fields[i].kind == 's') {
      event->name = m->fields[i].text;
    }
  }
  return event->name != NULL ? WEIR_OK : refuse(r, "no text under the key 'event'");
}

static void free_memory(memory **m)
{
  if (*m != NULL) {
    weir_free(&(*m)->text);
    weir_free(&(*m)->fields);
    weir_free(m);
  }
}

/* Appends the event of a line, or notes that it is none: a run that was killed, or two in one
 * folder, may leave such a line, and the others count. */
static weir_status take_line(reader *r, memory *m, weir_run_log *log)
{
  const int64_t first = m->n_fields;
  const weir_status status = read_line(r, m, &log->events[log->count]);

  if (status == WEIR_OK) {
    log->count++;
    return WEIR_OK;
  }
  m->n_fields = first;
  if (status != WEIR_ERR_DATA) {
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  if (log->skipped++ == 0) {
    (void)snprintf(log->why, sizeof log->why, "%s", weir_last_message());
  }
  weir_clear_failure();
  return WEIR_OK;
}

/* All lines; `fields` of the events are set when the array no longer moves. */
static weir_status read_lines(memory *m, int64_t size, const char *where, weir_run_log *log)
{
  reader r = {.where = where};
  int64_t capacity = 0, first = 0;

  for (int64_t from = 0; from < size;) {
    char *end = memchr(m->text + from, '\n', (size_t)(size - from));

    if (end == NULL) {
      break;
    }
    r.line++;
    r.at = m->text + from;
    r.end = end;
    from = end - m->text + 1;
    WEIR_TRY(weir_reserve(&log->events, &capacity, log->count + 1, sizeof *log->events));
    WEIR_TRY(take_line(&r, m, log));
  }
  if (log->count == 0 && log->skipped > 0) {
    return weir_fail(WEIR_ERR_DATA, "%s", log->why);
  }
  for (int64_t i = 0; i < log->count; i++) {
    log->events[i].fields = m->fields + first;
    first += log->events[i].n;
  }
  return WEIR_OK;
}

weir_status report_parse_log(char *text, int64_t size, const char *where, weir_run_log *out)
{
  weir_run_log log = {0};
  memory *m = NULL;
  weir_status status = weir_alloc(1, sizeof *m, (void **)&m);

  if (status != WEIR_OK) {
    weir_free(&text);
    return status;
  }
  m->text = text;
  status = read_lines(m, size, where, &log);
  if (status != WEIR_OK) {
    weir_free(&log.events);
    free_memory(&m);
    return status;
  }
  log.memory = m;
  *out = log;
  return WEIR_OK;
}

weir_status weir_run_log_read(const char *path, weir_run_log *out)
{
  char *text = NULL;
  int64_t size = 0;

  WEIR_TRY(weir_file_read(path, (int64_t)64 << 20, &text, &size));
  WEIR_TRY(report_parse_log(text, size, path, out));
  if (out->skipped > 0) {
    weir_warn("report", "%s: not an event; %lld such lines are skipped, %lld events are read",
              out->why, (long long)out->skipped, (long long)out->count);
  }
  return WEIR_OK;
}

void weir_run_log_fini(weir_run_log *log)
{
  memory *m = log->memory;

  free_memory(&m);
  weir_free(&log->events);
  *log = (weir_run_log){0};
}

const weir_run_event *weir_run_log_last(const weir_run_log *log, const char *name)
{
  for (int64_t i = log->count - 1; i >= 0; i--) {
    if (strcmp(log->events[i].name, name) == 0) {
      return &log->events[i];
    }
  }
  return NULL;
}

const weir_field *weir_run_event_field(const weir_run_event *event, const char *key)
{
  for (int i = 0; i < event->n; i++) {
    if (strcmp(event->fields[i].key, key) == 0) {
      return &event->fields[i];
    }
  }
  return NULL;
}

double weir_run_event_real(const weir_run_event *event, const char *key, double missing)
{
  const weir_field *f = weir_run_event_field(event, key);

  return f != NULL && (f->kind == 'i' || f->kind == 'r') ? f->real : missing;
}

const char *weir_run_event_text(const weir_run_event *event, const char *key, char *text,
                                size_t size)
{
  const weir_field *f = weir_run_event_field(event, key);
  char number[32];

  text[0] = 0;
  if (f == NULL || f->kind == 'n') {
    return text;
  }
  if (f->kind == 'i') {
    (void)snprintf(number, sizeof number, "%lld", (long long)f->integer);
  } else {
    weir_number_text(f->real, number, sizeof number);
  }
  (void)snprintf(text, size, "%s",
                 f->kind == 's'   ? f->text
                 : f->kind == 'b' ? (f->integer != 0 ? "true" : "false")
                                  : number);
  return text;
}
