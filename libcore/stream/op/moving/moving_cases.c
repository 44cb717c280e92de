/* moving_cases.c - see series_cases.h. */
#include "stream/op/aggregate/weir_stream_aggregate.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_moving;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  const weir_aggregate_spec a = {
      .kind = (weir_aggregate)(seed % 11), .hop = 1, .window = 1 + (int64_t)(seed * 5 % 23)};

  return weir_stream_aggregate(use, use->in[0], &a);
}

const weir_series_cases weir_series_cases_moving = {.op = &weir_series_op_moving, .draw = draw};
