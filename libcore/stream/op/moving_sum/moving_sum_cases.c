/* moving_sum_cases.c - see series_cases.h. */
#include "stream/op/moving_sum/weir_stream_moving_sum.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_moving_sum;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  return weir_stream_moving_sum(use->graph, use->in[0], 1 + (int64_t)(seed % 37));
}

const weir_series_cases weir_series_cases_moving_sum = {.op = &weir_series_op_moving_sum,
                                                        .draw = draw};
