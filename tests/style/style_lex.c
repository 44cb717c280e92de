/* style_lex.c - a file's text as tokens, comments, includes and statements at file scope. */
#include "style.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void *style_grow(void *array, int count, size_t size)
{
  const size_t n = (size_t)count;

  if (n == 0 || (n & (n - 1)) == 0) { /* capacity doubles at each power of two */
    array = realloc(array, (n ? 2 * n : 1) * size);
    if (!array) {
      fprintf(stderr, "style: out of memory\n");
      exit(1);
    }
  }
  memset((char *)array + n * size, 0, size);
  return array;
}

bool style_is(const style_token *t, const char *word)
{
  return (size_t)t->length == strlen(word) && memcmp(t->at, word, (size_t)t->length) == 0;
}

bool style_one_of(const style_token *t, const char *const *words)
{
  for (; *words; words++) {
    if (style_is(t, *words)) {
      return true;
    }
  }
  return false;
}

bool style_starts(const char *text, const char *prefix)
{
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool style_ends(const char *text, const char *suffix)
{
  const size_t n = strlen(text), m = strlen(suffix);

  return n >= m && strcmp(text + n - m, suffix) == 0;
}

const char *style_base(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

bool style_is_test(const style_file *f)
{
  return style_starts(f->path, "tests/") || style_ends(f->path, "_test.c") ||
         style_ends(f->path, "_cases.c");
}

/* Where the scan stands. */
struct lexer {
  style_file *f;
  const char *p, *end;
  int line, depth;
  bool directive, line_start;
};

static void add_token(struct lexer *x, style_kind kind, const char *at, long length)
{
  style_file *f = x->f;

  f->tokens = style_grow(f->tokens, f->n_tokens, sizeof *f->tokens);
  f->tokens[f->n_tokens++] = (style_token){
      .kind = kind,
      .at = at,
      .length = (int)length,
      .line = x->line,
      .depth = x->depth,
      .directive = x->directive,
  };
}

static void skip_comment(struct lexer *x)
{
  const bool block = x->p[1] == '*';
  const int first = x->line;

  x->p += 2;
  while (x->p < x->end) {
    if (block && x->p + 1 < x->end && x->p[0] == '*' && x->p[1] == '/') {
      x->p += 2;
      break;
    }
    if (*x->p == '\n') {
      if (!block) {
        break;
      }
      x->line++;
    }
    x->p++;
  }
  x->f->comments = style_grow(x->f->comments, x->f->n_comments, sizeof *x->f->comments);
  x->f->comments[x->f->n_comments++] = (style_lines){first, x->line};
}

static void read_literal(struct lexer *x)
{
  const char quote = *x->p, *at = x->p++;

  while (x->p < x->end && *x->p != quote && *x->p != '\n') {
    x->p += *x->p == '\\' && x->p + 1 < x->end ? 2 : 1;
  }
  if (x->p < x->end && *x->p == quote) {
    x->p++;
  }
  add_token(x, STYLE_TEXT, at, x->p - at);
}

/* `#include` lines are kept apart; x->p stands after the '#'. */
static void read_include(struct lexer *x)
{
  const char *p = x->p;

  while (p < x->end && (*p == ' ' || *p == '\t')) {
    p++;
  }
  if (x->end - p < 9 || strncmp(p, "include", 7) != 0) {
    return;
  }
  p += 7;
  while (p < x->end && (*p == ' ' || *p == '\t')) {
    p++;
  }
  const char close = *p == '<' ? '>' : '"';
  const char *stop = p < x->end ? memchr(p + 1, close, (size_t)(x->end - p - 1)) : NULL;
  if ((*p != '<' && *p != '"') || !stop) {
    return;
  }
  x->f->includes = style_grow(x->f->includes, x->f->n_includes, sizeof *x->f->includes);
  style_include *in = &x->f->includes[x->f->n_includes++];
  snprintf(in->target, sizeof in->target, "%.*s", (int)(stop - p - 1), p + 1);
  in->angled = *p == '<';
  in->line = x->line;
  x->p = stop + 1;
}

/* True for the brace of extern "C" {, which opens no scope. */
static bool opens_linkage(const style_file *f)
{
  return f->n_tokens >= 2 && style_is(&f->tokens[f->n_tokens - 1], "\"C\"") &&
         style_is(&f->tokens[f->n_tokens - 2], "extern");
}

static void read_punct(struct lexer *x)
{
  const char c = *x->p;

  if (!x->directive && c == '}' && x->depth > 0) {
    x->depth--;
  } else if (!x->directive && (c == '}' || (c == '{' && opens_linkage(x->f)))) {
    x->f->n_tokens -= c == '{' ? 2 : 0; /* a linkage block leaves no trace */
    x->p++;
    return;
  }
  add_token(x, STYLE_PUNCT, x->p, 1);
  if (!x->directive && c == '{') {
    x->depth++;
  }
  x->p++;
}

static void read_word(struct lexer *x)
{
  const char *at = x->p;

  while (x->p < x->end && (isalnum((unsigned char)*x->p) || *x->p == '_')) {
    x->p++;
  }
  add_token(x, isdigit((unsigned char)*at) ? STYLE_NUMBER : STYLE_WORD, at, x->p - at);
}

void style_lex(style_file *f)
{
  struct lexer x = {.f = f, .p = f->text, .end = f->text + f->size, .line = 1, .line_start = true};

  while (x.p < x.end) {
    const char c = *x.p;
    const bool line_start = x.line_start;

    x.line_start = line_start && isspace((unsigned char)c);
    if (c == '\n') {
      x.directive = x.directive && x.p > f->text && x.p[-1] == '\\';
      x.line++;
      x.line_start = true;
      x.p++;
    } else if (isspace((unsigned char)c) || c == '\\') {
      x.p++;
    } else if (c == '/' && x.p + 1 < x.end && (x.p[1] == '/' || x.p[1] == '*')) {
      skip_comment(&x);
    } else if (c == '"' || c == '\'') {
      read_literal(&x);
    } else if (c == '#' && line_start) {
      x.directive = true;
      x.p++;
      read_include(&x);
    } else if (isalnum((unsigned char)c) || c == '_') {
      read_word(&x);
    } else {
      read_punct(&x);
    }
  }
}

/* The '(' that makes tokens [first, end) a function or a function pointer, or -1: the first one at
 * the top that is neither in an initialiser nor of an attribute. */
static int find_parens(const style_file *f, int first, int end)
{
  static const char *const not_names[] = {"__attribute__", "_Alignas",    "_Static_assert",
                                          "static_assert", "WEIR_PRINTF", NULL};
  int open = 0;

  for (int i = first; i < end; i++) {
    const style_token *t = &f->tokens[i];

    if (t->directive || t->depth > f->tokens[first].depth) {
      continue;
    }
    if (open == 0 && style_is(t, "=")) {
      return -1;
    }
    if (style_is(t, ")")) {
      open--;
    } else if (style_is(t, "(") && open++ == 0 && i > first &&
               f->tokens[i - 1].kind == STYLE_WORD && !style_one_of(&f->tokens[i - 1], not_names)) {
      return i;
    }
  }
  return -1;
}

static void add_statement(style_file *f, style_statement s)
{
  s.parens = find_parens(f, s.first, s.open >= 0 ? s.open : s.end);
  if (s.parens > 0) {
    const style_token *t = &f->tokens[s.parens - 1];
    snprintf(s.name, sizeof s.name, "%.*s", t->length, t->at);
  }
  f->statements = style_grow(f->statements, f->n_statements, sizeof *f->statements);
  f->statements[f->n_statements++] = s;
}

/* Index of the '}' that closes the brace at token `open`. */
static int closing(const style_file *f, int open)
{
  for (int i = open + 1; i < f->n_tokens; i++) {
    if (!f->tokens[i].directive && f->tokens[i].depth == f->tokens[open].depth &&
        style_is(&f->tokens[i], "}")) {
      return i;
    }
  }
  return f->n_tokens - 1;
}

void style_parse(style_file *f)
{
  int first = -1;
  bool assigned = false;

  for (int i = 0; i < f->n_tokens; i++) {
    const style_token *t = &f->tokens[i];

    if (t->directive || t->depth > 0) {
      continue;
    }
    first = first < 0 ? i : first;
    assigned = assigned || style_is(t, "=");
    if (style_is(t, "{")) {
      const bool body = i > 0 && !assigned && style_is(&f->tokens[i - 1], ")");
      const int close = closing(f, i);

      if (body) {
        add_statement(f, (style_statement){first, close + 1, i, close, -1, ""});
        first = -1;
      }
      i = close;
    } else if (style_is(t, ";")) {
      add_statement(f, (style_statement){first, i, -1, -1, -1, ""});
      first = -1;
      assigned = false;
    }
  }
}
