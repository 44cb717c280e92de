/* front.h - the filter chain ahead of the beat detector, as numbers: what a graph must compute.
 *
 *   filtered = band-pass(x)                          cascade of sections, state in double
 *   sum      = sum of the last `smooth` sums of the last `smooth` values of filtered
 *   bend     = bend_scale (sum[t] - 2 sum[t - step] + sum[t - 2 step])
 *   feature  = sum of bend^2 over the last `window` samples
 *
 * Everything is causal. A missing sample makes all outputs at its time absent; the sample after a
 * gap starts the filter in steady state on its value, and differences and sums on zeros. */
#ifndef PS_FRONT_H
#define PS_FRONT_H
#include <stdint.h>
#include "base/weir_status.h"
#include "conf/weir_opt.h"
#include "stream/design/weir_design.h"

typedef struct ps_front_opts {
  double lo, hi; /* Hz, -3 dB edges of the band-pass */
  int64_t order; /* of its low-pass prototype        */
  double smooth; /* s, each of the two moving means  */
  double step;   /* s, of the second difference      */
  double window; /* s, moving sum                    */
  double qrs;    /* s, width of the R wave that sets the delay */
} ps_front_opts;

extern const weir_opt ps_front_options[];

typedef struct ps_front {
  weir_sos sos[WEIR_DESIGN_MAX_SECTIONS];
  double steady[2 * WEIR_DESIGN_MAX_SECTIONS]; /* states for a constant input of 1 */
  int sections;
  int64_t smooth, step, window; /* samples                                       */
  double bend_scale;            /* of the second difference of the sums                 */
  double filtered_delay;        /* samples from an R wave to its first large lobe in `filtered` */
  double feature_delay;         /* samples from filtered to feature                      */
} ps_front;

/* Returns the output of the cascade of sections for one sample; z: their states. */
static inline double ps_front_filter(const ps_front *front, double *z, double x)
{
  for (int k = 0; k < front->sections; k++, z += 2) {
    const weir_sos *s = &front->sos[k];
    const double y = s->b0 * x + z[0];

    z[0] = s->b1 * x - s->a1 * y + z[1];
    z[1] = s->b2 * x - s->a2 * y;
    x = y;
  }
  return x;
}

/* Checks the options. Fails: WEIR_ERR_CONFIG (edges of the band in the wrong order). */
weir_status ps_front_check(const ps_front_opts *opts) WEIR_CHECKED;
/* Designs the chain for one sampling rate. Fails: WEIR_ERR_CONFIG (band not below rate/2; smooth,
 * step or window not within 1, 1 and 2 samples and PS_FRONT_MAX_WINDOW). */
weir_status ps_front_design(const ps_front_opts *opts, double rate, ps_front *out) WEIR_CHECKED;

/* Longest window, samples: 1 s at the highest rate. */
#define PS_FRONT_MAX_WINDOW 10000
#endif
