/* ecgsyn_options.h - options of the synthetic electrocardiogram (ecgsyn.h). */
#ifndef PS_ECGSYN_OPTIONS_H
#define PS_ECGSYN_OPTIONS_H
#include <stdint.h>
#include "conf/weir_opt.h"

/* One attractor of the model: where on the cycle, how strong, how wide. */
typedef struct ps_wave_opts {
  double angle;    /* degrees from the R wave */
  double strength; /* a of the paper          */
  double width;    /* b of the paper, rad     */
} ps_wave_opts;

typedef struct ps_ecgsyn_opts {
  double rate;                /* samples per second of the output            */
  int64_t oversample;         /* integration steps per output sample         */
  double heart_rate;          /* 1/min, mean                                 */
  double heart_rate_std;      /* 1/min                                       */
  double irregular;           /* of the mean interval, std from beat to beat */
  double lf, lf_std;          /* Hz, low-frequency peak of the RR spectrum   */
  double hf, hf_std;          /* Hz, respiratory peak                        */
  double lf_hf;               /* power of the first relative to the second   */
  double wander, wander_rate; /* amplitude (model units), Hz of z0(t)        */
  double low, high;           /* mV that the extremes are scaled to          */
  double calibration;         /* s of signal whose extremes set that scale   */
  int64_t lead_beats;         /* beats run before the first sample           */
  int64_t rr_points;          /* seconds of one block of the RR process      */
  ps_wave_opts p, q, r, s, t;
} ps_ecgsyn_opts;

/* Option rows of ps_ecgsyn_opts. */
extern const weir_opt ps_ecgsyn_options[];
#endif
