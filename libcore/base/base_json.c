/* base_json.c - JSON strings and numbers. */
#include "base/base_priv.h"

#include <math.h>
#include <stdlib.h>

/* Bytes of the UTF-8 sequence that starts at s, 0 when it is not valid (RFC 3629: no overlong
 * forms, no surrogates, nothing above U+10FFFF). The terminating 0 ends a sequence early. */
static int utf8_length(const unsigned char *s)
{
  unsigned lo = 0x80, hi = 0xBF;
  int n;

  if (s[0] < 0x80) {
    return 1;
  }
  if (s[0] >= 0xC2 && s[0] <= 0xDF) {
    n = 2;
  } else if (s[0] >= 0xE0 && s[0] <= 0xEF) {
    n = 3;
    lo = s[0] == 0xE0 ? 0xA0 : lo;
    hi = s[0] == 0xED ? 0x9F : hi;
  } else if (s[0] >= 0xF0 && s[0] <= 0xF4) {
    n = 4;
    lo = s[0] == 0xF0 ? 0x90 : lo;
    hi = s[0] == 0xF4 ? 0x8F : hi;
  } else {
    return 0;
  }
  if (s[1] < lo || s[1] > hi) {
    return 0;
  }
  for (int i = 2; i < n; i++) {
    if (s[i] < 0x80 || s[i] > 0xBF) {
      return 0;
    }
  }
  return n;
}

static void put_ascii(FILE *out, int c)
{
  switch (c) {
  case '"':
    fputs("\\\"", out);
    break;
  case '\\':
    fputs("\\\\", out);
    break;
  case '\n':
    fputs("\\n", out);
    break;
  case '\r':
    fputs("\\r", out);
    break;
  case '\t':
    fputs("\\t", out);
    break;
  default:
    if (c < 0x20 || c == 0x7F) {
      fprintf(out, "\\u%04x", (unsigned)c);
    } else {
      fputc(c, out);
    }
  }
}

void base_json_text(FILE *out, const char *text)
{
  if (text == NULL) {
    fputs("null", out);
    return;
  }
  fputc('"', out);
  for (const unsigned char *s = (const unsigned char *)text; *s != 0;) {
    const int n = utf8_length(s);
    if (n == 1) {
      put_ascii(out, *s);
    } else if (n == 0) {
      fputs("\xEF\xBF\xBD", out);
    } else {
      fwrite(s, 1, (size_t)n, out);
    }
    s += n == 0 ? 1 : n;
  }
  fputc('"', out);
}

void base_json_real(FILE *out, double value)
{
  char text[40];

  if (!isfinite(value)) {
    fputs("null", out);
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) {
      break;
    }
  }
  fputs(text, out);
}
