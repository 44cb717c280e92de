/* onsets.h - where the pulses of an arterial pressure begin, by the slope sum function of Zong,
 * Heldt, Moody and Mark (Computers in Cardiology 30 (2003) 259-262; wabp of WFDB). Streaming; the
 * state is one block of bytes without pointers. */
#ifndef PS_ONSETS_H
#define PS_ONSETS_H
#include <stddef.h>
#include <stdint.h>
#include "conf/weir_opt.h"

typedef struct ps_onset_opts {
  double window;      /* s, length of the slope sum                                     */
  double learn;       /* s from which the first threshold is taken                      */
  double eye_closing; /* s after a pulse in which no other begins                       */
  double rise;        /* mmHg that the slope sum must rise by                           */
  double steep;       /* mmHg/s, speed of the slope sum above which the upstroke has begun */
  double quiet;       /* s without a pulse after which the threshold sinks              */
  double sink;        /* mmHg/s by which it does                                        */
  double floor;       /* mmHg, lowest value of what the threshold is a third of         */
  double relearn_gap; /* s, a longer gap makes it learn anew                            */
} ps_onset_opts;

extern const weir_opt ps_onset_options[];

/* The options in slots of one rate. */
typedef struct ps_onset_params {
  double rise, floor, sink; /* mmHg, mmHg, mmHg per slot */
  double steep, share;      /* mmHg, and share of the largest slope sum, in `step` slots */
  int64_t window, learn, eye, half_eye, quiet, step, relearn_gap;
  int64_t delay; /* an onset at slot t is known when slot t + delay has been passed */
  int64_t ring;  /* slots remembered, a power of two                                */
} ps_onset_params;

/* Designs the search. memory: slots that ps_onset_value must reach back. Fails: WEIR_ERR_CONFIG (a
 * rate that does not resolve a pulse, or lengths beyond 2^24 slots). */
weir_status ps_onset_design(const ps_onset_opts *opts, double rate, int64_t memory,
                            ps_onset_params *out) WEIR_CHECKED;

/* Head of the state; the rings follow. */
typedef struct ps_onset_state {
  int64_t next;   /* slots before it have been passed  */
  int64_t scan;   /* next slot that is tested          */
  int64_t origin; /* start of learning, -1 before it   */
  int64_t absent; /* slots absent in a row before next */
  int64_t quiet;  /* slots tested since the last pulse */
  int64_t learning;
  double amplitude, threshold; /* Ta and T1 */
} ps_onset_state;

size_t ps_onset_bytes(const ps_onset_params *p);
/* Starts a zeroed state before slot 0. */
void ps_onset_start(ps_onset_state *s);
/* Takes slot s->next: pressure and slope sum (both finite) or, present 0, a gap. */
void ps_onset_feed(const ps_onset_params *p, ps_onset_state *s, float pressure, float slope_sum,
                   int present);
/* Tests what can be tested, at the stream's end (`ended`) all there is, up to the next pulse: 1 and
 * its onset. 0: nothing more before the next slot. */
int ps_onset_find(const ps_onset_params *p, ps_onset_state *s, int ended, int64_t *onset);
/* Leaves out absent slots up to t; at least p->ring absent ones have been passed. */
void ps_onset_skip(const ps_onset_params *p, ps_onset_state *s, int64_t t);
/* Returns whether slot t, one of the last p->ring, is present; and its pressure. */
int ps_onset_present(const ps_onset_params *p, const ps_onset_state *s, int64_t t);
float ps_onset_value(const ps_onset_params *p, const ps_onset_state *s, int64_t t);
#endif
