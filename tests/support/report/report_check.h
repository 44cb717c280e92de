/* report_check.h - what tests of the report read back. */
#ifndef REPORT_CHECK_H
#define REPORT_CHECK_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"

/* Returns the text written to a stream of tmpfile, which is closed; the caller frees it. */
static inline char *text_written(FILE *stream)
{
  const long size = ftell(stream);
  char *const text = calloc((size_t)size + 1, 1);

  assert_non_null(text);
  rewind(stream);
  assert_int_equal(fread(text, 1, (size_t)size, stream), size);
  assert_int_equal(fclose(stream), 0);
  return text;
}

static inline int count(const char *text, const char *what)
{
  int n = 0;

  for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
    n++;
  }
  return n;
}
#endif
