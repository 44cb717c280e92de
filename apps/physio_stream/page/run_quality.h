/* run_quality.h - where a run's signal is missing or flat, and where no beat was found, over time.
 */
#ifndef PS_RUN_QUALITY_H
#define PS_RUN_QUALITY_H
#include "data/input.h"
#include "page/timeline.h"

/* s of one value that make a signal flat, and between beats that make a pause. */
#define PS_QUALITY_FLAT 0.5
#define PS_QUALITY_PAUSE 2.0

enum { PS_QUALITY_MISSING, PS_QUALITY_SAME, PS_QUALITY_NO_BEAT, PS_QUALITY_ROWS };

/* Slots and beats may come at the same time from two threads: each has its own fields. */
typedef struct ps_quality {
  ps_timeline line; /* row PS_QUALITY_MISSING counts present slots until the end */
  int64_t next;     /* slots before it have been taken                           */
  int64_t from;     /* the run of one value that goes on, -1 for none            */
  float value;
  ps_timeline pauses; /* between beats; a row of `line` in the end */
  int64_t last_beat;  /* 0 before the first                        */
} ps_quality;

/* Initialises the measures. Fails: WEIR_ERR_MEMORY. */
weir_status ps_quality_init(const ps_input_info *facts, ps_quality *q) WEIR_CHECKED;
void ps_quality_fini(ps_quality *q);
/* Takes the slots [lo, hi); those that were taken before count once, those left out are missing. */
void ps_quality_take(ps_quality *q, int64_t lo, int64_t hi, const float *x, const uint8_t *present);
/* Takes the next beat. */
void ps_quality_beat(ps_quality *q, int64_t sample);
/* Ends the signal after so many slots. */
void ps_quality_end(ps_quality *q, int64_t slots);
/* Writes heading, counts of windows and figure `quality`. Fails: as ps_timeline_figure. */
weir_status ps_quality_page(const ps_quality *q, weir_report *r) WEIR_CHECKED;
#endif
