/* chop_cases.c - see series_cases.h. */
#include "stream/op/chop/chop_priv.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_chop;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  const chop_opts o = {.period = 1 / (1 + (double)(seed % 7))};

  return weir_series_step(&weir_series_op_chop, use, &o).out[0];
}

const weir_series_cases weir_series_cases_chop = {.op = &weir_series_op_chop, .draw = draw};
