/* fill_const_cases.c - see series_cases.h. */
#include "stream/series_cases.h"
#include "stream/weir_gap.h"

extern const weir_series_op weir_series_op_fill_const;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  return weir_gap_filled(use->graph, use->in[0], WEIR_GAP_CONST, (int64_t)(seed % 60), 1.5);
}

const weir_series_cases weir_series_cases_fill_const = {.op = &weir_series_op_fill_const,
                                                        .draw = draw};
