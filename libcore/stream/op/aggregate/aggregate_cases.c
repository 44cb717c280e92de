/* aggregate_cases.c - see series_cases.h. */
#include "stream/op/aggregate/weir_stream_aggregate.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_aggregate;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  const int64_t hop = 1 + (int64_t)(seed % 6);
  const weir_aggregate_spec a = {.kind = (weir_aggregate)(seed * 7 % 11),
                                 .hop = hop,
                                 .window = hop * (1 + (int64_t)(seed % 4)),
                                 .end = seed % 5 == 1,
                                 .rows = seed % 7 == 2};

  return weir_stream_aggregate(use, use->in[0], &a);
}

const weir_series_cases weir_series_cases_aggregate = {.op = &weir_series_op_aggregate,
                                                       .draw = draw};
