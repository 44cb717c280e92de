/* plan_stream.c - what a stream run fixes before its first sample: stages, chunk length, buffers.
 */
#include <math.h>
#include <string.h>
#include "stream_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "device/weir_parallel.h"

#define NS 1000000000.0
/* Times are nanoseconds in 64 bits: a hundred years allow for the chunk after the last. */
#define LONGEST 3.2e18
/* Limits of the planner's choice: below, overhead per chunk shows; above, nothing is gained. */
#define MIN_SLOTS 1024
#define MAX_SLOTS 65536

const weir_opt weir_stream_opts[] = {
    WEIR_OPT_REAL(weir_stream_cfg, window, 0, 0, 86400, "s",
                  "chunk length; results are delayed by at most this much (plus look-ahead); 0: "
                  "chosen so that the arrays of a chunk fill half of the L2 cache"),
    WEIR_OPT_REAL(weir_stream_cfg, live_window, 0.25, 0.001, 3600, "s",
                  "chunk length of live input if stream.window is 0; short, since results wait for "
                  "the end of the chunk"),
    WEIR_OPT_REAL(
        weir_stream_cfg, memory, 0, 0, 1e9, "MiB",
        "maximum memory of a recording: its chunks and the look-back and buffers of steps; larger "
        "plans are refused before the first sample; 0: memory of the machine"),
    WEIR_OPT_BOOL(
        weir_stream_cfg, skip, true,
        "skip chunks without samples once all states have settled; results are unchanged"),
    WEIR_OPT_INT(weir_stream_cfg, cut_seed, 0, 0, 4294967295.0, "1",
                 "seed of random chunk lengths up to the window, to verify that results do not "
                 "depend on chunking; 0: equal chunks"),
    WEIR_OPT_END,
};

static double rate_of(const weir_stream_source *x)
{
  return (double)x->rate_num / (double)x->rate_den;
}

static weir_status check_source(const weir_stream_source *x, bool live)
{
  if (x->rate_num <= 0 || x->rate_den <= 0 || x->count < 0) {
    return weir_fail(WEIR_ERR_CONFIG, "stream: source '%s' has rate %lld/%lld and %lld samples",
                     x->value, (long long)x->rate_num, (long long)x->rate_den, (long long)x->count);
  }
  if (live != (x->count == WEIR_STREAM_OPEN)) {
    return weir_fail(WEIR_ERR_CONFIG, "stream: source '%s' %s, but the job %s live", x->value,
                     live ? "has a known end" : "has no known end", live ? "is" : "is not");
  }
  if (!live && (double)x->count / rate_of(x) * NS > LONGEST) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "stream: source '%s' lasts longer than a hundred years (%lld samples of "
                     "%lld/%lld Hz)",
                     x->value, (long long)x->count, (long long)x->rate_num, (long long)x->rate_den);
  }
  return WEIR_OK;
}

static const weir_stream_source *fastest_source(const weir_stream_job *job)
{
  const weir_stream_source *fastest = &job->sources[0];

  for (int i = 1; i < job->n_sources; i++) {
    fastest = rate_of(&job->sources[i]) > rate_of(fastest) ? &job->sources[i] : fastest;
  }
  return fastest;
}

/* Bytes that a plan for chunks of `slots` slots of the fastest source holds: a plan for trial,
 * which the interpreter of the oracle makes cheap. *period: slots that all windows divide. */
static weir_status bytes_of_plan(const weir_stream_job *job, int64_t slots, double *bytes,
                                 int64_t *period)
{
  weir_chunk_bound bounds[STREAM_MAX_SOURCES * 2];
  weir_exec_cfg exec = *job->exec;
  const weir_plan_opts opts = {.exec = &exec,
                               .threads = 1,
                               .bounds = bounds,
                               .n_bounds = job->n_sources * 2,
                               .sizes_only = true};
  weir_plan *trial = NULL;

  exec.tier = WEIR_TIER_REFERENCE;
  exec.verify = 0;
  for (int i = 0; i < job->n_sources; i++) {
    const weir_stream_source *x = &job->sources[i];
    const int64_t bound = (int64_t)((double)slots * rate_of(x) / rate_of(fastest_source(job))) + 1;

    bounds[2 * i] = (weir_chunk_bound){x->value, bound};
    bounds[2 * i + 1] = (weir_chunk_bound){x->present, bound};
  }
  WEIR_TRY(weir_plan_create(job->graph, job->store, &opts, &trial));
  *bytes = (double)weir_plan_memory_bytes(trial);
  *period = weir_plan_period(trial);
  weir_plan_destroy(&trial);
  return WEIR_OK;
}

/* What `slots` slots last, rounded up. */
static int64_t length_of(const weir_stream_source *x, int64_t slots)
{
  const __int128 per = (__int128)slots * x->rate_den * (int64_t)NS;
  const __int128 ns = (per + x->rate_num - 1) / x->rate_num;

  return ns < (__int128)LONGEST ? (int64_t)ns : (int64_t)LONGEST;
}

/* What long windows keep from chunk to chunk, `kept` bytes, is moved once a chunk: slots after
 * which the chunk itself needs KEPT_SHARE times as much, as long as all fits half of L3 and a
 * quarter of the memory allowed. */
enum { KEPT_SHARE = 12 };

static double slots_worth_keeping(const weir_stream_job *job, double kept, double per_slot)
{
  const char *who = NULL;
  const double memory = stream_max_memory(job->stream, &who);
  const double l3 = (double)weir_cpu_get()->constants.l3_bytes / 2;
  const double cache = memory > 0 ? fmin(l3, memory / 4) : l3;

  return per_slot >= 1 ? fmin(KEPT_SHARE * kept, cache - kept) / per_slot : 0;
}

/* What the longest source lasts: a chunk has no use for more. */
static int64_t length_of_all(const weir_stream_job *job)
{
  int64_t longest = length_of(fastest_source(job), 1);

  for (int i = 0; i < job->n_sources; i++) {
    const int64_t length = length_of(&job->sources[i], job->sources[i].count);

    longest = length > longest ? length : longest;
  }
  return longest;
}

/* A plan for trial tells what a slot costs; a chunk as short as the planner's own needs none. */
static weir_status check_memory(const weir_stream_job *job, const char *key, int64_t window_ns)
{
  const weir_stream_source *x = fastest_source(job);
  const double seconds = (double)window_ns / NS, slots = seconds * rate_of(x);
  const char *who = NULL;
  const double memory = stream_max_memory(job->stream, &who);
  double small = 0, large = 0;
  int64_t period = 1;

  if (slots <= MAX_SLOTS || memory <= 0) {
    return WEIR_OK;
  }
  WEIR_TRY(bytes_of_plan(job, MIN_SLOTS, &small, &period));
  WEIR_TRY(bytes_of_plan(job, 2 * MIN_SLOTS, &large, &period));
  const double per_slot = fmax((large - small) / MIN_SLOTS, 1);

  if (per_slot * slots + small > memory) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: a chunk of %.6g s is %.3g samples of source '%s' (%.6g Hz) and needs "
                     "about %.3g bytes, but %s %.3g: at most %.3g s",
                     key, seconds, slots, x->value, rate_of(x), per_slot * slots + small, who,
                     memory, fmax(0.99 * (memory - small) / per_slot, MAX_SLOTS) / rate_of(x));
  }
  return WEIR_OK;
}

/* The window that the options ask for. A live one may be shorter than a sample: such chunks do not
 * come faster than samples do. */
static weir_status take_window(const weir_stream_job *job, double asked, int64_t *window_ns)
{
  const bool own = job->stream->window > 0;
  const weir_stream_source *x = fastest_source(job);

  if (own && asked * rate_of(x) < 1 - 1e-6) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "stream.window: %.9g s is shorter than a sample of source '%s' (%.9g Hz): set "
                     "at least %.9g s, or 0 to have it chosen",
                     asked, x->value, rate_of(x), 1 / rate_of(x));
  }
  *window_ns = (int64_t)(asked * NS + 0.5);
  if (job->live == NULL) {
    const int64_t all = length_of_all(job);

    *window_ns = *window_ns < all ? *window_ns : all;
  }
  return check_memory(job, own ? "stream.window" : "stream.live_window", *window_ns);
}

/* Chunk length in nanoseconds: the option, or what fills half of L2 with all that the plan holds.
 * A chunk that holds whole windows leaves nothing waiting at its end. */
static weir_status choose_window(const weir_stream_job *job, int64_t *window_ns,
                                 int64_t *granule_ns)
{
  const int64_t cache =
      weir_cpu_get()->constants.l2_bytes > 0 ? weir_cpu_get()->constants.l2_bytes : 1 << 20;
  double small = 0, large = 0;
  int64_t period = 1;

  const double asked =
      job->stream->window > 0 || job->live == NULL ? job->stream->window : job->stream->live_window;

  if (asked > 0) {
    return take_window(job, asked, window_ns);
  }
  WEIR_TRY(bytes_of_plan(job, MIN_SLOTS, &small, &period));
  WEIR_TRY(bytes_of_plan(job, 2 * MIN_SLOTS, &large, &period));
  const double per_slot = (large - small) / MIN_SLOTS;
  const double fit = (double)cache / 2 / (per_slot > 1 ? per_slot : 1);
  int64_t slots = fit < MIN_SLOTS ? MIN_SLOTS : fit > MAX_SLOTS ? MAX_SLOTS : (int64_t)fit;

  const double worth = slots_worth_keeping(job, small - per_slot * MIN_SLOTS, per_slot);

  slots = worth > (double)slots ? (int64_t)worth : slots;
  if (period <= MAX_SLOTS) {
    slots = slots < period ? period : slots / period * period;
    *granule_ns = length_of(fastest_source(job), period);
  }
  *window_ns = length_of(fastest_source(job), slots);
  return WEIR_OK;
}

/* Slots of `x` up to the end of `other`, rounded up. */
static weir_status slots_until(const weir_stream_source *x, const weir_stream_source *other,
                               int64_t *slots)
{
  __int128 up = other->count, down = (__int128)other->rate_num * x->rate_den;

  if (__builtin_mul_overflow(up, (__int128)other->rate_den, &up) ||
      __builtin_mul_overflow(up, (__int128)x->rate_num, &up) ||
      (up + down - 1) / down > INT64_MAX) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "stream: the rates %lld/%lld of '%s' and %lld/%lld of '%s' have too large a "
                     "common multiple",
                     (long long)x->rate_num, (long long)x->rate_den, x->value,
                     (long long)other->rate_num, (long long)other->rate_den, other->value);
  }
  *slots = (int64_t)((up + down - 1) / down);
  return WEIR_OK;
}

static weir_status extend_inputs(weir_stream *s)
{
  for (int i = 0; i < s->n_inputs; i++) {
    s->input[i].own = s->input[i].source.count;
  }
  for (int i = 0; i < s->n_inputs && s->live.wait == NULL; i++) {
    for (int j = 0; j < s->n_inputs; j++) {
      weir_stream_source other = s->input[j].source;
      int64_t slots = 0;

      other.count = s->input[j].own;
      WEIR_TRY(slots_until(&s->input[i].source, &other, &slots));
      s->input[i].source.count =
          slots > s->input[i].source.count ? slots : s->input[i].source.count;
    }
  }
  return WEIR_OK;
}

/* As many chunks as the planner's longest holds twice over: short ones are soon used up. */
static int choose_depth(const weir_stream *s, const weir_stream_job *job)
{
  const double slots = (double)s->window_ns / NS * rate_of(fastest_source(job));
  const double fit = 2 * MAX_SLOTS / fmax(slots, 1);

  if (s->threads < 2 || s->live.wait != NULL) {
    return 1;
  }
  return fit < STREAM_MIN_DEPTH ? STREAM_MIN_DEPTH : fit < STREAM_DEPTH ? (int)fit : STREAM_DEPTH;
}

static weir_status make_inputs(weir_stream *s, const weir_stream_job *job)
{
  for (int i = 0; i < job->n_sources; i++) {
    stream_input *in = &s->input[i];

    in->source = job->sources[i];
    const double slots = (double)s->window_ns / NS * rate_of(&in->source);

    in->bound = (int64_t)slots + 2;
    s->n_inputs++;
    for (int d = 0; d < s->depth; d++) {
      stream_chunk *c = &s->chunk[d];

      WEIR_TRY(weir_alloc(in->bound, sizeof(float), (void **)&c->values[i]));
      WEIR_TRY(weir_alloc(in->bound, 1, (void **)&c->present[i]));
      s->buffer_bytes += in->bound * 5;
    }
  }
  WEIR_TRY(extend_inputs(s));
  return WEIR_OK;
}

static weir_status plan_front(weir_stream *s, const weir_stream_job *job, const weir_graph *front)
{
  weir_chunk_bound bounds[STREAM_MAX_SOURCES * 2];
  const weir_plan_opts opts = {.exec = job->exec,
                               .threads = s->n_stages == 2 ? 1 : s->threads,
                               .bounds = bounds,
                               .n_bounds = s->n_inputs * 2};

  for (int i = 0; i < s->n_inputs; i++) {
    bounds[2 * i] = (weir_chunk_bound){s->input[i].source.value, s->input[i].bound};
    bounds[2 * i + 1] = (weir_chunk_bound){s->input[i].source.present, s->input[i].bound};
  }
  WEIR_TRY(weir_plan_create(front, job->store, &opts, &s->plan[0]));
  return WEIR_OK;
}

/* Slots of a crossing array per slot of the first source that it depends on. */
static double crossing_ratio(const weir_stream *s, int k)
{
  for (int i = 0; i < 2 * s->n_inputs; i++) {
    const weir_stream_source *x = &s->input[i / 2].source;
    stream_followed f;

    stream_follow(s, i % 2 ? x->present : x->value, &f);
    if (f.crossing[k].reached) {
      return f.crossing[k].ratio * rate_of(x) / rate_of(&s->input[0].source);
    }
  }
  return 1;
}

/* Bounds of the second stage stand for one span of time, so that its inputs keep abreast. */
static void bound_crossing(weir_stream *s)
{
  double span = 0;

  for (int k = 0; k < s->cut.n; k++) {
    const double slots =
        (double)weir_plan_bound(s->plan[0], s->cut.result[k]) / crossing_ratio(s, k);

    span = slots > span ? slots : span;
  }
  for (int k = 0; k < s->cut.n; k++) {
    s->cross_capacity[k] = (int64_t)(span * crossing_ratio(s, k)) + 1;
  }
}

static weir_status plan_back(weir_stream *s, const weir_stream_job *job, const weir_graph *back)
{
  weir_chunk_bound bounds[STREAM_MAX_CROSSING];
  const weir_plan_opts opts = {
      .exec = job->exec, .threads = 1, .bounds = bounds, .n_bounds = s->cut.n};

  bound_crossing(s);
  for (int k = 0; k < s->cut.n; k++) {
    bounds[k] = (weir_chunk_bound){s->cut.name[k], s->cross_capacity[k]};
    for (int d = 0; d < s->depth; d++) {
      const int64_t size = s->cut.rows[k] * (int64_t)weir_dtype_size(s->cut.dtype[k]);

      WEIR_TRY(weir_alloc(s->cross_capacity[k], (size_t)size, (void **)&s->chunk[d].data[k]));
      s->buffer_bytes += s->cross_capacity[k] * size;
    }
  }
  WEIR_TRY(weir_plan_create(back, job->store, &opts, &s->plan[1]));
  return WEIR_OK;
}

static bool has_time(const weir_graph *g, const char *result)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if (array->output != NULL && strcmp(array->output, result) == 0) {
      return array->desc.time > 0;
    }
  }
  return false;
}

/* Which stage makes each sink's result. */
static weir_status assign_sinks(weir_stream *s, const weir_stream_job *job)
{
  for (int i = 0; i < job->n_sinks; i++) {
    weir_view view;
    int64_t lo = 0, hi = 0;
    int stage = s->n_stages - 1;

    while (stage > 0 &&
           weir_plan_result(s->plan[stage], job->sinks[i].result, &view, &lo, &hi) != WEIR_OK) {
      weir_clear_failure();
      stage--;
    }
    WEIR_TRY(weir_plan_result(s->plan[stage], job->sinks[i].result, &view, &lo, &hi));
    s->sink[i] = job->sinks[i];
    s->sink_stage[i] = stage;
    s->sink_timed[i] = has_time(job->graph, job->sinks[i].result);
    s->n_sinks++;
  }
  return WEIR_OK;
}

static weir_status make_plans(weir_stream *s, const weir_stream_job *job)
{
  weir_status status = WEIR_OK;
  weir_graph *front = NULL, *back = NULL;

  s->n_stages = 1;
  if (s->threads < 3 || s->live.wait != NULL) {
    WEIR_TRY(plan_front(s, job, job->graph));
    return WEIR_OK;
  }
  WEIR_TRY(stream_pipeline_cut(job->graph, &front, &back, &s->cut));
  s->n_stages = back != NULL ? 2 : 1;
  WEIR_TRY_GOTO(plan_front(s, job, front), out);
  if (back != NULL) {
    WEIR_TRY_GOTO(plan_back(s, job, back), out);
  }
out:
  weir_graph_destroy(&front);
  weir_graph_destroy(&back);
  return status;
}

weir_status weir_stream_create(const weir_stream_job *job, weir_stream **out)
{
  weir_status status = WEIR_OK;
  weir_stream *s = NULL;
  void *memory = NULL;

  *out = NULL;
  if (job->n_sources < 1 || job->n_sources > STREAM_MAX_SOURCES || job->n_sinks < 0 ||
      job->n_sinks > STREAM_MAX_SINKS) {
    return weir_fail(WEIR_ERR_CONFIG, "stream: %d sources (1 to %d) and %d sinks (up to %d)",
                     job->n_sources, STREAM_MAX_SOURCES, job->n_sinks, STREAM_MAX_SINKS);
  }
  WEIR_TRY(weir_alloc(1, sizeof(*s), &memory));
  s = memory;
  s->cfg = *job->stream;
  s->live = job->live != NULL ? *job->live : (weir_stream_live){.wait = NULL};
  s->threads = job->threads > 0 ? job->threads : weir_threads_get();
  s->threads = s->threads < WEIR_STREAM_THREADS ? s->threads : WEIR_STREAM_THREADS;
  for (int i = 0; i < job->n_sources; i++) {
    WEIR_TRY_GOTO(check_source(&job->sources[i], job->live != NULL), fail);
  }
  WEIR_TRY_GOTO(choose_window(job, &s->window_ns, &s->granule_ns), fail);
  s->depth = choose_depth(s, job);
  WEIR_TRY_GOTO(make_inputs(s, job), fail);
  WEIR_TRY_GOTO(make_plans(s, job), fail);
  WEIR_TRY_GOTO(assign_sinks(s, job), fail);
  stream_find_needs(s);
  stream_find_targets(s);
  for (int i = 0; i < s->n_stages; i++) {
    s->buffer_bytes += weir_plan_memory_bytes(s->plan[i]);
  }
  WEIR_TRY_GOTO(stream_check_memory(s, job->store), fail);
  *out = s;
  return WEIR_OK;
fail:
  weir_stream_destroy(&s);
  return status;
}

weir_status weir_stream_bind(weir_stream *s, int source, const float *values, const uint8_t *flags)
{
  if (source < 0 || source >= s->n_inputs) {
    return weir_fail(WEIR_ERR_CONFIG, "stream: there is no source %d of %d", source, s->n_inputs);
  }
  stream_input *in = &s->input[source];

  if (in->own < in->source.count || s->live.wait != NULL) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "stream: source '%s' ends before others or is live: it must be read",
                     in->source.value);
  }
  WEIR_TRY(weir_plan_bind(s->plan[0], in->source.value, values));
  WEIR_TRY(weir_plan_bind(s->plan[0], in->source.present, flags));
  in->in_place = flags;
  return WEIR_OK;
}

void weir_stream_destroy(weir_stream **out)
{
  if (out == NULL || *out == NULL) {
    return;
  }
  weir_stream *s = *out;

  for (int d = 0; d < s->depth; d++) {
    for (int i = 0; i < s->n_inputs; i++) {
      weir_free(&s->chunk[d].values[i]);
      weir_free(&s->chunk[d].present[i]);
    }
    for (int k = 0; k < s->cut.n; k++) {
      weir_free(&s->chunk[d].data[k]);
    }
  }
  weir_plan_destroy(&s->plan[0]);
  weir_plan_destroy(&s->plan[1]);
  weir_free(out);
}

double weir_stream_window(const weir_stream *s)
{
  return (double)s->window_ns / NS;
}

int64_t weir_stream_buffer_bytes(const weir_stream *s)
{
  return s->buffer_bytes;
}

int weir_stream_stages(const weir_stream *s)
{
  return s->n_stages;
}

const weir_plan *weir_stream_plan(const weir_stream *s, int stage)
{
  return s->plan[stage];
}
