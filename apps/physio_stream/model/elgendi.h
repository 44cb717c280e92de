/* elgendi.h - peaks where a short moving average of the energy exceeds a long one: the detector of
 * Elgendi, for R waves (PLOS ONE 8 (2013) e73557) and for systolic peaks (PLOS ONE 8 (2013)
 * e76585). It knows neither levels nor rhythm, so that it errs elsewhere than the detector of
 * detect.h. */
#ifndef PS_ELGENDI_H
#define PS_ELGENDI_H
#include "conf/weir_opt.h"
#include "model/events.h"

typedef struct ps_elgendi_opts {
  double lo, hi;     /* Hz, band-pass                                               */
  int64_t order;     /* of its low-pass prototype                                   */
  double peak;       /* s, short average: width of the peak                         */
  double beat;       /* s, long average: length of the beat's wave                  */
  double offset;     /* of the mean energy, added to the long average               */
  double memory;     /* s over which the mean energy is taken                       */
  double refractory; /* s, no two peaks closer                                  */
} ps_elgendi_opts;

extern const weir_opt ps_elgendi_ecg_options[], ps_elgendi_ppg_options[];

/* The values of what is found. */
enum { PS_ELGENDI_RR, PS_ELGENDI_HEIGHT, PS_ELGENDI_VALUES };

/* Finds R waves (pulse false) or systolic peaks (true) of x, whose values that are not finite are
 * absent already. out: [PS_ELGENDI_VALUES]: s since the peak before, 0 for the first one and the
 * first after a gap; and the height of the peak: of x, or for R waves the magnitude of the lobe of
 * the filtered signal. An R wave is where the adaptive detector (detect.h) puts it: at the first of
 * the two neighbouring lobes that are the largest together, less the delay of the filter. Averages
 * are of the samples that are there, so that peaks are found up to a gap; one whose top is the
 * first or the last sample before or after a gap is none, for it may rise further in the gap. Of
 * the last half of `beat` before the end of the stream nothing is said. Fails: WEIR_ERR_CONFIG (a
 * band or windows that the rate does not carry), as ps_events_add. */
weir_status ps_elgendi_add(const weir_series_use *use, const ps_elgendi_opts *opts, bool pulse,
                           weir_series x, weir_series *out) WEIR_CHECKED;
#endif
