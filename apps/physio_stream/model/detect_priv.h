/* detect_priv.h - the state of the beat detector: one block, no pointers. */
#ifndef PS_DETECT_PRIV_H
#define PS_DETECT_PRIV_H
#include "model/detect.h"

/* Amplitudes and intervals remembered (Pan and Tompkins 1985: eight). */
#define PS_DETECT_MEMORY 8
/* Shapes: slopes at points 10 ms apart. A beat is PS_DETECT_BEAT of them, about as long as a wide
 * QRS complex; a candidate has those of all shifts by up to PS_DETECT_SHIFT. */
#define PS_DETECT_POINT 0.01
#define PS_DETECT_BEAT 18
#define PS_DETECT_SHIFT 8
#define PS_DETECT_SHAPE (PS_DETECT_BEAT + 2 * PS_DETECT_SHIFT)
/* Kinds of beats whose shapes are learnt: normal, ectopic, and one that noise may take. */
#define PS_DETECT_KINDS 3

/* A bump of the feature that is the largest within the refractory time around it. */
typedef struct ps_candidate {
  int64_t at;        /* sample of the input: its R wave                 */
  int32_t fraction;  /* by which it lies beyond that, in 1 / PS_DETECT_PER_SAMPLE */
  float height;      /* square root of the feature                      */
  float amp;         /* the same, lowered where its shape is not that of a beat */
  float correlation; /* of its shape with a mean beat, 0 to 1 */
  float likeness;    /* the same, less where it is much lower than beats of that kind */
  float sharp;       /* largest second difference of the filtered signal */
  float low;         /* root of the lowest feature since the candidate before, -1: unknown */
  int32_t breaks;    /* 1: a gap without rhythm lies just before it     */
  float shape[PS_DETECT_SHAPE]; /* slopes of the filtered signal around it */
} ps_candidate;

/* Beats of one kind: running means. */
typedef struct ps_beat_kind {
  int64_t n;                   /* beats so far                       */
  double size;                 /* of projections on it, over heights */
  double height;               /* of heights */
  float shape[PS_DETECT_BEAT]; /* of shapes of unit energy           */
  double norm;                 /* of that mean                       */
} ps_beat_kind;

/* Where a call's beats go. */
typedef struct ps_beat_out {
  int64_t *beats, *fractions; /* fractions: or NULL */
  int64_t n, capacity;
} ps_beat_out;

typedef struct ps_detector {
  ps_detect_opts opts;
  double rate;
  /* lengths in samples */
  int64_t refractory, t_wave, learn, learn_least, lost, wait, relearn_gap, decide;
  int64_t half_window, feature_delay, sharp_step, refine, shape_reach;
  int64_t point_half;                 /* on either side of a shape's point */
  int32_t point[PS_DETECT_SHAPE + 1]; /* points between its slopes, from its middle */
  double filtered_delay;
  double root_window; /* of samples of the moving sum */
  /* scan: the largest value of the feature so far, until it is `refractory` old */
  int64_t next;    /* slot after the last present one; -1 before the first */
  int64_t segment; /* first slot of the present stretch                    */
  int64_t peak_at;
  float peak, valley; /* valley: lowest value since the last candidate        */
  float low_before;   /* lowest from the candidate before to the peak, -1: none known */
  float low_after;    /* lowest since the peak                                */
  int32_t hides;      /* whether a bump lies before the peak, with a dip in between */
  int64_t hidden_at;
  float hidden, low_before_hidden, low_after_hidden; /* as peak and low_before; lowest after it */
  int32_t rising; /* whether a peak is being followed                     */
  int32_t breaks; /* the next candidate follows a gap                     */
  /* decision */
  int32_t learning;
  int32_t muted;    /* what is accepted is too old to be written (at_once)  */
  int32_t has_beat; /* whether `beat` belongs to the present rhythm         */
  int64_t heard;    /* present samples of the segments before this one, since learning began */
  int64_t origin;   /* start of learning                                    */
  int64_t anchor;   /* last beat, or where the rhythm or the last search began */
  int64_t emitted;  /* last beat written                                    */
  ps_candidate beat;
  double noise, level, interval; /* interval in samples */
  ps_beat_kind kinds[PS_DETECT_KINDS];
  double amps[PS_DETECT_MEMORY], intervals[PS_DETECT_MEMORY];
  int32_t amp_at, interval_at;
  /* what follows the struct: candidates since the last beat, then twice the last filtered values */
  int64_t n_pending, pending_capacity, ring;
} ps_detector;

/* Returns the candidate whose feature has its peak at slot `peak_at`, and `low` as its lowest value
 * since the candidate before; filtered values up to that long before it are still there. */
ps_candidate ps_candidate_at(ps_detector *d, int64_t peak_at, float peak, float low);
/* Sets amplitude and likeness of a candidate from the kinds of beats: all and 1 before the first.
 */
void ps_shape_weigh(const ps_detector *d, ps_candidate *c);
/* Learns the shape of a beat. */
void ps_shape_learn(ps_detector *d, const ps_candidate *c);
/* Whether c may be the T wave of the candidate `before`: smooth, and much less sharp. */
int ps_decide_t_wave(const ps_detector *d, const ps_candidate *before, const ps_candidate *c);
/* Takes a candidate, in order of time. May write beats. */
void ps_decide_feed(ps_detector *d, ps_candidate c, ps_beat_out *out);
/* Decides what is pending for longer than it may be, once all samples before slot `now` have been
 * taken.
 */
void ps_decide_due(ps_detector *d, int64_t now, ps_beat_out *out);
/* Returns the slot before which a pending candidate must be decided, beyond all slots without one.
 */
int64_t ps_decide_deadline(const ps_detector *d);
/* Decides all pending candidates, then forgets rhythm and levels. */
void ps_decide_finish(ps_detector *d, ps_beat_out *out);
/* Returns the pending candidates: n_pending of pending_capacity. */
ps_candidate *ps_detect_pending(const ps_detector *d);
/* Returns the filtered values from slot t on, one of the last `ring` slots: those up to the last
 * one lie side by side. */
const float *ps_detect_filtered(const ps_detector *d, int64_t t);
#endif
