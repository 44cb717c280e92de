/* gap_check.h - for the tests of operators that know gaps: a step of a query on one stream at 1 Hz,
 * streams that are hard for it, and its neighbours by a plain search. Tests only. */
#ifndef WEIR_GAP_CHECK_H
#define WEIR_GAP_CHECK_H
#include "support/stream/series_check.h"

/* Builds a step that keeps nothing in addition to the graph; context: series_step. */
static inline weir_series gap_build_(weir_graph *g, weir_series s, const void *context)
{
  const series_step *step = context;
  const weir_series_result r = series_step_results(g, &s, step);

  assert_null(step->c->keeper.first);
  assert_true(step->output < r.n);
  return r.out[step->output];
}

/* Runs result `output` of the step on the whole stream at once. */
static inline void gap_run(series_case *c, const weir_series_op *op, const void *opts, int output)
{
  series_run_whole(c, gap_build_, &(series_step){.c = c, .op = op, .opts = opts, .output = output});
}

/* Fails unless the step refuses its options with WEIR_ERR_CONFIG and `text`. rate: of the stream,
 * Hz. */
static inline void assert_step_refused(const weir_series_op *op, const void *opts, int64_t rate,
                                       const char *text)
{
  assert_non_null(strstr(series_refusal(&(series_step){.op = op, .opts = opts}, rate), text));
}

enum { GAP_STREAMS = 12 };

/* Stream `which` of GAP_STREAMS: random gaps, none, all absent, one sample at the start, in the
 * middle, at the end, one slot, every other slot, gaps at both ends. */
static inline void gap_draw(series_case *c, int which)
{
  series_draw(c, (uint64_t)which, which < 4 ? 0.2 * which : 1);
  c->count = which == 7 || which == 8 ? 1 : SERIES_COUNT;
  for (int64_t t = 0; t < SERIES_COUNT && which >= 5; t++) {
    const bool present[] = {t == 0,
                            t == 350,
                            which == 7,
                            which == 9 && t == 699,
                            false,
                            t % 2 == 1,
                            t > 99 && t < 600 && t % 50 > 7};
    const int kind = which == 5 ? 0 : which == 6 ? 1 : which <= 8 ? 2 : which == 9 ? 3 : which - 5;

    c->present[t] = present[kind];
    c->x[t] = present[kind] ? (float)(t % 17) - 8.5f : 0;
  }
}

/* The last present slot before t, -1: none. */
static inline int64_t gap_before(const series_case *c, int64_t t)
{
  do {
    t--;
  } while (t >= 0 && !c->present[t]);
  return t;
}

/* The first present slot after t, -1: none. */
static inline int64_t gap_after(const series_case *c, int64_t t)
{
  do {
    t++;
  } while (t < c->count && !c->present[t]);
  return t < c->count ? t : -1;
}

/* Whether t is a slot of a gap no longer than the tolerance. */
static inline bool gap_short(const series_case *c, int64_t t, int64_t tolerance)
{
  const int64_t before = gap_before(c, t), after = gap_after(c, t);

  return !c->present[t] && before >= 0 && after >= 0 && after - before <= tolerance;
}
#endif
