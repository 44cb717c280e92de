/* run_stream_test.c - the same bits for any chunks, threads and skipping; sources that fail; a
 * graph with a call. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_clock.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "device/weir_parallel.h"
#include "ops/call/weir_call.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/scan/weir_scan.h"
#include "ops/shift/weir_shift.h"
#include "stream/weir_stream.h"
#include "stream/stream_priv.h"

#define COUNT 5003
#define EVENTS 4096

typedef struct recording {
  float x[COUNT];
  uint8_t present[COUNT];
  int64_t fail_at; /* read fails at this slot, -1: never */
  bool coarse;     /* next_run tells gaps */
  bool in_place;   /* the samples are not copied */
} recording;

static weir_status read_signal(void *context, int64_t lo, int64_t hi, float *values,
                               uint8_t *present)
{
  const recording *s = context;

  if (s->fail_at >= lo && s->fail_at < hi) {
    return weir_fail(WEIR_ERR_DATA, "slot %lld cannot be read", (long long)s->fail_at);
  }
  memcpy(values, s->x + lo, (size_t)(hi - lo) * sizeof(float));
  memcpy(present, s->present + lo, (size_t)(hi - lo));
  return WEIR_OK;
}

static weir_status next_run(void *context, int64_t at, int64_t *lo, int64_t *hi)
{
  const recording *s = context;

  for (*lo = at; *lo < COUNT && s->present[*lo] == 0;) {
    (*lo)++;
  }
  for (*hi = *lo; *hi < COUNT && s->present[*hi] != 0;) {
    (*hi)++;
  }
  return WEIR_OK;
}

/* Writes the slots where x passes 1 upwards; the state is the last present value. */
static weir_status crossings(void *context, const weir_op_run *run)
{
  float *state = run->in[2].data;
  int64_t *events = run->out[0].data, n = 0;

  (void)context;
  for (int64_t t = run->box.lo[0]; t < run->box.hi[0]; t++) {
    if (*(const uint8_t *)weir_view_at(&run->in[1], &t) != 0) {
      const float v = *(const float *)weir_view_at(&run->in[0], &t);

      if (v > 0.5f && *state <= 0.5f) {
        events[++n] = t;
      }
      *state = v;
    }
  }
  events[0] = n;
  return WEIR_OK;
}

/* What a stage of its own for the call would miss. */
typedef enum kind {
  PLAIN,    /* nothing */
  CARRIED,  /* the call's input depends on what it found in the chunk before */
  COMPUTED, /* what follows the call reads an array without time that the graph computes */
  ALONE     /* nothing; only what the call makes is asked for */
} kind;

static weir_graph *make_graph(const weir_store *store, kind what)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_array_desc b = {.dtype = WEIR_BOOL, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_sos_spec sos = {
      .n = 1, .section = {{0.2, 0.4, 0.2, 1, -0.5, 0.2}}, .steady = true, .hold = 3};
  const weir_call_spec call = {.name = "crossings",
                               .function = crossings,
                               .n_out = 1,
                               .out = {{.dtype = WEIR_I64, .rank = 1, .shape = {EVENTS}}},
                               .presence = 2};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value in = weir_input(g, "x", &x), present = weir_input(g, "p", &b);
  const weir_value f = weir_sos(g, &sos, in, present);
  const weir_value state = weir_stored(g, store, "state");
  const weir_value sum = weir_add(g, f, weir_shift(g, f, 0, -2));
  const weir_value level =
      what == CARRIED || what == COMPUTED ? weir_stored(g, store, "level") : WEIR_NO_VALUE;
  const weir_value y = what == CARRIED ? weir_add(g, sum, weir_scale(g, level, 1e-4)) : sum;

  weir_in_place(g, state);
  weir_output(g, "y", y);
  const weir_value events = weir_call(g, &call, ((weir_value[]){y, present, state}), 3);

  if (what == COMPUTED) {
    const weir_value more = weir_cast(g, WEIR_I64, weir_scale(g, level, 2));

    weir_output(g, "events", weir_add(g, events, more));
    return g;
  }
  weir_output(g, "events", events);
  if (what == CARRIED) {
    weir_update(g, level, weir_cast(g, WEIR_F32, weir_max_over(g, events, 0)));
  }
  return g;
}

typedef struct outcome {
  float y[COUNT];
  int64_t events[EVENTS], n;
} outcome;

static weir_status take_y(void *context, const weir_view *view, int64_t lo, int64_t hi, bool last)
{
  outcome *o = context;

  for (int64_t t = lo; t < hi; t++) {
    o->y[t] = *(const float *)weir_view_at(view, &t);
  }
  return last && hi != COUNT ? weir_fail(WEIR_ERR_NUMERIC, "y ends at %lld", (long long)hi)
                             : WEIR_OK;
}

static weir_status take_events(void *context, const weir_view *view, int64_t lo, int64_t hi,
                               bool last)
{
  outcome *o = context;
  const int64_t *events = view->data;

  (void)lo;
  (void)hi;
  (void)last;
  for (int64_t i = 0; i < events[0] && o->n < EVENTS; i++) {
    o->events[o->n++] = events[1 + i];
  }
  return WEIR_OK;
}

static weir_status run_graph(recording *s_in, weir_stream_cfg cfg, int threads, kind what,
                             outcome *o, weir_stream_report *report)
{
  const weir_stream_source source = {
      "x", "p", 250, 1, COUNT, s_in->in_place ? NULL : read_signal, s_in->coarse ? next_run : NULL,
      s_in};
  const weir_stream_sink sinks[] = {{"events", take_events, o}, {"y", take_y, o}};
  weir_exec_cfg exec;
  weir_store *store = NULL;
  weir_stream *s = NULL;

  weir_opts_default(weir_exec_opts, sizeof(exec), &exec);
  exec.tier = WEIR_TIER_REFERENCE;
  memset(o, 0, sizeof(*o));
  assert_ok(weir_store_create(&store));
  assert_ok(weir_store_add(store, "state", WEIR_F32, 0, NULL));
  assert_ok(weir_store_add(store, "level", WEIR_F32, 0, NULL));
  weir_graph *g = make_graph(store, what);
  const weir_stream_job job = {.graph = g,
                               .store = store,
                               .sources = &source,
                               .n_sources = 1,
                               .sinks = sinks,
                               .n_sinks = what == ALONE ? 1 : 2,
                               .stream = &cfg,
                               .exec = &exec,
                               .threads = threads};

  assert_ok(weir_stream_create(&job, &s));
  if (s_in->in_place) {
    assert_ok(weir_stream_bind(s, 0, s_in->x, s_in->present));
  }
  const weir_status status = weir_stream_run(s, report);

  weir_stream_destroy(&s);
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
  return status;
}

static weir_status run(recording *s_in, weir_stream_cfg cfg, int threads, outcome *o,
                       weir_stream_report *report)
{
  return run_graph(s_in, cfg, threads, PLAIN, o, report);
}

static recording *make_signal(uint32_t seed)
{
  static recording s;
  bool on = true;

  s.fail_at = -1;
  s.in_place = false;
  for (int64_t t = 0; t < COUNT; t++) {
    on = weir_random_uniform(seed, 2, 0, (uint64_t)t) < 0.002 ? !on : on;
    s.present[t] = on;
    s.x[t] = on ? (float)weir_random_normal(seed, 1, 0, (uint64_t)t) : 0;
  }
  return &s;
}

static void chunks_threads_and_skipping_change_nothing(void **state)
{
  static outcome whole, other;
  weir_stream_report report;

  for (uint32_t seed = 1; seed <= 3; seed++) {
    recording *s = make_signal(seed);
    int64_t skipped = 0;

    s->coarse = s->in_place = false;
    assert_ok(run(s, (weir_stream_cfg){.window = 1000}, 1, &whole, &report));
    assert_true(whole.n > 50);
    assert_int_equal(report.computed, 1);
    for (int k = 0; k < 24; k++) {
      const double window[] = {0.05, 0.5, 3, 0};
      const int threads = 1 + k / 2 % 3;
      const weir_stream_cfg cfg = {
          .window = window[k / 6], .skip = k & 1, .cut_seed = k / 6 == 1 ? 77 + k : 0};

      s->coarse = k % 3 == 0;
      s->in_place = k % 5 < 2;
      assert_ok(run(s, cfg, threads, &other, &report));
      assert_int_equal(report.stages, threads == 3 ? 2 : 1);
      assert_int_equal(other.n, whole.n);
      assert_memory_equal(&other, &whole, sizeof(whole));
      assert_true(report.per_thread[0] > 0);
      assert_true(report.computed > 0);
      skipped += report.skipped;
      assert_true((k & 1) == 1 || report.skipped == 0);
    }
    assert_true(skipped > 0);
  }
}

static void what_cannot_be_cut_runs_in_one_stage(void **state)
{
  static outcome o[2];
  recording *s = make_signal(4);

  for (int what = CARRIED; what <= COMPUTED; what++) {
    for (int k = 0; k < 2; k++) {
      weir_stream_report report;

      assert_ok(
          run_graph(s, (weir_stream_cfg){.window = 0.5}, 1 + 2 * k, (kind)what, &o[k], &report));
      assert_int_equal(report.stages, 1);
    }
    assert_true(o[0].n > 0);
    assert_memory_equal(&o[0], &o[1], sizeof o[0]);
  }
}

/* Two slots of look-ahead at 250 Hz, though the result is made in the second stage. */
static void latency_goes_through_both_stages(void **state)
{
  static outcome o;

  for (int stages = 1; stages <= 2; stages++) {
    weir_stream_report report;

    assert_ok(run_graph(make_signal(5), (weir_stream_cfg){.window = 0.5}, 2 * stages - 1, ALONE, &o,
                        &report));
    assert_int_equal(report.stages, stages);
    assert_near(report.latency_s, 0.5 + 2.0 / 250, 1e-9);
  }
}

/* Where reading is, seen by a sink that waits for it to be ahead. */
typedef struct overtaken {
  recording *s;
  atomic_llong read; /* slots */
  bool ahead;
} overtaken;

static weir_status read_counted(void *context, int64_t lo, int64_t hi, float *values,
                                uint8_t *present)
{
  overtaken *o = context;

  atomic_store(&o->read, hi);
  return read_signal(o->s, lo, hi, values, present);
}

static weir_status wait_for_reading(void *context, const weir_view *view, int64_t lo, int64_t hi,
                                    bool last)
{
  overtaken *o = context;
  const double until = weir_clock() + 0.25; /* longer than a worker rests */

  (void)view;
  (void)last;
  while (!o->ahead && weir_clock() < until) {
    o->ahead = atomic_load(&o->read) >= hi + 3 * (hi - lo);
  }
  return WEIR_OK;
}

/* Chunks are read while one is still taken: no barrier delays reading. */
static void two_threads_read_ahead(void **state)
{
  static overtaken o;
  const weir_stream_source source = {"x", "p", 250, 1, COUNT, read_counted, NULL, &o};
  const weir_stream_sink sink = {"y", wait_for_reading, &o};
  const weir_stream_cfg cfg = {.window = 1};
  weir_exec_cfg exec;
  weir_stream_report report;
  weir_store *store = NULL;
  weir_stream *s = NULL;

  o.s = make_signal(1);
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_REFERENCE;
  assert_ok(weir_store_create(&store));
  assert_ok(weir_store_add(store, "state", WEIR_F32, 0, NULL));
  weir_graph *g = make_graph(store, PLAIN);
  const weir_stream_job job = {.graph = g,
                               .store = store,
                               .sources = &source,
                               .n_sources = 1,
                               .sinks = &sink,
                               .n_sinks = 1,
                               .stream = &cfg,
                               .exec = &exec,
                               .threads = 2};

  weir_threads_set(2); /* though there may be one processor */
  assert_ok(weir_stream_create(&job, &s));
  assert_ok(weir_stream_run(s, &report));
  weir_threads_set(0);
  assert_true(o.ahead);
  weir_stream_destroy(&s);
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
}

static weir_status copy(void *context, const weir_op_run *run)
{
  (void)context;
  for (int64_t t = run->box.lo[0]; t < run->box.hi[0]; t++) {
    *(float *)weir_view_at(&run->out[0], &t) = *(const float *)weir_view_at(&run->in[0], &t);
  }
  return WEIR_OK;
}

/* Nothing is handed on between its chunks, so that all of it runs where its input is made. */
static void a_call_without_state_needs_no_stage(void **state)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_call_spec call = {.name = "copy", .function = copy, .n_out = 1, .out = {x}};
  weir_graph *g = NULL, *front = NULL, *back = NULL;
  stream_cut cut;

  assert_ok(weir_graph_create(&g));
  const weir_value in = weir_input(g, "x", &x);

  weir_output(g, "y", weir_call(g, &call, &in, 1));
  assert_ok(stream_pipeline_cut(g, &front, &back, &cut));
  assert_non_null(front);
  assert_null(back);
  weir_graph_destroy(&front);
  weir_graph_destroy(&g);
}

static void a_source_that_fails_ends_the_run_with_its_status(void **state)
{
  static outcome o;
  weir_stream_report report;
  recording *s = make_signal(1);

  s->fail_at = COUNT / 2;
  for (int threads = 1; threads <= 3; threads++) {
    assert_int_equal(run(s, (weir_stream_cfg){.window = 1}, threads, &o, &report), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "cannot be read"));
  }
}

static void a_stop_request_ends_after_the_chunk(void **state)
{
  static outcome o;
  weir_stream_report report;
  recording *s = make_signal(1);

  weir_stop_request(15);
  assert_int_equal(run(s, (weir_stream_cfg){.window = 1}, 1, &o, &report), WEIR_ERR_STOPPED);
  weir_stop_request(0);
}

static void places_that_are_none_are_refused(void **state)
{
  weir_stream_report report;
  recording *s = make_signal(1);
  const weir_stream_source source = {"x", "p", 250, 1, COUNT, NULL, NULL, s};
  const weir_stream_cfg cfg = {.window = 1};
  weir_graph *g = NULL;
  weir_stream *stream = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_array_desc b = {.dtype = WEIR_BOOL, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};

  weir_output(g, "y", weir_neg(g, weir_input(g, "x", &x)));
  weir_output(g, "q", weir_not(g, weir_input(g, "p", &b)));
  const weir_stream_job job = {
      .graph = g, .sources = &source, .n_sources = 1, .stream = &cfg, .threads = 1};

  assert_ok(weir_stream_create(&job, &stream));
  assert_int_equal(weir_stream_bind(stream, 1, s->x, s->present), WEIR_ERR_CONFIG);
  assert_int_equal(weir_stream_run(stream, &report), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "'x' is neither read nor in memory"));
  weir_stream_destroy(&stream);
  weir_graph_destroy(&g);
}

static void impossible_rates_are_refused(void **state)
{
  const weir_stream_source source = {"x", "p", 0, 1, COUNT, read_signal, NULL, NULL};
  const weir_stream_cfg cfg = {.window = 1};
  const weir_stream_job job = {.sources = &source, .n_sources = 1, .stream = &cfg};
  weir_stream *s = NULL;

  assert_int_equal(weir_stream_create(&job, &s), WEIR_ERR_CONFIG);
  assert_null(s);

  weir_stream_source endless = source; /* what a lying header may claim */

  endless.rate_num = 1;
  endless.rate_den = INT64_C(1) << 40;
  const weir_stream_job longer = {.sources = &endless, .n_sources = 1, .stream = &cfg};

  assert_int_equal(weir_stream_create(&longer, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "longer than a hundred years"));
}

/* Plans one source at `rate` Hz in chunks of `window` s; 86400 s of it where it is not live. */
static weir_status plan_window(int64_t rate, double window, double *planned)
{
  const weir_stream_source source = {"x", "p", rate, 1, 86400 * rate, read_signal, NULL, NULL};
  const weir_stream_cfg cfg = {.window = window};
  const weir_exec_cfg exec = {.tier = WEIR_TIER_AUTO};
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_array_desc b = {.dtype = WEIR_BOOL, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  weir_graph *g = NULL;
  weir_stream *s = NULL;

  assert_ok(weir_graph_create(&g));
  weir_output(g, "y", weir_neg(g, weir_input(g, "x", &x)));
  weir_output(g, "q", weir_not(g, weir_input(g, "p", &b)));
  const weir_stream_job job = {
      .graph = g, .sources = &source, .n_sources = 1, .stream = &cfg, .exec = &exec, .threads = 1};
  const weir_status status = weir_stream_create(&job, &s);

  if (status == WEIR_OK) {
    *planned = weir_stream_window(s);
  }
  weir_stream_destroy(&s);
  weir_graph_destroy(&g);
  return status;
}

/* A window of a thousand slots and a state of a MiB, under several caps. */
static void a_plan_beyond_its_memory_is_refused(void **state)
{
  const weir_stream_source source = {"x", "p", 100, 1, 100000, read_signal, NULL, NULL};
  const weir_exec_cfg exec = {.tier = WEIR_TIER_AUTO};
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_array_desc b = {.dtype = WEIR_BOOL, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const int64_t mib = 1 << 20;
  weir_graph *g = NULL;
  weir_store *store = NULL;

  assert_ok(weir_graph_create(&g));
  assert_ok(weir_store_create(&store));
  assert_ok(weir_store_add(store, "state", WEIR_U8, 1, &mib));
  weir_output(g, "y", weir_neg(g, weir_input(g, "x", &x)));
  weir_output(g, "q", weir_not(g, weir_input(g, "p", &b)));
  for (int k = 0; k < 3; k++) {
    static const double memory[] = {0, 2, 1.001};
    const weir_stream_cfg cfg = {.window = 10, .memory = memory[k]};
    weir_stream *s = NULL;
    const weir_stream_job job = {.graph = g,
                                 .store = store,
                                 .sources = &source,
                                 .n_sources = 1,
                                 .stream = &cfg,
                                 .exec = &exec,
                                 .threads = 1};

    assert_int_equal(weir_stream_create(&job, &s), k < 2 ? WEIR_OK : WEIR_ERR_CONFIG);
    assert_true((s == NULL) == (k == 2));
    weir_stream_destroy(&s);
  }
  assert_non_null(
      strstr(weir_last_message(), "1 MiB for buffers of operators; stream.memory allows 1.001"));
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
}

static void impossible_windows_are_refused_with_the_limit(void **state)
{
  double planned = 0;

  assert_int_equal(plan_window(256, 0.0039, &planned), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "stream.window: 0.0039 s"));
  assert_non_null(strstr(weir_last_message(), "at least 0.00390625 s"));
  assert_ok(plan_window(256, 0.00390625, &planned));
  assert_ok(plan_window(300, 0.00333333333, &planned));
  assert_int_equal(plan_window(1000000000, 86400, &planned), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "stream.window: a chunk of 86400 s"));
  const char *most = strstr(weir_last_message(), "at most ");

  assert_non_null(most);
  const double limit = strtod(most + strlen("at most "), NULL);

  assert_true(limit > 0 && limit < 86400);
  assert_ok(plan_window(1000, 1e6, &planned)); /* no more than there is */
  assert_true(planned == 86400);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chunks_threads_and_skipping_change_nothing),
      cmocka_unit_test(what_cannot_be_cut_runs_in_one_stage),
      cmocka_unit_test(latency_goes_through_both_stages),
      cmocka_unit_test(two_threads_read_ahead),
      cmocka_unit_test(a_call_without_state_needs_no_stage),
      cmocka_unit_test(a_source_that_fails_ends_the_run_with_its_status),
      cmocka_unit_test(a_stop_request_ends_after_the_chunk),
      cmocka_unit_test(places_that_are_none_are_refused),
      cmocka_unit_test(impossible_rates_are_refused),
      cmocka_unit_test(impossible_windows_are_refused_with_the_limit),
      cmocka_unit_test(a_plan_beyond_its_memory_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
