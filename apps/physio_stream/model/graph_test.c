/* graph_test.c - the graph gives the bits of the plain front end and the beats of the plain
 * decision, for any chunks, threads and engines, with gaps skipped or not. */
#include "model/graph.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "data/synth.h"
#include "support/physio_stream/front_check.h"
#include "support/stream/run_check.h"

enum { COUNT = 12000, RATE = 250, CAPACITY = 4000 };

/* A recording, what is to be expected of it, and what came. */
typedef struct sheet {
  float x[COUNT], filtered[COUNT], feature[COUNT], got_filtered[COUNT], got_feature[COUNT];
  uint8_t present[COUNT], got_present[COUNT];
  int64_t beats[CAPACITY], gaps[CAPACITY], got_beats[CAPACITY], got_gaps[CAPACITY];
  int64_t n, got;
} sheet;

static sheet *page;

static weir_status read_slots(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  const sheet *s = context;

  memcpy(x, s->x + lo, (size_t)(hi - lo) * sizeof *x);
  memcpy(present, s->present + lo, (size_t)(hi - lo));
  return WEIR_OK;
}

static weir_status take_filtered(void *context, const weir_view *v, int64_t lo, int64_t hi,
                                 bool last)
{
  memcpy(((sheet *)context)->got_filtered + lo, weir_view_at(v, &lo), (size_t)(hi - lo) * 4);
  return WEIR_OK;
}

static weir_status take_feature(void *context, const weir_view *v, int64_t lo, int64_t hi,
                                bool last)
{
  memcpy(((sheet *)context)->got_feature + lo, weir_view_at(v, &lo), (size_t)(hi - lo) * 4);
  return WEIR_OK;
}

static weir_status take_present(void *context, const weir_view *v, int64_t lo, int64_t hi,
                                bool last)
{
  memcpy(((sheet *)context)->got_present + lo, weir_view_at(v, &lo), (size_t)(hi - lo));
  return WEIR_OK;
}

static weir_status take_beats(void *context, const weir_view *v, int64_t lo, int64_t hi, bool last)
{
  sheet *s = context;
  const int64_t *result = v->data, columns = v->extent[1];

  for (int64_t i = 1; i <= result[0]; i++) {
    assert_true(s->got < CAPACITY);
    s->got_beats[s->got] = result[i];
    s->got_gaps[s->got++] = result[columns + i];
  }
  return WEIR_OK;
}

static void expect(sheet *s, const ps_detect_opts *opts)
{
  const size_t bytes = ps_detect_state_bytes(opts, RATE);
  ps_front_state *state = NULL;
  ps_front front;
  void *detector = NULL;
  int64_t found = 0, gap = 0;

  assert_ok(ps_front_design(&opts->front, RATE, &front));
  assert_ok(weir_alloc(1, sizeof *state, (void **)&state));
  assert_ok(weir_alloc((int64_t)bytes, 1, &detector));
  assert_ok(ps_detect_init(opts, RATE, detector, bytes));
  ps_front_run(&front, state, COUNT, s->x, s->present, s->filtered, s->feature);
  ps_detect_chunk(detector, s->filtered, s->feature, s->present, 0, COUNT, s->beats, NULL, CAPACITY,
                  &s->n);
  ps_detect_flush(detector, s->beats + s->n, NULL, CAPACITY - s->n, &found);
  s->n += found;
  for (int64_t i = 1; i < s->n; i++) {
    for (gap = 0; s->beats[i - 1] + gap < s->beats[i] && s->present[s->beats[i - 1] + gap];) {
      gap++;
    }
    s->gaps[i] = s->beats[i - 1] + gap < s->beats[i];
  }
  weir_free(&state);
  weir_free(&detector);
}

static void make_sheet(sheet *s, uint64_t seed, double missing, const ps_detect_opts *opts)
{
  ps_synth_opts how;
  ps_synth *synth = NULL;

  memset(s, 0, sizeof *s);
  weir_opts_default(ps_synth_options, sizeof how, &how);
  how.model.rate = RATE;
  how.duration = (double)COUNT / RATE;
  how.noise.white = true;
  how.gaps = (ps_gap_opts){.missing = missing, .mean = seed % 2 == 0 ? 0.05 : 4};
  assert_ok(ps_synth_create(&how, seed, &synth));
  ps_synth_chunk(synth, COUNT, s->x, s->present, NULL, NULL);
  ps_synth_destroy(&synth);
  expect(s, opts);
}

typedef struct how {
  double window;
  int64_t cut_seed;
  int threads;
  weir_tier tier;
  bool skip;
} how;

static weir_stream_report run_graph(sheet *s, const ps_detect_opts *opts, how h)
{
  const weir_stream_source source = {.value = PS_INPUT_X,
                                     .present = PS_INPUT_PRESENT,
                                     .rate_num = RATE,
                                     .rate_den = 1,
                                     .count = COUNT,
                                     .read = read_slots,
                                     .context = s};
  const weir_stream_sink sinks[] = {{PS_RESULT_FILTERED, take_filtered, s},
                                    {PS_RESULT_FEATURE, take_feature, s},
                                    {PS_RESULT_PRESENT, take_present, s},
                                    {PS_RESULT_BEATS, take_beats, s}};
  const weir_stream_cfg cfg = {.window = h.window, .skip = h.skip, .cut_seed = h.cut_seed};
  weir_stream_report report;
  ps_graph g;

  assert_ok(ps_graph_create(opts, RATE, 1, 1 << 16, true, &g));
  const weir_stream_job job = {.graph = g.graph,
                               .store = g.store,
                               .sources = &source,
                               .n_sources = 1,
                               .sinks = sinks,
                               .n_sinks = 4,
                               .stream = &cfg,
                               .threads = h.threads};
  memset(s->got_filtered, 0, sizeof s->got_filtered);
  memset(s->got_feature, 0, sizeof s->got_feature);
  memset(s->got_present, 0, sizeof s->got_present);
  s->got = 0;
  run_job(job, h.tier, &report);
  ps_graph_destroy(&g);
  return report;
}

/* The reference computes in double where the others round to float, and its sums may differ by a
 * few roundings. */
static void check_sheet(const sheet *s, weir_tier tier)
{
  const float share = tier == WEIR_TIER_REFERENCE ? 1e-5f : 0.0f;

  for (int64_t i = 0; i < COUNT; i++) {
    assert_true(s->got_filtered[i] == s->filtered[i]);
    assert_true(fabsf(s->got_feature[i] - s->feature[i]) <= share * (s->feature[i] + 0.01f));
  }
  assert_memory_equal(s->got_present, s->present, COUNT);
  assert_int_equal(s->got, s->n);
  assert_memory_equal(s->got_beats, s->beats, (size_t)s->n * sizeof *s->beats);
  assert_memory_equal(s->got_gaps, s->gaps, (size_t)s->n * sizeof *s->gaps);
}

/* Whether this build, on this machine, has that engine. */
static bool has_tier(weir_tier tier)
{
  weir_exec_cfg exec;
  weir_plan *plan = NULL;
  ps_detect_opts opts;
  ps_graph g;

  weir_opts_default(ps_detect_options, sizeof opts, &opts);
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = (int)tier;
  assert_ok(ps_graph_create(&opts, RATE, 1, 4096, false, &g));
  const weir_chunk_bound bounds[] = {{PS_INPUT_X, 4096}, {PS_INPUT_PRESENT, 4096}};
  const weir_plan_opts spec = {.exec = &exec, .threads = 1, .bounds = bounds, .n_bounds = 2};
  const weir_status status = weir_plan_create(g.graph, g.store, &spec, &plan);

  assert_true(status == WEIR_OK || status == WEIR_ERR_UNSUPPORTED);
  weir_plan_destroy(&plan);
  ps_graph_destroy(&g);
  return status == WEIR_OK;
}

static void the_graph_is_the_plain_chain(void **state)
{
  static const how cases[] = {
      {.window = 1, .threads = 1},
      {.window = 0, .threads = 1},
      {.window = 0.3, .threads = 1, .skip = true},
      {.window = 60, .threads = 2, .skip = true},
      {.window = 2, .cut_seed = 5, .threads = 2},
      {.window = 5, .cut_seed = 6, .threads = 2, .skip = true},
  };
  ps_detect_opts opts;

  weir_opts_default(ps_detect_options, sizeof opts, &opts);
  for (uint64_t seed = 0; seed < 4; seed++) {
    make_sheet(page, seed, 0.25 * (double)seed, &opts);
    assert_true(page->n > 8);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      how h = cases[i];

      for (h.tier = i == 0 ? WEIR_TIER_REFERENCE : WEIR_TIER_VECTOR; h.tier <= WEIR_TIER_NATIVE;
           h.tier++) {
        if (!has_tier(h.tier)) {
          continue;
        }
        const weir_stream_report r = run_graph(page, &opts, h);

        check_sheet(page, h.tier);
        assert_true(r.computed > 0);
        assert_true(seed != 3 || !h.skip || h.window > 1 || r.skipped > 0);
      }
    }
  }
}

static void windows_of_every_length_agree(void **state)
{
  const how h = {.window = 1,
                 .threads = 1,
                 .tier = has_tier(WEIR_TIER_VECTOR) ? WEIR_TIER_VECTOR : WEIR_TIER_REFERENCE};
  ps_detect_opts opts;

  weir_opts_default(ps_detect_options, sizeof opts, &opts);
  for (int64_t window = 2; window < 40; window += 7) {
    opts.front.window = (double)window / RATE;
    make_sheet(page, 2, 0.3, &opts);
    (void)run_graph(page, &opts, h);
    check_sheet(page, h.tier);
  }
}

static void an_impossible_rate_is_refused(void **state)
{
  ps_detect_opts opts;
  ps_graph g;

  weir_opts_default(ps_detect_options, sizeof opts, &opts);
  assert_int_equal(ps_graph_create(&opts, 20, 1, 4096, true, &g), WEIR_ERR_CONFIG);
  assert_null(g.graph);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_graph_is_the_plain_chain),
      cmocka_unit_test(windows_of_every_length_agree),
      cmocka_unit_test(an_impossible_rate_is_refused),
  };

  if (weir_alloc(1, sizeof *page, (void **)&page) != WEIR_OK) {
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  weir_free(&page);
  return failed;
}
