/* hrv_neurokit2.c - measures as NeuroKit2 0.3.0 computes them, where its definitions differ from
 * those of the Task Force. Spectrum (hrv_frequency, intervals_process, signal_psd, signal_power):
 * a quadratic spline of all intervals at 100 Hz, less its mean; Welch, pieces of half of it that
 * overlap by half, Hann window, padded with zeros to twice their length; the trapezoidal rule over
 * the bins of a band from four periods in the whole on. */
#include <math.h>
#include <string.h>
#include "model/hrv_priv.h"

#define RATE 100.0   /* Hz, of the spline */
#define WINDOW 300e3 /* ms, of SDANN5 */
#define PI 3.14159265358979323846
enum { MIN_WINDOWS = 3 };

/* In the order of its operations, so that ties fall alike. */
static double ms_of(const ps_interval *v, double rate)
{
  return v->length / rate * 1000;
}

/* ms from the begin of the first interval to the end of number i. */
static double end_of(const ps_interval *v, int64_t i, double rate)
{
  return (v[i].end / rate - v[0].end / rate) * 1000 + ms_of(v, rate);
}

bool hrv_neurokit2_is_far(const ps_interval *v, double rate)
{
  return fabs(ms_of(v, rate) - ms_of(v - 1, rate)) > 50;
}

/* Mean of the means of windows; squares around `around`, of an earlier pass. v[0] counts. */
static double window_means(const ps_interval *v, int64_t n, double rate, int64_t windows,
                           double around, int64_t *count, double *square)
{
  double all = 0;

  *count = 0;
  *square = 0;
  for (int64_t i = 0, window = 1; window <= windows; window++) {
    double sum = 0;
    int64_t in = 0;

    for (; i < n && (!v[i].counts || end_of(v, i, rate) < (double)window * WINDOW); i++) {
      sum += v[i].counts ? ms_of(v + i, rate) : 0;
      in += v[i].counts;
    }
    if (in > 0) {
      all += sum / (double)in;
      *square += (sum / (double)in - around) * (sum / (double)in - around);
      ++*count;
    }
  }
  return all / (double)*count;
}

double hrv_neurokit2_sdann(const ps_interval *v, int64_t n, double rate)
{
  int64_t count = 0;
  double square = 0;

  while (n > 0 && !v[0].counts) {
    v++;
    n--;
  }
  while (n > 0 && !v[n - 1].counts) {
    n--;
  }
  const int64_t windows = n > 0 ? (int64_t)nearbyint(end_of(v, n - 1, rate) / WINDOW) : 0;

  if (windows < MIN_WINDOWS) {
    return NAN;
  }
  const double mean = window_means(v, n, rate, windows, 0, &count, &square);

  (void)window_means(v, n, rate, windows, mean, &count, &square);
  return count > 1 ? sqrt(square / (double)(count - 1)) : NAN;
}

/* ---- Spectrum ---- */

/* The quadratic spline of scipy.interpolate.interp1d: knots midway between the points, but for the
 * first and the last two. Knot k of n + 3. */
static double knot(const hrv_points *p, int64_t k)
{
  const int64_t n = p->n;

  return k < 3 ? p->t[0] : k >= n ? p->t[n - 1] : 0.5 * (p->t[k - 2] + p->t[k - 1]);
}

/* The three B-splines that are not 0 between knots `at` and at + 1 (de Boor). */
static void basis(const hrv_points *p, int64_t at, double t, double b[3])
{
  const double from = knot(p, at), to = knot(p, at + 1);
  const double left = (to - t) / (to - from), right = (t - from) / (to - from);
  const double before = to - knot(p, at - 1), after = knot(p, at + 2) - from;

  b[0] = (to - t) / before * left;
  b[1] = (t - knot(p, at - 1)) / before * left + (knot(p, at + 2) - t) / after * right;
  b[2] = (t - from) / after * right;
}

/* Coefficients into p->bend: of point i only those of i - 1 to i + 1 count, in rows of a
 * tridiagonal system whose matrix is totally positive, so that no pivots are needed. */
static void solve(const hrv_points *p)
{
  const int64_t n = p->n;

  for (int64_t i = 0; i < n; i++) {
    const int64_t at = i == 0 ? 2 : i < n - 1 ? i + 1 : n - 1;
    double b[3], row[3] = {0, 0, 0}; /* columns i - 1 to i + 1 */

    basis(p, at, p->t[i], b);
    for (int k = 0; k < 3; k++) {
      const int64_t column = at - 2 + k - i + 1;

      if (column >= 0 && column < 3) {
        row[column] = b[k];
      }
    }
    const double before = i > 0 ? row[0] : 0;
    const double pivot = row[1] - (i > 0 ? before * p->work[i - 1] : 0);

    p->work[i] = row[2] / pivot;
    p->bend[i] = (p->y[i] - (i > 0 ? before * p->bend[i - 1] : 0)) / pivot;
  }
  for (int64_t i = n - 2; i >= 0; i--) {
    p->bend[i] -= p->work[i] * p->bend[i + 1];
  }
}

/* Value k of the series; *at: knot before it, for values in order. */
static double value_at(const hrv_points *p, int64_t k, int64_t *at)
{
  const double t = p->t[0] + (double)k / RATE;
  double b[3];

  if (t > p->t[p->n - 1]) {
    return p->y[p->n - 1];
  }
  while (*at < p->n - 1 && t >= knot(p, *at + 1)) {
    ++*at;
  }
  basis(p, *at, t, b);
  return b[0] * p->bend[*at - 2] + b[1] * p->bend[*at - 1] + b[2] * p->bend[*at];
}

/* Makes the grid the transform of `size` values from `from` on under a Hann window. Returns the sum
 * of the squares of its weights. */
static double transform_piece(const hrv_points *p, double mean, int64_t from, int64_t size,
                              hrv_grid *g)
{
  double weights = 0;
  int64_t at = 2;

  hrv_grid_clear(g);
  for (int64_t i = 0; i < size; i++) {
    const double weight = 0.5 - 0.5 * cos(2 * PI * (double)i / (double)size);

    weights += weight * weight;
    hrv_grid_add(g, PI * (double)i / (double)size, weight * (value_at(p, from + i, &at) - mean));
  }
  hrv_grid_transform(g);
  return weights;
}

/* Of bins of the frequencies k / (2 size) of the rate. */
typedef struct bands {
  double step, lowest; /* Hz */
  double power[HRV_BANDS];
} bands;

static int band_of(double f)
{
  return f < 0.0033 ? -1 : f < 0.04 ? 0 : f < 0.15 ? 1 : f < HRV_HIGHEST ? 2 : -1;
}

/* The trapezoidal rule, of one piece: all are linear in the densities. */
static void integrate(const hrv_grid *g, double scale, bands *b)
{
  double last = 0;
  int last_band = -1;

  for (int64_t k = 1; (double)k * b->step < HRV_HIGHEST; k++) {
    const double f = (double)k * b->step;
    const int band = f >= b->lowest ? band_of(f) : -1;
    double c = 0, s = 0;

    hrv_grid_sums(g, k, false, &c, &s);
    const double density = scale * (c * c + s * s);

    if (band >= 0 && band == last_band) {
      b->power[band] += 0.5 * (last + density) * b->step;
    }
    last = density;
    last_band = band;
  }
}

/* A spline needs times that ascend. */
static bool ascends(const hrv_points *p)
{
  for (int64_t i = 1; i < p->n; i++) {
    if (!(p->t[i] > p->t[i - 1])) {
      return false;
    }
  }
  return true;
}

ps_hrv_bands hrv_neurokit2(const hrv_points *p, double *scratch)
{
  const ps_hrv_bands none = {NAN, NAN, NAN};
  int64_t pieces = 0, at = 2;
  double mean = 0;
  hrv_grid g;

  if (p->n < 4 || !ascends(p)) {
    return none;
  }
  const int64_t n = (int64_t)ceil((p->t[p->n - 1] + 1 / RATE - p->t[0]) / (1 / RATE));
  bands b = {.lowest = 2 * RATE / ((double)n / 2)};
  const int64_t longest = (int64_t)(2 / b.lowest * RATE), size = longest < n / 2 ? longest : n / 2;

  b.step = 1 / ((double)(2 * size) * (1 / RATE));
  solve(p);
  for (int64_t k = 0; k < n; k++) {
    mean += value_at(p, k, &at) / (double)n;
  }
  hrv_grid_begin((double)(2 * size) / RATE, scratch, &g);
  for (int64_t from = 0; from + size <= n; from += size - size / 2, pieces++) {
    const double weights = transform_piece(p, mean, from, size, &g);

    integrate(&g, 2 / (RATE * weights), &b);
  }
  for (int k = 0; k < HRV_BANDS; k++) {
    b.power[k] = b.power[k] > 0 ? b.power[k] / (double)pieces : NAN;
  }
  return isnan(b.power[1]) || isnan(b.power[2])
             ? none
             : (ps_hrv_bands){b.power[0], b.power[1], b.power[2]};
}
