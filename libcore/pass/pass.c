/* pass.c - the sequence of passes. */
#include "pass/weir_pass.h"

#include <string.h>

/* True when the comma-separated list holds the name. */
static bool lists(const char *list, const char *name)
{
  const size_t n = strlen(name);

  for (const char *at = list; at != NULL; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == 0)) {
      return true;
    }
  }
  return false;
}

/* Every name of the list is that of a pass. */
static weir_status check_list(const char *list)
{
  int64_t named = 0, known = 0;

  for (const char *at = list; at != NULL && *at != 0; at = strchr(at, ',')) {
    at += *at == ',';
    named++;
  }
  for (int i = 0; weir_pass_table[i] != NULL; i++) {
    known += lists(list, weir_pass_table[i]->name);
  }
  return named == known ? WEIR_OK
                        : weir_fail(WEIR_ERR_CONFIG,
                                    "'%s' names a pass that does not exist, or one twice", list);
}

weir_status weir_passes_run(weir_graph *g, const weir_pass_opts *opts, weir_pass_watch watch,
                            void *context)
{
  weir_pass_opts own = *opts;
  int done = -1;

  WEIR_TRY(check_list(opts->skip));
  own.no_fusion = own.no_fusion || lists(opts->skip, "group");
  for (;;) {
    const weir_pass *next = NULL;

    for (int i = 0; weir_pass_table[i] != NULL; i++) {
      const weir_pass *p = weir_pass_table[i];

      if (p->order > done && (next == NULL || p->order < next->order)) {
        next = p;
      }
    }
    if (next == NULL) {
      return WEIR_OK;
    }
    done = next->order;
    if (lists(opts->skip, next->name) && strcmp(next->name, "group") != 0) {
      continue;
    }
    WEIR_TRY(next->run(g, &own));
    WEIR_TRY(weir_graph_validate(g));
    if (watch != NULL) {
      WEIR_TRY(watch(context, next, g));
    }
  }
}
