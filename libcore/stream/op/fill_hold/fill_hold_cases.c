/* fill_hold_cases.c - see series_cases.h. */
#include "stream/series_cases.h"
#include "stream/weir_gap.h"

extern const weir_series_op weir_series_op_fill_hold;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  const int64_t tolerance = (int64_t)(seed % 60);

  return seed % 2 == 0 ? weir_gap_hold(use->graph, use->in[0], tolerance)
                       : weir_gap_filled(use->graph, use->in[0], WEIR_GAP_HOLD, tolerance, 0);
}

const weir_series_cases weir_series_cases_fill_hold = {.op = &weir_series_op_fill_hold,
                                                       .draw = draw};
