/* align.c - a device's signal on the clock of the reference: the affine relation that `clock`
 * gives, undone between samples by Lagrange's cubic (Farrow, ISCAS 1988, 2641). */
#include <math.h>
#include <string.h>
#include "model/events.h"
#include "stream/weir_gap.h"

typedef struct options {
  double reach;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_REAL(options_, reach, 2, 0.001, 100, "s",
                  "largest offset, beyond it there is no result; results come so much later"),
    WEIR_OPT_END,
};

/* Inputs of the call. */
enum { X, HERE, OFFSET, KNOWN, DRIFT, DRIFTS, INPUTS };
#define STEP \
  1.0 /* slots that an offset moves from one slot to the next at most, else a gap opens */

typedef struct context {
  double rate;   /* slots a second               */
  double reach;  /* slots                        */
  int64_t hop;   /* slots for which a relation holds, which is that at their end */
  bool drifting; /* there is a drift             */
} context;

/* Slots by which a sample of the device at slot t comes before the reference's; false: not known.
 */
static bool offset_at(const context *c, const weir_op_run *run, int64_t t, double *by)
{
  const int64_t hop = t / c->hop;

  if (t < 0 || *weir_gap_flag(&run->in[KNOWN], hop) == 0) {
    return false;
  }
  *by = (double)*weir_gap_value(&run->in[OFFSET], hop) * c->rate;
  if (c->drifting && *weir_gap_flag(&run->in[DRIFTS], hop) != 0) {
    const double drift = 1e-6 * (double)*weir_gap_value(&run->in[DRIFT], hop);

    /* The relation is of the device's time, which is t less what is sought. */
    *by = (*by + drift * (double)(t - (hop + 1) * c->hop)) / (1 + drift);
  }
  return fabs(*by) <= c->reach;
}

/* Present slots that may be looked at. */
static bool there(const weir_op_run *run, const weir_gap_walk *w, int64_t t)
{
  return t >= w->access_lo && t < w->access_hi && *weir_gap_flag(&run->in[HERE], t) != 0;
}

/* The signal at a position between slots: a cubic through four samples, a line where only the two
 * around it are there, the sample itself where it is at one; false: none of these. */
static bool value_at(const weir_op_run *run, const weir_gap_walk *w, double position, float *y)
{
  const int64_t i = (int64_t)floor(position);
  const double f = position - (double)i;

  if (!there(run, w, i) || (f > 0 && !there(run, w, i + 1))) {
    return false;
  }
  const double b = (double)*weir_gap_value(&run->in[X], i);

  if (f <= 0) {
    *y = (float)b;
    return true;
  }
  const double c = (double)*weir_gap_value(&run->in[X], i + 1);

  if (!there(run, w, i - 1) || !there(run, w, i + 2)) {
    *y = (float)(b + f * (c - b));
    return true;
  }
  const double a = (double)*weir_gap_value(&run->in[X], i - 1);
  const double d = (double)*weir_gap_value(&run->in[X], i + 2);

  *y = (float)(-f * (f - 1) * (f - 2) / 6 * a + (f + 1) * (f - 1) * (f - 2) / 2 * b -
               (f + 1) * f * (f - 2) / 2 * c + (f + 1) * f * (f - 1) / 6 * d);
  return true;
}

static weir_status move_samples(void *memory, const weir_op_run *run)
{
  const context *c = memory;
  const weir_gap_walk w = weir_gap_start(run, HERE);

  for (int64_t t = run->box.lo[0]; t < run->box.hi[0]; t++) {
    double by = 0, before = 0;
    float y = 0;
    const bool known = offset_at(c, run, t, &by);
    const bool stepped = known && offset_at(c, run, t - 1, &before) && fabs(by - before) > STEP;
    const bool found = known && !stepped && value_at(run, &w, (double)t - by, &y);

    *weir_gap_value(&run->out[0], t) = found ? y : 0;
    *weir_gap_flag(&run->out[1], t) = found;
  }
  return WEIR_OK;
}

static weir_status make_context(const weir_series_use *use, const weir_series *x, context **out)
{
  const options_ *o = use->opts;
  const weir_series *offset = &use->in[1];
  const __int128 up = (__int128)x->rate_num * offset->rate_den;
  const __int128 down = (__int128)x->rate_den * offset->rate_num;
  void *memory = NULL;

  if (up % down != 0 || up / down > WEIR_GAP_MAX) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "align: the period of %s is no whole number of slots of %s, or too many",
                     use->in_name[1], use->in_name[0]);
  }
  if (use->n_in > 2 && ((__int128)use->in[2].rate_num * offset->rate_den !=
                        (__int128)use->in[2].rate_den * offset->rate_num)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "align: %s and %s have different rates; give both of one clock",
                     use->in_name[1], use->in_name[2]);
  }
  WEIR_TRY(weir_series_keep(use, sizeof **out, NULL, &memory));
  context *c = memory;

  c->rate = (double)x->rate_num / (double)x->rate_den;
  c->reach = o->reach * c->rate;
  c->hop = (int64_t)(up / down);
  c->drifting = use->n_in > 2;
  if (c->reach > (double)WEIR_GAP_MAX) {
    return weir_fail(WEIR_ERR_CONFIG, "align: a reach of %g s is over %d samples", o->reach,
                     WEIR_GAP_MAX);
  }
  *out = c;
  return WEIR_OK;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const weir_series x = ps_events_finite(use->graph, use->in[0]);
  const weir_series offset = ps_events_finite(use->graph, use->in[1]);
  const weir_series drift = use->n_in > 2 ? ps_events_finite(use->graph, use->in[2]) : offset;
  const weir_value in[INPUTS] = {x.value,        x.present,   offset.value,
                                 offset.present, drift.value, drift.present};
  weir_call_spec spec = weir_gap_call("align", move_samples);
  context *c = NULL;

  WEIR_TRY(ps_events_need_unit(use, 1, "s"));
  if (use->n_in > 2) {
    WEIR_TRY(ps_events_need_unit(use, 2, "ppm"));
  }
  WEIR_TRY(make_context(use, &x, &c));
  const int64_t reach = (int64_t)ceil(c->reach);

  spec.context = c;
  spec.flops = 30;
  for (int k = X; k <= HERE; k++) {
    spec.behind[k] = reach + 2;
    spec.ahead[k] = reach + 3;
  }
  for (int k = OFFSET; k < INPUTS; k++) {
    spec.up[k] = 1;
    spec.down[k] = c->hop;
    spec.behind[k] = 1;
  }
  out->out[0] = weir_gap_made(use->graph, &spec, x, in, INPUTS);
  out->n = 1;
  WEIR_TRY(weir_graph_status(use->graph));
  return WEIR_OK;
}

const weir_series_op ps_step_align = {
    .name = "align",
    .cite = "Farrow, ISCAS 1988, 2641",
    .help =
        "a device's signal on the reference's clock: of it, and of the offset (s) and, where it "
        "is given, the drift (ppm) of the step clock; steps of the offset open a gap",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 2,
    .max_in = 3,
    .build = build,
};
