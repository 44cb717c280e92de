/* normalize_cases.c - see series_cases.h. */
#include "stream/op/normalize/weir_stream_normalize.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_normalize;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  return weir_stream_normalize(use, use->in[0], 1 + (int64_t)(seed * 3 % 29), seed % 2 == 1);
}

const weir_series_cases weir_series_cases_normalize = {.op = &weir_series_op_normalize,
                                                       .draw = draw};
