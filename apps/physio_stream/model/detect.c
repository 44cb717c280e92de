/* detect.c - the scan of the feature for candidates, and the detector's options and state. */
#include "model/detect.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include "model/detect_priv.h"

const weir_opt ps_detect_options[] = {
    WEIR_OPT_TABLE(ps_detect_opts, front, ps_front_options, "filters ahead of the decision"),
    WEIR_OPT_REAL(ps_detect_opts, refractory, 0.2, 0.05, 1, "s",
                  "no two beats closer (Pan and Tompkins 1985: 200 ms)"),
    WEIR_OPT_REAL(ps_detect_opts, learn, 8, 1, 60, "s",
                  "signal from which the first levels are taken; it is decided after that (wabp of "
                  "WFDB: 8 s)"),
    WEIR_OPT_REAL(
        ps_detect_opts, learn_least, 4, 0, 60, "s",
        "with less signal than this between two long gaps, earlier levels stay: four beats "
        "at 60 a minute"),
    WEIR_OPT_REAL(ps_detect_opts, relearn_gap, 30, 0.5, 3600, "s",
                  "a longer gap makes the detector learn anew: time to change an electrode"),
    WEIR_OPT_REAL(
        ps_detect_opts, lost, 8, 3, 60, "s",
        "without a beat for longer, levels are learnt anew (asystole alarms: 4 s; twice that)"),
    WEIR_OPT_REAL(ps_detect_opts, lost_floor, 0.15, 0, 1, "1",
                  "lowest signal level learnt then, of the old one; below it is silence (noise of "
                  "MIT-BIH 208 where its leads fail lies at 0.05)"),
    WEIR_OPT_REAL(
        ps_detect_opts, threshold, 0.15, 0.05, 0.95, "1",
        "a sure beat: share of the way from noise to signal level, as amplitude (Pan and "
        "Tompkins 1985: 0.25 of energy is 0.5; tuned on second leads of MIT-BIH 100, 119, "
        "208 and on ECGSYN with noise)"),
    WEIR_OPT_REAL(ps_detect_opts, early, 6, 0, 20, "1",
                  "added to that share right after a beat, times noise level over signal level: "
                  "noise is likelier than a beat there (beat expectation, Christov, BioMed. Eng. "
                  "OnLine 3 (2004) 28)"),
    WEIR_OPT_REAL(ps_detect_opts, early_max, 0.15, 0, 1, "1",
                  "noise level over signal level above which no more is added"),
    WEIR_OPT_REAL(ps_detect_opts, early_until, 0.8, 0.1, 2, "1",
                  "time after a beat, in usual intervals, until which that falls to 0"),
    WEIR_OPT_REAL(ps_detect_opts, template_penalty, 4.5, 0, 20, "1",
                  "added to the threshold of a candidate whose shape is not that of a beat, times "
                  "noise level over signal level and 1 - correlation"),
    WEIR_OPT_REAL(ps_detect_opts, template_penalty_max, 0.075, 0, 1, "1",
                  "noise level over signal level above which no more is added"),
    WEIR_OPT_REAL(ps_detect_opts, template_share, 0.5, 0, 1, "1",
                  "share of a candidate's amplitude that is its projection on the mean beat, where "
                  "that is smaller (matched filter, Xue, Hu and Tompkins 1992); 0: none"),
    WEIR_OPT_REAL(
        ps_detect_opts, template_height, 0.5, 0, 1, "1",
        "height, in mean heights of beats of its kind, below which the correlation of a "
        "candidate falls in proportion, not in search-back: noise resembles beats at some "
        "shift; 0: nowhere"),
    WEIR_OPT_REAL(ps_detect_opts, template_weight, 0.08, 0.001, 1, "1",
                  "weight of a new beat in the mean beat of its kind"),
    WEIR_OPT_REAL(ps_detect_opts, template_min_correlation, 0.7, 0, 1, "1",
                  "a beat whose correlation with every mean beat is lower begins another kind, up "
                  "to three: ectopic beats, and one that noise may take"),
    WEIR_OPT_REAL(ps_detect_opts, searchback_threshold, 0.01, 0.001, 0.9, "1",
                  "the same where the rhythm misses a beat (Pan and Tompkins 1985: half)",
                  .alias = "search"),
    WEIR_OPT_REAL(
        ps_detect_opts, searchback_penalty, 2, 0, 20, "1",
        "added to searchback_threshold for a candidate whose shape is not that of a beat, "
        "times noise level over signal level and 1 - correlation: less than for a sure "
        "beat where noise is low, since normal beats among much higher ectopic ones "
        "resemble no mean beat yet"),
    WEIR_OPT_REAL(ps_detect_opts, searchback_penalty_max, 0.13, 0, 1, "1",
                  "noise level over signal level above which no more is added to "
                  "searchback_threshold"),
    WEIR_OPT_REAL(ps_detect_opts, searchback_rr_factor, 1.55, 1.1, 4, "1",
                  "interval, in usual ones, that misses a beat (Pan and Tompkins 1985: 1.66): more "
                  "than most pauses after ectopic beats",
                  .alias = "missed"),
    WEIR_OPT_REAL(ps_detect_opts, wait, 3, 0.5, 60, "s",
                  "longest wait for the next sure beat before the search goes ahead"),
    WEIR_OPT_REAL(ps_detect_opts, decide, 30, 4, 3600, "s",
                  "time from a beat within which it is decided whatever comes, gaps included: the "
                  "delay of a query's beats (a gap after which levels are learnt anew: 30 s)"),
    WEIR_OPT_BOOL(ps_detect_opts, at_once, false,
                  "give each sure beat as soon as it is known, 0.5 to 1 s after it and not after "
                  "`decide`: beats that the rhythm misses are not searched, and none are given "
                  "while levels are learnt (`learn`, at the start, after a gap of `relearn_gap` "
                  "and where beats were lost)"),
    WEIR_OPT_REAL(
        ps_detect_opts, away, 0.45, 0, 0.9, "1",
        "minimum distance of a beat found by search-back from its neighbours, as a share of "
        "the usual interval (tuned on MIT-BIH 119, 208)"),
    WEIR_OPT_REAL(
        ps_detect_opts, around, 0.1, 0.01, 0.2, "s",
        "on either side of a candidate, where the R wave lies: a wide QRS complex is 0.2 s"),
    WEIR_OPT_REAL(ps_detect_opts, t_wave, 0.36, 0, 1, "s",
                  "time after a beat in which T waves lie (Pan and Tompkins 1985: 360 ms)"),
    WEIR_OPT_REAL(ps_detect_opts, t_wave_ratio, 0.5, 0, 1, "1",
                  "smaller than this share of the beat before, there: a T wave (Pan and Tompkins "
                  "1985: half the slope)"),
    WEIR_OPT_REAL(
        ps_detect_opts, sharp_ratio, 0.62, 0, 1, "1",
        "less sharp than this share of the beat before, there: a T wave too, however tall "
        "(tuned on v102s of the PhysioNet challenge 2015)"),
    WEIR_OPT_REAL(
        ps_detect_opts, t_wave_smooth, 2, 0, 20, "1",
        "sharpness of a candidate, in root mean squares of the second difference under it, below "
        "which a sharper candidate in the time of `t_wave` before it is the beat, however small, "
        "and it the T wave, and below which it is no sure beat if it is lower than "
        "`template_height` of beats of its kind: 0.8 to 2 for a sine of 5 to 15 Hz, more for "
        "muscle noise; 0: never"),
    WEIR_OPT_REAL(
        ps_detect_opts, hidden_dip, 0.5, 0, 1, "1",
        "a wave that only the flank of such a T wave is higher than within `refractory` is a "
        "candidate if the feature falls below this share of it in between, as amplitude; 0: never"),
    WEIR_OPT_REAL(
        ps_detect_opts, sharp_step, 0.012, 0.001, 0.1, "s",
        "sharpness is the largest second difference of the filtered signal over this step, "
        "which is most sensitive at 42 Hz, far above T waves"),
    WEIR_OPT_REAL(ps_detect_opts, noise_ratio, 2.5, 0, 20, "1",
                  "noise level, in lowest values between candidates: of white noise alone "
                  "candidates are 3 times as high as the lowest value between them"),
    WEIR_OPT_REAL(ps_detect_opts, noise_weight, 0.125, 0, 1, "1",
                  "weight of a new value in the noise level (Pan and Tompkins 1985: 1/8)"),
    WEIR_OPT_REAL(ps_detect_opts, noise_max, 0.38, 0, 1, "1",
                  "highest noise level that thresholds begin from, as a share of the signal level: "
                  "above it thresholds lose more beats than false ones"),
    WEIR_OPT_REAL(
        ps_detect_opts, level_rank, 0.25, 0, 1, "1",
        "quantile of the last 8 amplitudes that is the signal level; below the median, so "
        "that large ectopic beats do not hide normal ones"),
    WEIR_OPT_REAL(ps_detect_opts, learn_rank, 0.7, 0, 1, "1",
                  "quantile of the largest candidates of each second that beats are near while "
                  "learning (tuned on ECGSYN with 90 % gaps)"),
    WEIR_OPT_REAL(
        ps_detect_opts, interval_rank, 0.75, 0, 1, "1",
        "quantile of the last 8 intervals that is the usual one; above the median, so that "
        "the pause of a bigeminy is usual"),
    WEIR_OPT_REAL(ps_detect_opts, floor, 1e-4, 0, 100, "mV",
                  "lowest signal level, root of the feature: below one step of any recorder"),
    WEIR_OPT_REAL(
        ps_detect_opts, refine, 0.006, 0, 0.05, "s",
        "on either side of the top of an R wave: the stretch of the filtered signal that "
        "a parabola is fitted to, whose top is the time of the beat between samples (tuned "
        "on ECGSYN at 12 dB); 0: beats lie on samples"),
    WEIR_OPT_END,
};

/* Values looked at together, a power of two: a block without a new maximum costs no more than its
 * extremes. */
#define BLOCK 32

typedef struct layout {
  size_t pending, ring, total;
} layout;

static size_t round_up(size_t n)
{
  return (n + 63) / 64 * 64;
}

static layout layout_of(int64_t pending_capacity, int64_t ring)
{
  layout l = {.pending = round_up(sizeof(ps_detector))};

  l.ring = l.pending + round_up((size_t)pending_capacity * sizeof(ps_candidate));
  l.total = l.ring + round_up(2 * (size_t)ring * sizeof(float));
  return l;
}

ps_candidate *ps_detect_pending(const ps_detector *d)
{
  return (ps_candidate *)(void *)((char *)(uintptr_t)d +
                                  layout_of(d->pending_capacity, d->ring).pending);
}

static float *ring_of(const ps_detector *d)
{
  return (float *)(void *)((char *)(uintptr_t)d + layout_of(d->pending_capacity, d->ring).ring);
}

const float *ps_detect_filtered(const ps_detector *d, int64_t t)
{
  return ring_of(d) + (t & (d->ring - 1));
}

/* Keeps filtered[n], n <= ring, of slots from t on: in both halves of the ring, so that any `ring`
 * values lie side by side. */
static void keep_filtered(ps_detector *d, const float *filtered, int64_t t, int64_t n)
{
  float *ring = ring_of(d);
  const int64_t offset = t & (d->ring - 1), to_end = d->ring - offset;
  const int64_t head = n < to_end ? n : to_end;

  memcpy(ring + offset, filtered, (size_t)head * sizeof *ring);
  memcpy(ring + d->ring + offset, filtered, (size_t)head * sizeof *ring);
  if (head < n) {
    memcpy(ring, filtered + head, (size_t)(n - head) * sizeof *ring);
    memcpy(ring + d->ring, filtered + head, (size_t)(n - head) * sizeof *ring);
  }
}

/* Highest sampling rate: a second is then 10^5 samples and every length below 2^24. */
#define MAX_RATE 1e5

/* Everything of the state but the arrays' contents. */
static weir_status make_header(const ps_detect_opts *opts, double rate, ps_detector *d)
{
  ps_front front;

  if (!(rate > 0.0 && rate <= MAX_RATE)) {
    return weir_fail(WEIR_ERR_CONFIG, "detector: sampling rate %g Hz is not in (0, %g]", rate,
                     MAX_RATE);
  }
  WEIR_TRY(ps_front_design(&opts->front, rate, &front));
  *d = (ps_detector){.opts = *opts, .rate = rate, .next = -1, .learning = 1, .emitted = -1};
  d->refractory = (int64_t)fmax(1.0, floor(opts->refractory * rate));
  d->t_wave = (int64_t)floor(opts->t_wave * rate);
  d->sharp_step = (int64_t)fmax(1.0, floor(opts->sharp_step * rate + 0.5));
  d->learn = (int64_t)ceil(opts->learn * rate);
  d->learn_least = (int64_t)ceil(opts->learn_least * rate);
  d->lost = (int64_t)ceil(opts->lost * rate);
  d->wait = (int64_t)ceil(opts->wait * rate);
  d->relearn_gap = (int64_t)ceil(opts->relearn_gap * rate);
  d->half_window = (int64_t)fmax(1.0, floor(opts->around * rate + 0.5));
  d->refine = opts->refine > 0 ? (int64_t)fmax(1.0, floor(opts->refine * rate + 0.5)) : 0;
  d->feature_delay = (int64_t)floor(front.feature_delay);
  d->root_window = sqrt((double)front.window);
  d->shape_reach = (int64_t)ceil((PS_DETECT_SHAPE / 2 + 1) * PS_DETECT_POINT * rate);
  d->point_half = (int64_t)(PS_DETECT_POINT * rate / 2);
  for (int k = 0; k <= PS_DETECT_SHAPE; k++) {
    d->point[k] = (int32_t)floor((k - PS_DETECT_SHAPE / 2) * (PS_DETECT_POINT * rate) + 0.5);
  }
  d->filtered_delay = front.filtered_delay;
  /* No sooner than a candidate is known, with a block to spare. */
  const int64_t known = d->refractory + 2 * d->half_window + d->feature_delay +
                        (int64_t)ceil(d->filtered_delay) + 2 * BLOCK;

  d->decide = (int64_t)ceil(opts->decide * rate);
  d->decide = d->decide > known && !opts->at_once ? d->decide : known;
  d->pending_capacity = (d->learn > d->lost ? d->learn : d->lost) / d->refractory + 8;
  d->ring = 64;
  while (d->ring < d->refractory + d->t_wave + d->feature_delay + d->shape_reach +
                       2 * d->half_window + 2 * d->refine + 2 * BLOCK) {
    d->ring *= 2;
  }
  return WEIR_OK;
}

size_t ps_detect_state_bytes(const ps_detect_opts *opts, double rate)
{
  ps_detector d;

  return make_header(opts, rate, &d) == WEIR_OK ? layout_of(d.pending_capacity, d.ring).total : 0;
}

weir_status ps_detect_init(const ps_detect_opts *opts, double rate, void *state, size_t bytes)
{
  ps_detector d;

  WEIR_TRY(make_header(opts, rate, &d));
  const size_t need = layout_of(d.pending_capacity, d.ring).total;

  if (bytes < need) {
    return weir_fail(WEIR_ERR_SHAPE, "detector: state of %zu bytes, %zu are needed", bytes, need);
  }
  memset(state, 0, need);
  memcpy(state, &d, sizeof d);
  return WEIR_OK;
}

/* The bump before the peak being followed, if it is one that a T wave hides: the peak is more than
 * the refractory time away, and only its flank is higher within it. */
static int hidden_before(ps_detector *d, const ps_candidate *c, ps_candidate *hidden)
{
  const int64_t apart = d->peak_at - d->hidden_at;

  if (!d->hides || apart <= d->refractory || apart > d->t_wave) {
    return 0;
  }
  *hidden = ps_candidate_at(d, d->hidden_at, d->hidden, d->low_before_hidden);
  return ps_decide_t_wave(d, hidden, c);
}

/* The peak being followed becomes a candidate at the R wave under it, after the one that it hides.
 */
static void confirm(ps_detector *d, ps_beat_out *out)
{
  ps_candidate c = ps_candidate_at(d, d->peak_at, d->peak, d->low_before), hidden;

  if (hidden_before(d, &c, &hidden)) {
    hidden.breaks = d->breaks;
    d->breaks = 0;
    c.low = sqrtf(d->low_after_hidden);
    ps_decide_feed(d, hidden, out);
  }
  c.breaks = d->breaks;
  d->rising = d->hides = d->breaks = 0;
  d->valley = INFINITY;
  d->low_before = d->low_after;
  d->low_after = INFINITY;
  ps_decide_feed(d, c, out);
}

/* The slots from the last present one up to t are absent: what that alone decides. */
static void pass_gap(ps_detector *d, int64_t t, ps_beat_out *out)
{
  if (d->rising) {
    confirm(d, out);
  }
  ps_decide_due(d, t, out);
}

/* A present slot t after missing ones (or the first). */
static void start_segment(ps_detector *d, int64_t t, ps_beat_out *out)
{
  if (d->next >= 0) {
    const int64_t gap = t - d->next;

    pass_gap(d, t, out);
    d->heard += d->next - d->segment;
    d->segment = d->next;
    if (gap > d->relearn_gap && !(d->learning && d->heard < d->learn_least)) {
      ps_decide_finish(d, out);
    } else if (gap > d->refractory) {
      d->breaks = 1;
    }
  }
  if (d->learning && d->n_pending == 0) {
    d->origin = t;
    d->breaks = 0;
  }
  d->segment = t;
  d->rising = 0;
  d->valley = d->low_after = INFINITY;
  d->low_before = -1.0f; /* the sums begin with zeros */
}

/* The smaller of two numbers: fminf, which minds NaN, is a call. */
static float lesser(float a, float b)
{
  return a < b ? a : b;
}

/* Follows the peak through feature[from, n) of slots t + from on, until it is `refractory` old: the
 * index after the last value looked at. */
static int64_t climb(ps_detector *d, const float *feature, int64_t t, int64_t from, int64_t n,
                     ps_beat_out *out)
{
  const float dip = (float)(d->opts.hidden_dip * d->opts.hidden_dip);
  const int64_t refractory = d->refractory;
  int64_t at = d->peak_at - t, end = at + refractory, i = from;
  float peak = d->peak, low = d->low_after, before = d->low_before,
        after_hidden = d->low_after_hidden;

  for (; i < n && i <= end; i++) {
    if (feature[i] > peak) {
      if (i > at + 1 && low < dip * peak) {
        d->hides = 1;
        d->hidden_at = t + at;
        d->hidden = peak;
        d->low_before_hidden = before;
        after_hidden = low;
      }
      before = lesser(low, before);
      after_hidden = lesser(low, after_hidden);
      low = peak = feature[i];
      at = i;
      end = at + refractory;
    }
    low = lesser(feature[i], low);
  }
  d->peak = peak;
  d->low_before = before;
  d->low_after_hidden = after_hidden;
  d->low_after = low;
  d->peak_at = t + at;
  d->next = t + i;
  if (i > end) {
    confirm(d, out);
    d->valley = feature[i - 1];
  }
  return i;
}

/* Follows falling values until they rise. */
static int64_t descend(ps_detector *d, const float *feature, int64_t t, int64_t from, int64_t n)
{
  float valley = d->valley;
  int64_t i = from;

  while (i < n && feature[i] <= valley) {
    valley = feature[i++];
  }
  d->valley = valley;
  d->low_before = lesser(valley, d->low_before);
  if (i < n) {
    d->rising = 1;
    d->hides = 0;
    d->peak = d->low_after = feature[i];
    d->peak_at = t + i;
    i++;
  }
  d->next = t + i;
  return i;
}

/* Lowest of n <= BLOCK values. A whole block is halved twice first, which vectors do. */
static float lowest(const float *feature, int64_t n)
{
  float low[BLOCK / 2];

  if (n < BLOCK) {
    low[0] = INFINITY;
    for (int64_t i = 0; i < n; i++) {
      low[0] = lesser(feature[i], low[0]);
    }
    return low[0];
  }
  for (int k = 0; k < BLOCK / 2; k++) {
    low[k] = lesser(feature[k], feature[k + BLOCK / 2]);
  }
  for (int k = 0; k < BLOCK / 4; k++) {
    low[k] = lesser(low[k], low[k + BLOCK / 4]);
  }
  for (int k = 1; k < BLOCK / 4; k++) {
    low[0] = lesser(low[k], low[0]);
  }
  return low[0];
}

/* Present, finite values of slots [t, t + n) of one segment; no feature exceeds `bound`.
 */
static void scan_stretch(ps_detector *d, const float *feature, int64_t t, int64_t n, float bound,
                         ps_beat_out *out)
{
  if (d->rising && bound <= d->peak && t + n - 1 - d->peak_at < d->refractory) {
    d->next = t + n;
    d->low_after = lesser(lowest(feature, n), d->low_after);
    return;
  }
  for (int64_t i = 0; i < n;) {
    i = d->rising ? climb(d, feature, t, i, n, out) : descend(d, feature, t, i, n);
  }
}

/* The same for n <= BLOCK slots, which may begin a segment. */
static void scan(ps_detector *d, const float *filtered, const float *feature, int64_t t, int64_t n,
                 float bound, ps_beat_out *out)
{
  if (t != d->next) {
    start_segment(d, t, out);
  }
  keep_filtered(d, filtered, t, n);
  for (int64_t done = 0; done < n;) {
    ps_decide_due(d, t + done, out);
    const int64_t due = ps_decide_deadline(d) - t, end = due < n ? due : n;

    scan_stretch(d, feature + done, t + done, end - done, bound, out);
    done = end;
  }
}

static int usable(float filtered, float feature)
{
  return fabsf(filtered) <= FLT_MAX && fabsf(feature) <= FLT_MAX;
}

/* Largest feature of BLOCK slots, NaN where one of them is absent or not finite; halved as in
 * `lowest`. */
static float largest(const float *filtered, const float *feature, const uint8_t *present)
{
  float max[BLOCK / 2], zero[BLOCK];
  uint8_t all = 1;

  for (int k = 0; k < BLOCK; k++) { /* NaN where one is not finite */
    zero[k] = (feature[k] - feature[k]) + (filtered[k] - filtered[k]);
  }
  for (int k = 0; k < BLOCK / 2; k++) {
    max[k] = feature[k] > feature[k + BLOCK / 2] ? feature[k] : feature[k + BLOCK / 2];
    zero[k] += zero[k + BLOCK / 2];
  }
  for (int k = 0; k < BLOCK / 4; k++) {
    max[k] = max[k] > max[k + BLOCK / 4] ? max[k] : max[k + BLOCK / 4];
    zero[k] += zero[k + BLOCK / 4];
  }
  for (int k = 1; k < BLOCK / 4; k++) {
    max[0] = max[k] > max[0] ? max[k] : max[0];
    zero[0] += zero[k];
  }
  for (int i = 0; present && i < BLOCK; i++) {
    all &= present[i] != 0;
  }
  return all && zero[0] == 0.0f ? max[0] : NAN;
}

void ps_detect_chunk(void *state, const float *filtered, const float *feature,
                     const uint8_t *present, int64_t t0, int64_t n, int64_t *beats,
                     int64_t *fractions, int64_t capacity, int64_t *n_beats)
{
  ps_detector *d = state;
  ps_beat_out out = {.beats = beats, .fractions = fractions, .capacity = capacity};

  WEIR_ASSERT(t0 >= d->next && capacity >= ps_detect_capacity(state, n));
  for (int64_t i = 0; i < n;) {
    if (n - i >= BLOCK) {
      const float bound = largest(filtered + i, feature + i, present ? present + i : NULL);

      if (bound == bound) {
        scan(d, filtered + i, feature + i, t0 + i, BLOCK, bound, &out);
        i += BLOCK;
        continue;
      }
    }
    const int64_t end = n - i < BLOCK ? n : i + BLOCK;

    for (; i < end; i++) {
      if ((!present || present[i]) && usable(filtered[i], feature[i])) {
        scan(d, filtered + i, feature + i, t0 + i, 1, feature[i], &out);
      }
    }
  }
  if (d->next >= 0 && d->next < t0 + n) {
    pass_gap(d, t0 + n, &out);
  }
  *n_beats = out.n;
}

void ps_detect_flush(void *state, int64_t *beats, int64_t *fractions, int64_t capacity,
                     int64_t *n_beats)
{
  ps_detector *d = state;
  ps_beat_out out = {.beats = beats, .fractions = fractions, .capacity = capacity};

  if (d->rising) {
    confirm(d, &out);
  }
  ps_decide_finish(d, &out);
  d->origin = d->segment = d->next;
  d->valley = INFINITY;
  *n_beats = out.n;
}

int64_t ps_detect_capacity(const void *state, int64_t n)
{
  const ps_detector *d = state;

  return d->pending_capacity + n / d->refractory + 4;
}

int64_t ps_detect_latency(const void *state)
{
  const ps_detector *d = state;

  return d->decide + 1;
}
