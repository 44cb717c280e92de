/* run_stream.c - the run loop: chunks read, gaps left out, stages fed, results handed on. */
#include <math.h>
#include <string.h>
#include "stream_priv.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "device/weir_parallel.h"
#include "stream/weir_gap.h"

#define NS 1000000000
/* Purpose of the random chunk lengths (weir_random.h). */
#define PURPOSE_CUTS 0x637574u

int64_t stream_slot_at(const weir_stream_source *x, int64_t ns)
{
  const __int128 per = (__int128)x->rate_den * NS;
  const __int128 slot = ((__int128)ns * x->rate_num + per - 1) / per;

  return slot < x->count ? (int64_t)slot : x->count;
}

static int64_t next_cut(weir_stream *s)
{
  int64_t step = s->window_ns;

  if (s->cfg.cut_seed != 0) {
    step = 1 + (int64_t)(weir_random_bits((uint64_t)s->cfg.cut_seed, PURPOSE_CUTS, 0,
                                          (uint64_t)s->chunk) %
                         (uint64_t)s->window_ns);
  }
  s->chunk++;
  return s->at_ns + step;
}

/* Live sources: waits for the chunk that ends at *to, and shortens it to what is final. */
static weir_status wait_final(weir_stream *s, int64_t *to)
{
  int64_t final = s->at_ns;
  bool ended = false;

  if (s->live.wait == NULL || s->live_ended) {
    return WEIR_OK;
  }
  WEIR_TRY(s->live.wait(s->live.context, s->at_ns, *to, &final, &ended));
  s->final_at = weir_clock();
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
    s->report->chunk_most_s = seconds > s->report->chunk_most_s ? seconds : s->report->chunk_most_s;
  }
}

/* Seconds that `share` of the chunks do not exceed, at the upper edge of the bin. */
static double latency_quantile(const weir_stream *s, double share)
{
  double below = 0;

  for (int i = 0; i < STREAM_LATENCY_BINS && s->latencies > 0; i++) {
    below += (double)s->latency[i];
    if (below >= share * (double)s->latencies) {
      return fmin(exp2((i + 1) / 20.0) * 1e-6, s->report->chunk_most_s);
    }
  }
  return s->report->chunk_most_s;
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

/* The slots up to hi, absent beyond the source's own end. */
static weir_status read_input(stream_input *in, int64_t hi)
{
  const int64_t end = hi < in->own ? hi : in->own, n = end > in->fed ? end - in->fed : 0;

  if (n > 0 && in->source.read == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "stream: source '%s' is neither read nor in memory",
                     in->source.value);
  }
  if (n > 0) {
    WEIR_TRY(in->source.read(in->source.context, in->fed, end, in->values, in->present));
  }
  if (hi > in->fed + n) {
    memset(in->values + n, 0, (size_t)(hi - in->fed - n) * sizeof *in->values);
    memset(in->present + n, 0, (size_t)(hi - in->fed - n));
  }
  return WEIR_OK;
}

/* Presence of the chunk: read, or where it is. */
static const uint8_t *chunk_flags(const stream_input *in)
{
  return in->in_place != NULL ? in->in_place + in->fed : in->present;
}

static weir_status read_chunk(weir_stream *s, const int64_t *hi, bool *any)
{
  *any = false;
  for (int i = 0; i < s->n_inputs; i++) {
    stream_input *in = &s->input[i];
    const int64_t n = hi[i] - in->fed;

    if (in->in_place == NULL) {
      WEIR_TRY(read_input(in, hi[i]));
    }
    const uint8_t *present = chunk_flags(in);

    for (int64_t t = n - 1; t >= 0; t--) {
      if (present[t] != 0) {
        in->last = in->fed + t + 1;
        *any = true;
        break;
      }
    }
  }
  return WEIR_OK;
}

static void count_present(weir_stream *s, const int64_t *hi)
{
  for (int i = 0; i < s->n_inputs; i++) {
    const stream_input *in = &s->input[i];

    s->report->present += weir_gap_count(chunk_flags(in), hi[i] - in->fed);
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
static weir_status fill_slot(weir_stream *s, stream_slot *slot, bool last)
{
  for (int k = 0; k < s->cut.n; k++) {
    weir_view v;
    const size_t size = weir_dtype_size(s->cut.dtype[k]);

    WEIR_TRY(weir_plan_result(s->plan[0], s->cut.result[k], &v, &slot->lo[k], &slot->hi[k]));
    const int64_t n = slot->hi[k] - slot->lo[k];
    const int64_t row = v.rank > 1 ? v.stride[v.rank - 2] : 0;

    WEIR_ASSERT(n <= s->cross_capacity[k]);
    for (int64_t r = 0; r < s->cut.rows[k] && n > 0; r++) {
      const char *from =
          (const char *)v.data + (int64_t)size * (r * row + slot->lo[k] - v.origin[v.rank - 1]);

      memcpy(slot->data[k] + (size_t)(r * n) * size, from, (size_t)n * size);
    }
  }
  slot->full = true;
  slot->last = last;
  slot->final_at = s->final_at;
  return WEIR_OK;
}

static weir_status feed_front(weir_stream *s, const int64_t *hi, bool last)
{
  weir_feed feeds[STREAM_MAX_SOURCES * 2];

  for (int i = 0; i < s->n_inputs; i++) {
    const stream_input *in = &s->input[i];

    feeds[2 * i] = (weir_feed){in->source.value, in->values, in->fed, hi[i]};
    feeds[2 * i + 1] = (weir_feed){in->source.present, in->present, in->fed, hi[i]};
  }
  WEIR_TRY(weir_plan_feed(s->plan[0], feeds, s->n_inputs * 2, last));
  return WEIR_OK;
}

/* Leaves out the time for which some source rules everything out. What other sources hold there
 * is never read: windows go on as if the last slot had been repeated. */
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

/* Reads up to the next chunk that has to be computed and computes it. */
static weir_status run_front(weir_stream *s, stream_slot *slot)
{
  for (;;) {
    WEIR_TRY(skip_idle(s));
    int64_t to = next_cut(s);
    int64_t hi[STREAM_MAX_SOURCES];
    bool last = true, gap = false, any = false;

    WEIR_TRY(stream_cut_gate(s, &to));
    WEIR_TRY(wait_final(s, &to));
    for (int i = 0; i < s->n_inputs; i++) {
      hi[i] = stream_slot_at(&s->input[i].source, to);
      last = last && hi[i] == s->input[i].source.count;
    }
    if (is_settled(s) && !last) {
      WEIR_TRY(is_known_gap(s, hi, &gap));
    }
    const bool settled = is_settled(s);

    if (!gap) {
      WEIR_TRY(read_chunk(s, hi, &any));
      gap = settled && !any && !last;
    }
    if (!gap) {
      count_present(s, hi);
      WEIR_TRY(feed_front(s, hi, last));
    }
    s->report->skipped += gap;
    s->report->computed += !gap;
    for (int i = 0; i < s->n_inputs; i++) {
      s->report->slots += hi[i] - s->input[i].fed;
      s->input[i].fed = hi[i];
    }
    s->at_ns = to;
    s->ended = last;
    if (!gap) {
      WEIR_TRY(hand_on(s, 0, last));
      if (s->n_stages == 2) {
        return fill_slot(s, slot, last);
      }
      count_latency(s, s->final_at);
      return WEIR_OK;
    }
    if (weir_stop_requested() && s->live.wait == NULL) {
      return WEIR_OK;
    }
  }
}

static weir_status run_back(weir_stream *s, stream_slot *slot)
{
  weir_feed feeds[STREAM_MAX_CROSSING];

  for (int k = 0; k < s->cut.n; k++) {
    feeds[k] = (weir_feed){s->cut.name[k], slot->data[k], slot->lo[k], slot->hi[k]};
  }
  WEIR_TRY(weir_plan_feed(s->plan[1], feeds, s->cut.n, slot->last));
  slot->full = false;
  WEIR_TRY(hand_on(s, 1, slot->last));
  count_latency(s, slot->final_at);
  return WEIR_OK;
}

/* One step of the pipeline: item 0 is the first stage on chunk k, item 1 the second on chunk k - 1.
 * A failure's text is this thread's own, so it is kept for the caller. */
typedef struct step {
  weir_stream *s;
  int64_t number;
  weir_status status[2];
  char message[2][512];
} step;

static void run_item(void *context, int64_t item, int thread)
{
  step *p = context;
  weir_stream *s = p->s;
  stream_slot *mine = &s->slot[(p->number + item) & 1];

  if (item == 0 ? s->ended : !mine->full) {
    return;
  }
  p->status[item] = item == 0 ? run_front(s, mine) : run_back(s, mine);
  if (p->status[item] != WEIR_OK) {
    snprintf(p->message[item], sizeof(p->message[item]), "%s", weir_last_message());
  }
  /* Threads count in cells of their own. */
  s->report->per_thread[thread]++;
}

static weir_status run_steps(weir_stream *s)
{
  const bool live = s->live.wait != NULL;
  const int64_t total = live ? -1 : s->input[0].source.count;
  step p = {.s = s};
  int64_t shown = 0;

  while (!s->ended || s->slot[0].full || s->slot[1].full) {
    p.status[0] = p.status[1] = WEIR_OK;
    weir_parallel(s->n_stages, s->n_stages, run_item, &p);
    for (int i = 0; i < 2; i++) {
      if (p.status[i] != WEIR_OK) {
        return weir_fail(p.status[i], "%s", p.message[i]);
      }
    }
    p.number++;
    if (weir_stop_requested() && !live) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d after %lld of %lld samples",
                       weir_stop_signal(), (long long)s->input[0].fed, (long long)total);
    }
    if (s->input[0].fed != shown) { /* the last steps only drain the second stage */
      shown = s->input[0].fed;
      weir_progress("stream", shown, total, "samples");
    }
  }
  return WEIR_OK;
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
             WEIR_REAL("chunk_most_s", r->chunk_most_s));
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
             WEIR_INT("tier", report->tier), WEIR_INT("stages", s->n_stages),
             WEIR_INT("settle_slots", s->input[0].settle));
  WEIR_TRY(run_steps(s));
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
  s->slot[0].full = s->slot[1].full = false;
  s->at_ns = s->since_ns = s->chunk = 0;
  s->ended = s->live_ended = false;
}
