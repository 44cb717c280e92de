/* fir_fft_test.c - long filters over many blocks: transforms against sums, in any chunks. */
#include "support/stream/filter_check.h"

enum { COUNT = 24000 };

/* A stream longer than series_check.h draws, and what came out. */
typedef struct record {
  filter_opts o;
  float x[COUNT], y[COUNT];
  uint8_t present[COUNT];
} record;

static weir_status give(void *context, int64_t lo, int64_t hi, float *values, uint8_t *present)
{
  const record *r = context;

  memcpy(values, r->x + lo, (size_t)(hi - lo) * sizeof *values);
  memcpy(present, r->present + lo, (size_t)(hi - lo));
  return WEIR_OK;
}

/* Noise with gaps, some of them longer than a pair of blocks, and runs shorter than the filter. */
static void draw(record *r, bool gaps)
{
  int64_t left = 0;
  bool here = false;

  for (int64_t t = 0; t < COUNT; t++, left--) {
    if (left <= 0) {
      here = !gaps || !here;
      left = here ? 1 + (int64_t)(weir_random_bits(8, 1, 0, (uint64_t)t) % 6000)
                  : 1 + (int64_t)(weir_random_bits(8, 2, 0, (uint64_t)t) % 40);
      left = gaps && here && left % 5 == 0 ? 100 : left;
      left = gaps && !here && t > COUNT / 2 && t < 2 * COUNT / 3 ? 7000 : left;
    }
    r->present[t] = here;
    r->x[t] = here ? (float)(2 * weir_random_uniform(8, 3, 0, (uint64_t)t) - 1) : 0.0f;
  }
}

static void run(record *r, int method, weir_stream_cfg cfg)
{
  const weir_stream_source source = {"x", "p", 1, 1, COUNT, give, NULL, r};
  run_column y = {r->y, sizeof *r->y, COUNT, 0};
  const weir_stream_sink sink = {"y", run_take, &y};
  weir_series_keeper keeper = {NULL};
  weir_series_result result = {.n = 0};
  weir_stream_report report;
  weir_store *store = NULL;
  weir_graph *g = NULL;

  r->o.method = method;
  assert_ok(weir_store_create(&store));
  assert_ok(weir_graph_create(&g));
  const weir_series s = weir_series_input(g, "x", "p", 1, 1);
  const weir_series_use use = {.graph = g,
                               .store = store,
                               .step = "step",
                               .opts = &r->o,
                               .in = &s,
                               .n_in = 1,
                               .keeper = &keeper};

  assert_ok(weir_series_op_filter.build(&use, &result));
  weir_output(g, "y", result.out[0].value);
  run_job((weir_stream_job){.graph = g,
                            .store = store,
                            .sources = &source,
                            .n_sources = 1,
                            .sinks = &sink,
                            .n_sinks = 1,
                            .stream = &cfg,
                            .threads = 1},
          WEIR_TIER_VECTOR, &report);
  assert_int_equal(y.n, COUNT);
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
  weir_series_keeper_fini(&keeper);
}

static void transforms_equal_sums_in_any_chunks(void **state)
{
  static record r;
  static float sums[COUNT], whole[COUNT];
  static const int64_t taps[] = {201, 1023, 2001};

  for (int i = 0; i < 6; i++) {
    r.o = filter_defaults();
    r.o.kind = FILTER_FIR_LOWPASS + i % 4;
    r.o.taps = taps[i % 3];
    r.o.tolerance = 0;
    draw(&r, i >= 3);
    run(&r, FILTER_DIRECT, (weir_stream_cfg){.window = 4000, .skip = true});
    memcpy(sums, r.y, sizeof sums);
    run(&r, FILTER_FFT, (weir_stream_cfg){.window = COUNT});
    memcpy(whole, r.y, sizeof whole);
    run(&r, FILTER_FFT, (weir_stream_cfg){.window = 900, .skip = true, .cut_seed = 1 + i});
    assert_memory_equal(r.y, whole, sizeof whole);
    for (int64_t t = 0; t < COUNT; t++) {
      assert_near((double)whole[t], (double)sums[t], 2e-6);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transforms_equal_sums_in_any_chunks),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
