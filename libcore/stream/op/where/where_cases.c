/* where_cases.c - see series_cases.h. */
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/where/weir_stream_where.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_where;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  return weir_stream_where(
      use->graph, use->in[0],
      weir_gt_scalar(use->graph, use->in[0].value, (double)(seed % 5) / 4 - 0.5));
}

const weir_series_cases weir_series_cases_where = {.op = &weir_series_op_where, .draw = draw};
