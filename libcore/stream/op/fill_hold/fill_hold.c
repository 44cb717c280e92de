/* fill_hold.c - fills with the sample before the gap; the causal form knows no gap's length. */
#include "stream/weir_gap.h"

struct fill_hold_opts {
  double tolerance;
  bool causal;
};

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct fill_hold_opts, tolerance, 1, 0, 86400, "s",
                  "maximum length of filled gaps, from the sample before to the sample after"),
    WEIR_OPT_BOOL(struct fill_hold_opts, causal, false,
                  "true: fill every gap, up to the tolerance, without waiting for its end; false: "
                  "keep longer gaps, and delay results by the tolerance"),
    WEIR_OPT_END,
};

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const struct fill_hold_opts *o = use->opts;
  int64_t tolerance = 0;

  WEIR_TRY(weir_gap_slots(&use->in[0], "tolerance", o->tolerance, &tolerance));
  out->out[0] = o->causal ? weir_gap_hold(use->graph, use->in[0], tolerance)
                          : weir_gap_filled(use->graph, use->in[0], WEIR_GAP_HOLD, tolerance, 0);
  out->n = 1;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_fill_hold = {
    .name = "fill_hold",
    .cite = "",
    .help = "fills short gaps with the preceding sample",
    .opts = options,
    .opts_size = sizeof(struct fill_hold_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
