/* shift.c - LifeStream's Shift (Jayarajan et al., ASPLOS 2021). */
#include "ops/shift/weir_shift.h"
#include "stream/op/shift/weir_stream_shift.h"

weir_series weir_stream_shift(weir_graph *g, weir_series s, int64_t by)
{
  s.value = weir_shift(g, s.value, 0, by);
  s.age = WEIR_NO_VALUE;
  s.present = weir_shift(g, s.present, 0, by);
  return s;
}

static weir_series sample(weir_graph *g, weir_series s, uint64_t seed)
{
  return weir_stream_shift(g, s, (int64_t)(seed % 23) - 11);
}

const weir_series_op weir_series_op_shift = {
    .name = "shift", .cite = "Jayarajan et al., ASPLOS 2021", .sample = sample};
