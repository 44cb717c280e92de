/* sos_cases.c - see series_cases.h. */
#include "stream/op/sos/weir_stream_sos.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_sos;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  static const weir_sos sections[2] = {{0.2, 0.3, 0.1, -0.7, 0.3}, {0.5, -0.5, 0, -0.4, 0.2}};

  return weir_stream_sos(use->graph, use->in[0], sections, 1 + (int)(seed & 1),
                         (int64_t)(seed % 4));
}

const weir_series_cases weir_series_cases_sos = {.op = &weir_series_op_sos, .draw = draw};
