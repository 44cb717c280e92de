/* run_stream.c - what the stages of a run do: a chunk is read, gaps are left out, plans are fed,
 * results handed on. */
#include <math.h>
#include <string.h>
#include "stream_priv.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "stream/weir_gap.h"

#define NS 1000000000
/* Purpose of the random chunk lengths (weir_random.h). */
#define PURPOSE_CUTS 0x637574u

static int64_t next_cut(weir_stream *s)
{
  int64_t step = s->window_ns;

  if (s->cfg.cut_seed != 0) {
    step = 1 + (int64_t)(weir_random_bits((uint64_t)s->cfg.cut_seed, PURPOSE_CUTS, 0,
                                          (uint64_t)s->n_chunks) %
                         (uint64_t)s->window_ns);
  }
  s->n_chunks++;
  return s->at_ns + step;
}

/* Live sources: waits for the chunk that ends at *to, and shortens it to what is final. */
static weir_status wait_final(weir_stream *s, int64_t *to, double *final_at)
{
  int64_t final = s->at_ns;
  bool ended = false;

  if (s->live.wait == NULL || s->live_ended) {
    return WEIR_OK;
  }
  WEIR_TRY(s->live.wait(s->live.context, s->at_ns, *to, &final, &ended));
  *final_at = weir_clock();
  if (final < s->at_ns || (!ended && final == s->at_ns)) {
    return weir_fail(WEIR_ERR_DATA, "stream: live input is final up to %lld ns, before %lld ns",
                     (long long) final, (long long)s->at_ns);
  }
  for (int i = 0; i < s->n_inputs && ended; i++) {
    s->input[i].source.count = stream_slot_at(&s->input[i].source, final);
  }
  s->live_ended = ended;
  *to = !ended && final < *to ? final : *to;
  return WEIR_OK;
}

static void count_latency(weir_stream *s, double final_at)
{
  const double seconds = weir_clock() - final_at;
  const double bin = seconds > 1e-6 ? 20 * log2(seconds * 1e6) : 0;

  if (s->live.wait != NULL) {
    s->latency[bin < STREAM_LATENCY_BINS ? (int)bin : STREAM_LATENCY_BINS - 1]++;
    s->latencies++;
    s->report->chunk_max_s = seconds > s->report->chunk_max_s ? seconds : s->report->chunk_max_s;
  }
}

/* Seconds that `share` of the chunks do not exceed, at the upper edge of the bin. */
static double latency_quantile(const weir_stream *s, double share)
{
  double below = 0;

  for (int i = 0; i < STREAM_LATENCY_BINS && s->latencies > 0; i++) {
    below += (double)s->latency[i];
    if (below >= share * (double)s->latencies) {
      return fmin(exp2((i + 1) / 20.0) * 1e-6, s->report->chunk_max_s);
    }
  }
  return s->report->chunk_max_s;
}

/* True when all state has settled: only absent slots for long enough, in every source. */
static bool is_settled(const weir_stream *s)
{
  for (int i = 0; i < s->n_inputs; i++) {
    const stream_input *in = &s->input[i];

    if (in->settle < 0 || in->fed - in->last < in->settle) {
      return false;
    }
  }
  return s->cfg.skip;
}

/* True when no source may hold a sample in the chunk. */
static weir_status is_known_gap(const weir_stream *s, const int64_t *hi, bool *gap)
{
  *gap = true;
  for (int i = 0; i < s->n_inputs && *gap; i++) {
    const weir_stream_source *x = &s->input[i].source;
    const int64_t end = hi[i] < s->input[i].own ? hi[i] : s->input[i].own;
    int64_t run_lo = s->input[i].fed, run_hi = x->count;

    if (x->next_run != NULL && run_lo < end) {
      WEIR_TRY(x->next_run(x->context, run_lo, &run_lo, &run_hi));
    }
    *gap = run_lo >= end;
  }
  return WEIR_OK;
}

/* The slots up to the chunk's end, absent beyond the source's own end. */
static weir_status read_input(const stream_input *in, int i, stream_chunk *c)
{
  const int64_t lo = c->lo[i], hi = c->hi[i];
  const int64_t end = hi < in->own ? hi : in->own, n = end > lo ? end - lo : 0;

  if (n > 0 && in->source.read == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "stream: source '%s' is neither read nor in memory",
                     in->source.value);
  }
  if (n > 0) {
    WEIR_TRY(in->source.read(in->source.context, lo, end, c->values[i], c->present[i]));
  }
  if (hi > lo + n) {
    memset(c->values[i] + n, 0, (size_t)(hi - lo - n) * sizeof(float));
    memset(c->present[i] + n, 0, (size_t)(hi - lo - n));
  }
  return WEIR_OK;
}

/* Presence of the chunk: read, or where it is. */
static const uint8_t *chunk_flags(const stream_input *in, int i, const stream_chunk *c)
{
  return in->in_place != NULL ? in->in_place + c->lo[i] : c->present[i];
}

static weir_status read_inputs(weir_stream *s, stream_chunk *c, bool *any)
{
  *any = false;
  for (int i = 0; i < s->n_inputs; i++) {
    stream_input *in = &s->input[i];

    if (in->in_place == NULL) {
      WEIR_TRY(read_input(in, i, c));
    }
    const uint8_t *present = chunk_flags(in, i, c);

    for (int64_t t = c->hi[i] - c->lo[i] - 1; t >= 0; t--) {
      if (present[t] != 0) {
        in->last = c->lo[i] + t + 1;
        *any = true;
        break;
      }
    }
  }
  return WEIR_OK;
}

static void count_present(weir_stream *s, const stream_chunk *c)
{
  for (int i = 0; i < s->n_inputs; i++) {
    s->report->present += weir_gap_count(chunk_flags(&s->input[i], i, c), c->hi[i] - c->lo[i]);
  }
}

static weir_status hand_on(weir_stream *s, int stage, bool last)
{
  for (int i = 0; i < s->n_sinks; i++) {
    weir_view view;
    int64_t lo = 0, hi = 0;

    if (s->sink_stage[i] == stage) {
      WEIR_TRY(weir_plan_result(s->plan[stage], s->sink[i].result, &view, &lo, &hi));
      if (!s->sink_timed[i] && hi == lo) {
        continue;
      }
      WEIR_TRY(s->sink[i].take(s->sink[i].context, &view, lo, hi, last));
    }
  }
  return WEIR_OK;
}

/* Copies what crosses to the second stage out of the first one's windows. */
static weir_status fill_crossing(weir_stream *s, stream_chunk *c)
{
  for (int k = 0; k < s->cut.n; k++) {
    weir_view v;
    const size_t size = weir_dtype_size(s->cut.dtype[k]);

    WEIR_TRY(weir_plan_result(s->plan[0], s->cut.result[k], &v, &c->cross_lo[k], &c->cross_hi[k]));
    const int64_t n = c->cross_hi[k] - c->cross_lo[k];
    const int64_t row = v.rank > 1 ? v.stride[v.rank - 2] : 0;

    WEIR_ASSERT(n <= s->cross_capacity[k]);
    for (int64_t r = 0; r < s->cut.rows[k] && n > 0; r++) {
      const char *from =
          (const char *)v.data + (int64_t)size * (r * row + c->cross_lo[k] - v.origin[v.rank - 1]);

      memcpy(c->data[k] + (size_t)(r * n) * size, from, (size_t)n * size);
    }
  }
  return WEIR_OK;
}

/* Leaves out the time for which some source rules everything out. What other sources hold there
 * is never read: windows continue as if the last slot had been repeated. */
static weir_status skip_idle(weir_stream *s)
{
  int64_t to = s->at_ns;

  WEIR_TRY(stream_idle_until(s, &to));
  if (to <= s->at_ns) {
    return WEIR_OK;
  }
  s->report->skipped += (to - s->at_ns + s->window_ns - 1) / s->window_ns;
  s->at_ns = s->since_ns = to;
  for (int i = 0; i < s->n_inputs; i++) {
    const int64_t hi = stream_slot_at(&s->input[i].source, s->at_ns);

    s->report->slots += hi - s->input[i].fed;
    s->input[i].fed = s->input[i].last = hi;
  }
  return WEIR_OK;
}

/* What is between two chunks: a stop is heeded, progress shown. Live sources end by themselves. */
static weir_status look_around(const weir_stream *s)
{
  const int64_t read = s->input[0].fed;

  if (s->live.wait == NULL && s->n_chunks > 0 && weir_stop_requested()) {
    return weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d after %lld of %lld samples",
                     weir_stop_signal(), (long long)read, (long long)s->input[0].source.count);
  }
  return WEIR_OK;
}

/* Cuts the next chunk and reads it. *gap: nothing would come of it. */
static weir_status read_next(weir_stream *s, stream_chunk *c, bool *gap)
{
  int64_t to = next_cut(s);
  bool any = false;

  *gap = false;
  c->last = true;
  WEIR_TRY(stream_cut_gate(s, &to));
  WEIR_TRY(wait_final(s, &to, &c->final_at));
  for (int i = 0; i < s->n_inputs; i++) {
    c->lo[i] = s->input[i].fed;
    c->hi[i] = stream_slot_at(&s->input[i].source, to);
    c->last = c->last && c->hi[i] == s->input[i].source.count;
  }
  const bool settled = is_settled(s) && !c->last;

  if (settled) {
    WEIR_TRY(is_known_gap(s, c->hi, gap));
  }
  if (!*gap) {
    WEIR_TRY(read_inputs(s, c, &any));
    *gap = settled && !any;
  }
  if (!*gap) {
    count_present(s, c);
  }
  s->at_ns = to;
  return WEIR_OK;
}

/* The first stage: reads up to the next chunk that has to be computed. */
static weir_status read_chunk(weir_stream *s, stream_chunk *c)
{
  const int64_t total = s->live.wait != NULL ? -1 : s->input[0].source.count;

  for (bool gap = true; gap;) {
    WEIR_TRY(look_around(s));
    WEIR_TRY(skip_idle(s));
    WEIR_TRY(read_next(s, c, &gap));
    s->report->skipped += gap;
    s->report->computed += !gap;
    for (int i = 0; i < s->n_inputs; i++) {
      s->report->slots += c->hi[i] - s->input[i].fed;
      s->input[i].fed = c->hi[i];
    }
    weir_progress("stream", s->input[0].fed, total, "samples");
  }
  return WEIR_OK;
}

static weir_status run_front(weir_stream *s, stream_chunk *c)
{
  weir_feed feeds[STREAM_MAX_SOURCES * 2];

  for (int i = 0; i < s->n_inputs; i++) {
    const weir_stream_source *x = &s->input[i].source;

    feeds[2 * i] = (weir_feed){x->value, c->values[i], c->lo[i], c->hi[i]};
    feeds[2 * i + 1] = (weir_feed){x->present, c->present[i], c->lo[i], c->hi[i]};
  }
  WEIR_TRY(weir_plan_feed(s->plan[0], feeds, s->n_inputs * 2, c->last));
  WEIR_TRY(hand_on(s, 0, c->last));
  return s->n_stages == 2 ? fill_crossing(s, c) : WEIR_OK;
}

static weir_status run_back(weir_stream *s, const stream_chunk *c)
{
  weir_feed feeds[STREAM_MAX_CROSSING];

  for (int k = 0; k < s->cut.n; k++) {
    feeds[k] = (weir_feed){s->cut.name[k], c->data[k], c->cross_lo[k], c->cross_hi[k]};
  }
  WEIR_TRY(weir_plan_feed(s->plan[1], feeds, s->cut.n, c->last));
  return hand_on(s, 1, c->last);
}

/* Stage 0 reads, the others are those of the graph. */
static weir_status run_stage(void *context, int stage, int64_t chunk, int thread, bool *ended)
{
  weir_stream *s = context;
  stream_chunk *c = &s->chunk[chunk % s->depth];

  s->report->per_thread[thread]++; /* threads count in separate cells */
  if (stage == 0) {
    WEIR_TRY(read_chunk(s, c));
    *ended = c->last;
    return WEIR_OK;
  }
  WEIR_TRY(stage == 1 ? run_front(s, c) : run_back(s, c));
  if (stage == s->n_stages) {
    count_latency(s, c->final_at);
  }
  return WEIR_OK;
}

/* Live input comes no faster for being waited for by another thread, which signals do not reach;
 * and threads of a graph of one stage are better used inside it where nothing has to be read. */
static bool is_sequential(const weir_stream *s)
{
  bool in_memory = s->n_stages == 1;

  for (int i = 0; i < s->n_inputs; i++) {
    in_memory = in_memory && s->input[i].in_place != NULL;
  }
  return s->depth == 1 || s->live.wait != NULL || in_memory;
}

static weir_status run_sequentially(weir_stream *s)
{
  bool ended = false;

  for (int64_t chunk = 0; !ended; chunk++) {
    for (int stage = 0; stage <= s->n_stages; stage++) {
      WEIR_TRY(run_stage(s, stage, chunk, 0, &ended));
    }
  }
  return WEIR_OK;
}

static weir_status run_chunks(weir_stream *s)
{
  const stream_flow flow = {.stages = 1 + s->n_stages,
                            .depth = s->depth,
                            .threads = s->threads,
                            .run = run_stage,
                            .context = s};

  WEIR_TRY(is_sequential(s) ? run_sequentially(s) : stream_flow_run(&flow));
  return look_around(s);
}

static void write_events(const weir_stream *s, const weir_stream_report *r)
{
  for (int i = 0; i < WEIR_STREAM_THREADS; i++) {
    if (r->per_thread[i] > 0) {
      weir_event("stream_thread", WEIR_INT("thread", i), WEIR_INT("chunks", r->per_thread[i]));
    }
  }
  weir_event("stream_end", WEIR_INT("computed", r->computed), WEIR_INT("skipped", r->skipped),
             WEIR_INT("slots", r->slots), WEIR_INT("present", r->present),
             WEIR_REAL("seconds", r->seconds), WEIR_INT("stages", s->n_stages),
             WEIR_REAL("chunk_p50_s", r->chunk_p50_s), WEIR_REAL("chunk_p99_s", r->chunk_p99_s),
             WEIR_REAL("chunk_most_s", r->chunk_max_s));
}

/* Results that are kept are written where they are kept, if their plan can. */
static void bind_kept(weir_stream *s)
{
  for (int i = 0; i < s->n_sinks; i++) {
    const weir_stream_kept *k = s->sink[i].context;

    if (s->sink[i].take == weir_stream_keep) {
      (void)weir_plan_bind_result(s->plan[s->sink_stage[i]], s->sink[i].result, k->data,
                                  k->capacity);
    }
  }
}

weir_status weir_stream_run(weir_stream *s, weir_stream_report *report)
{
  const double start = weir_clock();

  *report = (weir_stream_report){.window_s = (double)s->window_ns / NS,
                                 .latency_s = s->latency_s,
                                 .buffer_bytes = s->buffer_bytes,
                                 .tier = weir_plan_tier(s->plan[0]),
                                 .stages = s->n_stages};
  s->report = report;
  memset(s->latency, 0, sizeof s->latency);
  s->latencies = 0;
  weir_event("stream_plan", WEIR_REAL("window_s", report->window_s),
             WEIR_REAL("latency_s", report->latency_s), WEIR_INT("buffer_bytes", s->buffer_bytes),
             WEIR_INT("tier", weir_tier_number(report->tier)), WEIR_INT("stages", s->n_stages),
             WEIR_INT("settle_slots", s->input[0].settle));
  bind_kept(s);
  WEIR_TRY(run_chunks(s));
  report->seconds = weir_clock() - start;
  report->chunk_p50_s = latency_quantile(s, 0.5);
  report->chunk_p99_s = latency_quantile(s, 0.99);
  write_events(s, report);
  return WEIR_OK;
}

void weir_stream_rewind(weir_stream *s)
{
  for (int i = 0; i < s->n_stages; i++) {
    weir_plan_rewind(s->plan[i]);
  }
  for (int i = 0; i < s->n_inputs; i++) {
    s->input[i].fed = s->input[i].last = 0;
    s->input[i].source.count = s->live.wait != NULL ? WEIR_STREAM_OPEN : s->input[i].source.count;
  }
  s->at_ns = s->since_ns = s->n_chunks = 0;
  s->live_ended = false;
}
