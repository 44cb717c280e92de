/* moving.c - statistics of the window that ends with each sample. */
#include "stream/op/aggregate/weir_stream_aggregate.h"

typedef struct moving_opts {
  int kind;
  double window;
} moving_opts;

static const weir_opt options[] = {
    WEIR_OPT_ENUM(
        moving_opts, kind, WEIR_AGGREGATE_MEAN, WEIR_AGGREGATE_NAMES,
        "statistic of a window; the cost of the median is proportional to the window length"),
    WEIR_OPT_REAL(moving_opts, window, 60, 0, 1e9, "s",
                  "length of the window that ends with each sample, that sample included"),
    WEIR_OPT_END,
};

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const moving_opts *o = use->opts;
  weir_aggregate_spec a = {.kind = (weir_aggregate)o->kind, .hop = 1};

  WEIR_TRY(weir_series_slots(&use->in[0], "window", o->window, 1, &a.window));
  out->out[0] = weir_stream_aggregate(use, use->in[0], &a);
  out->n = 1;
  WEIR_TRY(weir_graph_status(use->graph));
  return WEIR_OK;
}

const weir_series_op weir_series_op_moving = {
    .name = "moving",
    .cite = "",
    .help = "moving statistic of the window that ends with each sample: mean, std, min, max, ...",
    .opts = options,
    .opts_size = sizeof(moving_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
