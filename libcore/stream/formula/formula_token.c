/* formula_token.c - the text of an expression as words, and how it is refused. */
#include <stdarg.h>
#include <string.h>
#include "stream/formula/formula_token.h"

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '%' ||
         (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Column of a byte, counting characters. */
static int column_of(const char *source, const char *at)
{
  int column = 1;

  for (const char *q = source; q < at; q++) {
    column += ((unsigned char)*q & 0xc0) != 0x80;
  }
  return column;
}

weir_status formula_refuse(const char *source, int column, const char *format, ...)
{
  enum { SHOWN = 60 };
  char text[SHOWN + 4], reason[512];
  size_t n = strlen(source);
  va_list args;

  va_start(args, format);
  (void)vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  const bool shortened = n > SHOWN;
  n = shortened ? SHOWN : n;
  while (shortened && n > 0 && ((unsigned char)source[n] & 0xc0) == 0x80) {
    n--; /* no half character */
  }
  (void)snprintf(text, sizeof text, "%.*s%s", (int)n, source, shortened ? "..." : "");
  for (char *q = text; *q != 0; q++) {
    *q = (unsigned char)*q < 0x20 || *q == 0x7f ? '?' : *q;
  }
  return weir_fail(WEIR_ERR_CONFIG, "expression %s, column %d: %s", text, column, reason);
}

weir_status formula_expected(const formula_scan *s, const char *what)
{
  const formula_token *t = &s->now;

  if (t->kind == TOKEN_END) {
    return formula_refuse(s->source, t->column, "expected %s, found the end", what);
  }
  return formula_refuse(s->source, t->column, "expected %s, found %.*s", what,
                        (int)(t->size < 40 ? t->size : 40), t->start);
}

static int64_t number_size(const char *p)
{
  int64_t n = 0;

  while (is_digit(p[n]) || p[n] == '.') {
    n++;
  }
  if (p[n] == 'e' || p[n] == 'E') {
    const int64_t digits = n + 1 + (p[n + 1] == '+' || p[n + 1] == '-');

    if (is_digit(p[digits])) {
      for (n = digits; is_digit(p[n]); n++) {
      }
    }
  }
  return n;
}

static int64_t word_size(const char *p)
{
  int64_t n = 0;

  while (is_letter(p[n]) || is_digit(p[n]) || (p[n] == '.' && n > 0 && is_letter(p[n + 1]))) {
    n++;
  }
  return n;
}

/* What stands between the opening character at p and `close`. */
static weir_status take_enclosed(formula_scan *s, formula_token_kind kind, char close)
{
  const char *end = strchr(s->p + 1, close);

  if (end == NULL) {
    return formula_refuse(s->source, s->now.column, "%c without the closing %c", *s->p, close);
  }
  if (end == s->p + 1) {
    return formula_refuse(s->source, s->now.column, "empty text between %c and %c", *s->p, close);
  }
  s->now = (formula_token){kind, s->p + 1, end - s->p - 1, s->now.column};
  s->p = end + 1;
  return WEIR_OK;
}

/* What other languages write for a word or a mark of this one. */
static weir_status refuse_foreign(const formula_scan *s)
{
  static const char *const foreign[][2] = {{"&&", "and"}, {"&", "and"}, {"||", "or"},
                                           {"|", "or"},   {"!", "not"}, {"**", "^"}};

  for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
    if (strncmp(s->p, foreign[i][0], strlen(foreign[i][0])) == 0) {
      return formula_refuse(s->source, s->now.column, "%s is not an operator here: write %s",
                            foreign[i][0], foreign[i][1]);
    }
  }
  return formula_refuse(s->source, s->now.column, "%c is not allowed in an expression",
                        (unsigned char)*s->p < 0x20 || *s->p == 0x7f ? '?' : *s->p);
}

/* A mark that stands for something in an expression. */
static bool is_mark(const char *p)
{
  return (*p == '!' && p[1] == '=') || (*p == '*' && p[1] != '*') ||
         strchr("+-/^(),<>=", *p) != NULL;
}

weir_status formula_next(formula_scan *s)
{
  s->p += strspn(s->p, " \t\r\n");
  s->now = (formula_token){TOKEN_END, s->p, 0, column_of(s->source, s->p)};
  if (*s->p == 0) {
    return WEIR_OK;
  }
  if (*s->p == '"') {
    return take_enclosed(s, TOKEN_QUOTED, '"');
  }
  if (*s->p == '[') {
    return take_enclosed(s, TOKEN_UNIT, ']');
  }
  if (is_digit(*s->p) || (*s->p == '.' && is_digit(s->p[1]))) {
    s->now.kind = TOKEN_NUMBER;
    s->now.size = number_size(s->p);
  } else if (is_letter(*s->p)) {
    s->now.kind = TOKEN_WORD;
    s->now.size = word_size(s->p);
  } else if (is_mark(s->p)) {
    s->now.kind = TOKEN_MARK;
    s->now.size = 1 + (strchr("<>=!", *s->p) != NULL && s->p[1] == '=');
  } else {
    return refuse_foreign(s);
  }
  s->p += s->now.size;
  return WEIR_OK;
}

bool formula_is(const formula_token *t, const char *text)
{
  return (t->kind == TOKEN_MARK || t->kind == TOKEN_WORD) && t->size == (int64_t)strlen(text) &&
         memcmp(t->start, text, (size_t)t->size) == 0;
}
