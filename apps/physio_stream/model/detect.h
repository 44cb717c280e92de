/* detect.h - which bumps of the detector's front end (front.h) are heart beats, and where exactly
 * the R wave of each lies. Streaming; the state is one block of bytes without pointers. */
#ifndef PS_DETECT_H
#define PS_DETECT_H
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "conf/weir_opt.h"
#include "model/front.h"

typedef struct ps_detect_opts {
  ps_front_opts front;
  double refractory;           /* s, no two beats closer                                   */
  double learn;                /* s from which the first levels are taken                  */
  double learn_least;          /* s of signal below which a long gap does not end learning */
  double relearn_gap;          /* s, a longer gap makes the detector learn anew            */
  double lost;                 /* s without a beat after which it learns anew              */
  double lost_floor;           /* lowest signal level it may fall to then, of the old one  */
  double threshold;            /* of the way from noise to signal level: a sure beat       */
  double early;                /* added to it right after a beat, times noise over signal  */
  double early_max;            /* that noise above which no more is added                  */
  double early_until;          /* usual intervals after which nothing is added             */
  double template_penalty;     /* added to it for a shape unlike beats, times noise over signal */
  double template_penalty_max; /* that noise above which no more is added                  */
  double template_share;       /* share of an amplitude that is its projection on a beat   */
  double template_height;      /* in mean heights: a correlation falls with a height below */
  double template_weight;      /* weight of a new beat in the shape of its kind            */
  double template_min_correlation; /* correlation below which a beat begins another kind     */
  double searchback_threshold;     /* of that way: a beat where the rhythm misses one          */
  double searchback_penalty;       /* as template_penalty, there                        */
  double searchback_penalty_max;   /* as template_penalty_max, there                    */
  double searchback_rr_factor;     /* interval, in usual ones, that misses a beat              */
  double wait;                     /* s, longest wait for the next sure beat before searching  */
  double decide;                   /* s from a beat within which it is decided, whatever comes */
  bool at_once;                    /* sure beats alone, each as soon as it is known            */
  double away;                     /* of a usual interval that a searched beat keeps away      */
  double around;                   /* s on either side of a candidate where its R wave lies    */
  double t_wave;                   /* s after a beat where a T wave may lie                    */
  double t_wave_ratio;             /* smaller than this, of the beat before: a T wave          */
  double sharp_ratio;              /* less sharp than this, of the beat before: a T wave too */
  double t_wave_smooth; /* sharpness of a T wave, over the feature's mean difference    */
  double hidden_dip;    /* dip of the feature after a wave that a T wave hides          */
  double sharp_step;    /* s, step of the second difference that measures it */
  double noise_ratio;   /* bumps of noise, in lowest values between them            */
  double noise_weight;  /* weight of a new value in the noise level                 */
  double noise_max;     /* of the signal level: noise that thresholds begin from    */
  double level_rank;    /* quantile of the last amplitudes that is the signal level */
  double learn_rank;    /* quantile of the largest candidates of each second that sets the level */
  double interval_rank; /* quantile of the last intervals that is the usual one     */
  double floor;         /* lowest signal level at all, in units of the feature root */
  double refine;        /* s on either side of an R wave's top that a parabola is fitted to */
} ps_detect_opts;

/* Units per sample of the fraction of a sample by which an R wave lies beyond its sample. */
#define PS_DETECT_PER_SAMPLE 65536

extern const weir_opt ps_detect_options[];

/* Returns the bytes of the state, fixed by options and rate; 0 when ps_detect_init would refuse
 * them. */
size_t ps_detect_state_bytes(const ps_detect_opts *opts, double rate);
/* Makes `state` (of at least ps_detect_state_bytes, aligned to 8) a detector before sample 0.
 * Fails: WEIR_ERR_CONFIG (rate or front end impossible), WEIR_ERR_SHAPE (too few bytes). */
weir_status ps_detect_init(const ps_detect_opts *opts, double rate, void *state,
                           size_t bytes) WEIR_CHECKED;

/* Features of slots [t0, t0 + n): filtered[n], feature[n] (front.h), present[n] 0 or 1, or NULL for
 * all present. t0 >= 0 is at or after the end of the previous call; slots between are absent, as
 * are values that are not finite. Writes to beats[capacity] the beats that became final, sample
 * numbers of the INPUT's time axis, strictly ascending over all calls, and to fractions[capacity]
 * how far beyond (or, negative, before) that sample each lies, by the parabola of `refine`;
 * fractions may be NULL. Samples do not depend on `refine`. capacity is at least
 * ps_detect_capacity(state, n). The beats of a stream do not depend on how it is divided, nor on
 * whether absent slots are passed or left out. */
void ps_detect_chunk(void *state, const float *filtered, const float *feature,
                     const uint8_t *present, int64_t t0, int64_t n, int64_t *beats,
                     int64_t *fractions, int64_t capacity, int64_t *n_beats);
/* Ends the stream: writes the beats still pending. The state then learns anew. Capacity as for an
 * empty chunk. */
void ps_detect_flush(void *state, int64_t *beats, int64_t *fractions, int64_t capacity,
                     int64_t *n_beats);

/* Returns the maximum number of beats that a call with n slots (or a flush, n = 0) can write. */
int64_t ps_detect_capacity(const void *state, int64_t n);
/* Returns the latency: a beat at sample t has been written when all slots up to t + latency were
 * passed, absent ones included, whatever they hold. */
int64_t ps_detect_latency(const void *state);
#endif
