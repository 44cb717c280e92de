/* modulation.c - see modulation.h. */
#include "step/resp_rate/modulation.h"
#include <math.h>
#include "model/hrv_priv.h"

/* Bins per bin of the transform without padding. */
#define PADDING 8

size_t ps_modulation_scratch(int64_t n, double seconds)
{
  return 4 * (size_t)n + (size_t)ceil(seconds * HRV_RATE) + 2;
}

int64_t ps_modulation_run(const ps_modulated *v, int64_t n, int64_t *first)
{
  int64_t longest = 0, from = 0;

  *first = 0;
  for (int64_t i = 0; i < n; i++) {
    from = v[i].joined ? from : i;
    if (longest == 0 || v[i].t - v[from].t > v[*first + longest - 1].t - v[*first].t) {
      *first = from;
      longest = i + 1 - from;
    }
  }
  return longest;
}

/* Takes the line of least squares out of y[n], then weights it by a Hann window. Returns the sum of
 * squares without the line. */
static double prepare(double *y, int64_t n)
{
  const double middle = (double)(n - 1) / 2, step = 2 * acos(-1.0) / (double)n;
  double mean = 0, slope = 0, squares = 0, power = 0;

  for (int64_t i = 0; i < n; i++) {
    mean += y[i] / (double)n;
  }
  for (int64_t i = 0; i < n; i++) {
    slope += (y[i] - mean) * ((double)i - middle);
    squares += ((double)i - middle) * ((double)i - middle);
  }
  for (int64_t i = 0; i < n; i++) {
    y[i] -= mean + slope / squares * ((double)i - middle);
    power += y[i] * y[i];
    y[i] *= 0.5 - 0.5 * cos(step * ((double)i + 0.5));
  }
  return power;
}

/* Squared magnitude of the transform of y[n] at `turn` radians a value. */
static double power_at(const double *y, int64_t n, double turn)
{
  const double c = cos(turn), s = sin(turn);
  double re = 0, im = 0, a = 1, b = 0;

  for (int64_t i = 0; i < n; i++) {
    const double next = a * c - b * s;

    re += y[i] * a;
    im += y[i] * b;
    b = a * s + b * c;
    a = next;
  }
  return re * re + im * im;
}

/* The largest maximum within (lo, hi), Hz, of the spectrum of y[n]; NaN for none. */
static double main_frequency(const double *y, int64_t n, double lo, double hi)
{
  const double bin = HRV_RATE / (PADDING * (double)n), turn = 2 * acos(-1.0) / HRV_RATE;
  const int64_t first = (int64_t)floor(lo / bin), last = (int64_t)ceil(hi / bin);
  double before = INFINITY, here = INFINITY, highest = 0, f = NAN;

  for (int64_t k = first; k <= last; k++) {
    const double next = power_at(y, n, turn * bin * (double)k);

    if (here > before && here >= next && here > highest) {
      const double top = (double)(k - 1) + 0.5 * (before - next) / (before - 2 * here + next);

      if (top * bin > lo && top * bin < hi) {
        highest = here;
        f = top * bin;
      }
    }
    before = here;
    here = next;
  }
  return f;
}

double ps_modulation_rate(const ps_modulated *v, int64_t n, int m, double lo, double hi,
                          double *scratch)
{
  double *series = scratch + 4 * n, largest = 0;

  if (n < 4) {
    return NAN;
  }
  const hrv_points points = {scratch, scratch + n, scratch + 2 * n, scratch + 3 * n, n};

  for (int64_t i = 0; i < n; i++) {
    points.t[i] = v[i].t;
    points.y[i] = v[i].value[m];
    largest = fmax(largest, fabs(v[i].value[m]));
  }
  const double span = v[n - 1].t - v[0].t;
  const int64_t n_series = hrv_spline(&points, series);
  const double power = prepare(series, n_series);

  /* Nothing but rounding is left of equal values. */
  if (!(power > 1e-20 * largest * largest * (double)n_series)) {
    return NAN;
  }
  return 60 * main_frequency(series, n_series, lo / 60, fmin(hi / 60, (double)(n - 1) / span / 2));
}

double ps_modulation_fuse(const double rate[PS_MODULATIONS], double *sd)
{
  double mean = 0, squares = 0;

  for (int m = 0; m < PS_MODULATIONS; m++) {
    mean += rate[m] / PS_MODULATIONS;
  }
  for (int m = 0; m < PS_MODULATIONS; m++) {
    squares += (rate[m] - mean) * (rate[m] - mean);
  }
  *sd = sqrt(squares / (PS_MODULATIONS - 1));
  return mean;
}
