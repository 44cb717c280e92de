/* list_file.c - a list of numbers that stands in a text file: the same tree as [a, b, ...]. */
#include <string.h>
#include "base/weir_file.h"
#include "conf/conf_priv.h"

static bool is_space(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

/* The last field of a line, which ends before `end`, without spaces around it. */
static weir_conf_scalar last_field(const char *line, const char *end, int number)
{
  const char *first = line;

  for (const char *c = line; c < end; c++) {
    first = *c == ',' || *c == ';' || *c == '\t' ? c + 1 : first;
  }
  while (first < end && is_space(*first)) {
    first++;
  }
  while (end > first && is_space(end[-1])) {
    end--;
  }
  return (weir_conf_scalar){.text = first,
                            .size = end - first,
                            .plain = true,
                            .line = number,
                            .column = 1 + (int)(first - line)};
}

/* Words above the numbers, as a table has them. */
static bool is_heading(const weir_conf_scalar *field)
{
  char text[64];
  double value = 0;

  (void)snprintf(text, sizeof text, "%.*s", (int)field->size, field->text);
  return field->size > 0 && weir_number_real(text, &value) == WEIR_NUMBER_NOT;
}

/* Nothing but spaces, or a comment. */
static bool says_nothing(const char *line, const char *end)
{
  while (line < end && is_space(*line)) {
    line++;
  }
  return line == end || *line == '#';
}

static weir_status take_lines(const char *bytes, int64_t size, weir_conf_tree *tree)
{
  const char *const stop = bytes + size;
  bool first = true;
  int number = 1;

  WEIR_TRY(weir_conf_open(tree, WEIR_CONF_SEQUENCE, 1, 1));
  for (const char *line = bytes; line < stop; number++) {
    const char *next = memchr(line, '\n', (size_t)(stop - line)), *end = next ? next : stop;

    if (!says_nothing(line, end)) {
      const weir_conf_scalar field = last_field(line, end, number);

      if (!first || !is_heading(&field)) {
        WEIR_TRY(weir_conf_add(tree, &field));
      }
      first = false;
    }
    line = end + 1;
  }
  weir_conf_close(tree);
  return WEIR_OK;
}

weir_status weir_conf_parse_list_file(const char *path, weir_conf_tree *tree)
{
  char *bytes = NULL;
  int64_t size = 0;

  WEIR_TRY(weir_file_read(path, WEIR_CONF_FILE_LIMIT, &bytes, &size));
  const int mark = weir_text_mark(bytes, size);
  const weir_status status = take_lines(bytes + mark, size - mark, tree);

  weir_free(&bytes);
  return status;
}
