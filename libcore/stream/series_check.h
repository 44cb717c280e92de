/* series_check.h - for the tests of stream operators: a random stream with gaps, run through one
 * operator in chunks, and what came out. Tests only. */
#ifndef WEIR_SERIES_CHECK_H
#define WEIR_SERIES_CHECK_H
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "stream/weir_series.h"
#include "stream/weir_stream.h"

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

/* Skipped slots repeat the last one, which has settled. */
static inline weir_status series_take_(void *to, int64_t *n, size_t size, const weir_view *v,
                                       int64_t lo, int64_t hi)
{
  char *at = to;

  for (; *n < lo && *n < SERIES_COUNT; (*n)++) {
    memcpy(at + (size_t)*n * size, at + (size_t)(*n - 1) * size, size);
  }
  for (int64_t t = lo; t < hi && t < SERIES_COUNT; t++, (*n)++) {
    memcpy(at + (size_t)t * size, weir_view_at(v, &t), size);
  }
  return WEIR_OK;
}

static inline weir_status series_take_value_(void *context, const weir_view *v, int64_t lo,
                                             int64_t hi, bool last)
{
  series_case *c = context;

  (void)last;
  return series_take_(c->y, &c->n, sizeof *c->y, v, lo, hi);
}

static inline weir_status series_take_present_(void *context, const weir_view *v, int64_t lo,
                                               int64_t hi, bool last)
{
  series_case *c = context;

  (void)last;
  return series_take_(c->y_present, &c->n_present, 1, v, lo, hi);
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

/* Runs at 1 slot a second; y must be f32. tier as exec.tier, cfg as stream. */
static inline void series_run(series_case *c, series_build build, const void *context, int tier,
                              weir_stream_cfg cfg)
{
  const weir_stream_source source = {.value = "x",
                                     .present = "p",
                                     .rate_num = 1,
                                     .rate_den = 1,
                                     .count = c->count > 0 ? c->count : SERIES_COUNT,
                                     .read = series_read_,
                                     .context = c};
  const weir_stream_sink sinks[] = {{"y", series_take_value_, c}, {"q", series_take_present_, c}};
  weir_exec_cfg exec;
  weir_stream *stream = NULL;
  weir_graph *g = NULL;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = tier;
  c->keeper = (weir_series_keeper){NULL};
  assert_ok(weir_store_create(&c->store));
  assert_ok(weir_graph_create(&g));
  const weir_series y = build(g, weir_series_input(g, "x", "p", 1, 1), context);
  weir_output(g, "y", y.value);
  weir_output(g, "q", y.present);
  assert_ok(weir_graph_status(g));
  c->rate_num = y.rate_num;
  c->rate_den = y.rate_den;
  c->n = c->n_present = 0;
  memset(c->y, 0, sizeof c->y);
  memset(c->y_present, 0, sizeof c->y_present);
  const weir_stream_job job = {.graph = g,
                               .store = c->store,
                               .sources = &source,
                               .n_sources = 1,
                               .sinks = sinks,
                               .n_sinks = 2,
                               .stream = &cfg,
                               .exec = &exec,
                               .threads = 1};
  assert_ok(weir_stream_create(&job, &stream));
  assert_ok(weir_stream_run(stream, &c->report));
  weir_stream_destroy(&stream);
  weir_graph_destroy(&g);
  weir_store_destroy(&c->store);
  weir_series_keeper_fini(&c->keeper);
}

/* A use of an operator that its descriptor draws. */
typedef struct series_sample {
  const weir_series_op *op;
  uint64_t seed;
  series_case *c;
} series_sample;

/* Builds it; context: series_sample. */
static inline weir_series series_build_sample(weir_graph *g, weir_series s, const void *context)
{
  const series_sample *w = context;

  if (w->op->sample_use == NULL) {
    return w->op->sample(g, s, w->seed);
  }
  const weir_series_use use = series_use(w->c, g, &s);

  return w->op->sample_use(&use, w->seed);
}

/* The whole stream at once, in the vector tier. */
static inline void series_run_whole(series_case *c, series_build build, const void *context)
{
  series_run(c, build, context, 2, (weir_stream_cfg){.window = SERIES_COUNT});
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
