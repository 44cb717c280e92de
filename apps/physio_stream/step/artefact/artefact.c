/* artefact.c - what is known against each sample of a signal, as bits (stream/weir_flags.h). A
 * composition: windows begin anew after a gap. */
#include <math.h>
#include <string.h>
#include "model/events.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/shift/weir_shift.h"
#include "ops/window/weir_window.h"
#include "stream/op/moving_sum/weir_stream_moving_sum.h"
#include "stream/op/sos/weir_stream_sos.h"
#include "stream/weir_flags.h"
#include "stream/weir_gap.h"

typedef struct options {
  double missing, low, high;
  int64_t run;
  double flat, flat_time, flat_share, lead_off;
  double spike, spike_time, wander, mains, mains_hz;
  double flush_high, flush_low, flush_time;
} options_;

#define BY_UNIT "unit of the stream"

static const weir_opt options[] = {
    WEIR_OPT_REAL(options_, missing, 10, 0, 3600, "s",
                  "missing samples are flagged for so long; then there are no flags, either"),
    WEIR_OPT_REAL(options_, low, 0, -1e9, 1e9, BY_UNIT,
                  "end of the converter's range (low = high: not known, nothing is saturated)"),
    WEIR_OPT_REAL(options_, high, 0, -1e9, 1e9, BY_UNIT, "its other end"),
    WEIR_OPT_INT(options_, run, 5, 1, 1000, "1", "saturated: so many samples there in a row"),
    WEIR_OPT_REAL(options_, flat, 0, 0, 1e9, BY_UNIT,
                  "flat: changes within 4 ms are smaller; 0: 0.01 mV, 0.2 mmHg, else none"),
    WEIR_OPT_REAL(options_, flat_time, 2, 0.05, 600, "s", "over so long"),
    WEIR_OPT_REAL(options_, flat_share, 0.8, 0, 0.999, "1", "for more than this share of it"),
    WEIR_OPT_REAL(options_, lead_off, 4, 0.05, 600, "s",
                  "lead off (mV): flat or saturated for so long"),
    WEIR_OPT_REAL(options_, spike, 0, 0, 1e9, BY_UNIT,
                  "spike: above both neighbours, or below; 0: 1 mV, 30 mmHg, else none"),
    WEIR_OPT_REAL(options_, spike_time, 0.008, 0, 1, "s", "which are so far away"),
    WEIR_OPT_REAL(options_, wander, 0, 0, 1e9, BY_UNIT,
                  "wander: the mean of 1 s differs from that of 10 s; 0: 0.5 mV, else none"),
    WEIR_OPT_REAL(options_, mains, 0, 0, 1e9, BY_UNIT,
                  "mains: amplitude over 1 s; 0: 0.1 mV, else none"),
    WEIR_OPT_REAL(options_, mains_hz, 50, 1, 1000, "Hz", "at this frequency"),
    WEIR_OPT_REAL(options_, flush_high, 220, -1e9, 1e9, "mmHg", "flush (mmHg): above it"),
    WEIR_OPT_REAL(options_, flush_low, 10, -1e9, 1e9, "mmHg", "or, while zeroing, below"),
    WEIR_OPT_REAL(options_, flush_time, 0.5, 0, 60, "s", "for so long"),
    WEIR_OPT_END,
};

#define FLAT_STEP 0.004 /* s over which a change is taken, whatever the rate */
#define NOTCH_Q 30
enum { SHORT = 1, LONG = 10 }; /* s, of wander */

/* What is composed: the signal, and where each bit holds. */
typedef struct builder {
  weir_graph *g;
  const options_ *o;
  weir_series x; /* aged */
  double rate;
  double millivolt, mmhg; /* in the stream's unit; 0: it is no voltage, no pressure */
  weir_value bit[16];
} builder;

static int bit_of(weir_flag flag)
{
  int k = 0;

  while (1 << k != (int)flag) {
    k++;
  }
  return k;
}

static void put(builder *p, weir_flag flag, weir_value where)
{
  p->bit[bit_of(flag)] = where;
}

/* Seconds in slots, at least `min_slots`. */
static int64_t slots(const builder *p, double seconds, int64_t min_slots)
{
  const int64_t n = (int64_t)floor(fmin(seconds * p->rate, 1e15) + 0.5);

  return n > min_slots ? n : min_slots;
}

static double threshold(const builder *p, double given, double voltage, double pressure)
{
  return given > 0 ? given : p->millivolt > 0 ? voltage * p->millivolt : pressure * p->mmhg;
}

/* Slots of [t, t + n) in which `here` holds: any. */
static weir_value soon(builder *p, weir_value here, int64_t n)
{
  const weir_window_spec spec = {.combine = WEIR_COMBINE_MAX, .size = n};
  const weir_value wide = weir_window(p->g, &spec, weir_cast(p->g, WEIR_F32, here));

  return weir_gt_scalar(p->g, wide, 0.5);
}

/* Slots in a row of n and more in which `here` holds. */
static weir_value runs(builder *p, weir_value here, int64_t n)
{
  weir_series s = p->x;

  s.present = here;
  s.age = WEIR_NO_VALUE;
  return soon(p, weir_ge_scalar(p->g, weir_series_aged(p->g, s).age, (double)n), n);
}

static weir_value inside(builder *p, weir_value where)
{
  return weir_and(p->g, p->x.present, where);
}

static void saturated(builder *p)
{
  const weir_value x = p->x.value;

  if (p->o->low < p->o->high) {
    const weir_value end = weir_or(p->g, weir_le_scalar(p->g, x, (double)(float)p->o->low),
                                   weir_ge_scalar(p->g, x, (double)(float)p->o->high));

    put(p, WEIR_FLAG_SATURATED, runs(p, inside(p, end), p->o->run));
  }
}

static void flat(builder *p)
{
  const double limit = threshold(p, p->o->flat, 0.01, 0.2);
  const int64_t step = slots(p, FLAT_STEP, 1), window = slots(p, p->o->flat_time, 2);
  weir_graph *g = p->g;
  weir_series still = p->x;

  if (limit == 0) {
    return;
  }
  const weir_value change = weir_abs(g, weir_sub(g, p->x.value, weir_series_past(g, p->x, step)));
  const weir_value known = weir_gt_scalar(g, p->x.age, (double)step);

  still.value = weir_cast(g, WEIR_F32, weir_and(g, known, weir_lt_scalar(g, change, limit)));
  const weir_value count = weir_stream_moving_sum(g, still, window).value;
  const weir_value all = weir_and(g, weir_gt_scalar(g, count, p->o->flat_share * (double)window),
                                  weir_ge_scalar(g, p->x.age, (double)window));

  put(p, WEIR_FLAG_FLAT, soon(p, all, window));
}

static void lead_off(builder *p)
{
  const weir_value flat = p->bit[bit_of(WEIR_FLAG_FLAT)];
  const weir_value rail = p->bit[bit_of(WEIR_FLAG_SATURATED)];
  const weir_value dead = flat.node < 0 ? rail : rail.node < 0 ? flat : weir_or(p->g, flat, rail);

  if (p->millivolt > 0 && dead.node >= 0) {
    put(p, WEIR_FLAG_LEAD_OFF, runs(p, dead, slots(p, p->o->lead_off, 1)));
  }
}

static void spike(builder *p)
{
  const double limit = threshold(p, p->o->spike, 1, 30);
  const int64_t by = slots(p, p->o->spike_time, 1);
  const weir_value x = p->x.value;
  weir_graph *g = p->g;

  if (limit == 0) {
    return;
  }
  const weir_value left = weir_sub(g, x, weir_shift(g, x, 0, by));
  const weir_value right = weir_sub(g, x, weir_shift(g, x, 0, -by));
  const weir_value known =
      weir_gt_scalar(g, weir_shift(g, p->x.age, 0, -by), (double)(2 * by)); /* both are there */
  const weir_value tall = weir_or(g, weir_gt_scalar(g, weir_min(g, left, right), limit),
                                  weir_lt_scalar(g, weir_max(g, left, right), -limit));

  put(p, WEIR_FLAG_SPIKE, weir_and(g, known, tall));
}

/* Mean over the last `seconds`, or since the last gap. */
static weir_value mean(builder *p, weir_series s, double seconds)
{
  const int64_t n = slots(p, seconds, 1);
  const weir_value count =
      weir_min_scalar(p->g, weir_cast(p->g, WEIR_F32, weir_max_scalar(p->g, s.age, 1)), (double)n);

  return weir_div(p->g, weir_stream_moving_sum(p->g, s, n).value, count);
}

static void wander(builder *p)
{
  const double limit = threshold(p, p->o->wander, 0.5, 0);

  if (limit > 0) {
    const weir_value apart = weir_sub(p->g, mean(p, p->x, SHORT), mean(p, p->x, LONG));

    put(p, WEIR_FLAG_WANDER, inside(p, weir_gt_scalar(p->g, weir_abs(p->g, apart), limit)));
  }
}

/* What a notch takes away has the amplitude sqrt(2) times its root mean square. */
static weir_status mains(builder *p)
{
  const double limit = threshold(p, p->o->mains, 0.1, 0);
  weir_series hum = p->x;
  weir_sos notch;

  if (limit == 0 || p->o->mains_hz >= 0.45 * p->rate) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_design_notch(p->o->mains_hz, NOTCH_Q, p->rate, &notch));
  hum.value = weir_sub(p->g, p->x.value, weir_stream_sos(p->g, p->x, &notch, 1, 0).value);
  hum.value = weir_square(p->g, hum.value);
  put(p, WEIR_FLAG_MAINS, inside(p, weir_gt_scalar(p->g, mean(p, hum, 1), limit * limit / 2)));
  return WEIR_OK;
}

static void flush(builder *p)
{
  const weir_value x = p->x.value;
  const int64_t n = slots(p, p->o->flush_time, 1);

  if (p->mmhg > 0) {
    const weir_value above = inside(p, weir_gt_scalar(p->g, x, p->o->flush_high * p->mmhg));
    const weir_value below = inside(p, weir_lt_scalar(p->g, x, p->o->flush_low * p->mmhg));

    put(p, WEIR_FLAG_FLUSH, weir_or(p->g, runs(p, above, n), runs(p, below, n)));
  }
}

/* Where bit k of a stream of flags is set. */
static weir_value set_in(weir_graph *g, weir_series flags, int k)
{
  const weir_value high = weir_floor(g, weir_scale(g, flags.value, 1.0 / (double)(1 << k)));
  const weir_value pairs = weir_floor(g, weir_scale(g, high, 0.5));

  return weir_and(g, flags.present,
                  weir_gt_scalar(g, weir_sub(g, high, weir_scale(g, pairs, 2)), 0.5));
}

/* The sum of the bits, together with those of `flags` (NULL: none). */
static weir_value sum_of(builder *p, const weir_series *flags)
{
#define X(name, bit, text) bit,
  static const int all[] = {WEIR_FLAG_LIST(X)};
#undef X
  weir_graph *g = p->g;
  weir_value sum = weir_scale(g, p->x.value, 0);

  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    weir_value where = p->bit[all[i]];

    if (flags != NULL) {
      const weir_value given = set_in(g, *flags, all[i]);

      where = where.node < 0 ? given : weir_or(g, where, given);
    }
    if (where.node >= 0) {
      sum = weir_add(g, sum, weir_scale(g, weir_cast(g, WEIR_F32, where), (double)(1 << all[i])));
    }
  }
  return sum;
}

static weir_status same_clock(const weir_series_use *use)
{
  for (int k = 1; k < use->n_in; k++) {
    if (use->in[k].rate_num != use->in[0].rate_num || use->in[k].rate_den != use->in[0].rate_den) {
      return weir_fail(WEIR_ERR_CONFIG, "artefact: %s is on another clock than %s; bring it there",
                       use->in_name[k], use->in_name[0]);
    }
  }
  return WEIR_OK;
}

static weir_status compose(builder *p)
{
  saturated(p);
  flat(p);
  lead_off(p);
  spike(p);
  wander(p);
  WEIR_TRY(mains(p));
  flush(p);
  return WEIR_OK;
}

/* One `unit` in the unit of the stream, 0 where that is of another quantity. */
static double in_unit(const weir_series *s, const char *unit)
{
  double factor = 1;

  return weir_unit_factor(unit, s->unit, &factor) ? factor : 0;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const options_ *o = use->opts;
  weir_graph *g = use->graph;
  const weir_series raw = ps_events_finite(g, use->in[0]);
  const weir_series x = use->n_in > 1 ? ps_events_finite(g, use->in[1]) : raw;
  const weir_series *flags = use->n_in > 2 ? &use->in[2] : NULL;
  weir_series y = raw;
  int64_t missing = 0;

  WEIR_TRY(same_clock(use));
  if (flags != NULL) {
    WEIR_TRY(ps_events_need_unit(use, 2, WEIR_FLAG_UNIT));
  }
  WEIR_TRY(weir_gap_slots(&raw, "artefact.missing", o->missing, &missing));
  builder p = {.g = g,
               .o = o,
               .x = weir_series_aged(g, x),
               .rate = (double)x.rate_num / (double)x.rate_den,
               .millivolt = in_unit(&use->in[0], "mV"),
               .mmhg = in_unit(&use->in[0], "mmHg")};

  for (size_t k = 0; k < sizeof p.bit / sizeof *p.bit; k++) {
    p.bit[k] = WEIR_NO_VALUE;
  }
  WEIR_TRY(compose(&p));
  y.present = weir_or(g, weir_gap_hold(g, raw, missing + 1).present, x.present);
  y.present = flags != NULL ? weir_or(g, y.present, flags->present) : y.present;
  put(&p, WEIR_FLAG_MISSING, weir_not(g, weir_or(g, raw.present, x.present)));
  if (use->n_in > 1) {
    put(&p, WEIR_FLAG_FILLED, weir_and(g, x.present, weir_not(g, raw.present)));
  }
  y.value = sum_of(&p, flags);
  y.age = WEIR_NO_VALUE;
  weir_series_set_unit(&y, WEIR_FLAG_UNIT);
  *out = (weir_series_result){.out = {weir_series_mask(g, y)}, .name = {"flags"}, .n = 1};
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

const weir_series_op ps_step_artefact = {
    .name = "artefact",
    .cite = "",
    .help = "flags of each sample, a sum of bits (docs/science/physio_stream.md), of a signal, the "
            "same with its gaps filled, and flags that other steps gave (filter.flags)",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 1,
    .max_in = 3,
    .build = build,
};
