/* follow_stream.c - what results and states need of the sources, through both stages: reach, and
 * how long a gap takes to settle. */
#include <math.h>
#include "stream_priv.h"

#define NS 1000000000.0
#define LONGEST_MARGIN ((int64_t)1 << 60)

int stream_results(const weir_stream *s, int stage, weir_plan_end *to, int *sink)
{
  int n = 0;

  for (; n < s->cut.n && stage + 1 < s->n_stages; n++) {
    to[n] = (weir_plan_end){.name = s->cut.result[n]};
    sink[n] = -1;
  }
  for (int k = 0; k < s->n_sinks; k++) {
    if (s->sink_stage[k] == stage) {
      sink[n] = k;
      to[n++] = (weir_plan_end){.name = s->sink[k].result};
    }
  }
  return n;
}

void stream_follow(const weir_stream *s, const char *input, stream_followed *out)
{
  weir_plan_end from[STREAM_MAX_CROSSING] = {{input, weir_path_start()}}, to[STREAM_MAX_RESULTS];
  int n = 1, sink[STREAM_MAX_RESULTS];

  *out = (stream_followed){.need = {0}};
  for (int stage = 0; stage < s->n_stages && s->plan[stage] != NULL; stage++) {
    const int n_to = stream_results(s, stage, to, sink);
    const weir_plan_need need = weir_plan_follow(s->plan[stage], from, n, to, n_to);

    if (out->need.settle >= 0 && (need.settle < 0 || need.settle > out->need.settle)) {
      out->need.settle = need.settle;
    }
    out->need.margin = need.margin > out->need.margin ? need.margin : out->need.margin;
    n = 0;
    for (int k = 0; k < n_to; k++) {
      *(sink[k] < 0 ? &out->crossing[k] : &out->sink[sink[k]]) = to[k].path;
      if (sink[k] < 0 && to[k].path.reached) {
        from[n++] = (weir_plan_end){s->cut.name[k], to[k].path};
      }
    }
  }
}

void stream_find_needs(weir_stream *s)
{
  double margin = 0;

  for (int i = 0; i < 2 * s->n_inputs; i++) {
    stream_input *in = &s->input[i / 2];
    const double rate = (double)in->source.rate_num / (double)in->source.rate_den;
    stream_followed f;

    stream_follow(s, i % 2 ? in->source.present : in->source.value, &f);
    in->settle = in->settle < 0 || f.need.settle < 0 ? -1
                 : f.need.settle < in->settle        ? in->settle
                                                     : f.need.settle + 1;
    margin = fmax(margin, (double)f.need.margin / rate);
    for (int k = 0; k < s->n_sinks; k++) {
      s->sink_behind_s[k] = fmax(s->sink_behind_s[k], (double)weir_path_behind(&f.sink[k]) / rate);
      s->sink_ahead_s[k] = fmax(s->sink_ahead_s[k], (double)weir_path_ahead(&f.sink[k]) / rate);
      s->latency_s = fmax(s->latency_s, s->sink_ahead_s[k]);
    }
  }
  s->latency_s += (double)s->window_ns / NS;
  s->margin_ns = margin < 1e9 ? (int64_t)(margin * NS) + 1 : LONGEST_MARGIN;
}

void weir_stream_reach(const weir_stream *s, int sink, double *behind_s, double *ahead_s)
{
  *behind_s = s->sink_behind_s[sink];
  *ahead_s = s->sink_ahead_s[sink];
}
