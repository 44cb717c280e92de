/* derivative.c - taps over the present run of a stream. */
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/derivative/weir_stream_derivative.h"

weir_series weir_stream_derivative(weir_graph *g, weir_series s, const double *tap, int n)
{
  weir_value sum = WEIR_NO_VALUE;

  if (n < 1 || n > WEIR_DERIVATIVE_TAPS) {
    s.value = weir_graph_fail(
        g, weir_fail(WEIR_ERR_SHAPE, "derivative: %d taps; 1 to %d", n, WEIR_DERIVATIVE_TAPS));
    return s;
  }
  s = weir_series_aged(g, s);
  for (int k = 0; k < n; k++) {
    if (tap[k] == 0 && k > 0) {
      continue;
    }
    const weir_value term = weir_scale(g, weir_series_past(g, s, k), tap[k]);

    sum = k == 0 ? term : weir_add(g, sum, term);
  }
  s.value = sum;
  return s;
}

static weir_series sample(weir_graph *g, weir_series s, uint64_t seed)
{
  static const double taps[5] = {0.25, 0.125, 0, -0.125, -0.25};

  return weir_stream_derivative(g, s, taps, 1 + (int)(seed % 5));
}

const weir_series_op weir_series_op_derivative = {
    .name = "derivative", .cite = "Pan and Tompkins 1985, eq. 11", .sample = sample};
