/* physio_filter.c - filters of a stream in memory against the best of scipy, f32, on one core. */
#include <string.h>
#include "support/graph/store_check.h"
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "reference.h"
#include "stream/op/filter/filter_priv.h"
#include "stream/weir_stream.h"
#include "weir_bench.h"

enum { RATE = 360, SAMPLES = 8000000, RUNS = 7, REFERENCE_RUNS = 5 };

extern const weir_series_op weir_series_op_filter;

/* One filter, planned, from x to y. */
typedef struct filtering {
  float *x;
  weir_stream_kept y;
  filter_opts opts;
  weir_graph *graph;
  weir_store *store;
  weir_series_keeper keeper;
  weir_stream *stream;
} filtering;

static weir_status read_memory(void *context, int64_t lo, int64_t hi, float *values,
                               uint8_t *present)
{
  const filtering *f = context;

  memcpy(values, f->x + lo, (size_t)(hi - lo) * sizeof *values);
  memset(present, 1, (size_t)(hi - lo));
  return WEIR_OK;
}

static void plan(filtering *f)
{
  weir_exec_cfg exec;
  weir_stream_cfg stream;
  weir_series_result result;
  const weir_stream_source source = {"x", "present", RATE, 1, SAMPLES, read_memory, NULL, f};
  const weir_stream_sink sink = {"y", weir_stream_keep, &f->y};

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  weir_opts_default(weir_stream_opts, sizeof stream, &stream);
  exec.tier = WEIR_TIER_VECTOR;
  bench_must(weir_graph_create(&f->graph));
  bench_must(weir_store_create(&f->store));
  const weir_series in = weir_series_input(f->graph, "x", "present", RATE, 1);
  const weir_series_use use = {.graph = f->graph,
                               .store = f->store,
                               .step = "filter",
                               .opts = &f->opts,
                               .in = &in,
                               .n_in = 1,
                               .keeper = &f->keeper};

  bench_must(weir_series_op_filter.build(&use, &result));
  weir_output(f->graph, "y", result.out[0].value);
  const weir_stream_job job = {.graph = f->graph,
                               .store = f->store,
                               .sources = &source,
                               .n_sources = 1,
                               .sinks = &sink,
                               .n_sinks = 1,
                               .stream = &stream,
                               .exec = &exec,
                               .threads = 1};

  bench_must(weir_stream_create(&job, &f->stream));
}

static void unplan(filtering *f)
{
  weir_stream_destroy(&f->stream);
  weir_graph_destroy(&f->graph);
  weir_store_destroy(&f->store);
  weir_series_keeper_fini(&f->keeper);
}

static void run(void *context)
{
  filtering *f = context;
  weir_stream_report report;

  for (int64_t i = 0; i < weir_store_count(f->store); i++) {
    weir_tensor *t = check_stored(f->store, weir_store_name(f->store, i));

    memset(t->data, 0, (size_t)t->shape[0]);
  }
  f->y.n = 0;
  weir_stream_rewind(f->stream);
  bench_must(weir_stream_run(f->stream, &report));
}

/* `tolerance`: what a sum of that many f32 terms, or a recurrence in f32, loses. */
static void compare(filtering *f, const char *work, const char *function, const char *arguments,
                    double tolerance, double goal)
{
  const reference_input in = {"x", "f4", f->x, SAMPLES};
  reference_result reference =
      reference_run("physio_filter.py", function, arguments, REFERENCE_RUNS, 1, &in, 1);

  plan(f);
  const double seconds = bench_best(RUNS, run, f);

  reference_same_f32(work, &reference, 0, f->y.data, f->y.n, tolerance);
  reference_row(work, "SciPy", &reference, SAMPLES, seconds, goal);
  reference_free(&reference);
  unplan(f);
}

/* A wander, a rhythm and noise, about 1 mV. */
static void make_signal(filtering *f)
{
  void *memory;

  bench_must(weir_alloc(SAMPLES, sizeof(float), &memory));
  f->x = memory;
  bench_must(weir_alloc(SAMPLES, sizeof(float), &memory));
  f->y = (weir_stream_kept){memory, SAMPLES, 0};
  for (int64_t t = 0; t < SAMPLES; t++) {
    const double wander = (double)(t % 1800) / 1800, beat = t % 300 < 12;

    f->x[t] = (float)(wander + beat + 0.2 * weir_random_uniform(1, 1, 0, (uint64_t)t));
  }
}

int main(void)
{
  filtering f = {0};

  weir_log_set_level(WEIR_LOG_WARN);
  if (!reference_ready("scipy")) {
    return REFERENCE_SKIP;
  }
  (void)bench_pin();
  make_signal(&f);
  weir_opts_default(weir_series_op_filter.opts, sizeof f.opts, &f.opts);
  f.opts.kind = FILTER_FIR_BANDPASS;
  compare(&f, "FIR 151 taps", "fir", "taps=151", 1e-5, 2);
  f.opts.taps = 2001;
  compare(&f, "FIR 2001 taps", "fir", "taps=2001", 1e-5, 2);
  f.opts.kind = FILTER_BANDPASS;
  compare(&f, "Butterworth-4 band-pass", "causal", NULL, 1e-3, 2);
  f.opts.zero_phase = true;
  compare(&f, "Butterworth-4 band-pass zero phase", "zero_phase", NULL, 1e-3, 2);
  weir_free(&f.x);
  weir_free(&f.y.data);
  return 0;
}
