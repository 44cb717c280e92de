/* abp.h - arterial blood pressure that goes with the beats of the synthetic electrocardiogram: a
 * two-element Windkessel, C P' = Q(t) - P/R, driven by a half-sine-squared flow after each R wave,
 * with a reflected wave; and what spoils such a signal: gaps, the line being zeroed and flushed, a
 * clock of its own that drifts and jumps. Exact truth of each. */
#ifndef PS_ABP_H
#define PS_ABP_H
#include "data/ecgsyn.h"
#include "data/noise.h"

typedef struct ps_abp_opts {
  bool on;                               /* a second signal, ABP                               */
  double rate;                           /* samples per second, whole                          */
  double compliance, resistance, stroke; /* mL/mmHg, mmHg s/mL, mL                             */
  double transit, ejection;              /* s from R wave to onset; s of flow for an RR of 1 s */
  double wave, wave_delay, wave_width;   /* share of the pulse pressure; s after the peak; s   */
  double noise;                          /* mmHg, standard deviation of white noise            */
  bool common_gaps;                      /* gaps are those of the ECG, else of its own         */
  ps_gap_opts gaps;                      /* its own                                            */
  double zero_every, zero_min, zero_max; /* s: mean distance and length of line-zeroings     */
  double flush, flush_pressure;          /* s, mmHg: the square flush after one                */
  double drift;                          /* ppm that its clock runs slow                       */
  double step, step_every;               /* s: its clock jumps so far, on and back; how often  */
} ps_abp_opts;

extern const weir_opt ps_abp_options[];

/* One beat as it is in the artery, whatever the recording shows. */
typedef struct ps_abp_beat {
  /* s from sample 0 of the ECG: R wave; begin of ejection; lowest pressure, some 30 ms later; peak
   */
  double r, onset, foot, peak;
  double sbp, dbp, map; /* mmHg: at the peak, at the foot, mean to the next onset */
} ps_abp_beat;

/* Where an onset is in the recording. */
typedef struct ps_abp_onset {
  double sample; /* of the ABP, fractional      */
  double time;   /* s from sample 0 of the ECG */
} ps_abp_onset;

/* Something done to the signal: samples [lo, hi) of it. */
typedef struct ps_defect {
  const char *kind; /* gap, line_zero, flush, clock_step */
  int64_t lo, hi;
  double value; /* clock_step: s that the clock jumps on (or back, below 0) */
} ps_defect;

typedef struct ps_abp ps_abp;

/* Creates a generator at sample 0 for the beats of `ecg` (borrowed). ecg_gaps and ecg_rate: those
 * of the ECG, for common_gaps. Same options and seed: same bits, however the stream is divided into
 * chunks. Fails: WEIR_ERR_CONFIG (a rate that is not whole), WEIR_ERR_MEMORY. */
weir_status ps_abp_create(const ps_abp_opts *opts, const ps_ecgsyn *ecg,
                          const ps_gap_opts *ecg_gaps, double ecg_rate, uint64_t seed,
                          ps_abp **out) WEIR_CHECKED;
void ps_abp_destroy(ps_abp **gen);
/* Computes the next n samples, mmHg: x[n], 0 where present[n] is 0. Fails: WEIR_ERR_MEMORY. */
weir_status ps_abp_chunk(ps_abp *gen, int64_t n, float *x, uint8_t *present) WEIR_CHECKED;
/* Return the number of beats that ended, onsets that passed and defects that began in the last
 * chunk; *out: these, in order, borrowed until the next. */
int64_t ps_abp_beats(const ps_abp *gen, const ps_abp_beat **out);
int64_t ps_abp_onsets(const ps_abp *gen, const ps_abp_onset **out);
int64_t ps_abp_defects(const ps_abp *gen, const ps_defect **out);
#endif
