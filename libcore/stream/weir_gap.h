/* weir_gap.h - gaps of a stream: runs of present and of absent slots, and filling of short gaps.
 *
 * A gap is the absent slots between a present slot s and the next present slot e. It is short when
 * e - s is at most the tolerance, in slots (LifeStream's ConsecutivePairs and AlterEventDuration,
 * Jayarajan et al., ASPLOS 2021): tolerances 0 and 1 fill nothing. What is absent before the first
 * sample and after the last is
 * not a gap and is never filled, and results do not depend on chunking. Look-back and look-ahead
 * are tolerance - 1 slots. */
#ifndef WEIR_GAP_H
#define WEIR_GAP_H
#include <string.h>
#include "ops/call/weir_call.h"
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_GAP_MAX (1 << 24) /* maximum slots of a tolerance, a window or a duration */

/* Returns the slots of `s` within `seconds`: a tolerance. Fails: WEIR_ERR_CONFIG, naming the
 * option, beyond WEIR_GAP_MAX. */
weir_status weir_gap_slots(const weir_series *s, const char *option, double seconds,
                           int64_t *slots) WEIR_CHECKED;

/* Filling rule of a short gap. */
typedef enum weir_gap_fill {
  WEIR_GAP_CONST, /* a constant value */
  WEIR_GAP_HOLD,  /* the sample before the gap */
  WEIR_GAP_LINE   /* linear interpolation between the samples around the gap */
} weir_gap_fill;

/* Fills the short gaps of `s`; value: CONST only. */
weir_series weir_gap_filled(weir_graph *g, weir_series s, weir_gap_fill how, int64_t tolerance,
                            double value);

/* Holds every sample of `s` for `slots` slots, its own included, or until the next sample: causal.
 */
weir_series weir_gap_hold(weir_graph *g, weir_series s, int64_t slots);

/* For functions of calls: iterates over the slots of a call in runs of equal presence. */
typedef struct weir_gap_walk {
  const uint8_t *slot;           /* of slot `origin` */
  int64_t origin, at, hi;        /* the next run begins at `at`; the call ends at hi */
  int64_t access_lo, access_hi;  /* accessible slots: [access_lo, access_hi) */
  int64_t lo, end, before, next; /* the run [lo, end), its neighbours of a gap or -1 */
  bool present;
} weir_gap_walk;

/* Starts on input `k` (bool, [time], at the rate of the call). */
weir_gap_walk weir_gap_start(const weir_op_run *run, int k);
/* Advances to the next run; false at the end. Of an absent run, `before` and `next` are the present
 * slots around it, which may be outside the call, within its `behind` and `ahead` slots. */
bool weir_gap_next(weir_gap_walk *w);
/* Returns the first slot of [at, hi) whose presence is `present`, or hi. */
int64_t weir_gap_find(const weir_gap_walk *w, int64_t at, int64_t hi, bool present);
/* Counts the set ones of n flags, each 0 or 1. */
int64_t weir_gap_count(const uint8_t *present, int64_t n);
/* Returns the address of a slot of a [time] view. */
static inline float *weir_gap_value(const weir_view *v, int64_t slot)
{
  return (float *)v->data + (slot - v->origin[0]);
}
static inline uint8_t *weir_gap_flag(const weir_view *v, int64_t slot)
{
  return (uint8_t *)v->data + (slot - v->origin[0]);
}
/* Copies n values, in pieces: for long copies some machines choose a memcpy instruction that is
 * several times slower where source and destination are not aligned alike. */
static inline void weir_gap_copy(float *y, const float *x, int64_t n)
{
  enum { PIECE = 512 };

  for (; n > PIECE; n -= PIECE, x += PIECE, y += PIECE) {
    memcpy(y, x, PIECE * sizeof *y);
  }
  memcpy(y, x, (size_t)n * sizeof *y);
}
/* Returns the spec of a call with a f32 and a bool output stream, both [time], and inputs x and
 * present. */
weir_call_spec weir_gap_call(const char *name, weir_call_function function);
/* The stream that such a call makes. s.rate and unit are kept. */
weir_series weir_gap_made(weir_graph *g, const weir_call_spec *spec, weir_series s,
                          const weir_value *in, int n_in);

#ifdef __cplusplus
}
#endif
#endif
