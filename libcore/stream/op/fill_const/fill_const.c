/* fill_const.c - LifeStream's FillConst (Jayarajan et al., ASPLOS 2021). */
#include "stream/weir_gap.h"

struct fill_const_opts {
  double tolerance, value;
};

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct fill_const_opts, tolerance, 60, 0, 86400, "s",
                  "maximum length of filled gaps, from the sample before to the sample after; "
                  "longer gaps are kept"),
    WEIR_OPT_REAL(struct fill_const_opts, value, 0, -1e30, 1e30, "unit of the stream",
                  "value in the slots of short gaps"),
    WEIR_OPT_END,
};

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const struct fill_const_opts *o = use->opts;
  int64_t tolerance = 0;

  WEIR_TRY(weir_gap_slots(&use->in[0], "tolerance", o->tolerance, &tolerance));
  out->out[0] = weir_gap_filled(use->graph, use->in[0], WEIR_GAP_CONST, tolerance, o->value);
  out->n = 1;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_fill_const = {
    .name = "fill_const",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "fills short gaps with a constant",
    .opts = options,
    .opts_size = sizeof(struct fill_const_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
