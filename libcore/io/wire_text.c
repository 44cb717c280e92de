/* wire_text.c - lines of the live protocol, taken apart. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "io/csv/csv_priv.h"
#include "io/io_priv.h"
#include "io/weir_record.h"
#include "io/weir_wire.h"

#define MAX_RATE 1000000
#define MAX_TERM ((int64_t)1 << 40)
/* Differences of two times fit 64 bits. */
#define MAX_NS INT64_C(4600000000000000000)

static bool is_word(weir_csv_field f, const char *word)
{
  return (size_t)f.size == strlen(word) && memcmp(f.at, word, (size_t)f.size) == 0;
}

bool weir_wire_is_name(const char *text, int64_t size)
{
  for (int64_t i = 0; i < size; i++) {
    if (text[i] <= ' ' || text[i] > '~' || text[i] == ',' || text[i] == '=') {
      return false;
    }
  }
  return size > 0 && size < WEIR_WIRE_TEXT;
}

static bool read_time(weir_csv_field f, weir_wire_line *out)
{
  weir_csv_ns ns = 0;
  const weir_csv_clock clock = weir_csv_time(f, INT64_C(1000000000), &ns);

  if ((clock != WEIR_CSV_CLOCK_NUMBER && clock != WEIR_CSV_CLOCK_ISO) || ns > MAX_NS ||
      ns < -MAX_NS) {
    return false;
  }
  out->clock = clock == WEIR_CSV_CLOCK_ISO ? WEIR_WIRE_DATE : WEIR_WIRE_SECONDS;
  out->ns = (int64_t)ns;
  return true;
}

/* Why a text is no rate. */
static const char *rate_fault(weir_csv_field f)
{
  bool present = false;
  double value = 0;

  if (memchr(f.at, '/', (size_t)f.size) != NULL) {
    return "a rate as a fraction consists of two integers above 0 and is at most 1e6 Hz";
  }
  if (!weir_csv_value(f, &value, &present) || !present) {
    return "a rate is a number of Hz, decimal or a fraction";
  }
  return value <= 0         ? "a rate is above 0 Hz"
         : value > MAX_RATE ? "a rate is at most 1e6 Hz"
                            : "a rate has too many digits";
}

/* "250", "62.4725" or "8999/144". */
static bool read_rate(weir_csv_field f, weir_wire_line *out)
{
  const char *const slash = memchr(f.at, '/', (size_t)f.size);
  int64_t num = 0, den = 1;

  if (slash != NULL) {
    const int64_t before = slash - f.at;

    if (!weir_io_parse_int(f.at, (size_t)before, 1, MAX_TERM, &num) ||
        !weir_io_parse_int(slash + 1, (size_t)(f.size - before - 1), 1, MAX_TERM, &den)) {
      return false;
    }
    weir_io_reduce(&num, &den);
  } else if (!weir_io_parse_decimal(f.at, (size_t)f.size, &num, &den)) {
    return false;
  }
  if (num < 1 || num > MAX_TERM || den > MAX_TERM || (double)num / (double)den > MAX_RATE) {
    return false;
  }
  out->fs_num = num;
  out->fs_den = den;
  return true;
}

/* The value of a word "key=value". */
static bool take_key(weir_csv_field f, const char *key, weir_csv_field *value)
{
  const int64_t n = (int64_t)strlen(key);

  if (f.size <= n || memcmp(f.at, key, (size_t)n) != 0 || f.at[n] != '=') {
    return false;
  }
  *value = (weir_csv_field){f.at + n + 1, f.size - n - 1};
  return true;
}

/* Keeps which word is at fault. */
static const char *blame(weir_csv_field f, const char *why, weir_wire_line *out)
{
  out->fault = f.at;
  out->fault_size = f.size;
  return why;
}

static const char *read_name(weir_csv_field f, weir_wire_line *out)
{
  out->name = f.at;
  out->name_size = f.size;
  return weir_wire_is_name(f.at, f.size) ? NULL
                                         : blame(f, "a name has 1 to 63 plain characters", out);
}

static const char *read_hello(const weir_csv_field *word, int n, weir_wire_line *out)
{
  weir_csv_field value;

  out->kind = WEIR_WIRE_HELLO;
  if (n < 2 || !is_word(word[1], "1")) {
    return blame(word[n > 1], "an unsupported version of the protocol (this is 1)", out);
  }
  for (int i = 2; i < n; i++) {
    if (take_key(word[i], "record", &value)) {
      if (value.size >= WEIR_WIRE_TEXT || !weir_record_is_name(value.at, (size_t)value.size)) {
        return blame(word[i],
                     "files are named after the record: a name has 1 to 63 letters, digits, '_', "
                     "'-' and '.', and does not start with '.'",
                     out);
      }
      out->name = value.at;
      out->name_size = value.size;
    } else if (!take_key(word[i], "start", &value) || !read_time(value, out)) {
      return blame(word[i], "#weir takes record=NAME and start=TIME", out);
    }
  }
  return NULL;
}

static const char *read_stream(const weir_csv_field *word, int n, weir_wire_line *out)
{
  weir_csv_field value;

  out->kind = WEIR_WIRE_STREAM;
  const char *const wrong = n < 2 ? "#stream has no name" : read_name(word[1], out);

  for (int i = 2; i < n && wrong == NULL; i++) {
    if (take_key(word[i], "unit", &value)) {
      out->unit = value.at;
      out->unit_size = value.size;
      if (!weir_wire_is_name(value.at, value.size)) {
        return blame(word[i], "a unit has 1 to 63 plain characters", out);
      }
    } else if (!take_key(word[i], "fs", &value)) {
      return blame(word[i], "#stream takes fs=RATE and unit=UNIT", out);
    } else if (!read_rate(value, out)) {
      return blame(word[i], rate_fault(value), out);
    }
  }
  return wrong == NULL && out->fs_num == 0 ? "#stream has no fs=RATE" : wrong;
}

static const char *read_end(const weir_csv_field *word, int n, weir_wire_line *out)
{
  weir_csv_field value;

  out->kind = WEIR_WIRE_END;
  return n > 2 || (n == 2 && (!take_key(word[1], "time", &value) || !read_time(value, out)))
             ? "#end takes time=TIME"
             : NULL;
}

/* A line that begins with '#': a directive, or a comment. */
static const char *read_directive(weir_csv_field line, weir_wire_line *out)
{
  enum { WORDS = 8 };
  weir_csv_field word[WORDS];
  const int n = weir_csv_split(line, ' ', word, WORDS);

  out->declares = is_word(word[0], "#weir") || is_word(word[0], "#stream");
  if (is_word(word[0], "#weir")) {
    return n > WORDS ? "too many words" : read_hello(word, n, out);
  }
  if (is_word(word[0], "#stream")) {
    return n > WORDS ? "too many words" : read_stream(word, n, out);
  }
  if (is_word(word[0], "#end")) {
    return n > WORDS ? "too many words" : read_end(word, n, out);
  }
  out->kind = WEIR_WIRE_NOTHING;
  return NULL;
}

static const char *read_sample(weir_csv_field line, weir_wire_line *out)
{
  weir_csv_field field[3];

  out->kind = WEIR_WIRE_SAMPLE;
  if (weir_csv_split(line, ',', field, 3) != 3) {
    return "not three fields: stream,time,value";
  }
  const char *const wrong = read_name(field[0], out);

  if (wrong != NULL) {
    return wrong;
  }
  if (!read_time(field[1], out)) {
    return "the time is neither seconds nor a date";
  }
  if (!weir_csv_value(field[2], &out->value, &out->present)) {
    return "the value is not a number";
  }
  return fabs(out->value) > (double)FLT_MAX ? "the value exceeds single precision" : NULL;
}

void weir_wire_parse(const char *text, int64_t size, weir_wire_line *out)
{
  const char *wrong = NULL;

  *out = (weir_wire_line){.kind = WEIR_WIRE_NOTHING};
  while (size > 0 && (text[size - 1] == '\r' || text[size - 1] == ' ' || text[size - 1] == '\t')) {
    size--;
  }
  if (size > WEIR_WIRE_LINE) {
    wrong = "the line is too long";
  } else if (size > 0) {
    const weir_csv_field line = {text, size};

    wrong = text[0] == '#' ? read_directive(line, out) : read_sample(line, out);
  }
  if (wrong != NULL) {
    *out = (weir_wire_line){.kind = WEIR_WIRE_BAD,
                            .reason = wrong,
                            .fault = out->fault != NULL ? out->fault : text,
                            .fault_size = out->fault != NULL ? out->fault_size : size,
                            .declares = out->declares};
  }
}
