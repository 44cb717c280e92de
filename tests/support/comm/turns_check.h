/* turns_check.h - visits every order of turns of ranks that are threads (weir_inproc_script), depth
 * first. Tests only. */
#ifndef WEIR_TURNS_CHECK_H
#define WEIR_TURNS_CHECK_H
#include "comm/weir_inproc.h"

/* The sequence of choices after these, which the run `s` has made: the last one that has another
 * rank is changed, those after it begin again. Returns false where there is none. */
static inline bool turns_next(int *choice, const weir_inproc_script *s)
{
  int64_t k = s->taken < s->n ? s->taken : s->n;

  for (k--; k >= 0 && choice[k] + 1 >= s->ready[k]; k--) {
    choice[k] = 0;
  }
  if (k >= 0) {
    choice[k]++;
  }
  return k >= 0;
}
#endif
