/* alter_duration.c - LifeStream's AlterEventDuration (Jayarajan et al., ASPLOS 2021) with a
 * constant.
 *
 * A stream has one slot a period, so that a duration is presence: an event that lasts d is present
 * in the slots that [its start, its start + d) covers. The next event ends it; a stretch of present
 * slots that an earlier step repeated is one event a slot. */
#include "stream/weir_gap.h"

struct alter_duration_opts {
  double duration;
};

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct alter_duration_opts, duration, 1, 0, 86400, "s",
                  "maximum duration of an event, which ends earlier at the next event: an integer "
                  "number of periods, at least one"),
    WEIR_OPT_END,
};

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const struct alter_duration_opts *o = use->opts;
  int64_t slots = 0;

  WEIR_TRY(weir_series_slots(&use->in[0], "duration", o->duration, 1, &slots));
  WEIR_TRY(weir_gap_slots(&use->in[0], "duration", o->duration, &slots));
  out->out[0] = weir_gap_hold(use->graph, use->in[0], slots);
  out->n = 1;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_alter_duration = {
    .name = "alter_duration",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "extends every event for a duration or until the next event",
    .opts = options,
    .opts_size = sizeof(struct alter_duration_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
