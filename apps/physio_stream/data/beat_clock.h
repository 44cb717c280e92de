/* beat_clock.h - the R waves of a synthetic electrocardiogram, ahead of its samples. */
#ifndef PS_BEAT_CLOCK_H
#define PS_BEAT_CLOCK_H
#include "data/rr_process.h"

typedef struct ps_beat_clock {
  ps_rr_process rr;
  double lead; /* s from the first R wave to sample 0 */
  double beat; /* s from the first R wave to the next */
} ps_beat_clock;

/* Initialises the clock; `opts` is borrowed, `lead` as above. Fails: WEIR_ERR_MEMORY; fini is then
 * still due. */
weir_status ps_beat_clock_init(const ps_ecgsyn_opts *opts, uint64_t seed, double lead,
                               ps_beat_clock *out) WEIR_CHECKED;
void ps_beat_clock_fini(ps_beat_clock *c);
/* Returns the time of the next R wave, s from sample 0; the first ones are before it. */
double ps_beat_clock_next(ps_beat_clock *c);
#endif
