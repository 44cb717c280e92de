/* style_docs.c - contracts of public functions, help of options, READMEs, assertions of tests. */
#include "style.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { README_MIN = 10, README_MAX = 20 };

static bool is_public_header(const style_file *f)
{
  return style_starts(f->path, "libcore/") && style_starts(style_base(f->path), "weir_") &&
         style_ends(f->path, ".h") && !style_starts(f->path, "libcore/base/weir_check");
}

bool style_is_function(const style_file *f, const style_statement *s)
{
  static const char *const others[] = {"typedef", "extern", NULL};

  return s->parens > s->first && !style_one_of(&f->tokens[s->first], others) &&
         !style_is(&f->tokens[s->parens + 1], "*");
}

/* Starts of the lines, [1, f->lines + 1]; the caller frees them. */
static const char **line_starts(const style_file *f)
{
  const char **starts = calloc((size_t)f->lines + 3, sizeof *starts);

  if (!starts) {
    exit(1);
  }
  starts[1] = f->text;
  for (int line = 1; line <= f->lines; line++) {
    starts[line + 1] = strchr(starts[line], '\n') + 1;
  }
  return starts;
}

/* A comment of its own stands above `line` with no empty line between, or one after the code on the
 * line. An inline function may stand in a section that a comment opens. */
static bool told_above(const style_file *f, const char *const *starts, int line, bool is_inline)
{
  int first = line;

  while (first > 1 && *starts[first - 1] != '\n') {
    first--;
  }
  first = is_inline ? 2 : first; /* line 1 is about the file */
  for (int i = 0; i < f->n_comments; i++) {
    const style_lines *c = &f->comments[i];
    if (c->first == line || (c->first >= first && c->last < line && *starts[c->first] == '/')) {
      return true;
    }
  }
  return false;
}

void style_contracts(const style_file *f, style_report *r)
{
  const char **starts = is_public_header(f) ? line_starts(f) : NULL;

  for (int i = 0; starts && i < f->n_statements; i++) {
    const style_statement *s = &f->statements[i];
    const int line = f->tokens[s->first].line;

    if (style_is_function(f, s) && !told_above(f, starts, line, s->open >= 0)) {
      r->no_contract++;
      style_find(r, f, line, "%s has no contract comment", s->name);
    }
  }
  free(starts);
}

void style_prefix(const style_file *f, style_report *r)
{
  for (int i = 0; is_public_header(f) && i < f->n_statements; i++) {
    const style_statement *s = &f->statements[i];

    if (style_is_function(f, s) && !style_starts(s->name, "weir_")) {
      style_find(r, f, f->tokens[s->first].line, "%s: public names of libcore start with weir_",
                 s->name);
    }
  }
}

/* The last argument of each option row, but for fields of its initialiser, is its help. */
void style_help(const style_file *f, style_report *r)
{
  if (!f->is_c || style_ends(f->path, ".h") || style_is_test(f)) {
    return;
  }
  for (int i = 0; i + 1 < f->n_tokens; i++) {
    const style_token *t = &f->tokens[i];
    int depth = 0, k = i + 1;

    if (t->kind != STYLE_WORD || t->length < 10 || memcmp(t->at, "WEIR_OPT_", 9) != 0 ||
        !style_is(t + 1, "(") || style_starts(t->at, "WEIR_OPT_AT")) {
      continue;
    }
    for (; k < f->n_tokens; k++) {
      depth += style_is(&f->tokens[k], "(") - style_is(&f->tokens[k], ")");
      if (depth == 0 || (depth == 1 && k + 1 < f->n_tokens && style_is(&f->tokens[k], ",") &&
                         style_is(&f->tokens[k + 1], "."))) {
        break;
      }
    }
    if (k < f->n_tokens && f->tokens[k - 1].kind == STYLE_TEXT && f->tokens[k - 1].length < 8) {
      r->no_help++;
      style_find(r, f, t->line, "an option without help");
    }
  }
}

/* Function names that assert: these, and functions of the same file that call one of them. */
static bool asserts(const style_file *f, const style_statement *s, const bool *known)
{
  for (int i = s->open; i < s->close; i++) {
    const style_token *t = &f->tokens[i];

    if (t->kind != STYLE_WORD) {
      continue;
    }
    if (strncmp(t->at, "assert_", 7) == 0 || style_is(t, "fail_msg") || style_is(t, "fail")) {
      return true;
    }
    for (int k = 0; k < f->n_statements; k++) {
      if (known[k] && style_is(t, f->statements[k].name)) {
        return true;
      }
    }
  }
  return false;
}

static bool is_test_function(const style_file *f, const style_statement *s)
{
  const style_token *t = &f->tokens[s->parens];

  return s->open >= 0 && s->parens > 0 && style_is(t + 1, "void") && style_is(t + 2, "*") &&
         style_is(t + 3, "*") && style_is(t + 4, "state") && style_is(t + 5, ")") &&
         s->parens - 2 >= s->first && style_is(t - 2, "void");
}

void style_assertions(const style_file *f, style_report *r)
{
  bool *known = f->is_c && style_is_test(f) ? calloc((size_t)f->n_statements + 1, 1) : NULL;
  bool grown = known != NULL;

  while (grown) {
    grown = false;
    for (int i = 0; i < f->n_statements; i++) {
      if (!known[i] && f->statements[i].open >= 0 && asserts(f, &f->statements[i], known)) {
        known[i] = true;
        grown = true;
      }
    }
  }
  for (int i = 0; known && i < f->n_statements; i++) {
    if (!known[i] && is_test_function(f, &f->statements[i])) {
      style_find(r, f, f->tokens[f->statements[i].first].line, "%s asserts nothing",
                 f->statements[i].name);
    }
  }
  free(known);
}

static const style_file *find_file(const style_tree *t, const char *path)
{
  for (int i = 0; i < t->n_files; i++) {
    if (strcmp(t->files[i].path, path) == 0) {
      return &t->files[i];
    }
  }
  return NULL;
}

/* The folder of a module (libcore/x) or an app (apps/x), or false. */
static bool module_of(const char *path, char *module, size_t size)
{
  const char *below = style_starts(path, "libcore/") ? path + 8 : path + 5;

  if (!style_starts(path, "libcore/") && !style_starts(path, "apps/")) {
    return false;
  }
  const size_t n = strcspn(below, "/");
  snprintf(module, size, "%.*s", (int)((size_t)(below - path) + n), path);
  return below[n] == '/';
}

void style_readmes(const style_tree *t, style_report *r)
{
  char module[512], last[512] = "";

  for (int i = 0; i < t->n_files; i++) { /* sorted: the files of a module follow each other */
    const style_file *f = &t->files[i];
    char path[540];

    if (!module_of(f->path, module, sizeof module) || strcmp(module, last) == 0) {
      continue;
    }
    memcpy(last, module, sizeof last);
    snprintf(path, sizeof path, "%s/README.md", module);
    const style_file *readme = find_file(t, path);
    if (!readme) {
      style_find(r, f, 1, "%s has no README.md", module);
    } else if (style_starts(module, "libcore/") &&
               (readme->lines < README_MIN || readme->lines > README_MAX)) {
      r->readme_off++;
    }
  }
}

/* A dependency is known to one file: its absence removes files, never lines inside callers. */
void style_have(const style_tree *t, style_report *r)
{
  struct use {
    const style_token *name;
    const style_file *file;
  } *uses = NULL;
  int n = 0;

  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];
    for (int k = 0; f->is_c && !style_is_test(f) && k < f->n_tokens; k++) {
      const style_token *name = &f->tokens[k];
      if (name->kind != STYLE_WORD || strncmp(name->at, "WEIR_HAVE_", 10) != 0 ||
          style_is(name, "WEIR_HAVE_CMOCKA")) {
        continue;
      }
      r->have_uses++;
      for (int u = 0; u < n; u++) {
        if (uses[u].file != f && uses[u].name->length == name->length &&
            memcmp(uses[u].name->at, name->at, (size_t)name->length) == 0) {
          style_find(r, f, name->line, "%.*s stands in %s too", name->length, name->at,
                     uses[u].file->path);
          break;
        }
      }
      uses = style_grow(uses, n, sizeof *uses);
      uses[n++] = (struct use){name, f};
    }
  }
  free(uses);
}

/* Folders of the registries whose every member should have a test next to it. The conformance suite
 * runs over all of them; a test of its own is counted, not demanded. */
void style_registries(const style_tree *t, style_report *r)
{
  static const char *const registries[] = {"libcore/ops/",        "libcore/pass/",
                                           "libcore/io/",         "libcore/stream/op/",
                                           "libcore/optim/rule/", NULL};

  for (const char *const *registry = registries; *registry; registry++) {
    char last[512] = "";
    for (int i = 0; i < t->n_files; i++) {
      const char *path = t->files[i].path, *below = path + strlen(*registry);
      char folder[512];
      bool tested = false;

      if (!style_starts(path, *registry) || !strchr(below, '/')) {
        continue;
      }
      snprintf(folder, sizeof folder, "%.*s/", (int)(strchr(below, '/') - path), path);
      if (strcmp(folder, last) == 0) {
        continue;
      }
      memcpy(last, folder, sizeof last);
      for (int k = 0; k < t->n_files; k++) {
        tested = tested || (style_starts(t->files[k].path, folder) &&
                            style_ends(t->files[k].path, "_test.c"));
      }
      r->untested += !tested;
    }
  }
}
