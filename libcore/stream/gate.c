/* gate.c - targeted processing (Jayarajan et al., ASPLOS 2021): where one side of a join is absent,
 * the other is not read. Which sources rule everything out follows from the plan (weir_plan_idle);
 * where they are absent, from what they know of their runs. */
#include "stream_priv.h"

#define NS 1000000000
#define LONGEST_MARGIN ((int64_t)1 << 60)

/* Whether all is idle where the source is absent, through both stages. */
static bool rules_out(const weir_stream *s, const stream_input *in)
{
  const char *absent[STREAM_MAX_CROSSING] = {in->source.value, in->source.present};
  const char *results[STREAM_MAX_CROSSING + STREAM_MAX_SINKS];
  weir_idle idle[STREAM_MAX_CROSSING + STREAM_MAX_SINKS];
  bool all = true;
  int n_absent = 2;

  for (int stage = 0; stage < s->n_stages; stage++) {
    int n = 0, crossing = 0;

    for (int k = 0; k < s->cut.n && stage + 1 < s->n_stages; k++) {
      results[n++] = s->cut.result[k];
    }
    crossing = n;
    for (int k = 0; k < s->n_sinks; k++) {
      if (s->sink_stage[k] == stage) {
        results[n++] = s->sink[k].result;
      }
    }
    all = weir_plan_idle(s->plan[stage], absent, n_absent, results, n, idle) && all;
    n_absent = 0;
    for (int k = 0; k < crossing; k++) {
      if (idle[k] == WEIR_IDLE_ZERO) {
        absent[n_absent++] = s->cut.name[k];
      }
    }
    for (int k = crossing; k < n; k++) {
      all = all && idle[k] != WEIR_IDLE_NOT;
    }
  }
  return all;
}

static double rate_of(const weir_stream_source *x)
{
  return (double)x->rate_num / (double)x->rate_den;
}

/* Seconds of a stage's margin; the rate of what crosses follows from the source's. */
static double margin_of(const weir_stream *s, const stream_input *in)
{
  const double rate = rate_of(&in->source);
  double first = 0, second = 0;

  for (int i = 0; i < 2; i++) {
    const char *input = i == 0 ? in->source.value : in->source.present;
    const double here = (double)weir_plan_margin(s->plan[0], input) / rate;

    first = here > first ? here : first;
    for (int k = 0; k < s->cut.n && s->n_stages == 2; k++) {
      const double ratio = weir_plan_reach(s->plan[0], s->cut.result[k], input).ratio;
      const double there =
          ratio > 0 ? (double)weir_plan_margin(s->plan[1], s->cut.name[k]) / (ratio * rate) : 0;

      second = there > second ? there : second;
    }
  }
  return first + second;
}

void stream_find_gates(weir_stream *s)
{
  double margin = 0;

  for (int i = 0; i < s->n_inputs; i++) {
    stream_input *in = &s->input[i];
    const double here = margin_of(s, in);

    margin = here > margin ? here : margin;
    in->gates = s->n_inputs > 1 && s->n_sinks > 0 && in->source.next_run != NULL &&
                s->live.wait == NULL && rules_out(s, in);
  }
  s->margin_ns = margin < 1e9 ? (int64_t)(margin * NS) + 1 : LONGEST_MARGIN;
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

/* Whole periods of the windows, so that chunks go on holding whole windows. */
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
  /* After a jump windows hold what they held before it. */
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
  const int64_t most = time_of(&first->source, first->source.count) - s->window_ns / 2 - apart(s);

  *ns = *ns < most ? *ns : most > s->at_ns ? down_to(s, most) : s->at_ns;
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
    const int64_t cut = down_to(s, from + apart(s) + s->granule_ns);

    *to = cut > s->at_ns && cut < *to && start - cut > worth ? cut : *to;
  }
  return WEIR_OK;
}
