/* style_calls.c - calls that have one home: printing, exiting, the environment, threads. */
#include "style.h"
#include <string.h>

static bool in_library(const style_file *f)
{
  return f->is_c && style_starts(f->path, "libcore/") && !style_is_test(f);
}

/* The test helpers that live in base are tests, though they stand in libcore. */
static bool is_check_helper(const style_file *f)
{
  return style_starts(f->path, "libcore/base/check/") ||
         style_starts(f->path, "libcore/base/weir_check");
}

/* The log and the trace go to stderr; weir_cli_main is what a main calls. */
static bool may_name_streams(const style_file *f)
{
  return style_starts(f->path, "libcore/base/") || strcmp(f->path, "libcore/conf/cli.c") == 0;
}

static bool is_call(const style_file *f, int i)
{
  const style_token *t = &f->tokens[i];

  if (t->kind != STYLE_WORD || i + 1 >= f->n_tokens || !style_is(t + 1, "(")) {
    return false;
  }
  return i == 0 || !(style_is(t - 1, ".") || style_is(t - 1, ">"));
}

void style_printing(const style_file *f, style_report *r)
{
  static const char *const prints[] = {"printf", "puts", "putchar", "vprintf", "perror", NULL};
  static const char *const streams[] = {"stdout", "stderr", NULL};

  if (!in_library(f) || is_check_helper(f)) {
    return;
  }
  for (int i = 0; i < f->n_tokens; i++) {
    const style_token *t = &f->tokens[i];

    if (is_call(f, i) && style_one_of(t, prints)) {
      style_find(r, f, t->line, "%.*s in libcore: use weir_log or a FILE passed in", t->length,
                 t->at);
    } else if (t->kind == STYLE_WORD && style_one_of(t, streams) && !t->directive &&
               !may_name_streams(f)) {
      style_find(r, f, t->line, "%.*s outside the log", t->length, t->at);
    }
  }
}

void style_exits(const style_file *f, style_report *r)
{
  static const char *const exits[] = {"exit", "abort", "quick_exit", NULL};
  const bool is_main = strcmp(style_base(f->path), "main.c") == 0;
  const bool ours = style_starts(f->path, "libcore/") || style_starts(f->path, "apps/");

  if (!f->is_c || !ours || is_main || style_is_test(f) || is_check_helper(f) ||
      strcmp(f->path, "libcore/base/weir_status.c") == 0) {
    return;
  }
  for (int i = 0; i < f->n_tokens; i++) {
    if (is_call(f, i) && style_one_of(&f->tokens[i], exits)) {
      style_find(r, f, f->tokens[i].line, "%.*s: return a status; only main ends the program",
                 f->tokens[i].length, f->tokens[i].at);
    }
  }
}

void style_environment(const style_file *f, style_report *r)
{
  static const char *const calls[] = {"getenv", "secure_getenv", "setenv",
                                      "putenv", "unsetenv",      NULL};
  const bool ours = style_starts(f->path, "libcore/") || style_starts(f->path, "apps/");

  if (!f->is_c || !ours || style_is_test(f) || is_check_helper(f) ||
      style_starts(f->path, "libcore/conf/")) {
    return;
  }
  for (int i = 0; i < f->n_tokens; i++) {
    if (is_call(f, i) && style_one_of(&f->tokens[i], calls)) {
      r->env_uses++;
      style_find(r, f, f->tokens[i].line, "%.*s outside conf: use weir_env", f->tokens[i].length,
                 f->tokens[i].at);
    }
  }
}

void style_threads(const style_file *f, style_report *r)
{
  const bool ours = style_starts(f->path, "libcore/") || style_starts(f->path, "apps/");

  if (!f->is_c || !ours || style_is_test(f) || style_starts(f->path, "libcore/device/")) {
    return;
  }
  for (int i = 0; i < f->n_tokens; i++) {
    const style_token *t = &f->tokens[i];

    if (is_call(f, i) && (style_is(t, "pthread_create") || style_is(t, "thrd_create"))) {
      style_find(r, f, t->line, "a thread outside device: use weir_parallel");
    } else if (t->directive && style_is(t, "omp") && i > 0 && style_is(t - 1, "pragma")) {
      style_find(r, f, t->line, "an OpenMP pragma outside device: use weir_parallel");
    }
  }
}
