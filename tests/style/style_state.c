/* style_state.c - variables that outlive a call: there are hardly any, and each is listed here. */
#include "style.h"
#include <string.h>

/* State that is meant to exist, in addition to base/ (log sink, failure record, allocation
 * counters, the list of unfinished files). A new row needs a reason. */
static const struct known {
  const char *path, *name, *reason;
} known[] = {
    {"libcore/device/cpu/", "cpu", "facts of the processor, read once"},
    {"libcore/device/cpu/", "once", "guards that reading"},
    {"libcore/device/cpu/", "threads", "the argument of weir_threads_set"},
    {"libcore/device/cpu/", "limit", "what control groups allow, read once"},
    {"libcore/device/cpu/", "workers", "the threads of weir_parallel"},
    {"libcore/device/cpu/", "own", "the same of one thread alone"},
    {"libcore/device/cpu/", "value", "this thread runs inside weir_parallel"},
    {"libcore/device/", "guard", "where a fault inside an emulated kernel leads, a thread each"},
    {"libcore/device/", "kept", "libraries of kernels: no plan compiles those of another"},
    {"libcore/comm/", "program", "whose right libraries take that call MPI themselves"},
    {"libcore/comm/", "of_thread", "the same of a rank that is a thread"},
    {"libcore/ops/fft/", "planner", "the lock of a library with global state"},
    {"libcore/io/grib/", "library", "the lock of a library with global state, what it said"},
    {"libcore/io/netcdf/", "library", "the lock of a library with global state"},
    {"apps/quantum_transport/model/lead/", "lock", "the lock of a library with global state"},
    {"libcore/io/netcdf/", "reader", "the process that reads, one for all files"},
};

static bool is_known(const style_file *f, const style_token *name)
{
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (style_starts(f->path, known[i].path) && style_is(name, known[i].name)) {
      return true;
    }
  }
  return false;
}

/* Tokens [first, end) declare something that cannot change: const after the last '*', or anywhere
 * where nothing is a pointer. */
static bool is_const(const style_file *f, int first, int end)
{
  bool constant = false;

  for (int i = first; i < end; i++) {
    const style_token *t = &f->tokens[i];

    if (t->directive || t->depth > f->tokens[first].depth) {
      continue;
    }
    if (style_is(t, "*")) {
      constant = false;
    } else if (style_is(t, "const")) {
      constant = true;
    }
  }
  return constant;
}

/* End of the declarator that starts at `first`: its '=' or ';'. */
static int declarator_end(const style_file *f, int first, int end)
{
  for (int i = first; i < end; i++) {
    const style_token *t = &f->tokens[i];

    if (!t->directive && t->depth == f->tokens[first].depth &&
        (style_is(t, "=") || style_is(t, ";"))) {
      return i;
    }
  }
  return end;
}

/* The declared name: the last word at the top before `end` that is no subscript. */
static const style_token *declared_name(const style_file *f, int first, int end)
{
  const style_token *name = NULL;
  int inside = 0, words = 0;

  for (int i = first; i < end; i++) {
    const style_token *t = &f->tokens[i];

    if (t->directive || t->depth > f->tokens[first].depth) {
      continue;
    }
    inside += style_is(t, "[") - style_is(t, "]");
    if (inside == 0 && t->kind == STYLE_WORD) {
      name = t;
      words++;
    }
  }
  return words >= 2 ? name : NULL;
}

static void judge(const style_file *f, style_report *r, int first, int end)
{
  const int stop = declarator_end(f, first, end);
  const style_token *name = declared_name(f, first, stop);

  if (!name || is_const(f, first, stop)) {
    return;
  }
  r->mutable_variables++;
  if (!style_starts(f->path, "libcore/base/") && !is_known(f, name)) {
    style_find(r, f, name->line, "`%.*s` outlives a call and can change", name->length, name->at);
  }
}

/* A statement at file scope that defines a variable. */
static bool is_variable(const style_file *f, const style_statement *s)
{
  static const char *const others[] = {"typedef", "extern", "_Static_assert", "static_assert",
                                       NULL};
  const int stop = declarator_end(f, s->first, s->end);

  if (s->open >= 0 || style_one_of(&f->tokens[s->first], others)) {
    return false;
  }
  if (s->parens >= 0 && s->parens < stop && !style_is(&f->tokens[s->parens + 1], "*")) {
    return false; /* a prototype */
  }
  /* struct name { ... }; and struct name; declare a type, no variable. */
  static const char *const types[] = {"struct", "union", "enum", NULL};
  const bool type = style_one_of(&f->tokens[s->first], types);
  return !(type && (style_is(&f->tokens[stop - 1], "}") || stop - s->first <= 2));
}

void style_variables(const style_file *f, style_report *r)
{
  const bool ours = style_starts(f->path, "libcore/") || style_starts(f->path, "apps/");

  if (!f->is_c || !ours || style_is_test(f) || style_starts(f->path, "libcore/base/check/")) {
    return;
  }
  for (int i = 0; i < f->n_statements; i++) {
    const style_statement *s = &f->statements[i];

    if (is_variable(f, s)) {
      judge(f, r, s->first, s->end);
    }
    for (int k = s->open; s->open >= 0 && k < s->close; k++) {
      if (!f->tokens[k].directive && style_is(&f->tokens[k], "static")) {
        judge(f, r, k, s->close);
      }
    }
  }
}
