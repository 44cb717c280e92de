/* ecgsyn.h - synthetic electrocardiogram with exact beat times: the dynamical model of McSharry,
 * Clifford, Tarassenko and Smith, IEEE Trans. Biomed. Eng. 50 (2003) 289-294 ("ECGSYN"). */
#ifndef PS_ECGSYN_H
#define PS_ECGSYN_H
#include <stdint.h>
#include "base/weir_status.h"
#include "conf/weir_opt.h"

/* The five waves; the value of ps_mark.wave. */
typedef enum ps_wave {
  PS_WAVE_P,
  PS_WAVE_Q,
  PS_WAVE_R,
  PS_WAVE_S,
  PS_WAVE_T,
  PS_WAVE_COUNT
} ps_wave;

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

/* The exact time at which the cycle passes a wave's angle. */
typedef struct ps_mark {
  double sample; /* in samples of the output, fractional */
  ps_wave wave;
} ps_mark;

/* Generator state; memory does not depend on the length of the signal. */
typedef struct ps_ecgsyn ps_ecgsyn;

/* Creates a generator at sample 0. Same options and seed: same bits, however the stream is divided
 * into chunks. Fails: WEIR_ERR_CONFIG (low not below high, no beats within the calibration),
 * WEIR_ERR_MEMORY. */
weir_status ps_ecgsyn_create(const ps_ecgsyn_opts *opts, uint64_t seed,
                             ps_ecgsyn **out) WEIR_CHECKED;
void ps_ecgsyn_destroy(ps_ecgsyn **gen);

/* Computes the next n samples, ecg[n] in mV, and the marks in that stretch in order of time; marks
 * has capacity for ps_ecgsyn_capacity(gen, n). */
void ps_ecgsyn_chunk(ps_ecgsyn *gen, int64_t n, float *ecg, ps_mark *marks, int64_t *n_marks);
/* Returns the maximum number of marks in n samples. */
int64_t ps_ecgsyn_capacity(const ps_ecgsyn *gen, int64_t n);
/* Returns the variance of the noise-free signal over the calibration stretch, mV^2: what an SNR
 * refers to. */
double ps_ecgsyn_variance(const ps_ecgsyn *gen);
#endif
