/* front.c - Pan and Tompkins, IEEE Trans. Biomed. Eng. 32 (1985) 230-236, with a Butterworth
 * band-pass in place of their integer filters so that it serves any sampling rate. */
#include "model/front.h"
#include <math.h>
#include <string.h>

const weir_opt ps_front_options[] = {
    WEIR_OPT_REAL(ps_front_opts, lo, 5, 0.1, 1000, "Hz",
                  "lower edge of the band where QRS energy stands out (XQRS of wfdb-python: 5)"),
    WEIR_OPT_REAL(ps_front_opts, hi, 20, 0.2, 4000, "Hz",
                  "upper edge of that band (XQRS of wfdb-python: 20)"),
    WEIR_OPT_INT(
        ps_front_opts, order, 1, 1, 8, "1",
        "order of the Butterworth band-pass; with 1 an R wave leaves two lobes and keeps its place "
        "(XQRS of wfdb-python: 2, run both ways)"),
    WEIR_OPT_REAL(ps_front_opts, window, 0.1, 0.01, 1, "s",
                  "moving sum of energy: width of a QRS complex (XQRS of wfdb-python: 0.1)"),
    WEIR_OPT_REAL(ps_front_opts, qrs, 0.01, 0.001, 0.1, "s",
                  "standard deviation of the Gaussian R wave whose delay is taken out (R waves of "
                  "MIT-BIH 100 and 119: 0.008 to 0.012)"),
    WEIR_OPT_END,
};

const double ps_front_slope[PS_FRONT_TAPS] = {0.25, 0.125, 0.0, -0.125, -0.25};

static double filter(const ps_front *front, double *z, double x)
{
  for (int k = 0; k < front->sections; k++, z += 2) {
    const weir_sos *s = &front->sos[k];
    const double y = s->b0 * x + z[0];

    z[0] = s->b1 * x - s->a1 * y + z[1];
    z[1] = s->b2 * x - s->a2 * y;
    x = y;
  }
  return x;
}

/* Samples by which the first maximum of the response to a Gaussian pulse (deviation in samples)
 * follows the pulse. The group delay of one frequency does not serve: the response has two lobes of
 * similar size, and a QRS spans the band. */
static double pulse_delay(const ps_front *front, double deviation)
{
  double z[2 * WEIR_DESIGN_MAX_SECTIONS] = {0}, before = 0.0, top = 0.0, x = 0.0;
  const double start = -ceil(6 * deviation);

  for (double t = start; t < 1000 * (deviation + 10); t += 1.0) {
    const double u = t / deviation, y = filter(front, z, exp(-u * u / 2));

    if (y < top && top > 0.0) {
      x = t - 1.0 + 0.5 * (before - y) / (before - 2 * top + y);
      break;
    }
    before = top;
    top = y;
  }
  return x;
}

weir_status ps_front_check(const ps_front_opts *opts)
{
  return opts->lo < opts->hi
             ? WEIR_OK
             : weir_fail(
                   WEIR_ERR_CONFIG,
                   "detect.front.lo is %g Hz and detect.front.hi %g Hz: the lower edge of the band "
                   "must be below the upper one",
                   opts->lo, opts->hi);
}

weir_status ps_front_design(const ps_front_opts *opts, double rate, ps_front *out)
{
  const weir_design_spec spec = {.band = WEIR_DESIGN_BANDPASS,
                                 .order = (int)opts->order,
                                 .lo = opts->lo,
                                 .hi = opts->hi,
                                 .rate = rate};
  ps_front f = {0};

  WEIR_TRY(ps_front_check(opts));
  WEIR_TRY(weir_design_butterworth(&spec, f.sos, &f.sections));
  const double window = floor(opts->window * rate + 0.5);

  if (!(window >= 2 && window <= PS_FRONT_MAX_WINDOW)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "detector: a window of %g s is %g samples at %g Hz; 2 to %d are possible",
                     opts->window, window, rate, PS_FRONT_MAX_WINDOW);
  }
  f.window = (int64_t)window;
  weir_design_steady_state(f.sos, f.sections, f.steady);
  f.filtered_delay = pulse_delay(&f, opts->qrs * rate);
  f.feature_delay = (PS_FRONT_TAPS - 1) / 2.0 + (window - 1) / 2;
  *out = f;
  return WEIR_OK;
}

/* Steady state on the value x, slope and sum on zeros. */
static void start(const ps_front *front, ps_front_state *s, double x)
{
  memset(s->past, 0, sizeof s->past);
  memset(s->square, 0, (size_t)front->window * sizeof *s->square);
  s->at = 0;
  for (int k = 0; k < 2 * front->sections; k++) {
    s->z[k] = front->steady[k] * x;
  }
  s->started = 1;
}

/* Sum of `width` squares (a power of 2) of which the newest is `back` samples old: halves first,
 * the order of additions of a window that is made by doubling. */
static float power(const ps_front *front, const ps_front_state *s, int64_t back, int64_t width)
{
  if (width == 1) {
    return s->square[(s->at - 1 - back + 2 * front->window) % front->window];
  }
  return power(front, s, back, width / 2) + power(front, s, back + width / 2, width / 2);
}

static float window_sum(const ps_front *front, const ps_front_state *s)
{
  float sum = 0.0f;
  int64_t back = 0;

  for (int64_t width = 1; width <= front->window; width *= 2) {
    if (front->window & width) {
      sum += power(front, s, back, width);
      back += width;
    }
  }
  return sum;
}

void ps_front_run(const ps_front *front, ps_front_state *state, int64_t n, const float *x,
                  const uint8_t *present, float *filtered, float *feature)
{
  for (int64_t i = 0; i < n; i++) {
    if ((present && !present[i]) || isnan(x[i])) {
      filtered[i] = feature[i] = 0.0f;
      state->started = 0;
      continue;
    }
    if (!state->started) {
      start(front, state, (double)x[i]);
    }
    filtered[i] = (float)filter(front, state->z, (double)x[i]);
    float slope = (float)ps_front_slope[0] * filtered[i];

    for (int k = 1; k < PS_FRONT_TAPS; k++) {
      slope += (float)ps_front_slope[k] * state->past[k - 1];
    }
    memmove(state->past + 1, state->past, sizeof state->past - sizeof *state->past);
    state->past[0] = filtered[i];
    state->square[state->at] = slope * slope;
    state->at = (state->at + 1) % front->window;
    feature[i] = window_sum(front, state);
  }
}
