/* physio_detect.c - beat detection from samples in memory, on one core: speed in both engines and
 * against XQRS of wfdb, time to make a plan, and memory of 1 h and of 100 h. The limits are Weir's
 * own goals. */
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "data/ecgsyn.h"
#include "device/weir_parallel.h"
#include "model/graph.h"
#include "reference.h"
#include "stream/weir_stream.h"
#include "weir_bench.h"

enum {
  RATE = 360,
  PERIOD = RATE * 600, /* samples of the signal that is repeated */
  SAMPLES = 8000000,
  MOST_SLOTS = 1 << 17,
  RUNS = 9,
  PLANS = 5
};

/* A detection, planned, over a signal in memory that repeats without end. */
typedef struct detection {
  float *signal;
  int64_t beats;
  ps_graph graph;
  weir_stream *stream;
} detection;

static weir_status read_memory(void *context, int64_t lo, int64_t hi, float *values,
                               uint8_t *present)
{
  const detection *d = context;

  memset(present, 1, (size_t)(hi - lo));
  while (lo < hi) {
    const int64_t at = lo % PERIOD;
    const int64_t n = hi - lo < PERIOD - at ? hi - lo : PERIOD - at;

    memcpy(values, d->signal + at, (size_t)n * sizeof(float));
    values += n;
    lo += n;
  }
  return WEIR_OK;
}

static weir_status count_beats(void *context, const weir_view *view, int64_t lo, int64_t hi,
                               bool last)
{
  detection *d = context;

  (void)lo;
  (void)hi;
  (void)last;
  d->beats += *(const int64_t *)view->data;
  return WEIR_OK;
}

static void make_signal(detection *d)
{
  ps_ecgsyn_opts opts;
  ps_ecgsyn *gen = NULL;
  void *memory = NULL;
  int64_t n_marks = 0;

  weir_opts_default(ps_ecgsyn_options, sizeof opts, &opts);
  opts.rate = RATE;
  bench_must(weir_alloc(PERIOD, sizeof(float), &memory));
  d->signal = memory;
  bench_must(ps_ecgsyn_create(&opts, 1, &gen));
  const int64_t capacity = ps_ecgsyn_capacity(gen, PERIOD);

  bench_must(weir_alloc(capacity, sizeof(ps_mark), &memory));
  ps_ecgsyn_chunk(gen, PERIOD, d->signal, memory, &n_marks);
  weir_free(&memory);
  ps_ecgsyn_destroy(&gen);
}

/* Returns the seconds that making the plan took. */
static double plan(detection *d, int64_t count, weir_tier tier, const char *cache)
{
  ps_detect_opts detect;
  weir_exec_cfg exec;
  weir_stream_cfg stream;
  const weir_stream_source source = {PS_INPUT_X, PS_INPUT_PRESENT, RATE, 1,
                                     count,      read_memory,      NULL, d};
  const weir_stream_sink sink = {PS_RESULT_BEATS, count_beats, d};

  weir_opts_default(ps_detect_options, sizeof detect, &detect);
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  weir_opts_default(weir_stream_opts, sizeof stream, &stream);
  exec.tier = (int)tier;
  exec.cache_dir = cache;
  bench_must(ps_graph_create(&detect, RATE, 1, MOST_SLOTS, false, &d->graph));
  const weir_stream_job job = {.graph = d->graph.graph,
                               .store = d->graph.store,
                               .sources = &source,
                               .n_sources = 1,
                               .sinks = &sink,
                               .n_sinks = 1,
                               .stream = &stream,
                               .exec = &exec,
                               .threads = 1};
  const double start = weir_clock();

  bench_must(weir_stream_create(&job, &d->stream));
  return weir_clock() - start;
}

static void unplan(detection *d)
{
  weir_stream_destroy(&d->stream);
  ps_graph_destroy(&d->graph);
}

static void run(void *context)
{
  detection *d = context;
  weir_stream_report report;

  d->beats = 0;
  bench_must(ps_graph_reset(&d->graph));
  weir_stream_rewind(d->stream);
  bench_must(weir_stream_run(d->stream, &report));
}

/* Least seconds of some plans. cold: each with an empty folder below `cache`, else with that. */
static double least_plan(detection *d, weir_tier tier, const char *cache, bool cold)
{
  double least = INFINITY;
  char empty[512];

  for (int i = 0; i < PLANS; i++) {
    snprintf(empty, sizeof empty, "%s/%d", cache, i);
    if (cold && mkdir(empty, 0700) != 0) {
      exit(8);
    }
    least = fmin(least, plan(d, SAMPLES, tier, cold ? empty : cache));
    unplan(d);
  }
  return least;
}

/* Returns the seconds of a run. */
static double speed(detection *d, const char *work, weir_tier tier, const char *cache, double goal)
{
  (void)plan(d, SAMPLES, tier, cache);
  const double seconds = bench_best(RUNS, run, d);

  /* One beat a second is what the signal has: a run that finds nothing is no measurement. */
  if (d->beats < SAMPLES / RATE * 9 / 10) {
    fprintf(stderr, "physio_detect: %lld beats found\n", (long long)d->beats);
    exit(6);
  }
  bench_row(work, "limit", goal, SAMPLES / seconds * 1e-6, "M samples/s", 1, 1);
  unplan(d);
  return seconds;
}

/* On one period of the signal, in which it must find as many beats; `seconds`: Weir's. */
static void against_xqrs(const detection *d, double seconds)
{
  const reference_input in = {"x", "f4", d->signal, PERIOD};
  char arguments[32];

  if (!reference_ready("wfdb")) {
    return;
  }
  (void)snprintf(arguments, sizeof arguments, "rate=%d", (int)RATE);
  reference_result r = reference_run("physio_detect.py", "xqrs", arguments, 1, 1, &in, 1);
  const double theirs = (double)r.bytes[0] / sizeof(int64_t) / PERIOD;
  const double own = (double)d->beats / SAMPLES;

  if (!(fabs(own / theirs - 1) <= 0.02)) {
    fprintf(stderr, "physio_detect: %g beats in 1000 samples, XQRS finds %g\n", 1e3 * own,
            1e3 * theirs);
    exit(6);
  }
  bench_row_of("detection native", "XQRS of wfdb", r.version, PERIOD / r.seconds * 1e-6,
               SAMPLES / seconds * 1e-6, "M samples/s", 1, 200);
  reference_free(&r);
}

enum { PAIR = 2 };

static void run_recording(void *context, int64_t item, int thread)
{
  (void)thread;
  run((detection *)context + item);
}

static void run_in_turn(void *context)
{
  for (int i = 0; i < PAIR; i++) {
    run((detection *)context + i);
  }
}

static void run_together(void *context)
{
  weir_parallel(PAIR, PAIR, run_recording, context);
}

/* Two recordings, as `physio_stream run` takes them: one after the other, and at once. */
static void scaling(const detection *d, const char *cache)
{
  detection pair[PAIR] = {*d, *d};
  double seconds[2];

  weir_threads_set(PAIR);
  for (int i = 0; i < PAIR; i++) {
    (void)plan(&pair[i], SAMPLES, WEIR_TIER_NATIVE, cache);
  }
  bench_best_pair(RUNS, run_in_turn, pair, run_together, pair, seconds);
  if (pair[0].beats != pair[1].beats || pair[0].beats < SAMPLES / RATE * 9 / 10) {
    fprintf(stderr, "physio_detect: %lld and %lld beats found\n", (long long)pair[0].beats,
            (long long)pair[1].beats);
    exit(6);
  }
  bench_row("detection in two recordings on 2 threads", "1 thread",
            PAIR * SAMPLES / seconds[0] * 1e-6, PAIR * SAMPLES / seconds[1] * 1e-6, "M samples/s",
            1, 1.7);
  for (int i = 0; i < PAIR; i++) {
    unplan(&pair[i]);
  }
}

/* Resident bytes at the highest of a fresh process that detects beats for `hours`. */
static double resident(const char *self, int hours, weir_tier tier)
{
  char length[16], engine[16], line[64] = "";
  int ends[2];

  snprintf(length, sizeof length, "%d", hours);
  snprintf(engine, sizeof engine, "%d", (int)tier);
  if (pipe(ends) != 0) {
    exit(8);
  }
  const pid_t child = fork();

  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl(self, self, length, engine, (char *)NULL);
    _exit(8);
  }
  close(ends[1]);
  const ssize_t got = read(ends[0], line, sizeof line - 1);
  int status = 1;

  waitpid(child, &status, 0);
  close(ends[0]);
  if (got <= 0 || status != 0) {
    fprintf(stderr, "physio_detect: the run of %d h failed\n", hours);
    exit(8);
  }
  return strtod(line, NULL);
}

static void memory(weir_tier tier)
{
  const double hour = resident("/proc/self/exe", 1, tier);
  const double hundred = resident("/proc/self/exe", 100, tier);
  /* A ratio needs a growth above 0; 1 KiB stands for all that is smaller. */
  const double growth = hundred - hour > 1024 ? (hundred - hour) / 1048576 : 1.0 / 1024;
  char work[64];

  snprintf(work, sizeof work, "memory of 100 h %s", weir_tier_name(tier));
  bench_row(work, "limit", 64, hundred / 1048576, "MiB", 0, 1);
  snprintf(work, sizeof work, "memory growth 1 h to 100 h %s", weir_tier_name(tier));
  bench_row(work, "limit", 1, growth, "MiB", 0, 1);
}

static int child(detection *d, int hours, weir_tier tier)
{
  (void)plan(d, (int64_t)hours * 3600 * RATE, tier, "");
  run(d);
  if (d->beats < (int64_t)hours * 3240) {
    return 6;
  }
  printf("%lld\n", (long long)bench_peak_rss());
  return 0;
}

int main(int argc, char **argv)
{
  detection d = {0};
  char cache[256];

  weir_log_set_level(WEIR_LOG_WARN);
  const cpu_set_t allowed = bench_pin();

  make_signal(&d);
  if (argc > 2) {
    return child(&d, atoi(argv[1]), (weir_tier)atoi(argv[2]));
  }
  weir_check_mkdir(cache, sizeof cache);
  const double vector = least_plan(&d, WEIR_TIER_VECTOR, cache, false);
  const double cold = least_plan(&d, WEIR_TIER_NATIVE, cache, true);
  const double warm = least_plan(&d, WEIR_TIER_NATIVE, cache, false);
  against_xqrs(&d, speed(&d, "detection native", WEIR_TIER_NATIVE, cache, 50));
  (void)speed(&d, "detection vector", WEIR_TIER_VECTOR, cache, 20);
  bench_row("plan without compiler", "limit", 50, vector * 1e3, "ms", 0, 1);
  bench_row("plan with cold cache", "limit", 500, cold * 1e3, "ms", 0, 1);
  bench_row("plan with warm cache", "limit", 60, warm * 1e3, "ms", 0, 1);
  memory(WEIR_TIER_NATIVE);
  memory(WEIR_TIER_VECTOR);
  if (bench_unpin(&allowed) >= PAIR) {
    scaling(&d, cache);
  } else {
    fprintf(stderr, "physio_detect: one processor: no row of 2 threads\n");
  }
  weir_check_rmdir(cache);
  return 0;
}
