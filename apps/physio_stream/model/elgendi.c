/* elgendi.c - see elgendi.h. */
#include "model/elgendi.h"
#include <math.h>
#include "model/front.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/moving_sum/weir_stream_moving_sum.h"
#include "stream/op/sos/weir_stream_sos.h"
#include "stream/weir_gap.h"

/* Standard deviation of the R wave whose filter delay is taken out, s (as detect.front.qrs). */
#define R_WIDTH 0.01

#define ELGENDI(value, unit) " (Elgendi: " #value unit ")"
/* Options with the defaults of a paper: band in Hz, averages in ms, offset in percent. */
#define OPTIONS(lo_, min_lo_, hi_, order_, order_note_, width_, peak_, beat_, offset_, closest_)  \
  WEIR_OPT_REAL(ps_elgendi_opts, lo, lo_, min_lo_, 1000, "Hz",                                    \
                "lower edge of the band" ELGENDI(lo_, "")),                                       \
      WEIR_OPT_REAL(ps_elgendi_opts, hi, hi_, 0.2, 4000, "Hz",                                    \
                    "upper edge of the band" ELGENDI(hi_, "")),                                   \
      WEIR_OPT_INT(ps_elgendi_opts, order, order_, 1, 8, "1",                                     \
                   "order of the Butterworth band-pass" order_note_),                             \
      WEIR_OPT_REAL(ps_elgendi_opts, peak, peak_ / 1000.0, 0.01, 1, "s",                          \
                    "short average: width of a " width_ ELGENDI(peak_, " ms")),                   \
      WEIR_OPT_REAL(ps_elgendi_opts, beat, beat_ / 1000.0, 0.02, 4, "s",                          \
                    "long average: a beat" ELGENDI(beat_, " ms")),                                \
      WEIR_OPT_REAL(                                                                              \
          ps_elgendi_opts, offset, offset_ / 100.0, 0, 10, "1",                                   \
          "share of the mean energy by which the short average must exceed the long one" ELGENDI( \
              offset_, " %")),                                                                    \
      WEIR_OPT_REAL(ps_elgendi_opts, memory, 10, 1, 600, "s",                                     \
                    "time constant of the mean energy (Elgendi: the whole record)"),              \
      WEIR_OPT_REAL(ps_elgendi_opts, refractory, 0.3, 0.05, 2, "s",                               \
                    "no two beats closer" closest_),                                              \
      WEIR_OPT_END

const weir_opt ps_elgendi_ecg_options[] = {
    OPTIONS(8, 0.1, 20, 1, "", "QRS complex", 97, 611, 8, " (Elgendi: 300 ms)")};
const weir_opt ps_elgendi_ppg_options[] = {
    OPTIONS(0.5, 0.05, 8, 2, " (Elgendi: 2)", "systolic peak", 111, 667, 2, ": 200 a minute")};

/* Everything in slots. */
typedef struct search {
  int64_t peak, beat;
  int64_t centre;    /* slots that the middle of the long average lies back */
  int64_t min_block; /* a shorter block is noise                            */
  int64_t refractory;
  double lag; /* slots that the filter delays a peak */
  int lobes;  /* of R waves: the peak is the top of a lobe of the filtered signal */
  double offset, memory, rate;
} search;

typedef struct state {
  double mean; /* of the energy */
  int64_t n;   /* slots in it, up to the memory */
  int64_t next;
  int64_t since; /* slot where the present stretch began, -1 in a gap */
  int64_t first; /* slot where the block began, -1 outside one */
  int64_t top_at;
  float top;
  /* of lobes: the one at hand, the one before it, and the largest sum of two neighbours */
  float wave, height, before, highest;
  int64_t height_at, before_at;
  int64_t last;   /* 1 + slot of the last peak, 0 for none */
  int64_t broken; /* a gap since it                        */
} state;

static int start(const void *params, void *memory)
{
  state *s = memory;

  (void)params;
  s->first = s->since = -1;
  return 1;
}

/* The two neighbouring lobes that have ended, or end with the block, are the largest so far: the
 * top is that of their first. The filter's response to an R wave has two lobes of opposite sign and
 * similar size, of which the first keeps its distance to the wave and the second is often higher.
 */
static void weigh_lobes(state *s)
{
  if (s->before + s->height > s->highest) {
    s->highest = s->before + s->height;
    s->top = s->before > 0.0f ? s->before : s->height;
    s->top_at = s->before > 0.0f ? s->before_at : s->height_at;
  }
}

/* The filtered signal in slot c of the block, whose first it may be. */
static void follow_lobes(state *s, int64_t c, float wave, int begins)
{
  if (begins) {
    s->height = s->before = 0.0f;
    s->height_at = s->before_at = c;
    s->highest = -1.0f;
  } else if ((wave < 0.0f) != (s->wave < 0.0f)) {
    weigh_lobes(s);
    s->before = s->height;
    s->before_at = s->height_at;
    s->height = 0.0f;
  }
  if (fabsf(wave) > s->height) {
    s->height = fabsf(wave);
    s->height_at = c;
  }
  s->wave = wave;
}

/* The block has ended before slot t, at a gap or not. */
static void close_block(const search *p, state *s, int64_t t, int gap, ps_events *found)
{
  if (s->first >= 0 && p->lobes) {
    weigh_lobes(s);
  }
  const int64_t at = (int64_t)floor((double)s->top_at - p->lag + 0.5);
  const int truncated = s->top_at == s->since || (gap && s->top_at == t - 1);

  if (s->first >= 0 && t - s->first >= p->min_block && !truncated && at >= s->since &&
      (s->last == 0 || at - (s->last - 1) >= p->refractory)) {
    const int64_t since = s->last > 0 && !s->broken ? at - (s->last - 1) : 0;
    const float values[PS_ELGENDI_VALUES] = {(float)((double)since / p->rate), s->top};

    ps_events_put(found, at, values);
    s->last = at + 1;
    s->broken = 0;
  }
  s->first = -1;
}

static void gap_at(const search *p, state *s, int64_t t, ps_events *found)
{
  close_block(p, s, t, 1, found);
  s->since = -1;
  s->broken = 1;
}

/* One slot whose averages are centred on slot c. */
static void step(const search *p, state *s, int64_t c, const float *const *x, int64_t i,
                 ps_events *found)
{
  const double brief = (double)x[0][i], usual = (double)x[1][i];

  if (x[3][i] == 0.0f) {
    gap_at(p, s, c, found);
    return;
  }
  s->since = s->since < 0 ? c : s->since;
  s->n += (double)s->n < p->memory;
  s->mean += (usual - s->mean) / (double)s->n;
  const int above = brief > usual + p->offset * s->mean;

  if (!above || (s->first >= 0 && c - s->first >= p->beat)) {
    close_block(p, s, c, 0, found);
  }
  if (above && p->lobes) {
    follow_lobes(s, c, x[2][i], s->first < 0);
  } else if (above && (s->first < 0 || x[2][i] > s->top)) {
    s->top = x[2][i];
    s->top_at = c;
  }
  s->first = above && s->first < 0 ? c : s->first;
}

static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  for (int64_t i = 0; i < n; i++) {
    if (!usable[i] || t + i != s->next) {
      gap_at(p, s, s->next - p->centre, found);
    }
    if (usable[i]) {
      step(p, s, t + i - p->centre, x, i, found);
      s->next = t + i + 1;
    }
  }
}

static void finish(const void *params, void *memory, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  gap_at(p, s, s->next - p->centre, found);
}

static weir_status design(const ps_elgendi_opts *o, bool pulse, double rate, ps_front *front,
                          search *p)
{
  const ps_front_opts opts = {.lo = o->lo,
                              .hi = o->hi,
                              .order = o->order,
                              .smooth = o->peak,
                              .step = o->peak,
                              .window = o->peak,
                              .qrs = R_WIDTH};

  WEIR_TRY(ps_front_design(&opts, rate, front));
  *p = (search){.peak = (int64_t)floor(o->peak * rate + 0.5),
                .beat = (int64_t)floor(o->beat * rate + 0.5),
                .refractory = (int64_t)fmax(1, floor(o->refractory * rate)),
                .lag = pulse ? 0 : front->filtered_delay,
                .lobes = !pulse,
                .offset = o->offset,
                .memory = o->memory * rate,
                .rate = rate};
  if (p->beat <= p->peak) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "averages: the long one, %g s, is no longer than the short one, %g s", o->beat,
                     o->peak);
  }
  p->centre = (p->beat - 1) / 2;
  p->min_block = p->peak;
  return WEIR_OK;
}

/* Mean of the last n values that are there; `here` is 1 where one is. */
static weir_series mean_of(weir_graph *g, weir_series sum, weir_series here, int64_t n)
{
  const weir_value count = weir_stream_moving_sum(g, here, n).value;

  sum = weir_stream_moving_sum(g, sum, n);
  sum.value = weir_div(g, sum.value, weir_max_scalar(g, count, 1));
  return sum;
}

weir_status ps_elgendi_add(const weir_series_use *use, const ps_elgendi_opts *opts, bool pulse,
                           weir_series x, weir_series *out)
{
  weir_graph *g = use->graph;
  void *memory = NULL;
  ps_front front;

  WEIR_TRY(weir_series_keep(use, sizeof(search), NULL, &memory));
  search *p = memory;

  WEIR_TRY(design(opts, pulse, (double)x.rate_num / (double)x.rate_den, &front, p));
  const weir_series filtered = weir_stream_sos(g, x, front.sos, front.sections, 0);
  weir_series energy = filtered;

  energy.value = pulse ? weir_max_scalar(g, filtered.value, 0) : filtered.value;
  energy.value = weir_square(g, energy.value);
  /* Into a gap by the slots that averages around the last samples before it take. */
  energy.present = weir_gap_hold(g, energy, p->centre + 1).present;
  energy.age = WEIR_NO_VALUE;
  energy = weir_series_aged(g, energy);
  weir_series here = energy, wave = energy;

  here.value = weir_cast(g, WEIR_F32, x.present);
  weir_series brief = mean_of(g, energy, here, p->peak);
  const weir_series usual = mean_of(g, energy, here, p->beat);

  wave.value = pulse ? x.value : filtered.value;
  brief.value = weir_series_past(g, brief, p->centre - (p->peak - 1) / 2);
  wave.value = weir_series_past(g, wave, p->centre);
  here.value = weir_series_past(g, here, p->centre);
  const weir_series in[4] = {brief, usual, wave, here};
  const ps_events_spec spec = {
      .name = "averages",
      .params = p,
      .state_bytes = sizeof(state),
      .ahead = p->centre + p->beat + (int64_t)ceil(p->lag) + 2,
      .apart = p->refractory,
      .n_values = PS_ELGENDI_VALUES,
      .start = start,
      .pass = pass,
      .finish = finish,
  };

  WEIR_TRY(ps_events_add(use, &spec, in, 4, out));
  return WEIR_OK;
}
