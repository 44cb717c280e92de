/* targeted.c - targeted processing (Jayarajan et al., ASPLOS 2021): where one side of a join is
 * absent, the other is not read. Which sources rule everything out follows from the plan
 * (weir_plan_absence); where they are absent, from what they know of their runs. */
#include "stream_priv.h"

#define NS 1000000000

int64_t stream_slot_at(const weir_stream_source *x, int64_t ns)
{
  const __int128 per = (__int128)x->rate_den * NS;
  const __int128 slot = ((__int128)ns * x->rate_num + per - 1) / per;

  return slot < x->count ? (int64_t)slot : x->count;
}

/* Whether all is idle where the source is absent, through both stages. */
static bool rules_out(const weir_stream *s, const stream_input *in)
{
  const char *absent[STREAM_MAX_CROSSING] = {in->source.value, in->source.present};
  weir_plan_end to[STREAM_MAX_RESULTS];
  const char *results[STREAM_MAX_RESULTS];
  weir_absence idle[STREAM_MAX_RESULTS];
  int n_absent = 2, sink[STREAM_MAX_RESULTS];
  bool all = true;

  for (int stage = 0; stage < s->n_stages; stage++) {
    const int n = stream_results(s, stage, to, sink);

    for (int k = 0; k < n; k++) {
      results[k] = to[k].name;
    }
    all = weir_plan_absence(s->plan[stage], absent, n_absent, results, n, idle) && all;
    n_absent = 0;
    for (int k = 0; k < n; k++) {
      if (sink[k] < 0 && idle[k] == WEIR_IDLE_ZERO) {
        absent[n_absent++] = s->cut.name[k];
      }
      all = all && (sink[k] < 0 || idle[k] != WEIR_IDLE_NOT);
    }
  }
  return all;
}

void stream_find_targets(weir_stream *s)
{
  for (int i = 0; i < s->n_inputs; i++) {
    stream_input *in = &s->input[i];

    in->gates = s->n_inputs > 1 && s->n_sinks > 0 && in->source.next_run != NULL &&
                s->live.wait == NULL && rules_out(s, in);
  }
}

static int64_t time_of(const weir_stream_source *x, int64_t slot)
{
  return (int64_t)((__int128)slot * x->rate_den * NS / x->rate_num);
}

/* The source's next run at or after a time: [start, end) ns; the end of all where there is none. */
static weir_status next_run(const stream_input *in, int64_t ns, int64_t *start, int64_t *end)
{
  const weir_stream_source *x = &in->source;
  int64_t lo = stream_slot_at(x, ns > 0 ? ns : 0), hi = x->count;

  lo = lo > 0 ? lo - 1 : 0; /* the slot that the time lies in */
  if (lo < in->own) {
    WEIR_TRY(x->next_run(x->context, lo, &lo, &hi));
  }
  lo = lo < in->own ? lo : x->count;
  *start = time_of(x, lo);
  *end = time_of(x, hi > lo ? hi : lo) + 1;
  return WEIR_OK;
}

/* Whole periods of the windows, so that chunks keep holding whole windows. */
static int64_t down_to(const weir_stream *s, int64_t ns)
{
  return s->granule_ns > 0 ? ns / s->granule_ns * s->granule_ns : ns;
}

/* What has to lie between the end of a run and where its source may rule out, and between that and
 * the next run: windows, and what waits in them, hold nothing but its absence. */
static int64_t apart(const weir_stream *s)
{
  return 2 * s->margin_ns;
}

weir_status stream_idle_until(const weir_stream *s, int64_t *ns)
{
  *ns = s->at_ns;
  /* After a jump windows contain the samples before it. */
  if (!s->cfg.skip || s->at_ns - s->since_ns < apart(s)) {
    return WEIR_OK;
  }
  for (int i = 0; i < s->n_inputs; i++) {
    const stream_input *in = &s->input[i];
    int64_t start = 0, end = 0;

    if (in->gates) {
      WEIR_TRY(next_run(in, s->at_ns - apart(s), &start, &end));
      *ns = down_to(s, start - apart(s)) > *ns ? down_to(s, start - apart(s)) : *ns;
    }
  }
  /* The last chunk is always computed: it ends the streams. */
  const stream_input *first = &s->input[0];
  const int64_t latest = time_of(&first->source, first->source.count) - s->window_ns / 2 - apart(s);

  *ns = *ns < latest ? *ns : latest > s->at_ns ? down_to(s, latest) : s->at_ns;
  return WEIR_OK;
}

weir_status stream_cut_gate(const weir_stream *s, int64_t *to)
{
  const int64_t worth = s->window_ns / 8 + apart(s);

  for (int i = 0; i < s->n_inputs && s->cfg.skip; i++) {
    const stream_input *in = &s->input[i];
    int64_t start = 0, end = 0, from = s->at_ns;

    if (!in->gates) {
      continue;
    }
    WEIR_TRY(next_run(in, from, &start, &end));
    if (start - from < apart(s) + worth) {
      from = end;
      WEIR_TRY(next_run(in, from, &start, &end));
    }
    const int64_t pause = down_to(s, from + apart(s) + s->granule_ns);

    *to = pause > s->at_ns && pause < *to && start - pause > worth ? pause : *to;
  }
  return WEIR_OK;
}
