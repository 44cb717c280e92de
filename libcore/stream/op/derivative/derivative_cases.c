/* derivative_cases.c - see series_cases.h. */
#include "stream/op/derivative/weir_stream_derivative.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_derivative;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  static const double taps[5] = {0.25, 0.125, 0, -0.125, -0.25};

  return weir_stream_derivative(use->graph, use->in[0], taps, 1 + (int)(seed % 5));
}

const weir_series_cases weir_series_cases_derivative = {.op = &weir_series_op_derivative,
                                                        .draw = draw};
