/* noise.h - what spoils a recording: noise at a chosen ratio, mains, wandering baseline, gaps. All
 * random numbers are keyed by (seed, purpose, index): the same bits however the stream is divided
 * into chunks. */
#ifndef PS_NOISE_H
#define PS_NOISE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "conf/weir_opt.h"

typedef struct ps_noise_opts {
  bool white;                  /* add white noise                                   */
  double white_snr;            /* dB: 10 log10(variance of signal / of noise)       */
  bool emg;                    /* add band-limited noise, as muscles make it        */
  double emg_snr;              /* dB                                                */
  double emg_lo, emg_hi;       /* Hz                                                */
  int64_t emg_order;           /* of the Butterworth band-pass that shapes it       */
  double mains;                /* amplitude, mV; 0 for none                         */
  double mains_frequency;      /* Hz                                                */
  double wander;               /* root mean square of the baseline, mV; 0 for none  */
  double wander_lo, wander_hi; /* Hz                                           */
  int64_t wander_lines;        /* sinusoids that make the baseline                  */
} ps_noise_opts;

extern const weir_opt ps_noise_options[];

typedef struct ps_noise ps_noise;

/* Creates noise for a signal of `variance` (mV^2, noise-free) at `rate` samples per second, from
 * sample 0. Fails: WEIR_ERR_CONFIG (band not below rate/2), WEIR_ERR_MEMORY. */
weir_status ps_noise_create(const ps_noise_opts *opts, uint64_t seed, double rate, double variance,
                            ps_noise **out) WEIR_CHECKED;
void ps_noise_destroy(ps_noise **noise);
/* Adds the noise of the next n samples to x[n], mV. */
void ps_noise_add(ps_noise *noise, int64_t n, float *x);

typedef struct ps_gap_opts {
  double missing; /* fraction of time without signal */
  double mean;    /* s, mean length of a gap         */
} ps_gap_opts;

extern const weir_opt ps_gap_options[];

/* Alternating present and missing stretches with exponential lengths; starts present. */
typedef struct ps_gaps {
  double mean_up, mean_down; /* samples; mean_up is infinite without gaps */
  uint64_t seed;
  uint32_t channel;
  uint64_t drawn;     /* lengths drawn so far               */
  int64_t begin, end; /* the present stretch that is current */
} ps_gaps;

/* Channels of one number have the same gaps for one seed, others independent ones. */
void ps_gaps_init(const ps_gap_opts *opts, uint64_t seed, uint32_t channel, double rate,
                  ps_gaps *gaps);
/* Finds the present stretch [*begin, *end) of samples that holds t or, in a gap, follows it. Calls
 * ascend in t. */
void ps_gaps_at(ps_gaps *gaps, int64_t t, int64_t *begin, int64_t *end);
/* Fills present[n] of samples t0.. : 1 where there is signal. Calls ascend in t0. */
void ps_gaps_fill(ps_gaps *gaps, int64_t t0, int64_t n, uint8_t *present);
#endif
