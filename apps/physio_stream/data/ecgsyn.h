/* ecgsyn.h - synthetic electrocardiogram with exact beat times: the dynamical model of McSharry,
 * Clifford, Tarassenko and Smith, IEEE Trans. Biomed. Eng. 50 (2003) 289-294 ("ECGSYN"). */
#ifndef PS_ECGSYN_H
#define PS_ECGSYN_H
#include "data/beat_clock.h"

/* The five waves; the value of ps_mark.wave. */
typedef enum ps_wave {
  PS_WAVE_P,
  PS_WAVE_Q,
  PS_WAVE_R,
  PS_WAVE_S,
  PS_WAVE_T,
  PS_WAVE_COUNT
} ps_wave;

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
/* Initialises a clock of the R waves of this generator, whose options it borrows. Fails: as
 * ps_beat_clock_init; ps_beat_clock_fini is then still due. */
weir_status ps_ecgsyn_beat_clock(const ps_ecgsyn *gen, ps_beat_clock *out) WEIR_CHECKED;
#endif
