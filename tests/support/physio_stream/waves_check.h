/* waves_check.h - beats of Gaussian waves for tests of delineation, and the statistics of marks. */
#ifndef WAVES_CHECK_H
#define WAVES_CHECK_H
#include "base/weir_sort.h"
#include "support/physio_stream/step_check.h"

/* A beat: Gaussian waves, mV, and s from the R wave and of their width. */
typedef struct bump {
  double height, at, width;
} bump;
enum { P_BUMP, Q_BUMP, R_BUMP, S_BUMP, T_BUMP, BUMPS };
static const bump usual[BUMPS] = {{0.15, -0.17, 0.022},
                                  {-0.2, -0.03, 0.008},
                                  {1.2, 0, 0.011},
                                  {-0.25, 0.028, 0.009},
                                  {0.3, 0.29, 0.045}};

/* Beats every rr s from 1 s on; in[0]: the signal, in[1]: the intervals. */
static inline void simulate(int64_t seconds, int64_t rate, double rr, const bump *bumps,
                            step_signal in[2])
{
  for (int k = 0; k < 2; k++) {
    in[k] = step_signal_new(seconds * rate, rate, 1);
    in[k].unit = k == 0 ? "mV" : "s";
  }
  memset(in[1].present, 0, (size_t)in[1].n);
  for (double t = 1; t < (double)seconds - 1; t += rr) {
    const int64_t r = (int64_t)floor(t * (double)rate + 0.5);

    in[1].present[r] = 1;
    in[1].x[r] = (float)rr;
    for (int64_t i = r - rate / 2; i < r + rate * 3 / 4; i++) {
      for (int k = 0; k < BUMPS && i >= 0 && i < in[0].n; k++) {
        const double u = ((double)(i - r) / (double)rate - bumps[k].at) / bumps[k].width;

        in[0].x[i] += (float)(bumps[k].height * exp(-u * u / 2));
      }
    }
  }
}

static inline void free_all(step_signal *in, int n)
{
  for (int k = 0; k < n; k++) {
    step_signal_free(&in[k]);
  }
}

/* The mean of a result over at least `least` beats, which all are within `spread` of it. */
static inline double mean_of(const step_result *r, const char *name, int64_t least, double spread)
{
  const step_stream *s = step_get(r, name);
  double sum = 0;

  for (int64_t t = 0; t < s->n; t++) {
    sum += (double)s->x[t];
  }
  const double mean = sum / (double)step_count(s);

  assert_true(step_count(s) >= least);
  for (int64_t t = 0; t < s->n; t++) {
    assert_true(!s->present[t] || fabs((double)s->x[t] - mean) <= spread);
  }
  return mean;
}

/* White noise of standard deviation `sd` by a formula that any program repeats: three terms of
 * k^2 times the golden ratio, modulo 1. `key`: another noise. */
static inline void add_noise(step_signal *s, double sd, int64_t key)
{
  static const int64_t keys[] = {1, 7920, 104730};

  for (int64_t i = 0; i < s->n; i++) {
    double sum = -1.5;

    for (int k = 0; k < 3; k++) {
      const double at = (double)(i + keys[k] + 1000003 * key);

      sum += fmod(at * at * 0.618033988749895, 1);
    }
    s->x[i] += (float)(2 * sd * sum);
  }
}

/* Median and standard deviation of a result over at least `least` beats. */
static inline double median_of(const step_result *r, const char *name, int64_t least, double *sd)
{
  const step_stream *s = step_get(r, name);
  double *const x = calloc((size_t)s->n, sizeof *x), sum = 0, square = 0;
  int64_t n = 0;

  assert_non_null(x);
  for (int64_t t = 0; t < s->n; t++) {
    if (s->present[t]) {
      x[n++] = (double)s->x[t];
    }
  }
  assert_true(n >= least);
  qsort(x, (size_t)n, sizeof *x, weir_compare_f64);
  for (int64_t i = 0; i < n; i++) {
    sum += x[i];
    square += x[i] * x[i];
  }
  const double median = x[n / 2], mean = sum / (double)n;

  *sd = sqrt(fmax(square / (double)n - mean * mean, 0));
  free(x);
  return median;
}

#endif
