/* front_check.h - the plain streaming form of front.h, the oracle of its graph. Tests only. */
#ifndef PS_FRONT_CHECK_H
#define PS_FRONT_CHECK_H
#include <math.h>
#include <string.h>
#include "model/front.h"

/* The last values of a signal, 0 before it started. */
typedef struct front_ring {
  float value[2 * PS_FRONT_MAX_WINDOW + 1];
  int64_t at; /* next slot */
} front_ring;

/* State of the plain form. */
typedef struct ps_front_state {
  double z[2 * WEIR_DESIGN_MAX_SECTIONS];
  front_ring filtered, once, twice, energy;
  int started;
} ps_front_state;

static inline void front_push(front_ring *r, float value)
{
  r->value[r->at] = value;
  r->at = (r->at + 1) % (2 * PS_FRONT_MAX_WINDOW + 1);
}

/* The value `back` samples before the newest. */
static inline float front_past(const front_ring *r, int64_t back)
{
  const int64_t n = 2 * PS_FRONT_MAX_WINDOW + 1;

  return r->value[(r->at - 1 - back + 2 * n) % n];
}

/* Steady state on the value x, differences and sums on zeros. */
static inline void front_start(const ps_front *front, ps_front_state *s, double x)
{
  memset(&s->filtered, 0, sizeof s->filtered);
  memset(&s->once, 0, sizeof s->once);
  memset(&s->twice, 0, sizeof s->twice);
  memset(&s->energy, 0, sizeof s->energy);
  for (int k = 0; k < 2 * front->sections; k++) {
    s->z[k] = front->steady[k] * x;
  }
  s->started = 1;
}

/* Sum of `width` values (a power of 2) of which the newest is `back` samples old: halves first,
 * the order of additions of a window that is made by doubling. */
static inline float front_power(const front_ring *r, int64_t back, int64_t width)
{
  if (width == 1) {
    return front_past(r, back);
  }
  return front_power(r, back, width / 2) + front_power(r, back + width / 2, width / 2);
}

/* Sum of the last n values. */
static inline float front_sum(const front_ring *r, int64_t n)
{
  float sum = 0.0f;
  int64_t back = 0;

  for (int64_t width = 1; width <= n; width *= 2) {
    if (n & width) {
      sum = back == 0 ? front_power(r, back, width) : sum + front_power(r, back, width);
      back += width;
    }
  }
  return sum;
}

/* The plain form over n samples: x[n] mV, present[n] or NULL for all; outputs filtered[n] and
 * feature[n], 0 where absent. `state` is all zero before the first sample. Sums run over the rings
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
    front_push(&state->filtered, filtered[i]);
    front_push(&state->once, front_sum(&state->filtered, front->smooth));
    front_push(&state->twice, front_sum(&state->once, front->smooth));
    const float ends = front_past(&state->twice, 0) + front_past(&state->twice, 2 * front->step);
    const float bend =
        (float)front->bend_scale * (ends - 2.0f * front_past(&state->twice, front->step));

    front_push(&state->energy, bend * bend);
    feature[i] = front_sum(&state->energy, front->window);
  }
}
#endif
