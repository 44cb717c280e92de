/* where.c - LifeStream's Where (Jayarajan et al., ASPLOS 2021). */
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/where/weir_stream_where.h"

weir_series weir_stream_where(weir_graph *g, weir_series s, weir_value keep)
{
  s.age = WEIR_NO_VALUE;
  s.present = weir_and(g, s.present, keep);
  return weir_series_mask(g, s);
}

static weir_series sample(weir_graph *g, weir_series s, uint64_t seed)
{
  return weir_stream_where(g, s, weir_gt_scalar(g, s.value, (double)(seed % 5) / 4 - 0.5));
}

const weir_series_op weir_series_op_where = {
    .name = "where", .cite = "Jayarajan et al., ASPLOS 2021", .sample = sample};
