/* shift_cases.c - see series_cases.h. */
#include "stream/op/shift/weir_stream_shift.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_shift;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  return weir_stream_shift(use->graph, use->in[0], (int64_t)(seed % 23) - 11);
}

const weir_series_cases weir_series_cases_shift = {.op = &weir_series_op_shift, .draw = draw};
