/* select_cases.c - see series_cases.h. */
#include "stream/op/select/weir_stream_select.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_select;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  static const char *const values[] = {"1.5 * x - 2", "if(x > 0.2, sqrt(x), nan)", "mod(t, 7) + x",
                                       "x > 0 and present(x)", "exp(-x^2) * min(x, 0.5, abs(x))"};
  const weir_stream_select_opts o = {.value = values[seed % 5], .unit = ""};

  return weir_series_step(&weir_series_op_select, use, &o).out[0];
}

const weir_series_cases weir_series_cases_select = {.op = &weir_series_op_select, .draw = draw};
