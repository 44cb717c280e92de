/* fill_mean.c - LifeStream's FillMean (Jayarajan et al., ASPLOS 2021), and a causal form.
 *
 * A short gap after sample s is filled with the mean of the aligned window [j w, (j + 1) w) that
 * holds s: all its samples, also those after the gap, so that results come later by a window. The
 * causal form takes the trailing window (s - w, s], does not wait for the gap's end, and fills at
 * most the tolerance of any gap. Sums are in f64 and restarted for each window: rounding errors do
 * not accumulate. */
#include "stream/op/fill_mean/fill_mean_priv.h"
#include <string.h>
#include "ops/elementwise/weir_elementwise.h"
#include "stream/weir_gap.h"
#include "stream/weir_sums.h"

static const weir_opt options[] = {
    WEIR_OPT_REAL(fill_mean_opts, window, 60, 0, 86400, "s",
                  "length of the averaging window: an integer number of periods"),
    WEIR_OPT_REAL(fill_mean_opts, tolerance, 60, 0, 86400, "s",
                  "maximum length of filled gaps, from the sample before to the sample after"),
    WEIR_OPT_BOOL(
        fill_mean_opts, causal, false,
        "true: trailing window; every gap is filled up to the tolerance without waiting for its "
        "end; false: aligned window of the preceding sample; longer gaps are kept"),
    WEIR_OPT_END,
};

/* Of the present slots of [lo, hi); 0 where there are none. Absent values are 0. */
static float mean_of(const weir_op_run *run, int64_t lo, int64_t hi)
{
  const int64_t n = weir_gap_count(weir_gap_flag(&run->in[1], lo), hi - lo);

  return n > 0 ? (float)(weir_sums_of(weir_gap_value(&run->in[0], lo), hi - lo).x / (double)n) : 0;
}

/* No gap follows a sample of the window: its mean is not needed. */
static bool is_whole(const weir_view *present, int64_t lo, int64_t hi)
{
  const int64_t last = hi < present->extent[0] ? hi + 1 : hi;

  return weir_gap_count(weir_gap_flag(present, lo), last - lo) == last - lo;
}

/* One slot a window. */
static weir_status find_means(void *context, const weir_op_run *run)
{
  const int64_t window = ((const weir_call_spec *)run->spec)->up[0], end = run->in[0].extent[0];

  (void)context;
  for (int64_t j = run->box.lo[0]; j < run->box.hi[0]; j++) {
    const int64_t hi = (j + 1) * window < end ? (j + 1) * window : end;

    *weir_gap_value(&run->out[0], j) =
        is_whole(&run->in[1], j * window, hi) ? 0 : mean_of(run, j * window, hi);
  }
  return WEIR_OK;
}

/* The run from `filled` on stays absent. */
static void write_run(const weir_op_run *run, const weir_gap_walk *w, int64_t filled, float value)
{
  float *y = weir_gap_value(&run->out[0], w->lo);
  uint8_t *present = weir_gap_flag(&run->out[1], w->lo);
  const int64_t n = w->end - w->lo;

  if (w->present) {
    weir_gap_copy(y, weir_gap_value(&run->in[0], w->lo), n);
  } else {
    for (int64_t t = 0; t < n; t++) {
      y[t] = w->lo + t < filled ? value : 0;
    }
  }
  memset(present, 1, (size_t)(filled - w->lo));
  memset(present + (filled - w->lo), 0, (size_t)(w->end - filled));
}

static weir_status fill_windows(void *context, const weir_op_run *run)
{
  const weir_call_spec *spec = run->spec;
  const int64_t tolerance = spec->ahead[1] + 1, window = spec->down[2];
  weir_gap_walk w = weir_gap_start(run, 1);

  (void)context;
  while (weir_gap_next(&w)) {
    const bool short_gap = w.before >= 0 && w.next >= 0 && w.next - w.before <= tolerance;
    const float mean = short_gap ? *weir_gap_value(&run->in[2], w.before / window) : 0;

    write_run(run, &w, w.present || short_gap ? w.end : w.lo, mean);
  }
  return WEIR_OK;
}

static weir_status fill_trailing(void *context, const weir_op_run *run)
{
  const int64_t tolerance = *(const int64_t *)run->in[2].data;
  const int64_t window = *(const int64_t *)run->in[3].data;
  weir_gap_walk w = weir_gap_start(run, 1);

  (void)context;
  while (weir_gap_next(&w)) {
    const int64_t first = w.before - window + 1 > 0 ? w.before - window + 1 : 0;
    const bool near = w.before >= 0 && w.before + tolerance > w.lo;
    const int64_t until = w.before + tolerance < w.end ? w.before + tolerance : w.end;

    write_run(run, &w,
              w.present ? w.end
              : near    ? until
                        : w.lo,
              near ? mean_of(run, first, w.before + 1) : 0);
  }
  return WEIR_OK;
}

static weir_series fill_causal(weir_graph *g, weir_series s, int64_t window, int64_t tolerance)
{
  const weir_value in[] = {s.value, s.present, weir_scalar(g, WEIR_I64, (double)tolerance),
                           weir_scalar(g, WEIR_I64, (double)window)};
  weir_call_spec spec = weir_gap_call("fill_mean", fill_trailing);

  spec.behind[0] = spec.behind[1] = tolerance > 0 ? tolerance + window - 2 : 0;
  return weir_gap_made(g, &spec, s, in, 4);
}

static weir_series fill_aligned(weir_graph *g, weir_series s, int64_t window, int64_t tolerance)
{
  const int64_t reach = tolerance > 1 ? tolerance - 1 : 0;
  weir_call_spec spec = weir_gap_call("fill_mean", fill_windows);
  weir_call_spec means = weir_gap_call("means", find_means);

  means.n_out = 1;
  means.up[0] = means.up[1] = window;
  means.ahead[0] = window - 1;
  means.ahead[1] = window; /* the slot after it tells whether a gap follows */
  means.flops = (double)window;
  spec.behind[1] = spec.ahead[1] = reach;
  spec.down[2] = window;
  spec.behind[2] = (reach + window - 1) / window;
  const weir_value mean = weir_call(g, &means, ((weir_value[]){s.value, s.present}), 2);

  return weir_gap_made(g, &spec, s, ((weir_value[]){s.value, s.present, mean}), 3);
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const fill_mean_opts *o = use->opts;
  const weir_series *s = &use->in[0];
  int64_t window = 0, tolerance = 0;

  if (o->causal) {
    WEIR_TRY(weir_series_slots(s, "window", o->window, 1, &window));
    WEIR_TRY(weir_gap_slots(s, "window", o->window, &window));
  } else {
    WEIR_TRY(weir_series_hop(s, "window", o->window, &window));
  }
  WEIR_TRY(weir_gap_slots(s, "tolerance", o->tolerance, &tolerance));
  out->out[0] = o->causal ? fill_causal(use->graph, *s, window, tolerance)
                          : fill_aligned(use->graph, *s, window, tolerance);
  out->n = 1;
  return weir_graph_status(use->graph);
}

const weir_series_op weir_series_op_fill_mean = {
    .name = "fill_mean",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "fills short gaps with the mean of the window of the preceding sample",
    .opts = options,
    .opts_size = sizeof(fill_mean_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
