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
    WEIR_OPT_REAL(ps_slope_opts, t_on, 0.25, 0.001, 1, "1",
                  "slope at the onset of the T wave, of its first one " PAPER),
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
/* A slope smaller than SLIGHT of the largest whose sign is that of the next one inwards is of
 * another wave if |W| falls to DIP of it in between. */
#define SLIGHT 0.2
#define DIP 0.9
/* Of the limit of noise: what a slope of the complex exceeds, as it is looked for close to R alone;
 * and by what |W| rises between its border and the next wave. SEEN: the share to which a fall of
 * its slopes is seen in any noise. */
#define QRS_NOISE 0.75
#define RIPPLE 0.25
#define SEEN 0.5
/* s, and shares of the interval, before the R wave where the P wave begins at the earliest, and
 * after it where the T wave ends at the latest. */
#define P_REACH 0.34
#define P_SHARE 0.42
#define T_REACH 0.75
#define T_SHARE 0.7
/* s on either side of a border of the QRS complex whose mean is an end of the line that replaces
 * the complex. */
#define LINE_END 0.008
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

/* Whether the slope at i is one of its own, from i on in steps of `way` (-1 or 1): |w| falls by
 * `fall` before it is larger. A ripple of noise on the flank of a larger slope is none. w: [n]. */
static bool stands_out(const double *w, int64_t n, int64_t i, int way, double fall)
{
  const double sign = w[i] > 0 ? 1 : -1, here = fabs(w[i]);

  for (int64_t j = i + way; j >= 0 && j < n && sign * w[j] > here - fall; j += way) {
    if (sign * w[j] > here) {
      return false;
    }
  }
  return true;
}

/* From the slope at i in steps of `way` (-1 or 1), not beyond `end`: where |w| has fallen to
 * `share` of that at i, by a line, or changes its sign; or its minimum, below half of that at i,
 * before it rises again by more than `ripple`. */
static double border(const double *w, int64_t i, int way, int64_t end, double share, double ripple)
{
  const double limit = share * fabs(w[i]), sign = w[i] > 0 ? 1 : -1;
  int64_t least = i;

  for (int64_t j = i; j != end; j += way) {
    const double here = sign * w[j], there = sign * w[j + way];

    if (there <= limit) {
      return (double)j + way * (here - limit) / (here - there);
    }
    least = here <= sign * w[least] ? j : least;
    if (there > sign * w[least] + ripple && sign * w[least] < fabs(w[i]) / 2) {
      return (double)least;
    }
  }
  return (double)end;
}

/* Widths from the largest slope of a Gaussian to where it has fallen to `share`: u - 1
 * with u exp((1 - u^2) / 2) = share and u > 1, by iteration. */
static double fall_of(double share)
{
  double u = 3;

  for (int k = 0; k < 30; k++) {
    u = sqrt(1 + 2 * log(u / share));
  }
  return u - 1;
}

/* The border of a slope of the complex. What falls below the limit of noise (QRS_NOISE of it:
 * `noise`) does so as a Gaussian does, unless |w| is at the share, or rises again, before. */
static double border_in_noise(const double *w, int64_t i, int way, int64_t end, double share,
                              double noise)
{
  const double seen = fmax(share, fmin(noise / QRS_NOISE / fabs(w[i]), SEEN));
  const double at = border(w, i, way, end, share, RIPPLE * noise), from = (double)i;
  const double fall = fabs(border(w, i, way, end, seen, RIPPLE * noise) - from);

  return from + way * fmin(fabs(at - from), fall * fall_of(share) / fall_of(seen));
}

/* Marks on w[] are half a sample after its indices. */
static double time_of(const ps_lead_beat *b, double i)
{
  return i + 0.5 - (double)b->r;
}

/* Whether the slope at i is of a wave next to the complex, e.g. the end of a P wave, which falls as
 * the Q wave does, and not of the complex, whose slope closest to it is at `inner` (-1: none yet).
 */
static bool is_of_another_wave(const double *w, int64_t i, int64_t inner, double most)
{
  const double here = fabs(w[i]);
  double dip = here;

  if (inner < 0 || w[i] * w[inner] < 0 || here >= SLIGHT * most) {
    return false;
  }
  for (int64_t j = i < inner ? i : inner; j < (i < inner ? inner : i); j++) {
    dip = fmin(dip, w[i] > 0 ? w[j] : -w[j]);
  }
  return dip <= DIP * here;
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
  const double before = largest(w, lo, b->r), after = largest(w, b->r, hi + 1);
  const double most = fmax(before, after);

  if (fmin(before, after) <= noise / QRS_NOISE) {
    return false; /* no complex rises from this noise */
  }
  for (int64_t i = b->r - 1; i >= lo && (first < 0 || first - i <= apart); i--) {
    if (is_maximum(w, i, fmax(o->qrs_before * most, noise)) && stands_out(w, b->n, i, -1, noise) &&
        !is_of_another_wave(w, i, first, most)) {
      first = i;
    }
  }
  for (int64_t i = b->r; i <= hi && (last < 0 || i - last <= apart); i++) {
    if (is_maximum(w, i, fmax(o->qrs_after * most, noise)) && stands_out(w, b->n, i, 1, noise) &&
        !is_of_another_wave(w, i, last, most)) {
      last = i;
    }
  }
  if (first < 0 || last < 0) {
    return false;
  }
  *on =
      border_in_noise(w, first, -1, (int64_t)fmax(1, (double)lo - (double)reach), o->qrs_on, noise);
  *off = border_in_noise(w, last, 1, (int64_t)fmin((double)b->n - 2, (double)hi + (double)reach),
                         o->qrs_off, noise);
  return true;
}

/* A wave: what is sought, and what is found, as indices of w. */
typedef struct wave {
  int64_t lo, hi; /* slopes in [lo, hi]      */
  int64_t first;  /* its onset lies after it */
  double least, on_share, off_share;
  double on, peak, off;
} wave;

/* A wave that does not end within the stretch is none; its onset is `first` at the earliest. The
 * wave around the largest slope: it and the larger of the neighbouring slopes of the other sign
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
  v->on = border(w, a, -1, v->first, v->on_share, 0);
  const bool more = before && right >= 0 && fabs(w[right]) >= fabs(w[top]) / 2;

  v->off = border(w, more ? right : c, 1, v->hi + 1, v->off_share, 0);
  return v->off < (double)v->hi + 1;
}

/* Mean of x[n] over LINE_END on either side of i. */
static double mean_around(const double *x, int64_t n, int64_t i, double rate)
{
  const int64_t reach = (int64_t)(LINE_END * rate);
  double sum = 0;

  for (int64_t j = i - reach; j <= i + reach; j++) {
    sum += x[clamp_index(j, n)];
  }
  return sum / (double)(2 * reach + 1);
}

/* Replaces the QRS complex by a line. */
static void without_qrs(const ps_lead_beat *b, double on, double off, double *x)
{
  const int64_t lo = clamp_index((int64_t)floor(on), b->n);
  const int64_t hi = clamp_index((int64_t)ceil(off) + 1, b->n);
  const double first = mean_around(x, b->n, lo, b->rate), last = mean_around(x, b->n, hi, b->rate);

  for (int64_t i = lo; i <= hi; i++) {
    x[i] = first + (last - first) * (double)(i - lo) / (double)(hi - lo);
  }
}

static void find_p(const ps_slope_opts *o, const ps_lead_beat *b, const double *w, double rms,
                   double noise, double qrs_on, double *marks)
{
  const double reach = fmin(P_REACH * b->rate, P_SHARE * b->rr);
  const double lo = fmax((double)b->r - reach, (double)b->r + b->earliest);
  wave v = {.lo = (int64_t)ceil(lo),
            .hi = (int64_t)floor(qrs_on),
            .first = (int64_t)ceil(lo) - 1,
            .least = fmax(o->p_min * rms, noise),
            .on_share = o->p_on,
            .off_share = o->p_off};

  if (v.lo >= 2 && find_wave(o, w, &v)) {
    marks[PS_P_ON] = v.on > (double)v.first ? time_of(b, v.on) : NAN;
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
            .first = (int64_t)ceil(qrs_off), /* the J point, where ST and T are one */
            .least = fmax(o->t_min * rms, noise),
            .on_share = o->t_on,
            .off_share = o->t_off};

  if (v.hi <= b->n - 3 && find_wave(o, w, &v)) {
    marks[PS_T_ON] = time_of(b, v.on);
    marks[PS_T] = time_of(b, v.peak);
    marks[PS_T_OFF] = time_of(b, v.off);
  }
}

/* The QRS complex of the mean of beats like this one, or of this one alone. x: [n]; on and off: as
 * indices of W of x. */
static bool measure_qrs(const ps_slope_opts *o, const ps_lead_beat *b, const double *x,
                        double noise, double *work, double *w, double *on, double *off)
{
  const double limit = QRS_NOISE * o->noise * gain_of(b->rate, QRS_SCALE);
  double shift = 0;

  if (!ps_mean_add(b->mean, b->mean_x, x, b->n, b->r, b->rate, noise, &shift)) {
    transform(x, b->n, b->rate, QRS_SCALE, work, w);
    return find_qrs(o, b, w, limit * noise, on, off);
  }
  const int64_t h = ps_mean_reach(b->rate);
  const ps_lead_beat mean = {.n = 2 * h + 1, .r = h, .rate = b->rate};

  transform(b->mean_x, mean.n, b->rate, QRS_SCALE, work, w);
  if (!find_qrs(o, &mean, w, limit * b->mean->noise, on, off)) {
    return false;
  }
  *on += (double)(b->r - h) + shift;
  *off += (double)(b->r - h) + shift;
  return true;
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

  if (!measure_qrs(opts, beat, x, noise, work, w, &on, &off)) {
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
  const bool onset = kind == PS_P_ON || kind == PS_QRS_ON || kind == PS_T_ON;
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
