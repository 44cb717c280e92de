/* alter_duration_cases.c - see series_cases.h. */
#include "stream/series_cases.h"
#include "stream/weir_gap.h"

extern const weir_series_op weir_series_op_alter_duration;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  return weir_gap_hold(use->graph, use->in[0], 1 + (int64_t)(seed % 50));
}

const weir_series_cases weir_series_cases_alter_duration = {.op = &weir_series_op_alter_duration,
                                                            .draw = draw};
