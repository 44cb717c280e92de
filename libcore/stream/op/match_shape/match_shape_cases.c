/* match_shape_cases.c - see series_cases.h. */
#include "stream/op/match_shape/weir_stream_match_shape.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_match_shape;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  static const double shape[] = {0, 1, 0.5, -1, -0.5, 2, 0};

  return weir_stream_match_shape(use->graph, use->in[0], shape, 4 + (int64_t)(seed % 4), 0.3, 0.2);
}

const weir_series_cases weir_series_cases_match_shape = {.op = &weir_series_op_match_shape,
                                                         .draw = draw};
