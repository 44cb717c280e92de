/* waves.c - see waves.h.
 *
 * The paper's wavelet, the derivative of a cubic spline, is at scale 2^k and 250 Hz three moving
 * sums of 2^(k - 1) samples and a difference over as many: so it is written here for any rate. */
#include "waves.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define PAPER "(Martinez 2004, appendix)"

const weir_opt ps_slope_options[] = {
    WEIR_OPT_REAL(ps_slope_opts, qrs_before, 0.06, 0.001, 1, "1",
                  "slope before the R wave that belongs to the QRS complex, of the largest " PAPER),
    WEIR_OPT_REAL(ps_slope_opts, qrs_after, 0.09, 0.001, 1, "1", "the same after it " PAPER),
    WEIR_OPT_REAL(ps_slope_opts, qrs_on, 0.05, 0.001, 1, "1",
                  "slope at the onset of the QRS complex, of its first one " PAPER),
    WEIR_OPT_REAL(ps_slope_opts, qrs_off, 0.125, 0.001, 1, "1",
                  "slope at its end, of its last one " PAPER),
    WEIR_OPT_REAL(ps_slope_opts, wave, 0.125, 0.001, 1, "1",
                  "slope that belongs to a P or T wave, of the largest in its stretch " PAPER),
    WEIR_OPT_REAL(ps_slope_opts, noise, 4, 0, 100, "1",
                  "smallest slope of any wave, of the standard deviation of noise"),
    WEIR_OPT_REAL(ps_slope_opts, p_min, 0.02, 0, 10, "1",
                  "smallest slope of a P wave, of the root mean square of the beat " PAPER),
    WEIR_OPT_REAL(ps_slope_opts, p_on, 0.5, 0.001, 1, "1",
                  "slope at the onset of the P wave, of its first one " PAPER),
    WEIR_OPT_REAL(ps_slope_opts, p_off, 0.9, 0.001, 1, "1",
                  "slope at its end, of its last one " PAPER),
    WEIR_OPT_REAL(ps_slope_opts, t_min, 0.25, 0, 10, "1",
                  "smallest slope of a T wave, of the root mean square of the beat " PAPER),
    WEIR_OPT_REAL(ps_slope_opts, t_off, 0.4, 0.001, 1, "1",
                  "slope at the end of the T wave, of its last one " PAPER),
    WEIR_OPT_END,
};

/* Scales 2^k: of the QRS complex, and of P and T waves. */
enum { QRS_SCALE = 2, WAVE_SCALE = 4 };
/* s on either side of the R wave where the QRS complex lies. */
#define QRS_REACH 0.13
/* s between two of its slopes; what is farther away is a P wave or the ST segment. */
#define QRS_APART 0.06
/* s, and shares of the interval, before the R wave where the P wave begins at the earliest, and
 * after it where the T wave ends at the latest. */
#define P_REACH 0.34
#define P_SHARE 0.42
#define T_REACH 0.75
#define T_SHARE 0.7
/* s after the QRS complex where the T wave may begin. */
#define ST_LEAST 0.04

size_t ps_waves_scratch(int64_t n)
{
  return 4 * (size_t)n;
}

static int64_t clamp_index(int64_t i, int64_t n)
{
  return i < 0 ? 0 : i < n ? i : n - 1;
}

/* out[i]: mean of the d values x[i - before], ...; values beyond the ends are the last ones. */
static void moving_mean(const double *x, int64_t n, int64_t d, int64_t before, double *out)
{
  double sum = 0;

  for (int64_t i = -before; i < d - before; i++) {
    sum += x[clamp_index(i, n)];
  }
  for (int64_t i = 0; i < n; i++) {
    out[i] = sum / (double)d;
    sum += x[clamp_index(i - before + d, n)] - x[clamp_index(i - before, n)];
  }
}

/* Width at scale 2^k: samples of each sum. */
static int64_t width_of(double rate, int k)
{
  return (int64_t)fmax(1, floor(ldexp(1, k - 1) * rate / 250 + 0.5));
}

/* Wavelet transform at scale 2^k of 250 Hz: w[i] is the slope at i + 1 / 2. x and w: [n]; work:
 * [2 n]. */
static void transform(const double *x, int64_t n, double rate, int k, double *work, double *w)
{
  const int64_t d = width_of(rate, k);
  const int64_t before = (d - 1) / 2, shift = 3 * before - d + 2; /* centre it on i + 1 / 2 */
  double *a = work, *b = work + n;

  moving_mean(x, n, d, before, a);
  moving_mean(a, n, d, before, b);
  moving_mean(b, n, d, before, a);
  for (int64_t i = 0; i < n; i++) {
    w[i] = 2 * (a[clamp_index(i + shift, n)] - a[clamp_index(i + shift - d, n)]);
  }
}

/* Largest |w| in [lo, hi). */
static double largest(const double *w, int64_t lo, int64_t hi)
{
  double most = 0;

  for (int64_t i = lo; i < hi; i++) {
    most = fmax(most, fabs(w[i]));
  }
  return most;
}

static double root_mean_square(const double *w, int64_t n)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++) {
    sum += w[i] * w[i];
  }
  return sqrt(sum / (double)n);
}

static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Standard deviation of white noise in x[n]: that of second differences over 4 ms, which waves
 * hardly have, from the median of their absolute values. work: [n]. */
static double noise_of(const double *x, int64_t n, double rate, double *work)
{
  const int64_t d = width_of(rate, 1), m = n - 2 * d;

  for (int64_t i = 0; i < m; i++) {
    work[i] = fabs(x[i] - 2 * x[i + d] + x[i + 2 * d]);
  }
  if (m <= 0) {
    return 0;
  }
  qsort(work, (size_t)m, sizeof *work, by_value);
  return work[m / 2] / (0.6745 * sqrt(6));
}

/* Standard deviation of the transform of white noise of 1: sqrt(8 / (3 d)) for long sums. */
static double gain_of(double rate, int k)
{
  return sqrt(8 / (3 * (double)width_of(rate, k)));
}

static bool is_maximum(const double *w, int64_t i, double least)
{
  const double here = fabs(w[i]);

  return here > least && here >= fabs(w[i - 1]) && here > fabs(w[i + 1]);
}

/* From the slope at i in steps of `way` (-1 or 1), not beyond `end`: where |w| has fallen to
 * `share` of that at i, by a line, or where it rises again or changes its sign. */
static double border(const double *w, int64_t i, int way, int64_t end, double share)
{
  const double limit = share * fabs(w[i]), sign = w[i] > 0 ? 1 : -1;

  for (int64_t j = i; j != end; j += way) {
    const double here = sign * w[j], there = sign * w[j + way];

    if (there <= limit) {
      return (double)j + way * (here - limit) / (here - there);
    }
    if (there > here && here < fabs(w[i]) / 2) {
      return (double)j;
    }
  }
  return (double)end;
}

/* Marks on w[] are half a sample after its indices. */
static double time_of(const ps_lead_beat *b, double i)
{
  return i + 0.5 - (double)b->r;
}

/* Returns whether the QRS complex was found; on and off as indices of w. */
static bool find_qrs(const ps_slope_opts *o, const ps_lead_beat *b, const double *w, double noise,
                     double *on, double *off)
{
  const int64_t reach = (int64_t)(QRS_REACH * b->rate), lo = b->r - reach, hi = b->r + reach;
  const int64_t apart = (int64_t)(QRS_APART * b->rate);
  int64_t first = -1, last = -1;

  if (lo < 1 || hi > b->n - 2) {
    return false;
  }
  const double most = largest(w, lo, hi + 1);

  for (int64_t i = b->r - 1; i >= lo && (first < 0 || first - i <= apart); i--) {
    first = is_maximum(w, i, fmax(o->qrs_before * most, noise)) ? i : first;
  }
  for (int64_t i = b->r; i <= hi && (last < 0 || i - last <= apart); i++) {
    last = is_maximum(w, i, fmax(o->qrs_after * most, noise)) ? i : last;
  }
  if (first < 0 || last < 0) {
    return false;
  }
  *on = border(w, first, -1, (int64_t)fmax(1, (double)lo - (double)reach), o->qrs_on);
  *off =
      border(w, last, 1, (int64_t)fmin((double)b->n - 2, (double)hi + (double)reach), o->qrs_off);
  return true;
}

/* A wave: what is sought, and what is found, as indices of w. */
typedef struct wave {
  int64_t lo, hi; /* slopes in [lo, hi] */
  double least, on_share, off_share;
  double on, peak, off;
} wave;

/* A wave that does not end within the stretch is none; without an onset in it that is NaN. The wave
 * around the largest slope: it and the larger of the neighbouring slopes of the other sign
 * that count are its flanks, and its peak is where the slope changes its sign between them. Another
 * slope after them, no less than half as large, belongs to it (biphasic). */
static bool find_wave(const ps_slope_opts *o, const double *w, wave *v)
{
  int64_t top = -1, left = -1, right = -1;

  for (int64_t i = v->lo; i <= v->hi; i++) {
    top = is_maximum(w, i, v->least) && (top < 0 || fabs(w[i]) > fabs(w[top])) ? i : top;
  }
  if (top < 0) {
    return false;
  }
  const double counts = o->wave * fabs(w[top]);

  for (int64_t i = top - 1; i >= v->lo && left < 0; i--) {
    left = is_maximum(w, i, counts) && w[i] * w[top] < 0 ? i : left;
  }
  for (int64_t i = top + 1; i <= v->hi && right < 0; i++) {
    right = is_maximum(w, i, counts) && w[i] * w[top] < 0 ? i : right;
  }
  if (left < 0 && right < 0) {
    return false;
  }
  const bool before = right < 0 || (left >= 0 && fabs(w[left]) >= fabs(w[right]));
  const int64_t a = before ? left : top, c = before ? top : right;
  int64_t zero = a;

  while (w[zero + 1] * w[a] > 0) {
    zero++;
  }
  v->peak = (double)zero + w[zero] / (w[zero] - w[zero + 1]);
  v->on = border(w, a, -1, v->lo - 1, v->on_share);
  const bool more = before && right >= 0 && fabs(w[right]) >= fabs(w[top]) / 2;

  v->off = border(w, more ? right : c, 1, v->hi + 1, v->off_share);
  v->on = v->on > (double)v->lo - 1 ? v->on : NAN;
  return v->off < (double)v->hi + 1;
}

/* Replaces the QRS complex by a line. */
static void without_qrs(const ps_lead_beat *b, double on, double off, double *x)
{
  const int64_t lo = clamp_index((int64_t)floor(on), b->n);
  const int64_t hi = clamp_index((int64_t)ceil(off) + 1, b->n);

  for (int64_t i = lo + 1; i < hi; i++) {
    x[i] = x[lo] + (x[hi] - x[lo]) * (double)(i - lo) / (double)(hi - lo);
  }
}

static void find_p(const ps_slope_opts *o, const ps_lead_beat *b, const double *w, double rms,
                   double noise, double qrs_on, double *marks)
{
  const double reach = fmin(P_REACH * b->rate, P_SHARE * b->rr);
  const double lo = fmax((double)b->r - reach, (double)b->r + b->earliest);
  wave v = {.lo = (int64_t)ceil(lo),
            .hi = (int64_t)floor(qrs_on),
            .least = fmax(o->p_min * rms, noise),
            .on_share = o->p_on,
            .off_share = o->p_off};

  if (v.lo >= 2 && find_wave(o, w, &v)) {
    marks[PS_P_ON] = time_of(b, v.on);
    marks[PS_P] = time_of(b, v.peak);
    marks[PS_P_OFF] = time_of(b, fmin(v.off, qrs_on));
  }
}

static void find_t(const ps_slope_opts *o, const ps_lead_beat *b, const double *w, double rms,
                   double noise, double qrs_off, double *marks)
{
  const double reach = fmin(T_REACH * b->rate, T_SHARE * fmin(b->rr, b->next));
  wave v = {.lo = (int64_t)ceil(qrs_off + ST_LEAST * b->rate),
            .hi = b->r + (int64_t)floor(reach),
            .least = fmax(o->t_min * rms, noise),
            .on_share = 0.5,
            .off_share = o->t_off};

  if (v.hi <= b->n - 3 && find_wave(o, w, &v)) {
    marks[PS_T] = time_of(b, v.peak);
    marks[PS_T_OFF] = time_of(b, v.off);
  }
}

void ps_waves_find(const ps_slope_opts *opts, const ps_lead_beat *beat, double *scratch,
                   double marks[PS_MARK_KINDS])
{
  const int64_t n = beat->n;
  double *x = scratch, *work = x + n, *w = work + 2 * n, on = 0, off = 0;

  for (int k = 0; k < PS_MARK_KINDS; k++) {
    marks[k] = NAN;
  }
  for (int64_t i = 0; i < n; i++) {
    x[i] = (double)beat->x[i];
  }
  const double noise = noise_of(x, n, beat->rate, work);

  transform(x, n, beat->rate, QRS_SCALE, work, w);
  if (!find_qrs(opts, beat, w, opts->noise * noise * gain_of(beat->rate, QRS_SCALE), &on, &off)) {
    return;
  }
  marks[PS_QRS_ON] = time_of(beat, on);
  marks[PS_QRS_OFF] = time_of(beat, off);
  transform(x, n, beat->rate, WAVE_SCALE, work, w);
  const double rms = root_mean_square(w, n);

  without_qrs(beat, on, off, x);
  transform(x, n, beat->rate, WAVE_SCALE, work, w);
  const double least = opts->noise * noise * gain_of(beat->rate, WAVE_SCALE);

  find_p(opts, beat, w, rms, least, on, marks);
  find_t(opts, beat, w, rms, least, off, marks);
}

double ps_waves_combine(ps_mark_kind kind, double *mark, int n, int agree, double within)
{
  const bool onset = kind == PS_P_ON || kind == PS_QRS_ON;
  int m = 0;

  for (int k = 0; k < n; k++) {
    if (!isnan(mark[k])) {
      mark[m++] = mark[k];
    }
  }
  if (m == 0) {
    return NAN;
  }
  qsort(mark, (size_t)m, sizeof *mark, by_value);
  for (int k = 0; k + agree < m && kind != PS_P && kind != PS_T; k++) {
    if (onset && mark[k + agree] - mark[k] <= within) {
      return mark[k];
    }
    if (!onset && mark[m - 1 - k] - mark[m - 1 - k - agree] <= within) {
      return mark[m - 1 - k];
    }
  }
  return 0.5 * (mark[(m - 1) / 2] + mark[m / 2]);
}
