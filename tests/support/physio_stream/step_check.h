/* step_check.h - for the tests of steps: runs one over signals in memory, however they are divided,
 * and collects what it gives. Tests only. */
#ifndef PS_STEP_CHECK_H
#define PS_STEP_CHECK_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "io/weir_record.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/stream/run_check.h"
#include "stream/weir_series.h"

enum { STEP_STREAMS = 13 };

/* A signal in memory; unit NULL: not stated. */
typedef struct step_signal {
  float *x;
  uint8_t *present;
  int64_t n, rate_num, rate_den;
  const char *unit;
} step_signal;

/* One stream that came out; owned. */
typedef struct step_stream {
  float *x;
  uint8_t *present;
  int64_t n;
  int64_t rate_num, rate_den;
  char unit[WEIR_SERIES_UNIT];
  const char *name;
} step_stream;

typedef struct step_result {
  step_stream out[WEIR_SERIES_MAX];
  int n;
  weir_stream_report report;
} step_result;

/* How it is run: a zero struct is the whole stream at once. */
typedef struct step_how {
  double window;
  int64_t cut_seed;
  bool skip;
  int threads;
} step_how;

static inline step_signal step_signal_new(int64_t n, int64_t rate_num, int64_t rate_den)
{
  step_signal s = {.n = n, .rate_num = rate_num, .rate_den = rate_den};

  s.x = calloc((size_t)n + 1, sizeof *s.x);
  s.present = calloc((size_t)n + 1, 1);
  assert_non_null(s.x);
  assert_non_null(s.present);
  memset(s.present, 1, (size_t)n);
  return s;
}

static inline void step_signal_free(step_signal *s)
{
  free(s->x);
  free(s->present);
  memset(s, 0, sizeof *s);
}

static inline void step_result_free(step_result *r)
{
  for (int k = 0; k < r->n; k++) {
    free(r->out[k].x);
    free(r->out[k].present);
  }
  r->n = 0;
}

/* Signal `signal` of shared data `where`, as far as `max_n` samples; skips the test without. */
static inline void step_read(const char *where, int signal, int64_t max_n, step_signal *out)
{
  char path[4096];
  weir_record *r = NULL;

  weir_check_shared(path, sizeof path, "physio/%s", where);
  assert_ok(weir_record_open(path, NULL, &r));
  const weir_signal_info *info = weir_record_signal(r, signal);

  *out = step_signal_new(info->count < max_n ? info->count : max_n, info->fs_num, info->fs_den);
  assert_ok(weir_record_read(r, signal, 0, out->n, out->x, out->present));
  weir_record_close(&r);
}

static inline weir_status step_source_(void *context, int64_t lo, int64_t hi, float *x,
                                       uint8_t *present)
{
  const step_signal *s = context;

  for (int64_t t = lo; t < hi; t++) {
    present[t - lo] = s->present[t];
    x[t - lo] = s->present[t] ? s->x[t] : 0.0f;
  }
  return WEIR_OK;
}

/* A step being built: what its graph needs. */
typedef struct step_frame {
  weir_graph *graph;
  weir_store *store;
  weir_series_keeper keeper;
  weir_series_result result;
  char names[STEP_STREAMS][2][16];
  weir_stream_source sources[STEP_STREAMS];
  char result_names[WEIR_SERIES_MAX][2][16];
  run_column columns[WEIR_SERIES_MAX][2];
  weir_stream_sink sinks[2 * WEIR_SERIES_MAX];
} step_frame;

/* Adds inputs and step. `sets`: "key=value" texts, NULL at the end. */
static inline weir_status step_build(const weir_series_op *op, const char *const *sets,
                                     const step_signal *in, int n_in, step_frame *f)
{
  static const char *const in_names[STEP_STREAMS] = {"a", "b", "c", "d", "e", "f", "g",
                                                     "h", "i", "j", "k", "l", "m"};
  union {
    long double align;
    char bytes[8192];
  } opts;
  weir_config *config = NULL;
  weir_series series[STEP_STREAMS];
  int n_sets = 0;

  while (sets != NULL && sets[n_sets] != NULL) {
    n_sets++;
  }
  assert_true(op->opts_size <= sizeof opts && n_in <= STEP_STREAMS);
  if (op->opts != NULL) {
    assert_ok(weir_config_load(op->opts, op->opts_size, NULL, 0, sets, n_sets, &opts, &config));
  }
  memset(f, 0, sizeof *f);
  assert_ok(weir_store_create(&f->store));
  assert_ok(weir_graph_create(&f->graph));
  for (int k = 0; k < n_in; k++) {
    (void)snprintf(f->names[k][0], 16, "x%d", k);
    (void)snprintf(f->names[k][1], 16, "p%d", k);
    series[k] =
        weir_series_input(f->graph, f->names[k][0], f->names[k][1], in[k].rate_num, in[k].rate_den);
    weir_series_set_unit(&series[k], in[k].unit != NULL ? in[k].unit : "");
  }
  const weir_series_use use = {.graph = f->graph,
                               .store = f->store,
                               .step = "step",
                               .opts = &opts,
                               .in = series,
                               .in_name = in_names,
                               .n_in = n_in,
                               .keeper = &f->keeper};
  const weir_status status = op->build(&use, &f->result);

  weir_config_destroy(&config);
  return status;
}

static inline void step_frame_fini(step_frame *f)
{
  weir_graph_destroy(&f->graph);
  weir_store_destroy(&f->store);
  weir_series_keeper_fini(&f->keeper);
}

static inline void step_sources_(const step_signal *in, int n_in, step_frame *f)
{
  for (int k = 0; k < n_in; k++) {
    f->sources[k] = (weir_stream_source){.value = f->names[k][0],
                                         .present = f->names[k][1],
                                         .rate_num = in[k].rate_num,
                                         .rate_den = in[k].rate_den,
                                         .count = in[k].n,
                                         .read = step_source_,
                                         .context = (step_signal *)(uintptr_t)&in[k]};
  }
}

/* Makes what the step gives outputs of the graph, `capacity` slots of which are kept. */
static inline void step_sinks_(step_frame *f, int64_t capacity, step_result *r)
{
  r->n = f->result.n;
  for (int k = 0; k < r->n; k++) {
    const weir_series *s = &f->result.out[k];
    step_stream *o = &r->out[k];

    o->x = calloc((size_t)capacity, sizeof *o->x);
    o->present = calloc((size_t)capacity, 1);
    assert_non_null(o->x);
    assert_non_null(o->present);
    o->rate_num = s->rate_num;
    o->rate_den = s->rate_den;
    o->name = f->result.name[k];
    memcpy(o->unit, s->unit, sizeof o->unit);
    /* Several results may share a presence, which one name can mark only once. */
    const weir_value copies[] = {weir_series_mask(f->graph, *s).value,
                                 weir_or(f->graph, s->present, s->present)};

    f->columns[k][0] = (run_column){o->x, sizeof *o->x, capacity, 0};
    f->columns[k][1] = (run_column){o->present, 1, capacity, 0};
    for (int i = 0; i < 2; i++) {
      (void)snprintf(f->result_names[k][i], 16, "%c%d", i == 0 ? 'y' : 'q', k);
      weir_output(f->graph, f->result_names[k][i], copies[i]);
      f->sinks[2 * k + i] = (weir_stream_sink){f->result_names[k][i], run_take, &f->columns[k][i]};
    }
  }
}

/* Builds and runs; free the result. */
static inline void step_run(const weir_series_op *op, const char *const *sets,
                            const step_signal *in, int n_in, step_how how, step_result *r)
{
  weir_stream_cfg cfg = {.window = how.window, .skip = how.skip, .cut_seed = how.cut_seed};
  step_frame f;

  memset(r, 0, sizeof *r);
  assert_ok(step_build(op, sets, in, n_in, &f));
  step_sources_(in, n_in, &f);
  step_sinks_(&f, in[0].n + 1, r);
  if (cfg.window <= 0) {
    cfg.window = 1.0 + (double)in[0].n * (double)in[0].rate_den / (double)in[0].rate_num;
  }
  run_job((weir_stream_job){.graph = f.graph,
                            .store = f.store,
                            .sources = f.sources,
                            .n_sources = n_in,
                            .sinks = f.sinks,
                            .n_sinks = 2 * r->n,
                            .stream = &cfg,
                            .threads = how.threads > 0 ? how.threads : 1},
          WEIR_TIER_VECTOR, &r->report);
  for (int k = 0; k < r->n; k++) {
    r->out[k].n = f.columns[k][0].n;
    assert_true(r->out[k].n <= f.columns[k][0].capacity);
    assert_int_equal(f.columns[k][1].n, r->out[k].n);
  }
  step_frame_fini(&f);
}

/* The result called `name`. */
static inline const step_stream *step_get(const step_result *r, const char *name)
{
  for (int k = 0; k < r->n; k++) {
    if (strcmp(r->out[k].name, name) == 0) {
      return &r->out[k];
    }
  }
  fail_msg("no result is called %s", name);
  return NULL;
}

static inline int64_t step_count(const step_stream *s)
{
  int64_t n = 0;

  for (int64_t t = 0; t < s->n; t++) {
    n += s->present[t];
  }
  return n;
}

static inline int64_t step_count_all(const step_result *r)
{
  int64_t n = 0;

  for (int k = 0; k < r->n; k++) {
    n += step_count(&r->out[k]);
  }
  return n;
}

/* Same bits in every result. */
static inline void step_assert_same(const step_result *a, const step_result *b)
{
  assert_int_equal(a->n, b->n);
  for (int k = 0; k < a->n; k++) {
    const step_stream *p = &a->out[k], *q = &b->out[k];

    assert_int_equal(p->n, q->n);
    assert_memory_equal(p->present, q->present, (size_t)p->n);
    assert_memory_equal(p->x, q->x, (size_t)p->n * sizeof *p->x);
  }
}

/* The step gives the same bits for any chunking, threads and skipping as for the whole at once,
 * which stays in *whole. */
static inline void step_check_chunks(const weir_series_op *op, const char *const *sets,
                                     const step_signal *in, int n_in, step_result *whole)
{
  static const step_how hows[] = {
      {.window = 0.31},
      {.window = 7, .skip = true},
      {.window = 3, .cut_seed = 5, .skip = true},
      {.window = 20, .cut_seed = 6, .threads = 2, .skip = true},
  };

  step_run(op, sets, in, n_in, (step_how){0}, whole);
  for (size_t i = 0; i < sizeof hows / sizeof hows[0]; i++) {
    step_result other;

    step_run(op, sets, in, n_in, hows[i], &other);
    step_assert_same(whole, &other);
    step_result_free(&other);
  }
}

/* Everything that came is a number, and 0 where it is absent. */
static inline bool step_is_sound(const step_result *r)
{
  for (int k = 0; k < r->n; k++) {
    const step_stream *s = &r->out[k];

    for (int64_t t = 0; t < s->n; t++) {
      if (!isfinite(s->x[t]) || s->present[t] > 1 || (!s->present[t] && s->x[t] != 0.0f)) {
        return false;
      }
    }
  }
  return true;
}

/* Values of every kind where `seed` says: noise, flat stretches, rails, gaps, NaN, infinities. */
static inline void step_garbage(step_signal *s, uint64_t seed, double scale)
{
  static const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-45f};
  int64_t left = 0;
  uint64_t kind = 0;

  for (int64_t t = 0; t < s->n; t++, left--) {
    if (left <= 0) {
      const uint64_t bits = weir_random_bits(seed, 21, 0, (uint64_t)t);

      kind = bits % 6;
      left = 1 + (int64_t)(bits / 8 % (uint64_t)(s->n / 6 + 1));
    }
    const double noise = weir_random_normal(seed, 22, 0, (uint64_t)t);
    const uint64_t pick = weir_random_bits(seed, 23, 0, (uint64_t)t);

    s->present[t] = kind != 0;
    s->x[t] = (float)(kind == 1   ? scale
                      : kind == 2 ? scale * (double)(t / 40 % 2)
                      : kind == 3 ? scale * noise
                                  : scale * (0.5 + 0.5 * noise * (double)(t % 97 < 9)));
    if (kind == 5 && pick % 50 == 0) {
      s->x[t] = odd[pick / 64 % 6];
    }
  }
}
/* Inputs of n slots at `rate` Hz, the first in `unit` (NULL: not stated). */
typedef struct step_garbage_opts {
  int n_in;
  int64_t n, rate;
  double scale;   /* of step_garbage */
  uint64_t every; /* one slot in so many keeps its sample, at random; 0: all */
  const char *unit;
} step_garbage_opts;

/* Whatever comes in, what comes out is sound and the same for any chunking. Returns how many
 * samples came, of all results. */
static inline int64_t step_check_garbage(const weir_series_op *op, const char *const *sets,
                                         const step_garbage_opts *garbage, uint64_t seed)
{
  step_signal in[STEP_STREAMS];
  step_result r;

  for (int k = 0; k < garbage->n_in; k++) {
    in[k] = step_signal_new(garbage->n, garbage->rate, 1);
    step_garbage(&in[k], seed + 10 * (uint64_t)k, garbage->scale);
    for (int64_t t = 0; t < garbage->n && garbage->every > 0; t++) {
      if (weir_random_bits(seed, 24, (uint32_t)k, (uint64_t)t) % garbage->every != 0) {
        in[k].present[t] = 0;
      }
    }
  }
  in[0].unit = garbage->unit;
  step_check_chunks(op, sets, in, garbage->n_in, &r);
  assert_true(step_is_sound(&r));
  const int64_t n = step_count_all(&r);

  step_result_free(&r);
  for (int k = 0; k < garbage->n_in; k++) {
    step_signal_free(&in[k]);
  }
  return n;
}
/* Of a stream of times: what is no length of time, in slots that were absent, changes nothing.
 * Spoils `in`; returns how many samples came, of all results. */
static inline int64_t step_check_odd_times(const weir_series_op *op, step_signal *in)
{
  static const float odd[] = {0, -0.8f, NAN, -INFINITY};
  step_result clean, spoilt;

  step_run(op, NULL, in, 1, (step_how){0}, &clean);
  for (int64_t t = 3; t < in->n; t += 7) {
    if (!in->present[t]) {
      in->present[t] = 1;
      in->x[t] = odd[t / 7 % 4];
    }
  }
  step_run(op, NULL, in, 1, (step_how){0}, &spoilt);
  step_assert_same(&clean, &spoilt);
  const int64_t n = step_count_all(&clean);

  step_result_free(&clean);
  step_result_free(&spoilt);
  return n;
}
#endif
