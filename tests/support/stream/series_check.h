/* series_check.h - for the tests of stream operators: a random stream with gaps, run through one
 * operator in chunks, and what came out. Tests only. */
#ifndef WEIR_SERIES_CHECK_H
#define WEIR_SERIES_CHECK_H
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "support/stream/run_check.h"
#include "stream/series_cases.h"
#include "stream/weir_series.h"

enum { SERIES_COUNT = 700 };

/* A stream and the result of an operator on it. */
typedef struct series_case {
  int64_t count; /* slots of x, 0: SERIES_COUNT; results are kept up to slot SERIES_COUNT */
  float x[SERIES_COUNT];
  uint8_t present[SERIES_COUNT];
  float y[SERIES_COUNT];
  uint8_t y_present[SERIES_COUNT];
  int64_t n, n_present;       /* slots of y and of y_present that came */
  int64_t rate_num, rate_den; /* of the result                         */
  weir_stream_report report;
  weir_store *store; /* of the run, for builders that need it */
  weir_series_keeper keeper;
} series_case;

/* Values in (-1, 1) with `missing` of them absent, in stretches. */
static inline void series_draw(series_case *c, uint64_t seed, double missing)
{
  int64_t left = 0;
  bool present = true;

  memset(c, 0, sizeof *c);
  for (int64_t t = 0; t < SERIES_COUNT; t++, left--) {
    if (left <= 0) {
      present = weir_random_uniform(seed, 11, 0, (uint64_t)t) >= missing;
      left = 1 + (int64_t)(weir_random_bits(seed, 12, 0, (uint64_t)t) % (t % 3 == 0 ? 90 : 5));
    }
    c->present[t] = present;
    c->x[t] = present ? (float)(2 * weir_random_uniform(seed, 13, 0, (uint64_t)t) - 1) : 0.0f;
  }
}

static inline weir_status series_read_(void *context, int64_t lo, int64_t hi, float *x,
                                       uint8_t *present)
{
  const series_case *c = context;

  memcpy(x, c->x + lo, (size_t)(hi - lo) * sizeof *x);
  memcpy(present, c->present + lo, (size_t)(hi - lo));
  return WEIR_OK;
}

/* Builds the operator under test; `context` is the caller's. */
typedef weir_series (*series_build)(weir_graph *g, weir_series s, const void *context);

/* A step "step" on the stream `s`, which outlives it, for builders that need a store. */
static inline weir_series_use series_use(series_case *c, weir_graph *g, const weir_series *s)
{
  static const char *const name[] = {"x"};

  return (weir_series_use){.graph = g,
                           .store = c->store,
                           .step = "step",
                           .in = s,
                           .in_name = name,
                           .n_in = 1,
                           .keeper = &c->keeper};
}

/* A step of a query under test: the operator with these options, on a stream of this unit. */
typedef struct series_step {
  series_case *c;
  const weir_series_op *op;
  const void *opts;
  const char *unit;        /* NULL: not stated                        */
  const char *result_unit; /* what series_build_step expects          */
  int output;              /* for tests that look at one of several   */
} series_step;

/* All that the step gives on `s`, whose unit it sets. */
static inline weir_series_result series_step_results(weir_graph *g, weir_series *s,
                                                     const series_step *step)
{
  const weir_series_use use = series_use(step->c, g, s);

  weir_series_set_unit(s, step->unit != NULL ? step->unit : "");
  return weir_series_step(step->op, &use, step->opts);
}

/* Builds a step that gives one stream, called as the step is; context: series_step. */
static inline weir_series series_build_step(weir_graph *g, weir_series s, const void *context)
{
  const series_step *step = context;
  const weir_series_result r = series_step_results(g, &s, step);

  assert_int_equal(r.n, 1);
  assert_null(r.name[0]);
  assert_string_equal(r.out[0].unit, step->result_unit);
  return r.out[0];
}

/* Fails unless the step, on a stream of `rate` Hz, is refused with WEIR_ERR_CONFIG; returns the
 * reason. */
static inline const char *series_refusal(const series_step *step, int64_t rate)
{
  series_case c = {.count = 0};
  weir_series_result r = {.n = 0};
  weir_graph *g = NULL;

  assert_ok(weir_store_create(&c.store));
  assert_ok(weir_graph_create(&g));
  weir_series s = weir_series_input(g, "x", "p", rate, 1);
  weir_series_use use = series_use(&c, g, &s);

  use.opts = step->opts;
  weir_series_set_unit(&s, step->unit != NULL ? step->unit : "");
  assert_int_equal(step->op->build(&use, &r), WEIR_ERR_CONFIG);
  weir_graph_destroy(&g);
  weir_store_destroy(&c.store);
  weir_series_keeper_fini(&c.keeper);
  return weir_last_message();
}

/* Runs at 1 slot a second; y must be f32. cfg as stream. */
static inline void series_run(series_case *c, series_build build, const void *context,
                              weir_tier tier, weir_stream_cfg cfg)
{
  const weir_stream_source source = {.value = "x",
                                     .present = "p",
                                     .rate_num = 1,
                                     .rate_den = 1,
                                     .count = c->count > 0 ? c->count : SERIES_COUNT,
                                     .read = series_read_,
                                     .context = c};
  run_column y = {c->y, sizeof *c->y, SERIES_COUNT, 0}, q = {c->y_present, 1, SERIES_COUNT, 0};
  const weir_stream_sink sinks[] = {{"y", run_take, &y}, {"q", run_take, &q}};
  weir_graph *g = NULL;

  c->keeper = (weir_series_keeper){NULL};
  assert_ok(weir_store_create(&c->store));
  assert_ok(weir_graph_create(&g));
  const weir_series result = build(g, weir_series_input(g, "x", "p", 1, 1), context);
  weir_output(g, "y", result.value);
  weir_output(g, "q", result.present);
  assert_ok(weir_graph_status(g));
  memset(c->y, 0, sizeof c->y);
  memset(c->y_present, 0, sizeof c->y_present);
  run_job((weir_stream_job){.graph = g,
                            .store = c->store,
                            .sources = &source,
                            .n_sources = 1,
                            .sinks = sinks,
                            .n_sinks = 2,
                            .stream = &cfg,
                            .threads = 1},
          tier, &c->report);
  c->rate_num = result.rate_num;
  c->rate_den = result.rate_den;
  c->n = y.n < y.capacity ? y.n : y.capacity;
  c->n_present = q.n < q.capacity ? q.n : q.capacity;
  weir_graph_destroy(&g);
  weir_store_destroy(&c->store);
  weir_series_keeper_fini(&c->keeper);
}

/* A random use of an operator. */
typedef struct series_drawn {
  const weir_series_op *op;
  uint64_t seed;
  series_case *c;
} series_drawn;

/* Builds it; context: series_drawn. */
static inline weir_series series_build_drawn(weir_graph *g, weir_series s, const void *context)
{
  const series_drawn *w = context;
  const weir_series_use use = series_use(w->c, g, &s);

  return weir_series_draw(w->op, &use, w->seed);
}

/* The whole stream at once, in the vector engine. */
static inline void series_run_whole(series_case *c, series_build build, const void *context)
{
  series_run(c, build, context, WEIR_TIER_VECTOR, (weir_stream_cfg){.window = SERIES_COUNT});
}

/* As series_run_whole, of a step that gives one stream. */
static inline void series_run_step(const series_step *step)
{
  series_run_whole(step->c, series_build_step, step);
}

/* The first slot of the run of present slots that holds t. */
static inline int64_t series_run_start(const series_case *c, int64_t t)
{
  while (t > 0 && c->present[t - 1]) {
    t--;
  }
  return t;
}
#endif
