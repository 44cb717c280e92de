/* mask.c - LifeStream's Mask (Jayarajan et al., ASPLOS 2021): which slots the fill operators make.
 */
#include "stream/op/mask/mask_priv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/weir_gap.h"

static const weir_opt options[] = {
    WEIR_OPT_REAL(mask_opts, tolerance, 60, 0, 86400, "s",
                  "maximum length of filled gaps: that of the fill operator"),
    WEIR_OPT_END,
};

/* Ones in the short gaps of a stream of zeros. */
static weir_series mask(weir_graph *g, weir_series s, int64_t tolerance)
{
  s.value = weir_scale(g, weir_cast(g, WEIR_F32, s.present), 0);
  s = weir_gap_filled(g, s, WEIR_GAP_CONST, tolerance, 1);
  weir_series_set_unit(&s, "1");
  return s;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const mask_opts *o = use->opts;
  int64_t tolerance = 0;

  WEIR_TRY(weir_gap_slots(&use->in[0], "tolerance", o->tolerance, &tolerance));
  out->out[0] = mask(use->graph, use->in[0], tolerance);
  out->n = 1;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_mask = {
    .name = "mask",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "1 in the slots that a fill operator of this tolerance fills, 0 in all others present "
            "after it",
    .opts = options,
    .opts_size = sizeof(mask_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
