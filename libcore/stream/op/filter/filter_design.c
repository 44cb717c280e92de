/* filter_design.c - from the options of the step to sections or taps. */
#include <math.h>
#include <string.h>
#include "stream/op/filter/filter_priv.h"

/* Time constants after which a filter counts as settled. */
static const double constants = 3;

/* Ages are of 32 bits. */
static int64_t whole_slots(double slots)
{
  return (int64_t)ceil(fmin(slots, INT32_MAX));
}

static weir_status make_notch(const filter_opts *o, double rate, filter_design *d)
{
  for (int64_t k = 1; k <= o->harmonics && (k == 1 || (double)k * o->f0 < rate / 2); k++) {
    WEIR_TRY(weir_design_notch((double)k * o->f0, o->q, rate, &d->sos[d->sections]));
    d->sections++;
  }
  return WEIR_OK;
}

static weir_status make_fir(const filter_opts *o, double rate, filter_design *d)
{
  const weir_design_band band = (weir_design_band)(o->kind - FILTER_FIR_LOWPASS);
  const weir_fir_spec spec = {band, o->taps, o->lo, o->hi, rate};

  if (o->zero_phase) {
    return weir_fail(WEIR_ERR_CONFIG, "zero_phase: a FIR filter has the same delay at all "
                                      "frequencies: use compensate_delay to remove it");
  }
  WEIR_TRY(weir_design_fir(&spec, d->h));
  d->taps = o->taps;
  d->delay = (double)(o->taps - 1) / 2;
  d->settling = o->taps - 1;
  return WEIR_OK;
}

static weir_status make_recursive(const filter_opts *o, double rate, filter_design *d)
{
  const weir_design_spec spec = {(weir_design_band)o->kind, (int)o->order, o->lo, o->hi, rate};

  if (o->compensate_delay) {
    return weir_fail(WEIR_ERR_CONFIG, "compensate_delay: the delay of a recursive filter depends "
                                      "on frequency: use zero_phase, or a FIR filter");
  }
  if (o->kind == FILTER_NOTCH) {
    WEIR_TRY(make_notch(o, rate, d));
  } else {
    WEIR_TRY(weir_design_butterworth(&spec, d->sos, &d->sections));
  }
  const double radius = weir_design_radius(d->sos, d->sections);

  if (!(radius < 1)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "the filter does not settle at %.6g Hz (a pole at radius %.17g): raise its "
                     "frequencies, or resample to a lower rate first",
                     rate, radius);
  }
  if (!o->zero_phase) {
    d->delay = weir_design_delay(d->sos, d->sections, d->middle, rate);
    d->settling = whole_slots(-constants / log(radius));
  }
  return WEIR_OK;
}

/* A frequency that passes. */
static double middle(const filter_opts *o, double rate)
{
  switch ((filter_kind)o->kind) {
  case FILTER_HIGHPASS:
  case FILTER_FIR_HIGHPASS:
    return (o->lo + rate / 2) / 2;
  case FILTER_BANDPASS:
  case FILTER_FIR_BANDPASS:
    return sqrt(o->lo * o->hi);
  default:
    return 0;
  }
}

weir_status filter_design_make(const filter_opts *o, double rate, filter_design *out)
{
  memset(out, 0, sizeof *out);
  out->middle = middle(o, rate);
  if (o->kind >= FILTER_FIR_LOWPASS) {
    WEIR_TRY(make_fir(o, rate, out));
  } else {
    WEIR_TRY(make_recursive(o, rate, out));
  }
  if (o->settling > 0) {
    out->settling = whole_slots(o->settling * rate);
  }
  return WEIR_OK;
}
