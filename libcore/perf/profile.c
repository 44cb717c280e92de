/* profile.c - see weir_profile.h. The file: a line of title, lines "key seconds", and how many
 * there are, so that one that was truncated is known. */
#include "perf/weir_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "conf/weir_number.h"

#define TITLE "weir group times 1"
enum { KEY_DIGITS = 16 };
static const int64_t largest = INT64_C(64) << 20;

static uint64_t first_bits(const char *hex)
{
  char digits[KEY_DIGITS + 1];

  (void)snprintf(digits, sizeof digits, "%.16s", hex);
  return strtoull(digits, NULL, 16);
}

uint64_t weir_profile_key(const weir_profile *t, const char digest[65])
{
  char text[64 + sizeof t->setting + 2], hex[65];
  const int n = snprintf(text, sizeof text, "%s %s", digest, t->setting);

  weir_sha256(text, (size_t)n, hex);
  return first_bits(hex);
}

/* Where the key is, or would stand. */
static int64_t index_of(const weir_profile *t, uint64_t key)
{
  int64_t lo = 0, hi = t->n;

  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;

    if (t->row[mid].key < key) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo;
}

double weir_profile_find(const weir_profile *t, uint64_t key)
{
  const int64_t at = index_of(t, key);

  return at < t->n && t->row[at].key == key ? t->row[at].seconds : -1;
}

weir_status weir_profile_add(weir_profile *t, uint64_t key, double seconds)
{
  const int64_t at = index_of(t, key);

  if (at < t->n && t->row[at].key == key) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&t->row, &t->capacity, t->n + 1, sizeof *t->row));
  memmove(t->row + at + 1, t->row + at, (size_t)(t->n - at) * sizeof *t->row);
  t->row[at] = (weir_group_time){key, seconds};
  t->n++;
  return WEIR_OK;
}

/* ---- The file ---- */

static bool read_row(char *line, weir_group_time *row)
{
  char *const space = strchr(line, ' ');

  if (space == NULL || space - line != KEY_DIGITS ||
      strspn(line, "0123456789abcdef") != KEY_DIGITS ||
      weir_number_real(space + 1, &row->seconds) != WEIR_NUMBER_OK || !(row->seconds >= 0)) {
    return false;
  }
  row->key = first_bits(line);
  return true;
}

static weir_status read_rows(weir_profile *t, const char *path, char *text)
{
  char *line = text + strlen(TITLE) + 1, *end, last[32];
  int64_t rows = 0, number = 2;

  if (strncmp(text, TITLE "\n", strlen(TITLE) + 1) != 0) {
    return weir_fail(WEIR_ERR_DATA, "%s:1: not a timing profile: the first line must be '%s'", path,
                     TITLE);
  }
  for (; (end = strchr(line, '\n')) != NULL; line = end + 1, number++) {
    weir_group_time row;

    *end = 0;
    (void)snprintf(last, sizeof last, "%" PRId64 " rows", rows);
    if (strcmp(line, last) == 0 && end[1] == 0) {
      return WEIR_OK;
    }
    if (!read_row(line, &row)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s:%" PRId64 ": '%.40s' is not a key of 16 hexadecimal digits followed by "
                       "seconds: remove the file to measure again",
                       path, number, line);
    }
    WEIR_TRY(weir_profile_add(t, row.key, row.seconds));
    rows++;
  }
  return weir_fail(WEIR_ERR_DATA,
                   "%s:%" PRId64 ": the table is truncated: '%" PRId64
                   " rows' is missing at its end: remove the file to measure again",
                   path, number, rows);
}

weir_status weir_profile_read(weir_profile *t, const char *path)
{
  char *text = NULL;
  int64_t size = 0;

  if (!weir_file_exists(path)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_file_read(path, largest, &text, &size));
  const weir_status status = read_rows(t, path, text);

  weir_free(&text);
  WEIR_TRY(status);
  return WEIR_OK;
}

weir_status weir_profile_write(const weir_profile *t, const char *path)
{
  weir_writer *w = NULL;
  char seconds[32];
  weir_status status;

  WEIR_TRY(weir_writer_open(path, &w));
  WEIR_TRY_GOTO(weir_writer_printf(w, "%s\n", TITLE), failed);
  for (int64_t i = 0; i < t->n; i++) {
    weir_number_text(t->row[i].seconds, seconds, sizeof seconds);
    WEIR_TRY_GOTO(weir_writer_printf(w, "%016" PRIx64 " %s\n", t->row[i].key, seconds), failed);
  }
  WEIR_TRY_GOTO(weir_writer_printf(w, "%" PRId64 " rows\n", t->n), failed);
  WEIR_TRY(weir_writer_commit(&w));
  return WEIR_OK;
failed:
  weir_writer_destroy(&w);
  return status;
}

void weir_profile_fini(weir_profile *t)
{
  weir_free(&t->row);
  t->n = t->capacity = 0;
}
