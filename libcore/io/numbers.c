/* numbers.c - text files of numbers. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "io/io_numbers.h"
#include "io/io_priv.h"

weir_status weir_io_numbers_open(const char *path, weir_io_numbers **out)
{
  weir_io_numbers *n = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *n, (void **)&n));
  n->lines.fd = -1;
  n->lines.path = path;
  WEIR_TRY_GOTO(weir_io_open(path, &n->lines.fd, &n->lines.size), failed);
  *out = n;
  return WEIR_OK;
failed:
  weir_io_numbers_close(&n);
  return status;
}

void weir_io_numbers_close(weir_io_numbers **n)
{
  if (*n && (*n)->lines.fd >= 0) {
    close((*n)->lines.fd);
  }
  weir_free(n);
}

weir_status weir_io_numbers_refuse(const weir_io_numbers *n, const char *why, ...)
{
  char text[512];
  va_list args;

  va_start(args, why);
  (void)vsnprintf(text, sizeof text, why, args);
  va_end(args);
  return weir_fail(WEIR_ERR_DATA, "%s:%lld: %s", n->lines.path, (long long)n->lines.line, text);
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

/* Skips blanks before the next word. */
static void skip(weir_csv_field *rest)
{
  while (rest->size > 0 && is_blank(rest->at[0])) {
    rest->at++;
    rest->size--;
  }
}

static weir_status ends(weir_io_numbers *n, const char *what)
{
  return weir_io_numbers_refuse(
      n, "the file ends here, before %s: it is truncated, or a count at its beginning is wrong",
      what);
}

weir_status weir_io_numbers_line(weir_io_numbers *n, const char *what)
{
  bool found = false;

  WEIR_TRY(weir_csv_next_line(&n->lines, &n->rest, &found));
  return found ? WEIR_OK : ends(n, what);
}

weir_status weir_io_numbers_next(weir_io_numbers *n, bool *found)
{
  do {
    WEIR_TRY(weir_csv_next_line(&n->lines, &n->rest, found));
    skip(&n->rest);
  } while (*found && n->rest.size == 0);
  return WEIR_OK;
}

weir_status weir_io_numbers_row(weir_io_numbers *n, const char *what)
{
  bool found = false;

  WEIR_TRY(weir_io_numbers_next(n, &found));
  return found ? WEIR_OK : ends(n, what);
}

bool weir_io_numbers_at_end(weir_io_numbers *n)
{
  skip(&n->rest);
  return n->rest.size == 0;
}

weir_status weir_io_numbers_word(weir_io_numbers *n, weir_csv_field *out, bool *found)
{
  int64_t size = 0;

  skip(&n->rest);
  *found = true;
  if (n->flows && n->rest.size == 0) {
    WEIR_TRY(weir_io_numbers_next(n, found));
  }
  while (size < n->rest.size && !is_blank(n->rest.at[size])) {
    size++;
  }
  *found = size > 0;
  *out = (weir_csv_field){n->rest.at, size};
  n->rest.at += size;
  n->rest.size -= size;
  return WEIR_OK;
}

/* The next word, which must be there. */
static weir_status take(weir_io_numbers *n, const char *what, weir_csv_field *out)
{
  bool found = false;

  WEIR_TRY(weir_io_numbers_word(n, out, &found));
  return found
             ? WEIR_OK
             : weir_io_numbers_refuse(n, "the %s ends before %s", n->flows ? "file" : "line", what);
}

static int shown(weir_csv_field f)
{
  return (int)(f.size < 40 ? f.size : 40);
}

weir_status weir_io_numbers_int(weir_io_numbers *n, const char *what, int64_t lo, int64_t hi,
                                int64_t *out)
{
  weir_csv_field f;

  WEIR_TRY(take(n, what, &f));
  if (!weir_io_parse_int(f.at, (size_t)f.size, lo, hi, out)) {
    return weir_io_numbers_refuse(n, "%s is '%.*s', expected an integer from %lld to %lld", what,
                                  shown(f), f.at, (long long)lo, (long long)hi);
  }
  return WEIR_OK;
}

/* 1.5D+00, as Fortran writes double precision. */
static bool parse_fortran(weir_csv_field f, double *out)
{
  char copy[64];

  if (f.size >= (int64_t)sizeof copy) {
    return false;
  }
  for (int64_t i = 0; i < f.size; i++) {
    copy[i] = f.at[i] == 'D' || f.at[i] == 'd' ? 'E' : f.at[i];
  }
  return weir_io_parse_real(copy, (size_t)f.size, out);
}

weir_status weir_io_numbers_real(weir_io_numbers *n, const char *what, double *out)
{
  weir_csv_field f;

  WEIR_TRY(take(n, what, &f));
  if (!weir_io_parse_real(f.at, (size_t)f.size, out) && !parse_fortran(f, out)) {
    return weir_io_numbers_refuse(n, "%s is '%.*s', expected a finite number", what, shown(f),
                                  f.at);
  }
  return WEIR_OK;
}

weir_status weir_io_numbers_row_end(weir_io_numbers *n)
{
  return weir_io_numbers_at_end(n)
             ? WEIR_OK
             : weir_io_numbers_refuse(n, "unexpected text at the end of the line: '%.*s'",
                                      shown(n->rest), n->rest.at);
}

weir_status weir_io_numbers_end(weir_io_numbers *n)
{
  bool found = false;

  WEIR_TRY(weir_io_numbers_row_end(n));
  WEIR_TRY(weir_io_numbers_next(n, &found));
  return found
             ? weir_io_numbers_refuse(n,
                                      "more lines than the counts at the beginning declare: '%.*s'",
                                      shown(n->rest), n->rest.at)
             : WEIR_OK;
}

weir_status weir_io_numbers_claim(const weir_io_numbers *n, const char *what, int64_t count,
                                  int64_t bytes)
{
  const int64_t left = n->lines.size - n->lines.offset + n->rest.size;

  if (count > left / bytes + 1) {
    return weir_io_numbers_refuse(n,
                                  "%lld %s are declared, but only %lld bytes follow: the count is "
                                  "wrong, or the file is truncated",
                                  (long long)count, what, (long long)left);
  }
  return WEIR_OK;
}
