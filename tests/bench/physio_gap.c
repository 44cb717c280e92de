/* physio_gap.c - the operators that know gaps, one core, streams in memory, against numpy on the
 * same arrays: values and presence are compared before any row is printed. Windows and tolerances
 * of 60 s, as LifeStream's benchmarks have them. */
#include <stdbool.h>
#include <string.h>
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "stream/weir_series.h"
#include "stream/weir_stream.h"
#include "reference.h"
#include "weir_bench.h"

enum { SLOTS = 15000000, MOST = 4 * SLOTS, RUNS = 7 };

/* A stream in memory and what comes out of a step on it. */
typedef struct bench {
  float *x;
  uint8_t *present;
  weir_stream_kept y, made; /* values and presence */
  weir_stream *stream;
} bench;

/* Most of a beat-like signal, with a gap of up to 1 s every 10 s and one of minutes every hour. */
static void make_stream(bench *b, int64_t rate)
{
  int64_t left = rate * 5, gap = 0;

  for (int64_t t = 0; t < SLOTS; t++) {
    const double u = weir_random_uniform(1, 2, 0, (uint64_t)t);

    if (left-- <= 0 && gap == 0) {
      const bool minutes = u < 1.0 / 360;

      gap = 1 + (int64_t)(weir_random_uniform(1, 3, 0, (uint64_t)t) * (double)rate *
                          (minutes ? 300 : 1));
      left = (int64_t)(20 * u * (double)rate) + gap;
    }
    b->present[t] = gap == 0;
    b->x[t] = gap == 0 ? (float)(80 + 40 * u) : 0;
    gap -= gap > 0;
  }
}

static const weir_series_op *find_op(const char *name)
{
  for (int i = 0; weir_series_op_table[i] != NULL; i++) {
    if (strcmp(weir_series_op_table[i]->name, name) == 0) {
      return weir_series_op_table[i];
    }
  }
  fprintf(stderr, "physio_gap: no operator %s\n", name);
  exit(2);
}

/* Plans one step whose options are `set` ("key: value" lines) on the stream. */
static void plan(bench *b, const char *op, const char *set, int64_t rate)
{
  const weir_stream_source source = {"x", "p", rate, 1, SLOTS, NULL, NULL, b};
  const weir_stream_sink sinks[] = {{"y", weir_stream_keep, &b->y},
                                    {"q", weir_stream_keep, &b->made}};
  const weir_series_op *step = find_op(op);
  unsigned char options[256];
  weir_series_keeper keeper = {NULL};
  weir_series_result made = {.n = 0};
  weir_stream_cfg stream;
  weir_exec_cfg exec;
  weir_store *store = NULL;
  weir_graph *g = NULL;

  bench_must(weir_opts_parse(step->opts, step->opts_size, set, options, NULL));
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  weir_opts_default(weir_stream_opts, sizeof stream, &stream);
  bench_must(weir_store_create(&store));
  bench_must(weir_graph_create(&g));
  const weir_series in = weir_series_input(g, "x", "p", rate, 1);
  const weir_series_use use = {.graph = g,
                               .store = store,
                               .step = op,
                               .opts = options,
                               .in = &in,
                               .n_in = 1,
                               .keeper = &keeper};

  bench_must(step->build(&use, &made));
  weir_output(g, "y", made.out[0].value);
  weir_output(g, "q", made.out[0].present);
  const weir_stream_job job = {.graph = g,
                               .store = store,
                               .sources = &source,
                               .n_sources = 1,
                               .sinks = sinks,
                               .n_sinks = 2,
                               .stream = &stream,
                               .exec = &exec,
                               .threads = 1};

  bench_must(weir_stream_create(&job, &b->stream));
  bench_must(weir_stream_bind(b->stream, 0, b->x, b->present));
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
}

static void run(void *context)
{
  bench *b = context;
  weir_stream_report report;

  weir_stream_rewind(b->stream);
  bench_must(weir_stream_run(b->stream, &report));
}

/* What is copied at the least: a stream in, a stream out. */
static void copy(void *context)
{
  bench *b = context;

  memcpy(b->y.data, b->x, SLOTS * sizeof *b->x);
  memcpy(b->made.data, b->present, SLOTS);
}

typedef struct work {
  const char *name, *op, *set, *reference, *function, *arguments;
  int64_t rate, up;
  double goal;
} work;

static void measure(bench *b, const work *w)
{
  const reference_input in[] = {{"x", "f4", b->x, SLOTS}, {"present", "u1", b->present, SLOTS}};
  reference_result r = reference_run("physio_gap.py", w->function, w->arguments, RUNS, 1, in, 2);

  memset(b->y.data, 0, (size_t)b->y.capacity * sizeof(float));
  memset(b->made.data, 0, (size_t)b->made.capacity);
  b->y.n = b->made.n = 0;
  plan(b, w->op, w->set, w->rate);
  const double seconds = bench_best(RUNS, run, b);

  reference_same_f32(w->name, &r, 0, b->y.data, b->y.n, 1e-5);
  reference_same_u8(w->name, &r, 1, b->made.data, b->made.n);
  reference_row(w->name, w->reference, &r, SLOTS, seconds, w->goal);
  if (strcmp(w->function, "fill_const") == 0) {
    bench_rate(w->name, "memcpy", SLOTS, bench_best(RUNS, copy, b), seconds, 0.6);
  }
  weir_stream_destroy(&b->stream);
  reference_free(&r);
}

static void *array(int64_t count, size_t size)
{
  void *memory = calloc((size_t)count, size);

  if (memory == NULL) {
    fprintf(stderr, "physio_gap: out of memory\n");
    exit(5);
  }
  memset(memory, 1, (size_t)count * size);
  return memory;
}

int main(int argc, char **argv)
{
  static const work works[] = {
      {"fill_const", "fill_const", "{tolerance: 60, value: 1}", "NumPy", "fill_const",
       "tolerance=30000 value=1", 500, 1, 0},
      {"fill_mean", "fill_mean", "{window: 60, tolerance: 60}", "NumPy by gap", "fill_mean",
       "window=30000 tolerance=30000", 500, 1, 0},
      {"fill_mean", "fill_mean", "{window: 60, tolerance: 60}", "NumPy by window",
       "fill_mean_by_window", "window=30000 tolerance=30000", 500, 1, 2},
      {"resample 500 to 1000 Hz", "resample", "{rate: 1000, tolerance: 60}", "NumPy", "resample",
       "tolerance=30000 up=2", 500, 2, 2},
      {"resample 125 to 500 Hz", "resample", "{rate: 500, tolerance: 60}", "NumPy", "resample",
       "tolerance=7500 up=4", 125, 4, 2},
  };
  bench b = {.stream = NULL};

  (void)bench_pin();
  weir_log_set_level(WEIR_LOG_WARN);
  if (!reference_ready("numpy")) {
    return REFERENCE_SKIP;
  }
  b.x = array(SLOTS, sizeof *b.x);
  b.y = (weir_stream_kept){array(MOST, sizeof(float)), MOST, 0};
  b.present = array(SLOTS, 1);
  b.made = (weir_stream_kept){array(MOST, 1), MOST, 0};
  for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
    if (argc < 2 || strstr(works[i].name, argv[1]) != NULL) {
      make_stream(&b, works[i].rate);
      measure(&b, &works[i]);
    }
  }
  free(b.x);
  free(b.y.data);
  free(b.present);
  free(b.made.data);
  return 0;
}
