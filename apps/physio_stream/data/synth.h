/* synth.h - the built-in recording: ECGSYN with the noise and the gaps that the options ask for. */
#ifndef PS_SYNTH_H
#define PS_SYNTH_H
#include "data/abp.h"
#include "data/ecgsyn.h"
#include "data/noise.h"

typedef struct ps_synth_opts {
  double duration; /* s */
  ps_ecgsyn_opts model;
  ps_noise_opts noise;
  ps_gap_opts gaps;
  ps_gap_opts saturation; /* where the amplifier is at its rail */
  double rail;            /* mV                                */
  ps_abp_opts abp;
} ps_synth_opts;

extern const weir_opt ps_synth_options[];

/* Name of the recording, and of the files made of it. */
#define PS_SYNTH_NAME "ecgsyn"

typedef struct ps_synth ps_synth;

/* Creates the recording before sample 0. Same options and seed: same bits, however it is divided
 * into chunks. Fails: as ps_ecgsyn_create and ps_noise_create; WEIR_ERR_CONFIG for a rate that is
 * no fraction with a denominator up to 10^6, or a duration of over 2^53 samples. */
weir_status ps_synth_create(const ps_synth_opts *opts, uint64_t seed, ps_synth **out) WEIR_CHECKED;
void ps_synth_destroy(ps_synth **s);

/* Get the samples per second, reduced, and the number of all samples. */
void ps_synth_rate(const ps_synth *s, int64_t *fs_num, int64_t *fs_den);
int64_t ps_synth_count(const ps_synth *s);
/* Computes the next n samples: x[n] in mV, 0 where present[n] is 0. marks (capacity
 * ps_synth_marks(s, n)) and *n_marks receive the waves of the stretch, also those in gaps; marks
 * may be NULL. */
void ps_synth_chunk(ps_synth *s, int64_t n, float *x, uint8_t *present, ps_mark *marks,
                    int64_t *n_marks);
/* Returns the maximum number of marks in n samples. */
int64_t ps_synth_marks(const ps_synth *s, int64_t n);
/* Returns the model of its ECG, and what noise.h knows the gaps and saturations by. */
const ps_ecgsyn *ps_synth_ecg(const ps_synth *s);
enum { PS_CHANNEL_ECG = 0, PS_CHANNEL_ABP = 1, PS_CHANNEL_SATURATION = 2 };
/* Finds the present stretch [*lo, *hi) that holds t or follows it, *lo == *hi == count when there
 * is none. Calls ascend in t. */
void ps_synth_next_run(ps_synth *s, int64_t t, int64_t *lo, int64_t *hi);
#endif
