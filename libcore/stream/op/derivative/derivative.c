/* derivative.c - taps over the present run of a stream. */
#include "ops/elementwise/weir_elementwise.h"
#include "stream/formula/formula_priv.h"
#include "stream/op/derivative/weir_stream_derivative.h"
#include "stream/op/where/weir_stream_where.h"

static const weir_opt options[] = {
    WEIR_OPT_INT(
        weir_stream_derivative_opts, points, 5, 2, WEIR_DERIVATIVE_TAPS, "1",
        "number of points of the regression line, the newest included: 2: difference; 3: half the "
        "difference over two slots. The slope belongs to the middle of the points, (points - 1) / "
        "2 slots earlier; it is absent until as many consecutive samples are present"),
    WEIR_OPT_END,
};

weir_series weir_stream_derivative(weir_graph *g, weir_series s, const double *tap, int n)
{
  weir_value sum = WEIR_NO_VALUE;

  if (n < 1 || n > WEIR_DERIVATIVE_TAPS) {
    s.value =
        weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE, "derivative: %d points: 1 to %d are allowed",
                                     n, WEIR_DERIVATIVE_TAPS));
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

/* Least squares over equal spacing (Savitzky and Golay, Anal. Chem. 36 (1964), first degree). */
static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const weir_stream_derivative_opts *o = use->opts;
  const weir_series *in = &use->in[0];
  const double rate = (double)in->rate_num / (double)in->rate_den;
  const double middle = (double)(o->points - 1) / 2;
  double tap[WEIR_DERIVATIVE_TAPS], squares = 0;
  formula_unit unit, second;

  for (int64_t k = 0; k < o->points; k++) {
    squares += (middle - (double)k) * (middle - (double)k);
  }
  for (int64_t k = 0; k < o->points; k++) {
    tap[k] = (middle - (double)k) / squares * rate;
  }
  weir_series s = weir_stream_derivative(use->graph, *in, tap, (int)o->points);
  const weir_value full = weir_ge_scalar(use->graph, s.age, (double)o->points);
  s = weir_stream_where(use->graph, s, full);
  (void)formula_unit_parse("s", &second);
  if (!formula_unit_parse(in->unit, &unit) || !formula_unit_times(&unit, &second, -1, &unit) ||
      !formula_unit_text(&unit, s.unit, sizeof s.unit)) {
    return weir_fail(WEIR_ERR_CONFIG, "the unit %s per second is too long", in->unit);
  }
  out->out[0] = s;
  out->n = 1;
  WEIR_TRY(weir_graph_status(use->graph));
  return WEIR_OK;
}

const weir_series_op weir_series_op_derivative = {
    .name = "derivative",
    .cite = "Pan and Tompkins 1985, eq. 11; Savitzky and Golay, Anal. Chem. 36 (1964)",
    .help = "slope of the last values, per second",
    .opts = options,
    .opts_size = sizeof(weir_stream_derivative_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
