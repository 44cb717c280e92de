/* series_cases.c - the cases of an operator on streams, found by its descriptor. */
#include "stream/series_cases.h"
#include "base/weir_check.h"

weir_series weir_series_draw(const weir_series_op *op, const weir_series_use *use, uint64_t seed)
{
  int i = 0;

  while (weir_series_cases_table[i] != NULL && weir_series_cases_table[i]->op != op) {
    i++;
  }
  if (weir_series_cases_table[i] == NULL) {
    fail_msg("operator %s: no cases; add %s_cases.c to its folder", op->name, op->name);
  }
  return weir_series_cases_table[i]->draw(use, seed);
}

weir_series_result weir_series_step(const weir_series_op *op, const weir_series_use *use,
                                    const void *opts)
{
  weir_series_use with = *use;
  weir_series_result result = {.n = 0};

  with.opts = opts;
  assert_ok(op->build(&with, &result));
  return result;
}
