/* filter_check.h - for the tests of the step `filter`: a use of it on a random stream, and what it
 * should give, in plain double loops. Tests only. */
#ifndef WEIR_FILTER_CHECK_H
#define WEIR_FILTER_CHECK_H
#include <math.h>
#include "stream/op/filter/filter_priv.h"
#include "support/stream/series_check.h"

extern const weir_series_op weir_series_op_filter;

/* A use, and which of its results is checked. */
typedef struct filter_case {
  filter_opts o;
  int which;
  series_case c;
} filter_case;

static inline filter_opts filter_defaults(void)
{
  filter_opts o;

  weir_opts_default(weir_series_op_filter.opts, sizeof o, &o);
  o.lo = 0.05;
  o.hi = 0.2;
  o.tolerance = 3;
  o.look_ahead = 80000;
  return o;
}

static inline weir_series filter_build_(weir_graph *g, weir_series s, const void *context)
{
  const filter_case *f = context;
  series_case *c = (series_case *)(uintptr_t)&f->c;
  const series_step step = {.c = c, .op = &weir_series_op_filter, .opts = &f->o};
  const weir_series_result r = series_step_results(g, &s, &step);

  assert_int_equal(r.n, 2);
  assert_true(r.name[0] == NULL && strcmp(r.name[1], "flags") == 0);
  return r.out[f->which];
}

/* Runs the use on f->c.x in chunks of `window` slots (0: whole), the vector engine. */
static inline void filter_run(filter_case *f, int64_t window)
{
  series_run(&f->c, filter_build_, f, WEIR_TIER_VECTOR,
             (weir_stream_cfg){.window = window > 0 ? (double)window : SERIES_COUNT, .skip = true});
}

/* The stream with gaps of up to `tolerance` slots filled, as doubles. */
static inline void filter_bridge_(const series_case *c, int64_t tolerance, double *x,
                                  uint8_t *present)
{
  int64_t last = -1;

  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    x[t] = (double)c->x[t];
    present[t] = c->present[t] && isfinite(c->x[t]);
    if (!present[t]) {
      continue;
    }
    for (int64_t k = last + 1; k < t && last >= 0 && t - last - 1 <= tolerance; k++) {
      x[k] = (double)(float)(x[last] + (x[t] - x[last]) * (double)(k - last) / (double)(t - last));
      present[k] = 1;
    }
    last = t;
  }
}

/* n samples through the recurrence, from states z. */
static inline void filter_recur_(const filter_design *d, double *z, double *x, int64_t n)
{
  for (int64_t t = 0; t < n; t++) {
    for (int k = 0; k < d->sections; k++) {
      const weir_sos *s = &d->sos[k];
      const double y = s->b0 * x[t] + z[2 * k];

      z[2 * k] = s->b1 * x[t] - s->a1 * y + z[2 * k + 1];
      z[2 * k + 1] = s->b2 * x[t] - s->a2 * y;
      x[t] = y;
    }
  }
}

static inline void filter_steady_(const filter_design *d, double *z, double x)
{
  weir_design_steady_state(d->sos, d->sections, z);
  for (int k = 0; k < 2 * d->sections; k++) {
    z[k] *= x;
  }
}

#endif
