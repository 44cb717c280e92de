/* physio_query.c - queries on streams in memory, on one core: z-scores, joins with gaps, and the
 * end-to-end query of LifeStream's evaluation. Outputs are materialised and compared with numpy's
 * before times are.
 *
 * With the argument `groups`, the time of each group of the plans is printed on stderr. */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "peer.h"
#include "stream/op/normalize/weir_stream_normalize.h"
#include "stream/weir_stream.h"
#include "weir_bench.h"

enum { ECG = 500, ABP = 125, SOURCES = 2, RESULTS = 3, RUNS = 5, NATIVE = 3, VECTOR = 2 };

extern const weir_series_op weir_series_op_join;

static bool groups;

static void must(weir_status status)
{
  if (status != WEIR_OK) {
    weir_print_trace(stderr);
    exit((int)status);
  }
}

static void *room(int64_t count, size_t size)
{
  void *p = NULL;

  must(weir_alloc(count, size, &p));
  memset(p, 0, (size_t)count * size);
  return p;
}

typedef struct source {
  int64_t rate, count;
  float *x;
  uint8_t *present;
  int64_t on, off, phase; /* slots present, then absent, from `phase` on; off 0: no gaps */
} source;

/* A value or presence of the query, whole. */
typedef struct result {
  char *data;
  size_t size;
  int64_t n, most;
} result;

typedef struct query {
  source source[SOURCES];
  int n;
  result out[RESULTS];
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
  s->x = room(s->count, sizeof(float));
  s->present = room(s->count, 1);
  for (int64_t t = 0; t < s->count; t++) {
    const double beat = (double)(t % rate) / (double)rate, slow = (double)(t % (rate * 37));
    const double noise = (double)(((uint64_t)t * 2654435761u) % 65536) / 65536;

    s->present[t] = off == 0 || (t + phase) % (on + off) < on;
    s->x[t] = s->present[t] ? (float)(90 + 80 * beat * (1 - beat) + 1e-4 * slow + noise) : 0;
  }
}

static weir_status read_source(void *context, int64_t lo, int64_t hi, float *values,
                               uint8_t *present)
{
  const source *s = context;

  memcpy(values, s->x + lo, (size_t)(hi - lo) * sizeof *values);
  memcpy(present, s->present + lo, (size_t)(hi - lo));
  return WEIR_OK;
}

static weir_status next_run(void *context, int64_t at, int64_t *lo, int64_t *hi)
{
  const source *s = context;
  const int64_t period = s->on + s->off, in = s->off == 0 ? 0 : (at + s->phase) % period;

  *lo = in < s->on || s->off == 0 ? at : at + period - in;
  *lo = *lo < s->count ? *lo : s->count;
  *hi = s->off == 0 ? s->count : *lo + s->on - (*lo + s->phase) % period;
  *hi = *hi < s->count ? *hi : s->count;
  return WEIR_OK;
}

/* Skipped slots are absent: 0 already. */
static weir_status take(void *context, const weir_view *v, int64_t lo, int64_t hi, bool last)
{
  result *r = context;

  (void)last;
  hi = hi < r->most ? hi : r->most;
  if (hi > lo) {
    memcpy(r->data + (size_t)lo * r->size, weir_view_at(v, &lo), (size_t)(hi - lo) * r->size);
    r->n = hi;
  }
  return WEIR_OK;
}

/* Builds the query; results are values, then one presence. */
typedef int (*builder)(const weir_series_use *use, weir_series *out);

static void plan(query *q, builder build, int64_t slots, int tier, int threads, weir_stream_cfg cfg)
{
  static const char *const value[] = {"x0", "x1"}, *const present[] = {"p0", "p1"};
  static const char *const name[] = {"ecg", "abp"}, *const results[] = {"y0", "y1"};
  weir_stream_source sources[SOURCES];
  weir_stream_sink sinks[RESULTS];
  weir_series in[SOURCES], out[SOURCES];
  weir_exec_cfg exec;
  weir_graph *g = NULL;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = tier;
  exec.explain = groups;
  q->keeper = (weir_series_keeper){NULL};
  must(weir_store_create(&q->store));
  must(weir_graph_create(&g));
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
    const size_t size = i < n ? sizeof(float) : 1;

    q->out[i] = (result){.data = room(slots, size), .size = size, .most = slots};
    weir_output(g, i < n ? results[i] : "present", i < n ? out[i].value : out[0].present);
    sinks[i] = (weir_stream_sink){i < n ? results[i] : "present", take, &q->out[i]};
  }
  must(weir_graph_status(g));
  const weir_stream_job job = {.graph = g,
                               .store = q->store,
                               .sources = sources,
                               .n_sources = q->n,
                               .sinks = sinks,
                               .n_sinks = q->n_out,
                               .stream = &cfg,
                               .exec = &exec,
                               .threads = threads};
  must(weir_stream_create(&job, &q->stream));
  weir_graph_destroy(&g);
}

static void print_groups(const query *q)
{
  const weir_plan *p = weir_stream_plan(q->stream, 0);

  fprintf(stderr, "window %.3f s, buffers %.2f MB, tier %d\n", q->report.window_s,
          (double)q->report.buffer_bytes * 1e-6, q->report.tier);
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
  must(weir_stream_run(q->stream, &q->report));
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
  const double best = peer_best(RUNS, run, q);
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

static void bench_normalize(void)
{
  query q = {.n = 0};

  add_source(&q, ECG, 6000 * 4, 0, 0, 0);
  const int64_t n = q.source[0].count;
  plan(&q, build_normalize, n, NATIVE, 1, (weir_stream_cfg){.skip = true});
  const double own = seconds_of(&q);

  peer_row("normalize 60 s", "none", (double)n, 1, own, 0);
  destroy(&q);
}

int main(int argc, char **argv)
{
  groups = argc > 1 && strcmp(argv[1], "groups") == 0;
  bench_pin();
  weir_log_set_level(WEIR_LOG_WARN);
  bench_normalize();
  return 0;
}
