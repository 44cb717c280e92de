/* style_dtypes.c - who may tell dtypes one by one: their table, devices, and formats of files with
 * the constants of their libraries. All others ask the kind. */
#include "style.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* The dtypes of the table: X(WEIR_..., in weir_dtype.h. */
static int names_of(const style_tree *t, const style_token *names[MOST])
{
  int n = 0;

  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];

    for (int k = 2; strcmp(f->path, "libcore/base/weir_dtype.h") == 0 && k < f->n_tokens; k++) {
      const style_token *at = &f->tokens[k];

      if (n < MOST && style_is(at - 2, "X") && style_is(at - 1, "(") && at->length > 5 &&
          memcmp(at->at, "WEIR_", 5) == 0) {
        names[n++] = at;
      }
    }
  }
  return n;
}

static bool is_dtype(const style_token *const *names, int n, const style_token *t)
{
  for (int i = 0; i < n; i++) {
    if (names[i]->length == t->length && memcmp(names[i]->at, t->at, (size_t)t->length) == 0) {
      return true;
    }
  }
  return false;
}

static bool may_tell(const style_file *f)
{
  return style_starts(f->path, "libcore/base/") || style_starts(f->path, "libcore/device/") ||
         style_starts(f->path, "libcore/io/") || style_is_test(f);
}

void style_dtypes(const style_tree *t, style_report *r)
{
  const style_token *names[MOST];
  const int n = names_of(t, names);

  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];
    int now = -1, found = -1; /* the switch that was opened last, and the last that was counted */

    for (int k = 0; f->is_c && k + 1 < f->n_tokens; k++) {
      now = style_is(&f->tokens[k], "switch") ? k : now;
      if (now == found || !style_is(&f->tokens[k], "case") ||
          !is_dtype(names, n, &f->tokens[k + 1])) {
        continue;
      }
      found = now;
      r->dtype_switches++;
      if (!may_tell(f)) {
        r->dtype_strays++;
        style_find(r, f, f->tokens[k].line,
                   "a switch over dtypes: ask weir_dtype_kind, or convert");
      }
    }
  }
}
