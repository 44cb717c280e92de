/* alter_period.c - LifeStream's AlterPeriod (Jayarajan et al., ASPLOS 2021): every m-th slot is
 * kept, from slot 0 on, all others are dropped: no filter. To lengthen the clock of a signal
 * without aliases, resample by polyphase. */
#include "stream/op/resample/weir_stream_resample.h"

struct alter_period_opts {
  double period;
};

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct alter_period_opts, period, 1, 1e-6, 86400, "s",
                  "period of the result: an integer multiple of the stream's period"),
    WEIR_OPT_END,
};

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const struct alter_period_opts *o = use->opts;
  int64_t slots = 0;

  WEIR_TRY(weir_series_slots(&use->in[0], "period", o->period, 1, &slots));
  out->out[0] = weir_stream_resample(use->graph, use->in[0], WEIR_STREAM_HOLD, 1, slots, 0);
  out->n = 1;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_alter_period = {
    .name = "alter_period",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "keeps every m-th slot",
    .opts = options,
    .opts_size = sizeof(struct alter_period_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
