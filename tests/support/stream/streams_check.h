/* streams_check.h - for tests of operators on several streams: random sources of different rates
 * with separate gaps, run through a graph, and what came out. Tests only. */
#ifndef WEIR_STREAMS_CHECK_H
#define WEIR_STREAMS_CHECK_H
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "support/stream/run_check.h"
#include "stream/weir_series.h"

enum { STREAMS_SLOTS = 8192, STREAMS_MAX = 4 };

typedef struct streams_source {
  int64_t rate_num, rate_den, count;
  float x[STREAMS_SLOTS];
  uint8_t present[STREAMS_SLOTS];
  bool knows_gaps;
  int64_t read; /* slots that the run asked for */
} streams_source;

typedef struct streams_result {
  float y[STREAMS_SLOTS];
  uint8_t present[STREAMS_SLOTS];
  int64_t n, n_present;
} streams_result;

typedef struct streams_case {
  streams_source source[STREAMS_MAX];
  int n;
  streams_result out[STREAMS_MAX];
  int n_out;
  weir_store *store;
  weir_series_keeper keeper;
  weir_stream_report report;
} streams_case;

/* Appends a source of `count` slots in (-1, 1), present and absent in stretches of up to `longest`
 * slots, `missing` of them absent. */
static inline streams_source *streams_add(streams_case *c, uint64_t seed, int64_t rate_num,
                                          int64_t count, int64_t longest, double missing)
{
  streams_source *s = &c->source[c->n++];
  int64_t left = 0;
  bool present = true;

  assert_true(count <= STREAMS_SLOTS && c->n <= STREAMS_MAX);
  memset(s, 0, sizeof *s);
  s->rate_num = rate_num;
  s->rate_den = 1;
  s->count = count;
  s->knows_gaps = true;
  for (int64_t t = 0; t < count; t++, left--) {
    const uint64_t at = (uint64_t)t + ((uint64_t)c->n << 32);

    if (left <= 0) {
      present = weir_random_uniform(seed, 21, 0, at) >= missing;
      left = 1 + (int64_t)(weir_random_bits(seed, 22, 0, at) % (uint64_t)longest);
    }
    s->present[t] = present;
    s->x[t] = present ? (float)(2 * weir_random_uniform(seed, 23, 0, at) - 1) : 0.0f;
  }
  return s;
}

static inline weir_status streams_read_(void *context, int64_t lo, int64_t hi, float *x,
                                        uint8_t *present)
{
  streams_source *s = context;

  memcpy(x, s->x + lo, (size_t)(hi - lo) * sizeof *x);
  memcpy(present, s->present + lo, (size_t)(hi - lo));
  s->read += hi - lo;
  return WEIR_OK;
}

static inline weir_status streams_next_(void *context, int64_t at, int64_t *lo, int64_t *hi)
{
  const streams_source *s = context;

  for (; at < s->count && !s->present[at]; at++) {
  }
  *lo = at;
  for (; at < s->count && s->present[at]; at++) {
  }
  *hi = at;
  return WEIR_OK;
}

/* Builds what is under test from the sources; returns the number of results. */
typedef int (*streams_build)(streams_case *c, weir_graph *g, const weir_series *in,
                             const void *context, weir_series *out);

/* A step "step" on the streams, for builders that need a use. */
static inline weir_series_use streams_use(streams_case *c, weir_graph *g, const weir_series *in,
                                          int n, const void *opts)
{
  static const char *const name[] = {"a", "b", "c", "d"};

  return (weir_series_use){.graph = g,
                           .store = c->store,
                           .step = "step",
                           .opts = opts,
                           .in = in,
                           .in_name = name,
                           .n_in = n,
                           .keeper = &c->keeper};
}

/* A run being put together: what the stream reads from and writes to. */
typedef struct streams_frame {
  weir_graph *graph;
  weir_stream_source sources[STREAMS_MAX];
  weir_series in[STREAMS_MAX], out[STREAMS_MAX];
  weir_stream_sink sinks[2 * STREAMS_MAX];
  run_column value[STREAMS_MAX], present[STREAMS_MAX];
  int same[STREAMS_MAX]; /* the result whose presence is this one's too */
  int n_sinks;
} streams_frame;

static inline void streams_sources_(streams_case *c, streams_frame *f)
{
  static const char *const value[] = {"x0", "x1", "x2", "x3"};
  static const char *const present[] = {"p0", "p1", "p2", "p3"};

  for (int i = 0; i < c->n; i++) {
    streams_source *s = &c->source[i];

    s->read = 0;
    f->in[i] = weir_series_input(f->graph, value[i], present[i], s->rate_num, s->rate_den);
    f->sources[i] = (weir_stream_source){value[i], present[i],    s->rate_num, s->rate_den,
                                         s->count, streams_read_, NULL,        s};
    f->sources[i].next_run = s->knows_gaps ? streams_next_ : NULL;
  }
}

/* A result is an output by its value, and by its presence unless one before it has the same. */
static inline void streams_sinks_(streams_case *c, streams_frame *f)
{
  static const char *const value[] = {"y0", "y1", "y2", "y3"};
  static const char *const present[] = {"q0", "q1", "q2", "q3"};

  for (int i = 0; i < c->n_out; i++) {
    const weir_value q = f->out[i].present;
    int same = 0;

    f->value[i] = (run_column){c->out[i].y, sizeof c->out[i].y[0], STREAMS_SLOTS, 0};
    f->present[i] = (run_column){c->out[i].present, 1, STREAMS_SLOTS, 0};
    weir_output(f->graph, value[i], f->out[i].value);
    f->sinks[f->n_sinks++] = (weir_stream_sink){value[i], run_take, &f->value[i]};
    while (f->out[same].present.node != q.node || f->out[same].present.output != q.output) {
      same++;
    }
    f->same[i] = same;
    if (same == i) {
      weir_output(f->graph, present[i], q);
      f->sinks[f->n_sinks++] = (weir_stream_sink){present[i], run_take, &f->present[i]};
    }
  }
}

/* Runs the case. */
static inline void streams_run(streams_case *c, streams_build build, const void *context,
                               weir_tier tier, int threads, weir_stream_cfg cfg)
{
  streams_frame f = {.n_sinks = 0};

  c->keeper = (weir_series_keeper){NULL};
  assert_ok(weir_store_create(&c->store));
  assert_ok(weir_graph_create(&f.graph));
  streams_sources_(c, &f);
  c->n_out = build(c, f.graph, f.in, context, f.out);
  streams_sinks_(c, &f);
  assert_ok(weir_graph_status(f.graph));
  run_job((weir_stream_job){.graph = f.graph,
                            .store = c->store,
                            .sources = f.sources,
                            .n_sources = c->n,
                            .sinks = f.sinks,
                            .n_sinks = f.n_sinks,
                            .stream = &cfg,
                            .threads = threads},
          tier, &c->report);
  for (int i = 0; i < c->n_out; i++) {
    c->out[i].n = f.value[i].n;
    c->out[i].n_present = f.present[f.same[i]].n;
    assert_true(c->out[i].n <= STREAMS_SLOTS && c->out[i].n_present <= STREAMS_SLOTS);
    memmove(c->out[i].present, c->out[f.same[i]].present, sizeof c->out[i].present);
  }
  weir_graph_destroy(&f.graph);
  weir_store_destroy(&c->store);
  weir_series_keeper_fini(&c->keeper);
}

/* The results of two runs of one case are the same bits. */
static inline void streams_same(const streams_case *a, const streams_case *b)
{
  assert_int_equal(a->n_out, b->n_out);
  for (int i = 0; i < a->n_out; i++) {
    const streams_result *x = &a->out[i], *y = &b->out[i];

    assert_int_equal(x->n, y->n);
    assert_int_equal(x->n_present, y->n_present);
    assert_memory_equal(x->present, y->present, (size_t)x->n_present);
    assert_memory_equal(x->y, y->y, (size_t)x->n * sizeof x->y[0]);
  }
}
#endif
