/* mask_cases.c - see series_cases.h. */
#include "stream/op/mask/mask_priv.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_mask;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  const mask_opts o = {.tolerance = (double)(seed % 60)};

  return weir_series_step(&weir_series_op_mask, use, &o).out[0];
}

const weir_series_cases weir_series_cases_mask = {.op = &weir_series_op_mask, .draw = draw};
