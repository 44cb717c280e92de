/* aggregate.c - LifeStream's Aggregate (Jayarajan et al., ASPLOS 2021), computed afresh for each
 * window, so that nothing drifts. */
#include <math.h>
#include "ops/elementwise/weir_elementwise.h"
#include "ops/window/weir_window.h"
#include "stream/op/aggregate/weir_stream_aggregate.h"

static weir_value combine(weir_graph *g, weir_monoid how, weir_value x, int64_t window, int64_t hop)
{
  const weir_window_spec spec = {
      .combine = how, .taps = window, .stride = hop, .offset = hop - window};

  return weir_window(g, &spec, x);
}

/* x with what leaves `how` unchanged in place of absent samples. */
static weir_value filled(weir_graph *g, weir_series s, double neutral)
{
  return weir_select(g, s.present, s.value, weir_scalar(g, WEIR_F32, neutral));
}

static weir_value value_of(weir_graph *g, weir_series s, weir_aggregate kind, int64_t window,
                           int64_t hop)
{
  const weir_value ones = weir_cast(g, WEIR_F32, s.present);

  switch (kind) {
  case WEIR_AGGREGATE_SUM:
    return combine(g, WEIR_COMBINE_SUM, s.value, window, hop);
  case WEIR_AGGREGATE_MEAN:
    return weir_div(g, combine(g, WEIR_COMBINE_SUM, s.value, window, hop),
                    combine(g, WEIR_COMBINE_SUM, ones, window, hop));
  case WEIR_AGGREGATE_MIN:
    return combine(g, WEIR_COMBINE_MIN, filled(g, s, INFINITY), window, hop);
  case WEIR_AGGREGATE_MAX:
    return combine(g, WEIR_COMBINE_MAX, filled(g, s, -INFINITY), window, hop);
  case WEIR_AGGREGATE_COUNT:
    return combine(g, WEIR_COMBINE_SUM, ones, window, hop);
  }
  return WEIR_NO_VALUE;
}

weir_series weir_stream_aggregate(weir_graph *g, weir_series s, weir_aggregate kind, int64_t window,
                                  int64_t hop)
{
  if (hop < 1 || window < hop || window % hop != 0) {
    s.value = weir_graph_fail(
        g, weir_fail(WEIR_ERR_SHAPE, "aggregate: a window of %lld slots is no multiple of hop %lld",
                     (long long)window, (long long)hop));
    return s;
  }
  weir_series out = {.age = WEIR_NO_VALUE, .rate_num = s.rate_num, .rate_den = s.rate_den * hop};
  const weir_value newest =
      combine(g, WEIR_COMBINE_SUM, weir_cast(g, WEIR_I32, s.present), hop, hop);

  out.present = weir_gt_scalar(g, newest, 0);
  out.value = value_of(g, s, kind, window, hop);
  return weir_series_mask(g, out);
}

static weir_series sample(weir_graph *g, weir_series s, uint64_t seed)
{
  const int64_t hop = 1 + (int64_t)(seed % 6);

  return weir_stream_aggregate(g, s, (weir_aggregate)(seed / 6 % 5),
                               hop * (1 + (int64_t)(seed % 3)), hop);
}

const weir_series_op weir_series_op_aggregate = {
    .name = "aggregate", .cite = "Jayarajan et al., ASPLOS 2021", .sample = sample};
