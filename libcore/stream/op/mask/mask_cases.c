/* mask_cases.c - see series_cases.h. */
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_mask;

/* Options of the step, as the operator's table lays them out. */
struct options {
  double tolerance;
};

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  const struct options o = {.tolerance = (double)(seed % 60)};

  return weir_series_step(&weir_series_op_mask, use, &o).out[0];
}

const weir_series_cases weir_series_cases_mask = {.op = &weir_series_op_mask, .draw = draw};
