/* kept_test.c - results that a run writes where they are kept: the bits of results taken chunk by
 * chunk, whatever the chunks, the gaps, the engine and the place in memory. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "device/weir_copy.h"
#include "base/weir_random.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/shift/weir_shift.h"
#include "stream/op/normalize/weir_stream_normalize.h"
#include "stream/op/resample/weir_stream_resample.h"
#include "stream/weir_stream.h"
#include "support/stream/run_check.h"

enum {
  RATE = 100,
  UP = 4,
  WINDOW = 500,
  SHORT = 37,
  RESULTS = 10,
  WIDE = 5 /* the first in f64, of one loop: more than the buffer has room for */,
  GUARD = 64
};

/* "slow", at a quarter of the rate, is brought to the rate of "fast"; both are z-scores where both
 * are present; "short" are z-scores of short windows. "sum" is read by another operator, "lag", and
 * so it is copied. */
static const char *const result[RESULTS] = {"fast",  "both",  "sum",   "lag",   "short",
                                            "wide0", "wide1", "wide2", "wide3", "wide4"};
static const weir_dtype dtype[RESULTS] = {WEIR_F32, WEIR_BOOL, WEIR_F32, WEIR_F32, WEIR_F32,
                                          WEIR_F64, WEIR_F64,  WEIR_F64, WEIR_F64, WEIR_F64};

typedef struct use_case {
  int64_t count;             /* slots of "slow" */
  double window;             /* s, of a chunk */
  int64_t cut_seed, stretch; /* longest run of absent or present slots; 0: no gaps */
  size_t shift;              /* bytes before the results in memory */
  int threads;
  weir_tier tier;
  bool bound;  /* sources in place */
  bool silent; /* the middle third is absent in both: chunks are skipped */
} use_case;

typedef struct recording {
  float *x[2];
  uint8_t *present[2];
  int64_t count[2];
} recording;

typedef struct feed_of {
  const recording *r;
  int i;
} feed_of;

static void *memory_of(int64_t count, size_t size)
{
  void *p = NULL;

  assert_ok(weir_alloc(count, size, &p));
  memset(p, 0, (size_t)count * size);
  return p;
}

static weir_status read_slots(void *context, int64_t lo, int64_t hi, float *values,
                              uint8_t *present)
{
  const feed_of *f = context;

  memcpy(values, f->r->x[f->i] + lo, (size_t)(hi - lo) * sizeof *values);
  memcpy(present, f->r->present[f->i] + lo, (size_t)(hi - lo));
  return WEIR_OK;
}

static void draw(const use_case *c, uint64_t seed, recording *r)
{
  for (int i = 0; i < 2; i++) {
    int64_t left = 0;
    bool present = true;

    r->count[i] = i == 0 ? c->count * UP : c->count;
    r->x[i] = memory_of(r->count[i] + 1, sizeof(float));
    r->present[i] = memory_of(r->count[i] + 1, 1);
    for (int64_t t = 0; t < r->count[i]; t++, left--) {
      const uint64_t at = (uint64_t)t + ((uint64_t)i << 40);

      if (left <= 0 && c->stretch > 0) {
        present = weir_random_uniform(seed, 1, 0, at) < 0.6;
        left = 1 + (int64_t)(weir_random_bits(seed, 2, 0, at) % (uint64_t)c->stretch);
      }
      present = present && !(c->silent && t * 3 / r->count[i] == 1);
      r->present[i][t] = present;
      r->x[i][t] = present ? (float)(2 * weir_random_uniform(seed, 3, 0, at) - 1) : 0;
    }
  }
}

static void build(weir_graph *g, weir_store *store, weir_series_keeper *keeper)
{
  static const char *const name[] = {"fast", "short"};
  weir_series s[2] = {weir_series_input(g, "x", "p", RATE, 1),
                      weir_series_input(g, "y", "q", RATE / UP, 1)};
  const weir_series_use use = {.graph = g,
                               .store = store,
                               .step = "step",
                               .in = s,
                               .in_name = name,
                               .n_in = 2,
                               .keeper = keeper};

  weir_output(g, result[4], weir_stream_normalize(&use, s[0], SHORT, false).value);
  s[1] = weir_stream_resample(g, s[1], WEIR_STREAM_LINEAR, UP, 1, 0);
  for (int i = 0; i < 2; i++) {
    s[i] = weir_stream_normalize(&use, s[i], WINDOW, false);
  }
  const weir_value both = weir_and(g, s[0].present, s[1].present);
  const weir_value sum = weir_add(g, s[0].value, s[1].value);

  weir_output(g, result[0], weir_scale(g, s[0].value, 0.5));
  weir_output(g, result[1], both);
  weir_output(g, result[2], sum);
  weir_output(g, result[3], weir_sub(g, sum, weir_shift(g, sum, 0, -7)));
  for (int k = WIDE; k < RESULTS; k++) {
    weir_output(g, result[k], weir_scale(g, weir_cast(g, WEIR_F64, sum), 1.0 / k));
  }
}

/* Runs with results kept, or taken chunk by chunk by run_take; out[k]: where slot 0 is. */
static weir_status run_once(const use_case *c, const recording *r, bool kept, int64_t capacity,
                            char *const *out, int64_t *slots, int64_t *buffer_bytes)
{
  const feed_of feed[2] = {{r, 0}, {r, 1}};
  const weir_stream_source sources[] = {
      {"x", "p", RATE, 1, r->count[0], read_slots, NULL, (void *)&feed[0]},
      {"y", "q", RATE / UP, 1, r->count[1], read_slots, NULL, (void *)&feed[1]}};
  const weir_stream_cfg cfg = {.window = c->window, .skip = true, .cut_seed = c->cut_seed};
  weir_stream_sink sinks[RESULTS];
  weir_stream_kept keep[RESULTS];
  run_column take[RESULTS];
  weir_series_keeper keeper = {NULL};
  weir_store *store = NULL;
  weir_graph *g = NULL;
  weir_stream *stream = NULL;
  weir_stream_report report;
  weir_exec_cfg exec;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = (int)c->tier;
  assert_ok(weir_store_create(&store));
  assert_ok(weir_graph_create(&g));
  build(g, store, &keeper);
  assert_ok(weir_graph_status(g));
  for (int k = 0; k < RESULTS; k++) {
    keep[k] = (weir_stream_kept){out[k], capacity, 0};
    take[k] = (run_column){out[k], weir_dtype_size(dtype[k]), capacity, 0};
    sinks[k] = kept ? (weir_stream_sink){result[k], weir_stream_keep, &keep[k]}
                    : (weir_stream_sink){result[k], run_take, &take[k]};
  }
  const weir_stream_job job = {.graph = g,
                               .store = store,
                               .sources = sources,
                               .n_sources = 2,
                               .sinks = sinks,
                               .n_sinks = RESULTS,
                               .stream = &cfg,
                               .exec = &exec,
                               .threads = c->threads};
  assert_ok(weir_stream_create(&job, &stream));
  for (int i = 0; i < 2 && c->bound; i++) {
    assert_ok(weir_stream_bind(stream, i, r->x[i], r->present[i]));
  }
  weir_status status = weir_stream_run(stream, &report);

  if (status == WEIR_OK) { /* and once more: a plan that is rewound writes there again */
    weir_stream_rewind(stream);
    for (int k = 0; k < RESULTS; k++) {
      memset(out[k], 0, (size_t)capacity * weir_dtype_size(dtype[k]));
      take[k].n = 0;
    }
    status = weir_stream_run(stream, &report);
    *slots = kept ? keep[0].n : take[0].n;
    *buffer_bytes = report.buffer_bytes;
    assert_true(!c->silent || report.skipped > 0);
  }
  weir_stream_destroy(&stream);
  weir_graph_destroy(&g);
  weir_series_keeper_fini(&keeper);
  weir_store_destroy(&store);
  return status;
}

static void check_kept(const use_case *c, uint64_t seed)
{
  recording r;
  void *memory[2][RESULTS];
  char *at[2][RESULTS];
  int64_t slots[2] = {0, 0}, bytes[2] = {0, 0};

  draw(c, seed, &r);
  for (int kept = 0; kept < 2; kept++) {
    for (int k = 0; k < RESULTS; k++) {
      memory[kept][k] = memory_of(r.count[0] + 2 * GUARD, weir_dtype_size(dtype[k]));
      at[kept][k] = (char *)memory[kept][k] + GUARD + c->shift * weir_dtype_size(dtype[k]);
    }
    assert_ok(run_once(c, &r, kept == 1, r.count[0], at[kept], &slots[kept], &bytes[kept]));
  }
  assert_int_equal(slots[0], slots[1]);
  assert_int_equal(bytes[0], bytes[1]); /* memory of the run is what it was */
  for (int k = 0; k < RESULTS; k++) {   /* with what lies around them */
    assert_memory_equal(memory[0][k], memory[1][k],
                        (size_t)(r.count[0] + 2 * GUARD) * weir_dtype_size(dtype[k]));
  }
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < RESULTS; k++) {
      weir_free(&memory[i][k]);
    }
    weir_free(&r.x[i]);
    weir_free(&r.present[i]);
  }
}

static const weir_tier tiers[] = {WEIR_TIER_REFERENCE, WEIR_TIER_VECTOR, WEIR_TIER_NATIVE};

static void short_streams_have_the_bits_of_chunks(void **state)
{
  for (uint64_t seed = 0; seed < 12; seed++) {
    const use_case c = {.count = seed < 3 ? (int64_t)seed : 700 + 13 * (int64_t)seed,
                        .window = seed % 2 == 0 ? 1.37 : 12,
                        .cut_seed = (int64_t)(seed % 3),
                        .stretch = seed % 4 == 0 ? 0 : 200,
                        .shift = seed % 5,
                        .threads = seed % 4 == 3 ? 3 : 1,
                        .tier = tiers[seed % 3],
                        .bound = seed % 2 == 1};

    check_kept(&c, seed);
  }
}

static void skipped_slots_are_left_as_they_are(void **state)
{
  for (uint64_t seed = 0; seed < 6; seed++) {
    const use_case c = {.count = 3000 + (int64_t)seed,
                        .window = 1.37 + (double)(seed % 2),
                        .cut_seed = (int64_t)(seed / 2),
                        .shift = seed,
                        .threads = seed % 2 == 0 ? 1 : 3,
                        .tier = tiers[seed % 3],
                        .bound = seed < 3,
                        .silent = true};

    check_kept(&c, 50 + seed);
  }
}

/* Results that are larger than the caches go past them. */
static void long_streams_have_the_bits_of_chunks(void **state)
{
  for (uint64_t seed = 0; seed < 6; seed++) {
    const use_case c = {.count = WEIR_COPY_PAST_BYTES / UP / 4 + 100 + (int64_t)seed,
                        .window = seed % 2 == 0 ? 0 : 77.7,
                        .cut_seed = (int64_t)(seed % 3),
                        .stretch = seed % 2 == 0 ? 0 : 3000,
                        .shift = 3 * seed,
                        .threads = 1 + (int)seed % 3,
                        .tier = seed == 5 ? WEIR_TIER_VECTOR : WEIR_TIER_NATIVE,
                        .bound = true};

    check_kept(&c, 100 + seed);
  }
}

static void a_short_buffer_is_refused_before_it_is_left(void **state)
{
  const use_case c = {.count = 500, .window = 2, .threads = 1, .tier = WEIR_TIER_VECTOR};
  const int64_t capacity = 1500;
  int64_t slots = 0, bytes = 0;
  recording r;
  void *memory[RESULTS];
  char *at[RESULTS];

  draw(&c, 1, &r);
  for (int k = 0; k < RESULTS; k++) {
    at[k] = memory[k] = memory_of(capacity + 1000, sizeof(double));
  }
  assert_int_equal(run_once(&c, &r, true, capacity, at, &slots, &bytes), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "the buffer holds 1500"));
  for (int k = 0; k < RESULTS; k++) {
    const char *beyond = at[k] + (size_t)capacity * weir_dtype_size(dtype[k]);

    for (int64_t i = 0; i < 1000; i++) {
      assert_true(beyond[i] == 0);
    }
    weir_free(&memory[k]);
  }
  for (int i = 0; i < 2; i++) {
    weir_free(&r.x[i]);
    weir_free(&r.present[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_streams_have_the_bits_of_chunks),
      cmocka_unit_test(skipped_slots_are_left_as_they_are),
      cmocka_unit_test(long_streams_have_the_bits_of_chunks),
      cmocka_unit_test(a_short_buffer_is_refused_before_it_is_left),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
