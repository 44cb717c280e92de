/* pass.c - the sequence of passes. */
#include "pass/weir_pass.h"

weir_status weir_passes_run(weir_graph *g, const weir_pass_opts *opts, weir_pass_watch watch,
                            void *context)
{
  int done = -1;

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
    WEIR_TRY(next->run(g, opts));
    WEIR_TRY(weir_graph_validate(g));
    if (watch != NULL) {
      WEIR_TRY(watch(context, next, g));
    }
  }
}
