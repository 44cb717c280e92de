/* hrv_spectrum.c - Welch, IEEE Trans. Audio Electroacoust. 15 (1967) 70-73, of a spline. Few
 * frequencies matter, so sums over them are direct. */
#include <math.h>
#include "model/hrv_priv.h"

static const double edges[HRV_BANDS + 1] = {0.003, 0.04, 0.15, HRV_HIGHEST}; /* Hz */

/* Second derivatives of the natural cubic spline: a tridiagonal system. */
static void bend_spline(const hrv_points *p)
{
  p->bend[0] = p->work[0] = 0;
  for (int64_t i = 1; i < p->n - 1; i++) {
    const double before = p->t[i] - p->t[i - 1], after = p->t[i + 1] - p->t[i];
    const double pivot = 2 * (before + after) - before * p->work[i - 1];
    const double slope = (p->y[i + 1] - p->y[i]) / after - (p->y[i] - p->y[i - 1]) / before;

    p->work[i] = after / pivot;
    p->bend[i] = (6 * slope - before * p->bend[i - 1]) / pivot;
  }
  p->bend[p->n - 1] = 0;
  for (int64_t i = p->n - 2; i > 0; i--) {
    p->bend[i] -= p->work[i] * p->bend[i + 1];
  }
}

int64_t hrv_spline(const hrv_points *p, double *series)
{
  bend_spline(p);
  const int64_t n = 1 + (int64_t)floor((p->t[p->n - 1] - p->t[0]) * HRV_RATE);
  int64_t i = 0;

  for (int64_t k = 0; k < n; k++) {
    const double t = p->t[0] + (double)k / HRV_RATE;

    while (i < p->n - 2 && t >= p->t[i + 1]) {
      i++;
    }
    const double h = p->t[i + 1] - p->t[i], b = (t - p->t[i]) / h, a = 1 - b;

    series[k] = a * p->y[i] + b * p->y[i + 1] +
                ((a * a * a - a) * p->bend[i] + (b * b * b - b) * p->bend[i + 1]) * h * h / 6;
  }
  return n;
}

/* The piece without its line of least squares. */
static void take_line(const double *x, double *y)
{
  const double middle = (HRV_PIECE - 1) / 2.0;
  double mean = 0, slope = 0, sum_squares = 0;

  for (int i = 0; i < HRV_PIECE; i++) {
    mean += x[i] / HRV_PIECE;
    slope += x[i] * (i - middle);
    sum_squares += (i - middle) * (i - middle);
  }
  for (int i = 0; i < HRV_PIECE; i++) {
    y[i] = x[i] - mean - slope / sum_squares * (i - middle);
  }
}

static void add_piece(const double *x, hrv_density *d)
{
  const double step = 2 * acos(-1.0) / HRV_PIECE;
  double y[HRV_PIECE], cosine[HRV_PIECE], weight = 0;

  take_line(x, y);
  for (int i = 0; i < HRV_PIECE; i++) {
    const double hann = 0.5 - 0.5 * cos(step * i);

    cosine[i] = cos(step * i);
    y[i] *= hann;
    weight += hann * hann;
  }
  for (int k = 1; k * HRV_RATE / HRV_PIECE < HRV_HIGHEST; k++) {
    double re = 0, im = 0;

    for (int i = 0; i < HRV_PIECE; i++) {
      re += y[i] * cosine[k * i % HRV_PIECE];
      im += y[i] * cosine[(k * i + HRV_PIECE / 4) % HRV_PIECE];
    }
    d->sum[k] += 2 * (re * re + im * im) / (HRV_RATE * weight);
  }
  d->pieces++;
}

void hrv_welch(const hrv_points *p, double *series, hrv_density *density)
{
  if (p->n < 4) {
    return;
  }
  const int64_t n = hrv_spline(p, series);

  for (int64_t i = 0; i + HRV_PIECE <= n; i += HRV_PIECE / 2) {
    add_piece(series + i, density);
  }
}

int hrv_band_of(double f)
{
  for (int b = 0; b < HRV_BANDS; b++) {
    if (f >= edges[b] && f < edges[b + 1]) {
      return b;
    }
  }
  return -1;
}

ps_hrv_bands hrv_bands_of(const hrv_density *d)
{
  double power[HRV_BANDS] = {0};

  if (d->pieces == 0) {
    return (ps_hrv_bands){NAN, NAN, NAN};
  }
  for (int k = 1; k <= HRV_PIECE / 2; k++) {
    const int b = hrv_band_of(k * HRV_RATE / HRV_PIECE);

    if (b >= 0) {
      power[b] += d->sum[k] / (double)d->pieces * HRV_RATE / HRV_PIECE;
    }
  }
  return (ps_hrv_bands){power[0], power[1], power[2]};
}
