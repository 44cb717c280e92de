/* chop.c - LifeStream's Chop (Jayarajan et al., ASPLOS 2021): every slot becomes a whole number of
 * shorter ones with the same value. An event that an earlier step holds is present in all the slots
 * it covers, so that all of them are divided and nothing has to be carried along. */
#include "stream/op/chop/chop_priv.h"
#include <math.h>
#include "stream/op/resample/weir_stream_resample.h"

static const weir_opt options[] = {
    WEIR_OPT_REAL(chop_opts, period, 0.002, 1e-6, 86400, "s",
                  "period of the result: the stream's period is an integer multiple of it"),
    WEIR_OPT_END,
};

static weir_series chop(weir_graph *g, weir_series s, int64_t factor)
{
  return weir_stream_resample(g, s, WEIR_STREAM_HOLD, factor, 1, 0);
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const chop_opts *o = use->opts;
  const double period = (double)use->in[0].rate_den / (double)use->in[0].rate_num;
  const double exact = period / o->period, whole = nearbyint(exact);

  if (!(whole >= 1 && whole <= WEIR_STREAM_RATIO_MAX) || fabs(exact - whole) > 1e-9 * whole) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "period: the stream's period, %.12g s, is not an integer multiple of %.12g s",
                     period, o->period);
  }
  out->out[0] = chop(use->graph, use->in[0], (int64_t)whole);
  out->n = 1;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_chop = {
    .name = "chop",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "splits every slot into shorter ones with the same value",
    .opts = options,
    .opts_size = sizeof(chop_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
