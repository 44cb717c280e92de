/* chop_cases.c - see series_cases.h. */
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_chop;

/* Options of the step, as the operator's table lays them out. */
struct options {
  double period;
};

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  const struct options o = {.period = 1 / (1 + (double)(seed % 7))};

  return weir_series_step(&weir_series_op_chop, use, &o).out[0];
}

const weir_series_cases weir_series_cases_chop = {.op = &weir_series_op_chop, .draw = draw};
