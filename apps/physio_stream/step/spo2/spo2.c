/* spo2.c - oxygen saturation of two light intensities behind tissue: the textbook line through the
 * ratio of their relative pulsations. For research; every oximeter has a calibration of its own. */
#include "model/events.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/aggregate/weir_stream_aggregate.h"

typedef struct options {
  double window, hop, min_present, offset, slope;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_REAL(options_, window, 6, 1, 60, "s", "a value is of so much signal (4 to 8 s)"),
    WEIR_OPT_REAL(options_, hop, 1, 0.01, 60, "s", "a value each; window is a multiple"),
    WEIR_OPT_REAL(options_, min_present, 0.9, 0, 1, "1",
                  "share of the window that must be present in both signals", .alias = "least"),
    WEIR_OPT_REAL(options_, offset, 110, 0, 200, "%", "saturation at a ratio of 0 (textbook: 110)"),
    WEIR_OPT_REAL(options_, slope, 25, 0, 200, "%",
                  "by which it falls with a ratio of 1 (textbook: 25)"),
    WEIR_OPT_END,
};

typedef struct search {
  int64_t window, hop;
} search;

/* State of each aggregate has a name of its own. */
static weir_series aggregate(const weir_series_use *use, weir_series s, const search *p,
                             weir_aggregate kind, const char *name)
{
  const weir_aggregate_spec spec = {.kind = kind, .window = p->window, .hop = p->hop};
  weir_series_use own = *use;
  char step[128];

  (void)snprintf(step, sizeof step, "%.80s.%s", use->step, name);
  own.step = step;
  return weir_stream_aggregate(&own, s, &spec);
}

/* Relative pulsation: (largest - smallest) / mean of each window. */
static weir_value pulsation(const weir_series_use *use, weir_series s, const search *p, bool red)
{
  weir_graph *g = use->graph;
  const weir_value top =
      aggregate(use, s, p, WEIR_AGGREGATE_MAX, red ? "red_max" : "infrared_max").value;
  const weir_value bottom =
      aggregate(use, s, p, WEIR_AGGREGATE_MIN, red ? "red_min" : "infrared_min").value;
  const weir_value mean =
      aggregate(use, s, p, WEIR_AGGREGATE_MEAN, red ? "red_mean" : "infrared_mean").value;

  return weir_div(g, weir_sub(g, top, bottom), mean);
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const options_ *o = use->opts;
  weir_graph *g = use->graph;
  weir_series red = ps_events_finite(g, use->in[0]), infrared = ps_events_finite(g, use->in[1]);
  search p;

  if ((__int128)red.rate_num * infrared.rate_den != (__int128)infrared.rate_num * red.rate_den) {
    return weir_fail(WEIR_ERR_CONFIG, "spo2: %s and %s have different rates", use->in_name[0],
                     use->in_name[1]);
  }
  WEIR_TRY(weir_series_same_unit(&red, use->in_name[0], &infrared, use->in_name[1]));
  WEIR_TRY(weir_series_slots(&red, "spo2.hop", o->hop, 1, &p.hop));
  WEIR_TRY(weir_series_slots(&red, "spo2.window", o->window, p.hop, &p.window));
  red.present = infrared.present = weir_and(g, red.present, infrared.present);
  red = weir_series_mask(g, red);
  infrared = weir_series_mask(g, infrared);
  const weir_value ratio =
      weir_div(g, pulsation(use, red, &p, true), pulsation(use, infrared, &p, false));
  const weir_series count = aggregate(use, red, &p, WEIR_AGGREGATE_COUNT, "count");
  weir_series *spo2 = &out->out[0], *r = &out->out[1];

  *r = count;
  r->age = WEIR_NO_VALUE;
  r->value = ratio;
  r->present = weir_and(g, weir_ge_scalar(g, count.value, o->min_present * (double)p.window),
                        weir_and(g, count.present, weir_le_scalar(g, weir_abs(g, ratio), 1e6)));
  *r = weir_series_mask(g, *r);
  *spo2 = *r;
  spo2->value = weir_rsub_scalar(g, o->offset, weir_scale(g, r->value, o->slope));
  spo2->value = weir_min_scalar(g, weir_max_scalar(g, spo2->value, 0), 100);
  *spo2 = weir_series_mask(g, *spo2);
  weir_series_set_unit(spo2, "%");
  weir_series_set_unit(r, "1");
  out->name[0] = "spo2";
  out->name[1] = "ratio";
  out->n = 2;
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

const weir_series_op ps_step_spo2 = {
    .name = "spo2",
    .cite = "textbook formula, 110 - 25 R",
    .help = "of red and infrared light: spo2, %, and ratio, that of (max - min) / mean, one each "
            "hop; not calibrated",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 2,
    .max_in = 2,
    .build = build,
};
