/* alter_period_cases.c - see series_cases.h. */
#include "stream/op/resample/weir_stream_resample.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_alter_period;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  return weir_stream_resample(use->graph, use->in[0], WEIR_STREAM_HOLD, 1, 1 + (int64_t)(seed % 7),
                              0);
}

const weir_series_cases weir_series_cases_alter_period = {.op = &weir_series_op_alter_period,
                                                          .draw = draw};
