/* style_terms.c - words that a standard term of the field has replaced do not come back.
 *
 * tests/style/terms.csv has a row for each: term, scopes, standard term, exceptions, note. Scopes,
 * joined by '+': identifier (a word of C code; a '*' at its end: any word that begins so), help
 * (string literals of programs and library), comment, docs (Markdown). Exceptions: beginnings of
 * paths, separated by blanks; the note says why. Phrases are compared as whole words, in any case
 * and across line ends. docs/changes tells history and is never checked. */
#include "style.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 5, FIELD = 200 };
enum { TERM, SCOPE, STANDARD, EXCEPT };

typedef struct term {
  char field[FIELDS][FIELD];
} term;

/* Prose of one kind out of one file: small letters, single blanks, and the line of each. */
typedef struct prose {
  char *text;
  int *line;
  int n, capacity;
} prose;

static void put(prose *p, char c, int line)
{
  const bool blank = isspace((unsigned char)c) != 0;

  if (blank && (p->n == 0 || p->text[p->n - 1] == ' ')) {
    return;
  }
  if (p->n + 2 > p->capacity) {
    p->capacity = 2 * p->capacity + 256;
    p->text = realloc(p->text, (size_t)p->capacity);
    p->line = realloc(p->line, (size_t)p->capacity * sizeof *p->line);
    if (!p->text || !p->line) {
      exit(1);
    }
  }
  p->line[p->n] = line;
  p->text[p->n++] = blank ? ' ' : (char)tolower((unsigned char)c);
  p->text[p->n] = 0;
}

static void put_docs(prose *p, const style_file *f)
{
  int line = 1;

  for (const char *c = f->text; *c != 0; c++) {
    put(p, *c, line);
    line += *c == '\n';
  }
}

/* Adjacent literals are one text. */
static void put_literals(prose *p, const style_file *f)
{
  bool inside = false;

  for (int i = 0; i < f->n_tokens; i++) {
    const style_token *t = &f->tokens[i];
    const bool text = t->kind == STYLE_TEXT && t->at[0] == '"';

    if (!text && inside) {
      put(p, '|', t->line);
    }
    for (int k = 1; text && k < t->length - 1; k++) {
      const bool end = t->at[k] == '\\' && t->at[k + 1] == 'n';

      put(p, end ? ' ' : t->at[k], t->line);
      k += end;
    }
    inside = text;
  }
}

static void put_comments(prose *p, const style_file *f)
{
  int line = 1;

  for (const char *c = f->text; *c != 0; c++) {
    if (*c == '"') {
      for (c++; *c != 0 && *c != '"' && *c != '\n'; c += *c == '\\' && c[1] != 0 ? 2 : 1) {
      }
    } else if (c[0] == '/' && c[1] == '*') {
      for (c += 2; *c != 0 && !(c[0] == '*' && c[1] == '/'); c++) {
        put(p, *c == '*' ? ' ' : *c, line);
        line += *c == '\n';
      }
      put(p, '|', line);
    }
    if (*c == 0) {
      break;
    }
    line += *c == '\n';
  }
}

static bool is_excepted(const term *t, const char *path)
{
  const char *p = t->field[EXCEPT];

  while (*p != 0) {
    const size_t n = strcspn(p, " ");

    if (n > 0 && strncmp(path, p, n) == 0) {
      return true;
    }
    p += n + strspn(p + n, " ");
  }
  return false;
}

static void say(style_report *r, const style_file *f, int line, const term *t)
{
  style_find(r, f, line, "'%s': write %s", t->field[TERM], t->field[STANDARD]);
}

static void find_phrase(const term *t, const style_file *f, const prose *p, style_report *r)
{
  const char *const phrase = t->field[TERM];
  const size_t n = strlen(phrase);

  for (const char *at = p->text; at && (at = strstr(at, phrase)) != NULL; at += n) {
    const bool left = at == p->text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
    const bool right = !(isalnum((unsigned char)at[n]) || at[n] == '_');

    if (left && right) {
      say(r, f, p->line[at - p->text], t);
    }
  }
}

static void find_identifier(const term *t, const style_file *f, style_report *r)
{
  const char *const name = t->field[TERM];
  const size_t n = strlen(name) - (name[strlen(name) - 1] == '*');

  for (int i = 0; i < f->n_tokens; i++) {
    const style_token *w = &f->tokens[i];
    const bool same = name[n] == '*' ? (size_t)w->length >= n : (size_t)w->length == n;

    if (w->kind == STYLE_WORD && same && memcmp(w->at, name, n) == 0) {
      say(r, f, w->line, t);
    }
  }
}

/* Reads one line into fields; false where it is empty. */
static bool read_term(const char *line, int length, term *t)
{
  int k = 0, used = 0;

  memset(t, 0, sizeof *t);
  for (int i = 0; i < length && k < FIELDS; i++) {
    if (line[i] == ',' && k < FIELDS - 1) {
      k++;
      used = 0;
    } else if (used < FIELD - 1) {
      t->field[k][used++] = line[i];
    }
  }
  return t->field[TERM][0] != 0 && strcmp(t->field[TERM], "term") != 0;
}

static bool has_scope(const term *t, const char *scope)
{
  return strstr(t->field[SCOPE], scope) != NULL;
}

static void check_file(const term *list, int n, const style_file *f, style_report *r)
{
  static const char *const scopes[] = {"docs", "help", "comment"};
  const bool docs = style_ends(f->path, ".md");
  prose p[3] = {{NULL, NULL, 0, 0}};

  if (docs) {
    put_docs(&p[0], f);
  } else {
    put_literals(&p[1], f);
    put_comments(&p[2], f);
  }
  for (int i = 0; i < n; i++) {
    if (is_excepted(&list[i], f->path)) {
      continue;
    }
    for (int k = 0; k < 3; k++) {
      if (has_scope(&list[i], scopes[k]) && !(k == 1 && style_is_test(f))) {
        find_phrase(&list[i], f, &p[k], r);
      }
    }
    if (has_scope(&list[i], "identifier")) {
      find_identifier(&list[i], f, r);
    }
  }
  for (int k = 0; k < 3; k++) {
    free(p[k].text);
    free(p[k].line);
  }
}

void style_terms(const style_tree *t, style_report *r)
{
  term *list = NULL;
  int n = 0;

  for (int i = 0; i < t->n_files; i++) {
    const char *p = t->files[i].text;

    while (strcmp(t->files[i].path, "tests/style/terms.csv") == 0 && *p != 0) {
      const int length = (int)strcspn(p, "\n");

      list = style_grow(list, n, sizeof *list);
      n += read_term(p, length, &list[n]);
      p += length + (p[length] == '\n');
    }
  }
  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];
    const bool other = style_starts(f->path, "tests/style/") ||
                       style_starts(f->path, "docs/changes/") ||
                       style_starts(f->path, "docs/reference/options/"); /* printed from help */

    if (!other && (f->is_c || style_ends(f->path, ".md"))) {
      check_file(list, n, f, r);
    }
  }
  free(list);
}
