/* front.c - Pan and Tompkins, IEEE Trans. Biomed. Eng. 32 (1985) 230-236, at any sampling rate: a
 * Butterworth band-pass for their high-pass filter, their low-pass filter as two moving means, and
 * a second difference, which a narrow wave passes better than the slope. */
#include "model/front.h"
#include <math.h>

const weir_opt ps_front_options[] = {
    WEIR_OPT_REAL(ps_front_opts, lo, 6, 0.1, 1000, "Hz",
                  "lower edge of the band where QRS energy stands out; below it electrode motion "
                  "does (XQRS of wfdb-python: 5)"),
    WEIR_OPT_REAL(ps_front_opts, hi, 20, 0.2, 4000, "Hz",
                  "upper edge of that band (XQRS of wfdb-python: 20)"),
    WEIR_OPT_INT(ps_front_opts, order, 1, 1, 8, "1",
                 "order of the Butterworth band-pass; with 1 an R wave leaves two lobes and keeps "
                 "its position (XQRS of wfdb-python: 2, run both ways)"),
    WEIR_OPT_REAL(
        ps_front_opts, smooth, 0.03, 0.001, 1, "s",
        "each of the two moving means that muscle noise is removed by (low-pass filter of "
        "Pan and Tompkins 1985: 6 samples at 200 Hz, whose first zero is at 33 Hz)"),
    WEIR_OPT_REAL(
        ps_front_opts, step, 0.025, 0.001, 0.1, "s",
        "step of the second difference, which passes 1 / (2 step) best: far above T waves"),
    WEIR_OPT_REAL(
        ps_front_opts, window, 0.07, 0.01, 1, "s",
        "moving sum of energy: the response to a QRS complex without what the filters add"),
    WEIR_OPT_REAL(ps_front_opts, qrs, 0.01, 0.001, 0.1, "s",
                  "standard deviation of the Gaussian R wave whose delay is taken out (R waves of "
                  "MIT-BIH 100 and 119: 0.008 to 0.012)"),
    WEIR_OPT_END,
};

/* Samples by which the first maximum of the response to a Gaussian pulse (deviation in samples)
 * follows the pulse. The group delay of one frequency does not serve: the response has two lobes of
 * similar size, and a QRS spans the band. */
static double pulse_delay(const ps_front *front, double deviation)
{
  double z[2 * WEIR_DESIGN_MAX_SECTIONS] = {0}, before = 0.0, top = 0.0, x = 0.0;
  const double start = -ceil(6 * deviation);

  for (double t = start; t < 1000 * (deviation + 10); t += 1.0) {
    const double u = t / deviation, y = ps_front_filter(front, z, exp(-u * u / 2));

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

/* A length in samples. Fails: WEIR_ERR_CONFIG (outside [low, PS_FRONT_MAX_WINDOW]). */
static weir_status samples_of(const char *name, double seconds, double rate, double low,
                              int64_t *out)
{
  const double n = floor(seconds * rate + 0.5);

  if (!(n >= low && n <= PS_FRONT_MAX_WINDOW)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "detector: front.%s of %g s is %g samples at %g Hz; %g to %d are possible",
                     name, seconds, n, rate, low, PS_FRONT_MAX_WINDOW);
  }
  *out = (int64_t)n;
  return WEIR_OK;
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
  WEIR_TRY(samples_of("smooth", opts->smooth, rate, 1, &f.smooth));
  WEIR_TRY(samples_of("step", opts->step, rate, 1, &f.step));
  WEIR_TRY(samples_of("window", opts->window, rate, 2, &f.window));
  f.bend_scale = 0.5 / (double)(f.smooth * f.smooth);
  weir_design_steady_state(f.sos, f.sections, f.steady);
  f.filtered_delay = pulse_delay(&f, opts->qrs * rate);
  f.feature_delay = (double)(f.smooth - 1 + f.step) + (double)(f.window - 1) / 2;
  *out = f;
  return WEIR_OK;
}
