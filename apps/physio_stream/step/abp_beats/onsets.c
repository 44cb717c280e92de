/* onsets.c - see onsets.h. Numbers are those of the paper at 125 Hz, as times. */
#include "step/abp_beats/onsets.h"
#include <math.h>
#include <string.h>

/* Slots a second of the paper. */
#define RATE 125.0
/* Longest of all lengths, slots. */
#define MAX_SLOTS (1 << 24)

const weir_opt ps_onset_options[] = {
    WEIR_OPT_REAL(ps_onset_opts, window, 0.13, 0.02, 1, "s",
                  "length of the slope sum: an upstroke (Zong et al. 2003: 128 ms)"),
    WEIR_OPT_REAL(ps_onset_opts, learn, 8, 1, 60, "s",
                  "signal from which the first threshold is taken (wabp of WFDB: 8 s)"),
    WEIR_OPT_REAL(ps_onset_opts, eye_closing, 0.25, 0.05, 1, "s",
                  "no two pulses closer (wabp of WFDB: 0.25 s)", .alias = "eye"),
    WEIR_OPT_REAL(ps_onset_opts, rise, 0.8, 0, 100, "mmHg",
                  "a pulse is where the slope sum rises by more (wabp of WFDB: 10 recorder steps, "
                  "of which there are 13 to 20 in a mmHg)"),
    WEIR_OPT_REAL(
        ps_onset_opts, steep, 20, 0, 10000, "mmHg/s",
        "speed of the slope sum above which the upstroke has begun, in addition to a hundredth "
        "of its height in 8 ms (wabp of WFDB: 2 steps a sample at 125 Hz)"),
    WEIR_OPT_REAL(ps_onset_opts, quiet, 2.5, 0.5, 60, "s",
                  "without a pulse for longer, the threshold sinks (wabp of WFDB: 2.5 s)"),
    WEIR_OPT_REAL(ps_onset_opts, sink, 10, 0, 10000, "mmHg/s",
                  "three times the speed at which it does (wabp of WFDB: a step a sample)"),
    WEIR_OPT_REAL(ps_onset_opts, floor, 5, 0, 100, "mmHg",
                  "three times the lowest threshold (wabp of WFDB: 5)"),
    WEIR_OPT_REAL(ps_onset_opts, relearn_gap, 30, 1, 3600, "s",
                  "a longer gap makes it learn anew (as the beat detector of the ECG)"),
    WEIR_OPT_END,
};

static int64_t slots(double seconds, double rate)
{
  return (int64_t)fmax(1.0, floor(fmin(seconds * rate, 2.0 * MAX_SLOTS) + 0.5));
}

weir_status ps_onset_design(const ps_onset_opts *o, double rate, int64_t memory,
                            ps_onset_params *out)
{
  ps_onset_params p = {.rise = o->rise, .floor = o->floor, .sink = o->sink / rate};

  if (!(rate >= 20.0 && rate <= 1e5)) {
    return weir_fail(WEIR_ERR_CONFIG, "pulses: %g samples a second; 20 to 1e5 are possible", rate);
  }
  p.window = slots(o->window, rate);
  p.learn = slots(o->learn, rate);
  p.eye = slots(o->eye_closing, rate);
  p.half_eye = slots(o->eye_closing / 2, rate);
  p.quiet = slots(o->quiet, rate);
  p.step = slots(1.0 / RATE, rate);
  p.steep = o->steep * (double)p.step / rate;
  p.share = 0.01 * (double)p.step * RATE / rate;
  p.relearn_gap = slots(o->relearn_gap, rate);
  p.delay = p.learn + p.half_eye + 1;
  if (memory > MAX_SLOTS || p.learn > MAX_SLOTS) {
    return weir_fail(WEIR_ERR_CONFIG, "pulses: %g s of learning at %g Hz are too many samples",
                     o->learn, rate);
  }
  p.ring = 64;
  while (p.ring < p.delay + memory + p.eye + p.step + 4) {
    p.ring *= 2;
  }
  *out = p;
  return WEIR_OK;
}

size_t ps_onset_bytes(const ps_onset_params *p)
{
  return sizeof(ps_onset_state) + 2 * (size_t)p->ring * sizeof(float);
}

/* Pressures, then slope sums: negative where absent. */
static float *rings(const ps_onset_state *s)
{
  return (float *)(void *)((char *)(uintptr_t)s + sizeof *s);
}

static float slope_at(const ps_onset_params *p, const ps_onset_state *s, int64_t t)
{
  return t < 0 ? -1.0f : rings(s)[p->ring + (t & (p->ring - 1))];
}

void ps_onset_start(ps_onset_state *s)
{
  *s = (ps_onset_state){.origin = -1, .learning = 1};
}

int ps_onset_present(const ps_onset_params *p, const ps_onset_state *s, int64_t t)
{
  return slope_at(p, s, t) >= 0.0f;
}

float ps_onset_value(const ps_onset_params *p, const ps_onset_state *s, int64_t t)
{
  return rings(s)[t & (p->ring - 1)];
}

void ps_onset_feed(const ps_onset_params *p, ps_onset_state *s, float pressure, float slope_sum,
                   int present)
{
  const int64_t at = s->next & (p->ring - 1);

  if (present && s->absent > p->relearn_gap && !s->learning) {
    s->learning = 1;
    s->origin = -1;
  }
  if (present && s->origin < 0) {
    s->origin = s->scan = s->next;
  }
  rings(s)[at] = present ? pressure : 0.0f;
  rings(s)[p->ring + at] = present ? fmaxf(slope_sum, 0.0f) : -1.0f;
  s->absent = present ? 0 : s->absent + 1;
  s->next++;
}

void ps_onset_skip(const ps_onset_params *p, ps_onset_state *s, int64_t t)
{
  WEIR_ASSERT(s->absent >= p->ring || s->next == 0);
  s->absent += t - s->next;
  s->next = s->scan = t;
  for (int64_t i = 0; i < p->ring; i++) {
    rings(s)[p->ring + i] = -1.0f;
  }
}

/* Largest slope sum in the half eye after t, smallest in that before, among what there is. */
static void extremes(const ps_onset_params *p, const ps_onset_state *s, int64_t t, double *max,
                     double *min)
{
  *max = *min = (double)slope_at(p, s, t);
  for (int64_t k = 1; k <= p->half_eye; k++) {
    const double after = t + k < s->next ? (double)slope_at(p, s, t + k) : -1.0;
    const double before = (double)slope_at(p, s, t - k);

    *max = after > *max ? after : *max;
    *min = before >= 0.0 && before < *min ? before : *min;
  }
}

/* Going back from t, the last slot before which the slope sum rises slowly. */
static int64_t foot(const ps_onset_params *p, const ps_onset_state *s, int64_t t, double max)
{
  const double slow = max * p->share + p->steep;

  for (int64_t u = t; u > t - p->half_eye; u--) {
    const double before = (double)slope_at(p, s, u - p->step);

    if (before < 0.0 || (double)slope_at(p, s, u) - before < slow) {
      return u;
    }
  }
  return t - p->half_eye + 1 > 0 ? t - p->half_eye + 1 : 0;
}

/* Tests slots up to `to` for a pulse; s->scan is then after it. */
static int test_slots(const ps_onset_params *p, ps_onset_state *s, int64_t to, int64_t *onset)
{
  for (; s->scan < to; s->scan++) {
    const double here = (double)slope_at(p, s, s->scan);
    double max, min;

    if (here < 0.0) {
      continue;
    }
    if (here > s->threshold) {
      extremes(p, s, s->scan, &max, &min);
      if (max > min + p->rise) {
        *onset = foot(p, s, s->scan, max);
        s->amplitude += 0.1 * (max - s->amplitude);
        s->threshold = s->amplitude / 3.0;
        s->quiet = 0;
        s->scan += p->eye;
        return 1;
      }
    } else if (++s->quiet > p->quiet && s->amplitude > p->floor) {
      s->amplitude -= p->sink;
      s->threshold = s->amplitude / 3.0;
    }
  }
  return 0;
}

/* First threshold from the mean slope sum; pulses above twice the mean set the amplitude. */
static void learn(const ps_onset_params *p, ps_onset_state *s, int64_t to)
{
  double sum = 0.0;
  int64_t n = 0, onset = 0;

  for (int64_t t = s->origin; t < to; t++) {
    if (slope_at(p, s, t) >= 0.0f) {
      sum += (double)slope_at(p, s, t);
      n++;
    }
  }
  const double mean = n > 0 ? sum / (double)n : 0.0;

  s->amplitude = fmax(3.0 * mean, p->floor);
  do {
    s->threshold = 2.0 * mean;
    s->quiet = 0;
  } while (test_slots(p, s, to, &onset));
  s->scan = s->origin;
  s->threshold = fmax(mean, p->floor / 3.0);
  s->quiet = 0;
  s->learning = 0;
}

int ps_onset_find(const ps_onset_params *p, ps_onset_state *s, int ended, int64_t *onset)
{
  const int64_t to = ended ? s->next : s->next - p->half_eye;

  if (s->origin < 0) {
    return 0;
  }
  if (s->learning) {
    const int64_t learnt = s->origin + p->learn;

    if (s->next < learnt + p->half_eye && !ended) {
      return 0;
    }
    learn(p, s, learnt < to ? learnt : to);
  }
  return test_slots(p, s, to, onset);
}
