/* physio_query.c - queries on streams in memory, on one core: z-scores, joins with gaps, and the
 * end-to-end query of LifeStream's evaluation. Outputs are materialised and compared with numpy's
 * before times are.
 *
 * With the argument `groups`, the time of each group of the plans is printed on stderr. */
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "queries.h"
#include "reference.h"
#include "stream/op/normalize/weir_stream_normalize.h"
#include "stream/weir_stream.h"
#include "weir_bench.h"

enum { ECG = QUERY_ECG, ABP = QUERY_ABP, SOURCES = 2, RESULTS = 3, RUNS = 15 };
enum { LONGEST_HELD = 24000 /* s of a source that are kept in memory */ };

static bool groups;

static void *zeroed(int64_t count, size_t size)
{
  void *p = NULL;

  bench_must(weir_alloc(count, size, &p));
  memset(p, 0, (size_t)count * size);
  return p;
}

typedef struct source {
  int64_t rate, count, n_kept; /* `n_kept` slots are kept and repeat */
  float *x;
  uint8_t *present;
  int64_t on, off, phase; /* slots present, then absent, from `phase` on; on 0: no gaps */
} source;

typedef struct query {
  source source[SOURCES];
  int n;
  weir_stream_kept out[RESULTS]; /* values, then one presence */
  int n_out;
  weir_store *store;
  weir_series_keeper keeper;
  weir_stream *stream;
  weir_stream_report report;
} query;

static void add_source(query *q, int64_t rate, int64_t seconds, int64_t on, int64_t off,
                       int64_t phase)
{
  source *s = &q->source[q->n++];

  *s = (source){.rate = rate, .count = rate * seconds, .on = on, .off = off, .phase = phase};
  s->n_kept = seconds > LONGEST_HELD ? rate * LONGEST_HELD : s->count;
  s->x = zeroed(s->n_kept, sizeof(float));
  s->present = zeroed(s->n_kept, 1);
  for (int64_t t = 0; t < s->n_kept; t++) {
    const double beat = (double)(t % rate) / (double)rate, slow = (double)(t % (rate * 37));
    const double noise = (double)(((uint64_t)t * 2654435761u) % 65536) / 65536;

    s->present[t] = on == 0 || (t + phase) % (on + off) < on;
    s->x[t] = s->present[t] ? (float)(90 + 80 * beat * (1 - beat) + 1e-4 * slow + noise) : 0;
  }
}

static weir_status read_source(void *context, int64_t lo, int64_t hi, float *values,
                               uint8_t *present)
{
  const source *s = context;

  while (lo < hi) {
    const int64_t at = lo % s->n_kept, n = hi - lo < s->n_kept - at ? hi - lo : s->n_kept - at;

    memcpy(values, s->x + at, (size_t)n * sizeof *values);
    memcpy(present, s->present + at, (size_t)n);
    values += n;
    present += n;
    lo += n;
  }
  return WEIR_OK;
}

static weir_status next_run(void *context, int64_t at, int64_t *lo, int64_t *hi)
{
  const source *s = context;
  const int64_t period = s->on + s->off, in = s->on == 0 ? 0 : (at + s->phase) % period;

  *lo = in < s->on || s->on == 0 ? at : at + period - in;
  *lo = *lo < s->count ? *lo : s->count;
  *hi = s->on == 0 ? s->count : *lo + s->on - (*lo + s->phase) % period;
  *hi = *hi < s->count ? *hi : s->count;
  return WEIR_OK;
}

static weir_status drop(void *context, const weir_view *v, int64_t lo, int64_t hi, bool last)
{
  (void)context, (void)v, (void)lo, (void)hi, (void)last;
  return WEIR_OK;
}

static size_t size_of(const query *q, int k)
{
  return k < q->n_out - 1 ? sizeof(float) : 1;
}

static void plan(query *q, query_builder build, int64_t slots, weir_tier tier, int threads,
                 weir_stream_cfg cfg)
{
  static const char *const value[] = {"x0", "x1"}, *const present[] = {"p0", "p1"};
  static const char *const name[] = {"ecg", "abp"}, *const results[] = {"y0", "y1"};
  weir_stream_source sources[SOURCES];
  weir_stream_sink sinks[RESULTS];
  weir_series in[SOURCES], out[SOURCES];
  weir_exec_cfg exec;
  weir_graph *g = NULL;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = (int)tier;
  exec.explain = groups;
  q->keeper = (weir_series_keeper){NULL};
  bench_must(weir_store_create(&q->store));
  bench_must(weir_graph_create(&g));
  for (int i = 0; i < q->n; i++) {
    sources[i] =
        (weir_stream_source){value[i],           present[i],  q->source[i].rate, 1,
                             q->source[i].count, read_source, next_run,          &q->source[i]};
    in[i] = weir_series_input(g, value[i], present[i], q->source[i].rate, 1);
  }
  const weir_series_use use = {.graph = g,
                               .store = q->store,
                               .step = "step",
                               .in = in,
                               .in_name = name,
                               .n_in = q->n,
                               .keeper = &q->keeper};
  const int n = build(&use, out);

  q->n_out = n + 1;
  for (int i = 0; i <= n; i++) {
    q->out[i] = (weir_stream_kept){zeroed(slots, size_of(q, i)), slots, 0};
    weir_output(g, i < n ? results[i] : "present", i < n ? out[i].value : out[0].present);
    sinks[i] = (weir_stream_sink){i < n ? results[i] : "present",
                                  slots > 0 ? weir_stream_keep : drop, &q->out[i]};
  }
  bench_must(weir_graph_status(g));
  const weir_stream_job job = {.graph = g,
                               .store = q->store,
                               .sources = sources,
                               .n_sources = q->n,
                               .sinks = sinks,
                               .n_sinks = q->n_out,
                               .stream = &cfg,
                               .exec = &exec,
                               .threads = threads};
  bench_must(weir_stream_create(&job, &q->stream));
  for (int i = 0; i < q->n; i++) {
    if (q->source[i].n_kept == q->source[i].count) {
      bench_must(weir_stream_bind(q->stream, i, q->source[i].x, q->source[i].present));
    }
  }
  weir_graph_destroy(&g);
}

static void print_groups(const query *q)
{
  const weir_plan *p = weir_stream_plan(q->stream, 0);

  fprintf(stderr, "window %.3f s, buffers %.2f MB, %s engine\n", q->report.window_s,
          (double)q->report.buffer_bytes * 1e-6, weir_tier_name(q->report.tier));
  for (int32_t i = 0; i < weir_plan_groups(p); i++) {
    const weir_group_report r = weir_plan_group(p, i);

    fprintf(stderr, "  %8.3f ms %6lld calls  %s [%s]\n", r.measured_s * (double)r.calls * 1e3,
            (long long)r.calls, r.members, r.kernel);
  }
}

static void run(void *context)
{
  query *q = context;

  weir_stream_rewind(q->stream);
  bench_must(weir_stream_run(q->stream, &q->report));
}

/* Processor seconds of this thread. */
static double cpu_seconds(void)
{
  struct timespec t;

  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_of(query *q)
{
  const double best = bench_best(RUNS, run, q);
  const double start = cpu_seconds();

  if (groups) {
    run(q);
    fprintf(stderr, "%.4f s of processor time\n", cpu_seconds() - start);
  }

  if (groups) {
    print_groups(q);
  }
  return best;
}

static void destroy(query *q)
{
  weir_stream_destroy(&q->stream);
  weir_store_destroy(&q->store);
  weir_series_keeper_fini(&q->keeper);
  for (int i = 0; i < q->n; i++) {
    weir_free(&q->source[i].x);
    weir_free(&q->source[i].present);
  }
  for (int i = 0; i < q->n_out; i++) {
    weir_free(&q->out[i].data);
  }
  *q = (query){.n = 0};
}

static int build_normalize(const weir_series_use *use, weir_series *out)
{
  out[0] = weir_stream_normalize(use, use->in[0], 60 * ECG, false);
  return 1;
}

/* What is written at the least: the first source as often as there are results. */
static void copy(void *context)
{
  const query *q = context;
  const source *x = &q->source[0];

  for (int k = 0; k < q->n_out; k++) {
    memcpy(q->out[k].data, k == q->n_out - 1 ? (const void *)x->present : (const void *)x->x,
           (size_t)x->count * size_of(q, k));
  }
}

static void bench_normalize(void)
{
  query q = {.n = 0};

  add_source(&q, ECG, 24000, 0, 1, 0);
  const source *x = &q.source[0];

  plan(&q, build_normalize, x->count, WEIR_TIER_NATIVE, 1, (weir_stream_cfg){.skip = true});
  const double own = seconds_of(&q);
  const reference_input in[] = {{"x", "f4", x->x, x->count},
                                {"present", "u1", x->present, x->count}};
  reference_result r =
      reference_run("physio_query.py", "normalize", "window=30000", RUNS, 1, in, 2);

  reference_same_f32("normalize", &r, 0, q.out[0].data, q.out[0].n, 2e-5);
  if (q.out[1].n != x->count || memcmp(q.out[1].data, x->present, (size_t)x->count) != 0) {
    fprintf(stderr, "normalize: the presence is not that of the input\n");
    exit(6);
  }
  reference_row("normalize 60 s", "NumPy f32", &r, (double)x->count, own, 1.5);
  bench_rate("normalize 60 s", "memcpy", (double)x->count, bench_best(RUNS, copy, &q), own, 0);
  reference_free(&r);
  destroy(&q);
}

static void bench_end_to_end(const char *work, int64_t on, int64_t off)
{
  query q = {.n = 0};

  add_source(&q, ECG, 12000, on * ECG, off * ECG, 0);
  add_source(&q, ABP, 12000, on * ABP, off * ABP, 5 * ABP);
  const source *x = &q.source[0], *y = &q.source[1];

  plan(&q, query_end_to_end, x->count, WEIR_TIER_NATIVE, 1, (weir_stream_cfg){.skip = true});
  const double own = seconds_of(&q);
  const reference_input in[] = {{"ecg", "f4", x->x, x->count},
                                {"ecg_present", "u1", x->present, x->count},
                                {"abp", "f4", y->x, y->count},
                                {"abp_present", "u1", y->present, y->count}};
  reference_result r =
      reference_run("physio_query.py", "end_to_end", "rate=500 up=4 seconds=60", RUNS, 1, in, 4);

  reference_same_u8(work, &r, 2, q.out[2].data, q.out[2].n);
  for (int k = 0; k < 2; k++) {
    reference_same_f32(work, &r, k, q.out[k].data, q.out[k].n, 5e-5);
  }
  const double events = (double)(x->count + y->count);

  reference_row(work, "NumPy f32", &r, events, own, 3);
  bench_rate(work, "memcpy of the results", events, bench_best(RUNS, copy, &q), own, 0);
  reference_free(&r);
  destroy(&q);
}

/* Both present 60 s in 600, and together for 6 of them. */
static void bench_targeted(void)
{
  double seconds[2];
  query q[2] = {{.n = 0}, {.n = 0}};

  for (int skip = 0; skip < 2; skip++) {
    add_source(&q[skip], ECG, LONGEST_HELD, 60 * ECG, 540 * ECG, 0);
    add_source(&q[skip], ABP, LONGEST_HELD, 60 * ABP, 540 * ABP, 546 * ABP);
    plan(&q[skip], query_join, q[skip].source[0].count, WEIR_TIER_NATIVE, 1,
         (weir_stream_cfg){.skip = skip == 1});
    seconds[skip] = seconds_of(&q[skip]);
  }
  for (int k = 0; k < q[0].n_out; k++) {
    const weir_stream_kept *a = &q[0].out[k], *b = &q[1].out[k];

    if (a->n != a->capacity || b->n != a->n ||
        memcmp(a->data, b->data, (size_t)a->n * size_of(&q[0], k)) != 0) {
      fprintf(stderr, "join with gaps: result %d depends on skipping\n", k);
      exit(6);
    }
  }
  bench_rate("join with 90 % gaps", "skipping off",
             (double)(q[0].source[0].count + q[0].source[1].count), seconds[0], seconds[1], 5);
  destroy(&q[0]);
  destroy(&q[1]);
}

/* Peak memory of a process that runs the end-to-end query over so many hours, keeping nothing. */
static int64_t peak_of_hours(int64_t hours)
{
  int64_t peak = 0;
  int ends[2];

  if (pipe(ends) != 0) {
    exit(8);
  }
  const pid_t child = fork();

  if (child == 0) {
    query q = {.n = 0};

    for (int i = 0; i < 2; i++) {
      const int64_t rate = i == 0 ? ECG : ABP;

      add_source(&q, rate, 1800, 0, 1, 0); /* repeated, so that none is read in place */
      q.source[i].count = rate * 3600 * hours;
    }
    plan(&q, query_end_to_end, 0, WEIR_TIER_NATIVE, 1, (weir_stream_cfg){.skip = true});
    run(&q);
    peak = bench_peak_rss();
    _exit(write(ends[1], &peak, sizeof peak) == (ssize_t)sizeof peak ? 0 : 1);
  }
  int status = 1;

  if (child < 0 || read(ends[0], &peak, sizeof peak) != (ssize_t)sizeof peak ||
      waitpid(child, &status, 0) != child || status != 0) {
    exit(8);
  }
  (void)close(ends[0]);
  (void)close(ends[1]);
  return peak;
}

static void bench_memory(void)
{
  const double growth = (double)(peak_of_hours(100) - peak_of_hours(1)) * 1e-6;

  bench_row("memory of 100 h above 1 h", "limit", 1, fmax(growth, 0.001), "MB", 0, 1);
}

int main(int argc, char **argv)
{
  groups = argc > 1 && strcmp(argv[1], "groups") == 0;
  (void)bench_pin();
  weir_log_set_level(WEIR_LOG_WARN);
  if (!reference_ready("numpy")) {
    return REFERENCE_SKIP;
  }
  bench_normalize();
  bench_targeted();
  bench_end_to_end("end to end", 0, 1);
  bench_end_to_end("end to end with gaps of 1 s", 50, 1);
  bench_memory();
  return 0;
}
