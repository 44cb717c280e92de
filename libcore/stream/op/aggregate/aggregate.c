/* aggregate.c - LifeStream's Aggregate (Jayarajan et al., ASPLOS 2021). Each hop is reduced afresh
 * and windows are combined from hops, so that nothing drifts and no sample is read twice. */
#include <math.h>
#include "aggregate_priv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/shift/weir_shift.h"
#include "ops/slice/weir_slice.h"
#include "ops/window/weir_window.h"
#include "stream/formula/formula_priv.h"

static weir_value tumble(weir_graph *g, weir_monoid how, weir_value x, weir_dtype accumulator,
                         int64_t hop)
{
  const weir_window_spec spec = {
      .combine = how, .size = hop, .stride = hop, .accumulator = 1 + (int)accumulator};

  return weir_window(g, &spec, x);
}

static weir_value count_of(weir_graph *g, weir_series s, int64_t hop)
{
  return tumble(g, WEIR_COMBINE_SUM, s.present, WEIR_I32, hop);
}

/* x with what leaves `how` unchanged instead of absent samples. */
static weir_value filled(weir_graph *g, weir_series s, double neutral)
{
  return weir_select(g, s.present, s.value, weir_scalar(g, WEIR_F32, neutral));
}

static weir_value taken(weir_graph *g, weir_series s, weir_monoid how, int64_t hop)
{
  const weir_window_spec spec = {.combine = how, .size = hop, .stride = hop};

  return weir_window_present(g, &spec, s.value, s.present);
}

static bool is_moment(weir_aggregate kind)
{
  return kind != WEIR_AGGREGATE_MIN && kind != WEIR_AGGREGATE_MAX && kind != WEIR_AGGREGATE_FIRST &&
         kind != WEIR_AGGREGATE_LAST;
}

/* What a window of one hop says, f64. */
static weir_value of_moments(weir_graph *g, weir_moments_stream m, weir_aggregate kind)
{
  switch (kind) {
  case WEIR_AGGREGATE_MEAN:
    return m.mean;
  case WEIR_AGGREGATE_SUM:
    return weir_mul(g, m.mean, m.n);
  case WEIR_AGGREGATE_COUNT:
    return m.n;
  case WEIR_AGGREGATE_VAR:
    return m.var;
  case WEIR_AGGREGATE_RMS:
    return weir_sqrt(g, weir_add(g, m.var, weir_square(g, m.mean)));
  default:
    return weir_sqrt(g, m.var);
  }
}

/* The share of each hop; hop == 1: the samples themselves. */
static aggregate_partial partial_of(weir_graph *g, weir_series s, weir_value newest,
                                    weir_aggregate kind, int64_t hop)
{
  aggregate_partial p = {newest, s.value, WEIR_NO_VALUE, WEIR_NO_VALUE};

  if (hop == 1) {
    p.present = s.present;
  } else if (is_moment(kind)) {
    const weir_moments_stream m = weir_stream_moments(g, s, hop);

    p.value = m.mean;
    p.n = m.n;
    p.m2 = weir_mul(g, m.var, m.n);
  } else if (kind == WEIR_AGGREGATE_MIN) {
    p.value = tumble(g, WEIR_COMBINE_MIN, filled(g, s, INFINITY), WEIR_F32, hop);
  } else if (kind == WEIR_AGGREGATE_MAX) {
    p.value = tumble(g, WEIR_COMBINE_MAX, filled(g, s, -INFINITY), WEIR_F32, hop);
  } else {
    p.value =
        taken(g, s, kind == WEIR_AGGREGATE_FIRST ? WEIR_COMBINE_FIRST : WEIR_COMBINE_LAST, hop);
  }
  return p;
}

weir_moments_stream weir_stream_trailing_moments(const weir_series_use *use, weir_series s,
                                                 int64_t window)
{
  const aggregate_partial samples = {s.present, s.value, WEIR_NO_VALUE, WEIR_NO_VALUE};

  return aggregate_slide_moments(use, &samples, window);
}

static weir_value value_of(const weir_series_use *use, weir_series s, weir_value newest,
                           const weir_aggregate_spec *a)
{
  weir_graph *g = use->graph;
  const int64_t hops = a->window / a->hop;

  if (a->kind == WEIR_AGGREGATE_MEDIAN) {
    return weir_slice(g, aggregate_median(use, s, a->window, a->hop), 0, 0, WEIR_SLICE_END, a->hop);
  }
  if (hops == 1 && is_moment(a->kind)) {
    return weir_cast(g, WEIR_F32, of_moments(g, weir_stream_moments(g, s, a->hop), a->kind));
  }
  const aggregate_partial partial = partial_of(g, s, newest, a->kind, a->hop);

  if (hops == 1 || a->kind == WEIR_AGGREGATE_LAST) {
    return partial.value; /* the last sample of a window is that of its newest hop */
  }
  if (!is_moment(a->kind)) {
    return aggregate_slide_select(use, &partial, a->kind, hops);
  }
  return weir_cast(g, WEIR_F32,
                   of_moments(g, aggregate_slide_moments(use, &partial, hops), a->kind));
}

static weir_status check(const weir_aggregate_spec *a)
{
  if (a->hop < 1 || a->window < a->hop || a->window % a->hop != 0) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "aggregate: a window of %lld slots is not a multiple of the hop of %lld slots",
                     (long long)a->window, (long long)a->hop);
  }
  return WEIR_OK;
}

/* A variance is in the square of the unit, as expressions state it. */
static weir_status find_unit(weir_aggregate kind, weir_series *s)
{
  char text[WEIR_SERIES_UNIT];
  formula_unit unit;

  if (kind == WEIR_AGGREGATE_COUNT) {
    weir_series_set_unit(s, "1");
  } else if (kind == WEIR_AGGREGATE_VAR) {
    if (!formula_unit_parse(s->unit, &unit) || !formula_unit_half_power(&unit, 4, &unit) ||
        !formula_unit_text(&unit, text, sizeof text)) {
      return weir_fail(WEIR_ERR_CONFIG, "the square of the unit %s is too long", s->unit);
    }
    weir_series_set_unit(s, text);
  }
  return WEIR_OK;
}

weir_series weir_stream_aggregate(const weir_series_use *use, weir_series s,
                                  const weir_aggregate_spec *a)
{
  weir_graph *g = use->graph;
  weir_series out = s;
  weir_status status = check(a);

  out.age = WEIR_NO_VALUE;
  if (status == WEIR_OK) {
    status = weir_series_scale_rate(&out, 1, a->hop);
  }
  if (status == WEIR_OK) {
    status = find_unit(a->kind, &out);
  }
  if (status != WEIR_OK) {
    out.value = weir_graph_fail(g, status);
    return out;
  }
  out.present = a->hop == 1 ? s.present : weir_gt_scalar(g, count_of(g, s, a->hop), 0);
  out.value = value_of(use, s, out.present, a);
  out = weir_series_mask(g, out);
  if (a->end) {
    out.value = weir_shift(g, out.value, 0, 1);
    out.present = weir_shift(g, out.present, 0, 1);
  }
  if (a->rows) {
    out.present = weir_or(g, out.present, weir_not(g, out.present));
  }
  return out;
}

typedef struct aggregate_opts {
  int kind;
  double window, hop;
  int label, empty;
} aggregate_opts;

static const weir_opt options[] = {
    WEIR_OPT_ENUM(aggregate_opts, kind, WEIR_AGGREGATE_MEAN, WEIR_AGGREGATE_NAMES,
                  "statistic of a window; std and var divide by the number of samples"),
    WEIR_OPT_REAL(aggregate_opts, window, 60, 0, 1e9, "s", "window length"),
    WEIR_OPT_REAL(aggregate_opts, hop, 0, 0, 1e9, "s",
                  "hop: time between windows, a divisor of `window`; 0: equal to the window"),
    WEIR_OPT_ENUM(aggregate_opts, label, 0, "start|end",
                  "time stamp of a result: start: start of its newest hop (LifeStream); end: end "
                  "of that hop, so that the result depends on earlier samples only (Trill)"),
    WEIR_OPT_ENUM(aggregate_opts, empty, 0, "absent|zero",
                  "result of windows whose newest hop has no sample: absent or 0"),
    WEIR_OPT_END,
};

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const aggregate_opts *o = use->opts;
  weir_aggregate_spec a = {
      .kind = (weir_aggregate)o->kind, .end = o->label == 1, .rows = o->empty == 1};

  WEIR_TRY(weir_series_slots(&use->in[0], "window", o->window, 1, &a.window));
  WEIR_TRY(weir_series_hop(&use->in[0], o->hop > 0 ? "hop" : "window",
                           o->hop > 0 ? o->hop : o->window, &a.hop));
  if (a.window % a.hop != 0) {
    return weir_fail(WEIR_ERR_CONFIG, "hop: %.12g s does not divide the window of %.12g s", o->hop,
                     o->window);
  }
  out->out[0] = weir_stream_aggregate(use, use->in[0], &a);
  out->n = 1;
  WEIR_TRY(weir_graph_status(use->graph));
  return WEIR_OK;
}

const weir_series_op weir_series_op_aggregate = {
    .name = "aggregate",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "one statistic per window of a stream: mean, sum, min, max, count, std, ...",
    .opts = options,
    .opts_size = sizeof(aggregate_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
