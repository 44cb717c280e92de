/* shift.c - LifeStream's Shift (Jayarajan et al., ASPLOS 2021). */
#include "ops/shift/weir_shift.h"
#include "stream/op/shift/weir_stream_shift.h"

static const weir_opt options[] = {
    WEIR_OPT_REAL(weir_stream_shift_opts, by, 0, -3600, 3600, "s",
                  "shift of the samples to later times; below 0: to earlier times, so that results "
                  "are delayed by that much"),
    WEIR_OPT_END,
};

weir_series weir_stream_shift(weir_graph *g, weir_series s, int64_t by)
{
  s.value = weir_shift(g, s.value, 0, by);
  s.age = WEIR_NO_VALUE;
  s.present = weir_shift(g, s.present, 0, by);
  return s;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const weir_stream_shift_opts *o = use->opts;
  int64_t by = 0;

  WEIR_TRY(weir_series_slots(&use->in[0], "by", o->by, INT64_MIN, &by));
  out->out[0] = weir_stream_shift(use->graph, use->in[0], by);
  out->n = 1;
  WEIR_TRY(weir_graph_status(use->graph));
  return WEIR_OK;
}

const weir_series_op weir_series_op_shift = {
    .name = "shift",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "shifts the stream in time",
    .opts = options,
    .opts_size = sizeof(weir_stream_shift_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
