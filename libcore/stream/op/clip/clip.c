/* clip.c - LifeStream's ClipEventDuration (Jayarajan et al., ASPLOS 2021): an event ends where the
 * next one begins, and after `longest` where none begins by then: the artefact waits without bound
 * and never gives the last event.
 *
 * Durations are presence: `held` is present, with the event's value, in every slot that the event
 * covers. `duration` tells, at the event's own slot, how long it lasts; it looks ahead by
 * `longest`, `held` does not. */
#include "stream/op/clip/clip_priv.h"
#include <string.h>
#include "ops/elementwise/weir_elementwise.h"
#include "stream/weir_gap.h"

static const weir_opt options[] = {
    WEIR_OPT_REAL(
        clip_opts, longest, 10, 0, 86400, "s",
        "duration of an event without a successor: an integer number of periods, at least one"),
    WEIR_OPT_END,
};

static weir_status find_durations(void *context, const weir_op_run *run)
{
  const float period = *(const float *)run->in[2].data;
  const int64_t longest = ((const weir_call_spec *)run->spec)->ahead[1] + 1;
  weir_gap_walk w = weir_gap_start(run, 1);

  (void)context;
  while (weir_gap_next(&w)) {
    float *y = weir_gap_value(&run->out[0], w.lo);
    const int64_t n = w.end - w.lo;

    for (int64_t k = 0; k < n; k++) {
      y[k] = w.present ? period : 0;
    }
    if (w.present) {
      const int64_t reach = w.end - 1 + longest;
      const int64_t hi = reach < w.access_hi ? reach : w.access_hi;
      const int64_t next = weir_gap_find(&w, w.end, hi, true);

      y[n - 1] = (float)(next < hi ? next - w.end + 1 : longest) * period;
    }
    memset(weir_gap_flag(&run->out[1], w.lo), w.present, (size_t)n);
  }
  return WEIR_OK;
}

static weir_series durations(weir_graph *g, weir_series s, int64_t longest)
{
  const double period = (double)s.rate_den / (double)s.rate_num;
  const weir_value in[] = {s.value, s.present, weir_scalar(g, WEIR_F32, period)};
  weir_call_spec spec = weir_gap_call("clip", find_durations);

  spec.ahead[1] = longest - 1;
  s = weir_gap_made(g, &spec, s, in, 3);
  weir_series_set_unit(&s, "s");
  return s;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const clip_opts *o = use->opts;
  int64_t longest = 0;

  WEIR_TRY(weir_series_slots(&use->in[0], "longest", o->longest, 1, &longest));
  WEIR_TRY(weir_gap_slots(&use->in[0], "longest", o->longest, &longest));
  out->out[0] = weir_gap_hold(use->graph, use->in[0], longest);
  out->name[0] = "held";
  out->out[1] = durations(use->graph, use->in[0], longest);
  out->name[1] = "duration";
  out->n = 2;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_clip = {
    .name = "clip",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "ends events where the next begins: `held` repeats the value until then, `duration` is "
            "in seconds",
    .opts = options,
    .opts_size = sizeof(clip_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
