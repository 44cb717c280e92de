/* window.c - see window.h. */
#include "beats/window.h"
#include <math.h>

/* mV: a window that varies less is not made larger. */
#define FLAT 0.01

/* s: half width of the triangle. */
static double half_width(const ps_beat_window *w, double fs)
{
  return 1 / fmin(w->rate, fs);
}

int64_t ps_beat_window_samples(const ps_beat_window *w)
{
  return w->before + w->after;
}

int64_t ps_beat_window_behind(const ps_beat_window *w, double fs)
{
  return (int64_t)floor(((double)w->before / w->rate + half_width(w, fs)) * fs);
}

int64_t ps_beat_window_ahead(const ps_beat_window *w, double fs)
{
  return (int64_t)floor(((double)(w->after - 1) / w->rate + half_width(w, fs)) * fs);
}

/* The mean of x, whose element i is of slot `first` + i from the beat on, around slot `at`. */
static double mean_around(const float *x, int64_t first, int64_t n, double at, double half)
{
  int64_t lo = (int64_t)ceil(at - half), hi = (int64_t)floor(at + half);
  double sum = 0, weights = 0;

  lo = lo < first ? first : lo;
  hi = hi > first + n - 1 ? first + n - 1 : hi;
  for (int64_t i = lo; i <= hi; i++) {
    const double weight = 1 - fabs((double)i - at) / half;

    sum += weight * (double)x[i - first];
    weights += weight;
  }
  return weights > 0 ? sum / weights : 0;
}

void ps_beat_window_take(const ps_beat_window *w, double fs, const float *x, int64_t stride,
                         float *y)
{
  const int64_t n = ps_beat_window_samples(w), behind = ps_beat_window_behind(w, fs);
  const int64_t slots = behind + 1 + ps_beat_window_ahead(w, fs);
  double sum = 0, squares = 0;

  for (int64_t k = 0; k < n; k++) {
    const double at = (double)(k - w->before) / w->rate * fs;
    const double v = mean_around(x, -behind, slots, at, half_width(w, fs) * fs);

    y[k * stride] = (float)v;
    sum += v;
  }
  if (w->as_is) {
    return;
  }
  const double mean = sum / (double)n;

  for (int64_t k = 0; k < n; k++) {
    const double d = (double)y[k * stride] - mean;

    squares += d * d;
  }
  const double scale = fmax(sqrt(squares / (double)n), FLAT);

  for (int64_t k = 0; k < n; k++) {
    y[k * stride] = (float)(((double)y[k * stride] - mean) / scale);
  }
}
