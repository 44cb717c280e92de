/* resample_cases.c - see series_cases.h. */
#include "stream/op/resample/weir_stream_resample.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_resample;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  const int64_t up = 1 + (int64_t)(seed % 5), down = 1 + (int64_t)(seed / 5 % 4);

  return weir_stream_resample(use->graph, use->in[0], (weir_stream_method)(seed % 3), up, down,
                              (int64_t)(seed / 3 % 20));
}

const weir_series_cases weir_series_cases_resample = {.op = &weir_series_op_resample, .draw = draw};
