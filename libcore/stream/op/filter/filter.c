/* filter.c - the step `filter`: gaps bridged or not, a filter by its kind, and flags. */
#include <math.h>
#include <stdio.h>
#include "ops/elementwise/weir_elementwise.h"
#include "ops/shift/weir_shift.h"
#include "stream/op/filter/filter_priv.h"
#include "stream/weir_flags.h"

/* Taps up to which sums are faster than transforms. */
enum { DIRECT_TAPS = 200 };

static const weir_opt options[] = {
    WEIR_OPT_ENUM(
        filter_opts, kind, FILTER_BANDPASS, FILTER_KINDS,
        "filter type: Butterworth, notch, or (fir_*) windowed sinc with a Hamming window"),
    WEIR_OPT_REAL(filter_opts, lo, 0.5, 1e-6, 1e6, "Hz",
                  "lower cutoff frequency of highpass, bandpass and bandstop (0.5: ECG monitors)"),
    WEIR_OPT_REAL(filter_opts, hi, 40, 1e-6, 1e6, "Hz",
                  "upper cutoff frequency of lowpass, bandpass and bandstop (40: ECG monitors)"),
    WEIR_OPT_INT(
        filter_opts, order, 4, 1, 16, "1",
        "order of the Butterworth prototype; bandpass and bandstop have twice as many poles"),
    WEIR_OPT_INT(filter_opts, taps, 151, 3, WEIR_DESIGN_MAX_TAPS, "1",
                 "length of a FIR filter, odd; its delay is (taps - 1)/2 samples"),
    WEIR_OPT_ENUM(
        filter_opts, method, FILTER_AUTO, FILTER_METHODS,
        "convolution of FIR filters: direct: by sums; fft: by Fourier transforms, which look ahead "
        "by two blocks of 3000 to 16 000 samples; auto: direct up to 200 taps"),
    WEIR_OPT_REAL(filter_opts, f0, 50, 1e-3, 1e6, "Hz", "notch frequency: 50 or 60 for mains"),
    WEIR_OPT_REAL(filter_opts, q, 30, 0.1, 1e4, "1",
                  "quality factor of the notch: frequency over width at -3 dB"),
    WEIR_OPT_INT(filter_opts, harmonics, 1, 1, WEIR_DESIGN_MAX_SECTIONS, "1",
                 "maximum number of notches at f0, 2 f0, ... below half the rate"),
    WEIR_OPT_BOOL(filter_opts, zero_phase, false,
                  "forward-backward filtering without delay; not for live input, since it looks "
                  "ahead for the decay time of the filter"),
    WEIR_OPT_BOOL(filter_opts, compensate_delay, false,
                  "FIR filters: compensate the delay by a look-ahead of (taps - 1)/2 samples",
                  .alias = "restamp"),
    WEIR_OPT_REAL(filter_opts, tolerance, 0.2, 0, 60, "s",
                  "maximum length of gaps that are interpolated linearly and flagged; after longer "
                  "gaps the filter restarts in steady state at the first sample"),
    WEIR_OPT_REAL(filter_opts, settling, 0, 0, 3600, "s",
                  "time for which results are flagged after a start; 0: 3 time constants of the "
                  "slowest pole, or taps - 1 samples"),
    WEIR_OPT_REAL(filter_opts, look_ahead, 600, 0.001, 86400, "s",
                  "maximum look-ahead of zero_phase; filters with a longer decay time are refused"),
    WEIR_OPT_END,
};

/* The filtered stream, s being bridged. */
static weir_status apply(const weir_series_use *use, const filter_design *d, weir_series *s)
{
  const filter_opts *o = use->opts;
  const double rate = (double)s->rate_num / (double)s->rate_den;
  char name[256];

  if (d->sections == 0) {
    const bool fft = o->method == FILTER_FFT || (o->method == FILTER_AUTO && d->taps > DIRECT_TAPS);

    return fft ? filter_fir_fft(use, d->h, d->taps, s) : filter_fir(use, d->h, d->taps, s);
  }
  if (o->zero_phase) {
    return filter_zero_phase(use, d->sos, d->sections,
                             (int64_t)fmin(o->look_ahead * rate, INT32_MAX), s);
  }
  (void)snprintf(name, sizeof name, "%s.cascade", use->step);
  *s = weir_stream_cascade(use, name, *s, d->sos, d->sections, 0);
  return weir_graph_status(use->graph);
}

/* 1 << bit where `where` holds. */
static weir_value flag(weir_graph *g, weir_value where, weir_flag bit)
{
  return weir_select(g, where, weir_scalar(g, WEIR_F32, bit), weir_scalar(g, WEIR_F32, 0));
}

/* Flags of `result`, made of the bridged stream `full`, which was present where `given` holds. */
static weir_series flags_of(weir_graph *g, weir_series result, weir_series full, weir_value given,
                            const filter_design *d, int64_t delay)
{
  const weir_value bridged = weir_and(g, full.present, weir_not(g, given));
  const weir_value age = weir_shift(g, weir_series_aged(g, full).age, 0, -delay);
  const weir_value fresh = weir_le_scalar(g, age, (double)d->settling);
  weir_series flags = result;

  flags.value =
      weir_add(g, flag(g, bridged, WEIR_FLAG_INTERPOLATED), flag(g, fresh, WEIR_FLAG_SETTLING));
  weir_series_set_unit(&flags, WEIR_FLAG_UNIT);
  return weir_series_mask(g, flags);
}

static weir_status compose(const weir_series_use *use, const filter_design *d,
                           weir_series_result *out)
{
  const filter_opts *o = use->opts;
  weir_graph *g = use->graph;
  const weir_series in = use->in[0];
  const double rate = (double)in.rate_num / (double)in.rate_den;
  const int64_t delay = o->compensate_delay ? (d->taps - 1) / 2 : 0;
  const weir_series full = weir_stream_bridge(g, in, (int64_t)(o->tolerance * rate + 1e-6));
  weir_series y = full;
  char label[128];

  WEIR_TRY(apply(use, d, &y));
  (void)snprintf(label, sizeof label, "filter: delay %.6g s at %.4g Hz",
                 o->compensate_delay ? 0 : d->delay / rate, d->middle);
  (void)weir_label(g, y.value, label);
  if (delay > 0) {
    y.value = weir_shift(g, y.value, 0, -delay);
    y.present = weir_and(g, full.present, weir_shift(g, full.present, 0, -delay));
    y = weir_series_mask(g, y);
  }
  out->n = 2;
  out->out[0] = y;
  out->name[0] = NULL;
  out->out[1] = flags_of(g, y, full, in.present, d, delay);
  out->name[1] = "flags";
  return weir_graph_status(g);
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const weir_series *in = &use->in[0];
  void *memory = NULL;

  WEIR_TRY(weir_series_keep(use, sizeof(filter_design), NULL, &memory));
  WEIR_TRY(filter_design_make(use->opts, (double)in->rate_num / (double)in->rate_den, memory));
  return compose(use, memory, out);
}

const weir_series_op weir_series_op_filter = {
    .name = "filter",
    .cite = "Oppenheim and Schafer, Discrete-Time Signal Processing; Gustafsson 1996 (zero phase)",
    .help = "frequency-selective filter: `step`, and `step.flags` (interpolated 4, settling 1024)",
    .opts = options,
    .opts_size = sizeof(filter_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
