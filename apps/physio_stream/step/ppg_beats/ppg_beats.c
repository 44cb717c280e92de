/* ppg_beats.c - systolic peaks of a photoplethysmogram. */
#include "model/elgendi.h"
#include "ops/elementwise/weir_elementwise.h"

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  weir_graph *g = use->graph;
  weir_series found[PS_ELGENDI_VALUES];

  WEIR_TRY(ps_elgendi_add(use, use->opts, true, ps_events_finite(g, use->in[0]), found));
  weir_series rr = found[PS_ELGENDI_RR], peak = found[PS_ELGENDI_HEIGHT];

  rr.present = weir_gt_scalar(g, rr.value, 0);
  weir_series_set_unit(&rr, "s");
  weir_series_set_unit(&peak, use->in[0].unit);
  *out = (weir_series_result){.out = {rr, peak}, .name = {"rr", "peak"}, .n = 2};
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

const weir_series_op ps_step_ppg_beats = {
    .name = "ppg_beats",
    .cite = "Elgendi et al. 2013",
    .help = "systolic peaks: peak, the signal there, and rr, s since the peak before (none for the "
            "first and across a gap)",
    .opts = ps_elgendi_ppg_options,
    .opts_size = sizeof(ps_elgendi_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
