/* filter_cases.c - see series_cases.h. */
#include "stream/op/filter/filter_priv.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_filter;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  filter_opts o;

  weir_opts_default(weir_series_op_filter.opts, sizeof o, &o);
  o.kind = (int)(seed % 9);
  o.lo = 0.05;
  o.hi = 0.3;
  o.order = 1 + (int64_t)(seed / 9 % 3);
  o.taps = 3 + 2 * (int64_t)(seed % 30);
  o.method = (int)(seed / 4 % 3);
  o.f0 = 0.12;
  o.q = 2;
  o.harmonics = 2;
  o.zero_phase = o.kind < FILTER_FIR_LOWPASS && seed % 2 == 0;
  o.compensate_delay = o.kind >= FILTER_FIR_LOWPASS && seed % 2 == 0;
  o.tolerance = (double)(seed % 4);
  o.look_ahead = 600 + 4000 * (double)(seed % 3);
  return weir_series_step(&weir_series_op_filter, use, &o).out[seed % 5 == 4];
}

const weir_series_cases weir_series_cases_filter = {.op = &weir_series_op_filter, .draw = draw};
