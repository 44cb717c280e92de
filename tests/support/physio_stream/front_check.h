/* front_check.h - the plain streaming form of front.h, the oracle of its graph. Tests only. */
#ifndef PS_FRONT_CHECK_H
#define PS_FRONT_CHECK_H
#include <math.h>
#include <string.h>
#include "model/front.h"

/* State of the plain form. */
typedef struct ps_front_state {
  double z[2 * WEIR_DESIGN_MAX_SECTIONS];
  float past[PS_FRONT_TAPS - 1];     /* filtered, newest first */
  float square[PS_FRONT_MAX_WINDOW]; /* ring of slope^2        */
  int64_t at;                        /* next slot of the ring */
  int started;
} ps_front_state;

/* Steady state on the value x, slope and sum on zeros. */
static inline void front_start(const ps_front *front, ps_front_state *s, double x)
{
  memset(s->past, 0, sizeof s->past);
  memset(s->square, 0, (size_t)front->window * sizeof *s->square);
  s->at = 0;
  for (int k = 0; k < 2 * front->sections; k++) {
    s->z[k] = front->steady[k] * x;
  }
  s->started = 1;
}

/* Sum of `width` squares (a power of 2) of which the newest is `back` samples old: halves first,
 * the order of additions of a window that is made by doubling. */
static inline float front_power(const ps_front *front, const ps_front_state *s, int64_t back,
                                int64_t width)
{
  if (width == 1) {
    return s->square[(s->at - 1 - back + 2 * front->window) % front->window];
  }
  return front_power(front, s, back, width / 2) +
         front_power(front, s, back + width / 2, width / 2);
}

static inline float front_window_sum(const ps_front *front, const ps_front_state *s)
{
  float sum = 0.0f;
  int64_t back = 0;

  for (int64_t width = 1; width <= front->window; width *= 2) {
    if (front->window & width) {
      sum += front_power(front, s, back, width);
      back += width;
    }
  }
  return sum;
}

/* The plain form over n samples: x[n] mV, present[n] or NULL for all; outputs filtered[n] and
 * feature[n], 0 where absent. `state` is all zero before the first sample. Sums run over the ring
 * afresh each sample: slow and without drift. */
static inline void ps_front_run(const ps_front *front, ps_front_state *state, int64_t n,
                                const float *x, const uint8_t *present, float *filtered,
                                float *feature)
{
  for (int64_t i = 0; i < n; i++) {
    if ((present && !present[i]) || isnan(x[i])) {
      filtered[i] = feature[i] = 0.0f;
      state->started = 0;
      continue;
    }
    if (!state->started) {
      front_start(front, state, (double)x[i]);
    }
    filtered[i] = (float)ps_front_filter(front, state->z, (double)x[i]);
    float slope = (float)ps_front_slope[0] * filtered[i];

    for (int k = 1; k < PS_FRONT_TAPS; k++) {
      slope += (float)ps_front_slope[k] * state->past[k - 1];
    }
    memmove(state->past + 1, state->past, sizeof state->past - sizeof *state->past);
    state->past[0] = filtered[i];
    state->square[state->at] = slope * slope;
    state->at = (state->at + 1) % front->window;
    feature[i] = front_window_sum(front, state);
  }
}
#endif
