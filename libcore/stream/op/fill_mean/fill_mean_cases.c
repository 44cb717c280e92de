/* fill_mean_cases.c - see series_cases.h. */
#include "stream/op/fill_mean/fill_mean_priv.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_fill_mean;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  const fill_mean_opts o = {.window = 1 + (double)(seed * 7 % 40),
                            .tolerance = (double)(seed % 33),
                            .causal = seed % 3 == 0};

  return weir_series_step(&weir_series_op_fill_mean, use, &o).out[0];
}

const weir_series_cases weir_series_cases_fill_mean = {.op = &weir_series_op_fill_mean,
                                                       .draw = draw};
