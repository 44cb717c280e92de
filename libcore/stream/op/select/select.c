/* select.c - LifeStream's Select (Jayarajan et al., ASPLOS 2021). */
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/select/weir_stream_select.h"

weir_series weir_stream_select(weir_graph *g, weir_series s, weir_value value)
{
  s.value = value;
  return weir_series_mask(g, s);
}

static weir_series sample(weir_graph *g, weir_series s, uint64_t seed)
{
  const double add = (double)(seed % 7) - 3;

  return weir_stream_select(g, s, weir_add_scalar(g, weir_scale(g, s.value, 1.5), add));
}

const weir_series_op weir_series_op_select = {
    .name = "select", .cite = "Jayarajan et al., ASPLOS 2021", .sample = sample};
