/* style_text.c - length, names, unfinished work, and words that tie the text to one machine. */
#include "style.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
  FILE_LONG = 600,
  FILE_LIMIT = 1000,
  FUNCTION_LONG = 60,
  FUNCTION_LIMIT = 120,
  COLUMNS = 100,
  PARAMETERS = 6
};

/* Parameters of the list that opens at token `open`. */
static int count_parameters(const style_file *f, int open)
{
  int depth = 0, commas = 0, i = open;

  for (; i < f->n_tokens; i++) {
    const style_token *t = &f->tokens[i];
    depth += style_is(t, "(") - style_is(t, ")");
    commas += depth == 1 && style_is(t, ",");
    if (depth == 0) {
      break;
    }
  }
  return i - open <= 2 ? i - open - 1 : commas + 1;
}

static void judge_function(const style_file *f, style_report *r, const style_statement *s)
{
  const int first = f->tokens[s->first].line, lines = f->tokens[s->close].line - first + 1;

  if (lines > r->longest_function) {
    r->longest_function = lines;
    snprintf(r->longest_function_name, sizeof r->longest_function_name, "%s (%s)", s->name,
             f->path);
  }
  r->long_functions += lines > FUNCTION_LONG;
  if (s->parens >= 0 && count_parameters(f, s->parens) > PARAMETERS) {
    r->many_parameters++;
  }
  if (lines > FUNCTION_LIMIT) {
    style_find(r, f, first, "%s has %d lines (limit %d)", s->name, lines, FUNCTION_LIMIT);
  }
}

void style_length(const style_file *f, style_report *r)
{
  if (!f->is_c) {
    return;
  }
  if (f->lines > r->longest_file) {
    r->longest_file = f->lines;
    snprintf(r->longest_file_path, sizeof r->longest_file_path, "%s", f->path);
  }
  r->long_files += f->lines > FILE_LONG;
  if (f->lines > FILE_LIMIT) {
    style_find(r, f, f->lines, "%d lines (limit %d)", f->lines, FILE_LIMIT);
  }
  for (int i = 0; i < f->n_statements; i++) {
    if (f->statements[i].open >= 0) {
      judge_function(f, r, &f->statements[i]);
    }
  }
}

/* Columns up to the end of a token; a character of several bytes is one. */
static int columns_of(const style_file *f, const style_token *t)
{
  int columns = 0;

  for (const char *p = t->at + t->length; p > f->text && p[-1] != '\n'; p--) {
    columns += ((unsigned char)p[-1] & 0xC0) != 0x80;
  }
  return columns;
}

/* What clang-format leaves long: macros that it cannot read and lines where it is off. A line with
 * a string may be longer: texts stand in one piece. */
void style_columns(const style_file *f, style_report *r)
{
  for (int i = 0; f->is_c && i < f->n_tokens; i++) {
    const int line = f->tokens[i].line;
    bool text = f->tokens[i].kind == STYLE_TEXT;

    for (; i + 1 < f->n_tokens && f->tokens[i + 1].line == line; i++) {
      text = text || f->tokens[i + 1].kind == STYLE_TEXT;
    }
    const int columns = columns_of(f, &f->tokens[i]);
    if (!text && columns > COLUMNS) {
      style_find(r, f, line, "code of %d columns (limit %d)", columns, COLUMNS);
    }
  }
}

/* `word` stands in `text` between characters that are not letters. */
static bool has_part(const char *text, const char *word)
{
  const size_t n = strlen(word);

  for (const char *p = text; (p = strstr(p, word)) != NULL; p++) {
    if ((p == text || !isalpha((unsigned char)p[-1])) && !isalpha((unsigned char)p[n])) {
      return true;
    }
  }
  return false;
}

void style_names(const style_file *f, style_report *r)
{
  static const char *const dumps[] = {"util", "utils", "common", "misc", "helper", "helpers", NULL};

  for (const char *const *name = dumps; *name; name++) {
    if (has_part(f->path, *name)) {
      style_find(r, f, 1, "no file or folder is named %s: say what it holds", *name);
    }
  }
  if (!f->is_c) {
    return;
  }
  for (int i = 0; i < f->n_statements; i++) {
    const style_statement *s = &f->statements[i];
    const style_token *last = &f->tokens[s->end - 1];

    if (s->open < 0 && style_is(&f->tokens[s->first], "typedef") && last->length > 2 &&
        memcmp(last->at + last->length - 2, "_t", 2) == 0) {
      style_find(r, f, last->line, "type %.*s: names in _t belong to POSIX", last->length,
                 last->at);
    }
  }
}

static int line_of(const style_file *f, const char *at)
{
  int line = 1;

  for (const char *p = f->text; p < at; p++) {
    line += *p == '\n';
  }
  return line;
}

/* Every location where `word` stands on its own. Words are given in two halves, so that this file
 * does not hold them. */
static void find_word(const style_file *f, style_report *r, const char *head, const char *tail)
{
  char word[40];

  snprintf(word, sizeof word, "%s%s", head, tail);
  const size_t n = strlen(word);
  for (const char *p = f->text; (p = strstr(p, word)) != NULL; p += n) {
    const bool starts = p == f->text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
    const bool ends = !(isalnum((unsigned char)p[n]) || p[n] == '_');
    if (starts && ends) {
      style_find(r, f, line_of(f, p), "%s: finish it or take it out", word);
    }
  }
}

void style_unfinished(const style_file *f, style_report *r)
{
  if (f->is_c || style_ends(f->path, ".sh") || style_ends(f->path, ".cmake")) {
    find_word(f, r, "TO", "DO");
    find_word(f, r, "FIX", "ME");
    find_word(f, r, "X", "XX");
  }
}

void style_paths(const style_file *f, style_report *r)
{
  static const char *const halves[][2] = {
      {"/wo", "rk/"}, {"/ro", "ot/"}, {"/fa", "rm/"}, {"/ho", "me/"}};
  char prefix[16];

  for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
    snprintf(prefix, sizeof prefix, "%s%s", halves[i][0], halves[i][1]);
    for (const char *p = f->text; (p = strstr(p, prefix)) != NULL; p++) {
      const char before = p > f->text ? p[-1] : ' ';
      if (!isalnum((unsigned char)before) && !strchr("._-}*", before)) {
        style_find(r, f, line_of(f, p), "a path of one machine: %s", prefix);
      }
    }
  }
  const char *shared = strcmp(f->path, "README.md") == 0 ? strstr(f->text, "../shared") : NULL;
  if (shared) {
    style_find(r, f, line_of(f, shared),
               "README.md speaks to people who have only this repository");
  }
}

/* Names of recorded data: an algorithm that knows a record by name has learned the answers. In io
 * the numbers are those of signal formats. */
void style_records(const style_file *f, style_report *r)
{
  const bool ours = style_starts(f->path, "libcore/") || style_starts(f->path, "apps/");

  if (!f->is_c || !ours || style_is_test(f)) {
    return;
  }
  for (int i = 0; i < f->n_tokens; i++) {
    const style_token *t = &f->tokens[i];
    char text[64];

    if (t->kind != STYLE_TEXT || t->length < 5 || t->length >= (int)sizeof text) {
      continue;
    }
    snprintf(text, sizeof text, "%.*s", t->length - 2, t->at + 1);
    const bool number = !style_starts(f->path, "libcore/io/") && strlen(text) == 3 &&
                        strspn(text, "0123456789") == 3 && (text[0] == '1' || text[0] == '2');
    if (number || has_part(text, "mitdb") || has_part(text, "nstdb") || has_part(text, "s25047")) {
      style_find(r, f, t->line, "\"%s\" names a record", text);
    }
  }
}

/* A folder or file of the tree. */
static bool exists(const style_tree *t, const char *path)
{
  const size_t n = strlen(path);

  for (int i = 0; i < t->n_files; i++) {
    const char *other = t->files[i].path;
    if (strncmp(other, path, n) == 0 && (other[n] == 0 || other[n] == '/' || path[n - 1] == '/')) {
      return true;
    }
  }
  return false;
}

/* The next `span` of one line, without its marks; NULL at the end. */
static const char *next_span(const char *p, char *span, size_t size)
{
  for (p = strchr(p, '`'); p; p = strchr(p, '`')) {
    const size_t n = strcspn(p + 1, "`\n");
    if (p[n + 1] == '`' && n > 0 && n < size) {
      snprintf(span, size, "%.*s", (int)n, p + 1);
      return p + n + 2;
    }
    p += p[n + 1] == '`' ? n + 2 : 1;
  }
  return NULL;
}

/* What the pages name stands where they say. Spans with a space, a wildcard or a capitalised
 * variable name no file. */
void style_links(const style_tree *t, style_report *r)
{
  static const char *const tops[] = {"libcore/", "apps/",    "workflows/", "tests/",
                                     "docs/",    "configs/", "cmake/",     NULL};

  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];
    char span[200];
    const char *p = style_ends(f->path, ".md") ? f->text : NULL;

    while (p && (p = next_span(p, span, sizeof span)) != NULL) {
      bool path = false;
      for (const char *const *top = tops; *top; top++) {
        path = path || style_starts(span, *top);
      }
      const char *name = style_base(span);
      if (path && !strpbrk(span, " *<>{}$") &&
          !(isupper((unsigned char)*name) && !strchr(name, '.')) && !strstr(span, "NAME") &&
          !strstr(span, "NNNN") && !exists(t, span)) {
        style_find(r, f, line_of(f, p), "there is no %s", span);
      }
    }
  }
}
