/* text.c - lines and fields. */
#include <string.h>
#include <strings.h>
#include "io/csv/csv_priv.h"
#include "io/io_priv.h"

void weir_csv_seek(weir_csv_lines *l, int64_t offset, int64_t line)
{
  l->offset = offset;
  l->line = line;
}

/* Fills the buffer from the next line on. */
static weir_status refill(weir_csv_lines *l)
{
  const int64_t left = l->size - l->offset;
  const int64_t bytes = left < WEIR_CSV_BUFFER ? left : WEIR_CSV_BUFFER;

  l->have = 0;
  l->origin = l->offset;
  WEIR_TRY(weir_io_pread(l->fd, l->path, l->buffer, (size_t)bytes, l->offset));
  l->have = bytes;
  return WEIR_OK;
}

/* The end of the line that starts at the offset, within the buffer; NULL when it is not there. */
static const char *find_end(const weir_csv_lines *l)
{
  if (l->offset < l->origin || l->offset >= l->origin + l->have) {
    return NULL;
  }
  const char *const start = l->buffer + (l->offset - l->origin);
  const char *const stop = l->buffer + l->have;
  const char *const end = memchr(start, '\n', (size_t)(stop - start));

  return end ? end : l->origin + l->have == l->size ? stop : NULL;
}

weir_status weir_csv_next_line(weir_csv_lines *l, weir_csv_field *out, bool *found)
{
  *found = l->offset < l->size;
  if (!*found) {
    return WEIR_OK;
  }
  const char *end = find_end(l);

  if (!end) {
    WEIR_TRY(refill(l));
    end = find_end(l);
  }
  l->line++;
  if (!end) {
    return weir_fail(WEIR_ERR_DATA, "%s:%lld: the line is longer than %d bytes", l->path,
                     (long long)l->line, WEIR_CSV_BUFFER);
  }
  out->at = l->buffer + (l->offset - l->origin);
  out->size = end - out->at;
  l->offset += out->size + (end < l->buffer + l->have);
  if (out->size > 0 && out->at[out->size - 1] == '\r') {
    out->size--;
  }
  return WEIR_OK;
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

static weir_csv_field trim(weir_csv_field f)
{
  while (f.size > 0 && is_blank(f.at[f.size - 1])) {
    f.size--;
  }
  while (f.size > 0 && is_blank(f.at[0])) {
    f.at++;
    f.size--;
  }
  if (f.size >= 2 && (f.at[0] == '"' || f.at[0] == '\'') && f.at[f.size - 1] == f.at[0]) {
    f.at++;
    f.size -= 2;
  }
  return f;
}

/* "ECG [mV]" between blanks is one field, a name with its unit: the end of the bracket that follows
 * the field [at, end), or `end` where none does. "[s] [mV]" are two. */
static int64_t with_bracket(weir_csv_field line, int64_t at, int64_t end)
{
  int64_t open = end;

  while (open < line.size && is_blank(line.at[open])) {
    open++;
  }
  if (open == end || open >= line.size || end == at || strchr(")]", line.at[end - 1]) ||
      !strchr("([", line.at[open])) {
    return end;
  }
  const char *const close =
      memchr(line.at + open, line.at[open] == '(' ? ')' : ']', (size_t)(line.size - open));
  const int64_t after = close ? close - line.at + 1 : end;

  return after >= line.size || is_blank(line.at[after]) ? after : end;
}

int weir_csv_split(weir_csv_field line, char delimiter, weir_csv_field *fields, int n)
{
  int count = 0;
  int64_t at = 0;

  if (delimiter == ' ') { /* blanks around a line separate nothing */
    line = trim(line);
  }
  for (;;) {
    int64_t end = at;

    while (end < line.size &&
           (delimiter == ' ' ? !is_blank(line.at[end]) : line.at[end] != delimiter)) {
      end++;
    }
    end = delimiter == ' ' ? with_bracket(line, at, end) : end;
    if (count == n) {
      return n + 1;
    }
    fields[count++] = trim((weir_csv_field){line.at + at, end - at});
    if (end >= line.size) {
      return count;
    }
    at = end + 1;
    while (delimiter == ' ' && at < line.size && is_blank(line.at[at])) {
      at++;
    }
  }
}

char weir_csv_delimiter(weir_csv_field line)
{
  static const char known[] = {',', ';', '\t'};

  for (size_t i = 0; i < sizeof known; i++) {
    if (memchr(line.at, known[i], (size_t)line.size)) {
      return known[i];
    }
  }
  return ' ';
}

bool weir_csv_is_absent(weir_csv_field f)
{
  static const char *const words[] = {"nan", "-nan", "na", "null", "none", "-"};

  if (f.size == 0) {
    return true;
  }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strlen(words[i]) == (size_t)f.size && strncasecmp(words[i], f.at, (size_t)f.size) == 0) {
      return true;
    }
  }
  return false;
}

bool weir_csv_value(weir_csv_field f, double *value, bool *present)
{
  *present = false;
  *value = 0;
  if (weir_io_parse_real(f.at, (size_t)f.size, value)) {
    *present = true;
    return true;
  }
  return weir_csv_is_absent(f);
}

void weir_csv_to_front(weir_csv_field *fields, int k)
{
  const weir_csv_field field = fields[k];

  memmove(fields + 1, fields, (size_t)k * sizeof *fields);
  fields[0] = field;
}

weir_status weir_csv_check_repeated(const char *path, int64_t repeated, int64_t rows, bool given)
{
  enum { FEW = 10, SHARE = 100 };

  if (repeated < FEW || repeated * SHARE <= rows) {
    return WEIR_OK;
  }
  const weir_status status =
      weir_fail(WEIR_ERR_CONFIG,
                "%s: %lld of %lld rows have the time of the row before, so that their samples "
                "would be lost: the times are rounded too coarsely: remove the time column and "
                "state the sampling rate",
                path, (long long)repeated, (long long)rows);

  return given ? status : weir_fail_option(status, "csv_fs");
}
