/* moving_sum.c - a window by repeated doubling. */
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/moving_sum/weir_stream_moving_sum.h"

#define MAX (1 << 20)

weir_series weir_stream_moving_sum(weir_graph *g, weir_series s, int64_t n)
{
  weir_value sum = WEIR_NO_VALUE;
  int64_t offset = 0; /* slots already in `sum` */

  if (n < 1 || n > MAX) {
    s.value =
        weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE, "moving_sum: %lld slots: 1 to %d are allowed",
                                     (long long)n, MAX));
    return s;
  }
  s = weir_series_aged(g, s);
  weir_series power = s; /* sums of `width` slots */
  for (int64_t width = 1; width <= n; width *= 2) {
    if (n & width) {
      const weir_value term = weir_series_past(g, power, offset);

      sum = offset == 0 ? term : weir_add(g, sum, term);
      offset += width;
    }
    if (2 * width <= n) {
      power.value = weir_add(g, power.value, weir_series_past(g, power, width));
    }
  }
  s.value = sum;
  return s;
}

const weir_series_op weir_series_op_moving_sum = {
    .name = "moving_sum",
    .cite = "",
    .help = "sum of the last values since a gap, used inside filters; as a step: moving",
};
