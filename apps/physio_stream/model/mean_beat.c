/* mean_beat.c - see mean_beat.h. */
#include "model/mean_beat.h"
#include <math.h>
#include <string.h>

/* s: the samples of a mean beat, those that are compared, and how far the R wave that noise has
 * moved is looked for, on either side. */
#define REACH 0.29
#define COMPARED 0.1
#define MOVED 0.01
/* How many times as large as the mean a beat may be, or as small: noise alone is like any mean. */
#define SIZE 4
/* The weight of a new beat falls with the square of noise from 1 where its standard deviation is
 * QUIET of the peak-to-peak amplitude of the complex. */
#define QUIET 0.002

/* Sums of n products, less those of the means. */
static double covariance(const double *a, const double *b, int64_t n)
{
  double sum_a = 0, sum_b = 0, sum = 0;

  for (int64_t i = 0; i < n; i++) {
    sum_a += a[i];
    sum_b += b[i];
    sum += a[i] * b[i];
  }
  return sum - sum_a * sum_b / (double)n;
}

ps_likeness ps_beat_compare(const double *a, double noise_a, const double *b, double noise_b,
                            int64_t n)
{
  const double aa = covariance(a, a, n) - (double)n * noise_a * noise_a;
  const double bb = covariance(b, b, n) - (double)n * noise_b * noise_b;
  const double ab = covariance(a, b, n);

  return aa > 0 && bb > 0 ? (ps_likeness){.correlation = ab / sqrt(aa * bb), .size = ab / aa}
                          : (ps_likeness){0};
}

double ps_beat_height(const double *x, int64_t n)
{
  double lo = x[0], hi = x[0];

  for (int64_t i = 1; i < n; i++) {
    lo = fmin(lo, x[i]);
    hi = fmax(hi, x[i]);
  }
  return hi - lo;
}

void ps_mean_begin(ps_mean_beat *mean, double *x, const double *y, int64_t n, double noise)
{
  memcpy(x, y, (size_t)n * sizeof *x);
  *mean = (ps_mean_beat){.most = mean->most, .n = 1, .noise = noise};
}

void ps_mean_learn(ps_mean_beat *mean, double *x, const double *y, int64_t n, double weight,
                   double noise)
{
  for (int64_t i = 0; i < n; i++) {
    x[i] += weight * (y[i] - x[i]);
  }
  mean->noise = hypot((1 - weight) * mean->noise, weight * noise);
  mean->n++;
}

bool ps_mean_count(ps_mean_beat *mean, bool alike, bool counts, int64_t in_row)
{
  mean->in_row = alike ? 0 : mean->in_row + 1;
  mean->unlike += alike ? -(mean->unlike > 0) : counts;
  return mean->n == 0 || mean->unlike > PS_BEAT_UNLIKE || mean->in_row > in_row;
}

int64_t ps_mean_reach(double rate)
{
  return (int64_t)ceil(REACH * rate);
}

/* Where y follows the mean x[2 c + 1] best: samples from 0, at most `moved`; *fine: between them,
 * at the top of a parabola. y[0] is the middle. */
static int64_t align(const double *x, const double *y, int64_t c, int64_t moved, double *fine)
{
  double best = -INFINITY, left = 0, right = 0;
  int64_t at = 0;

  for (int64_t s = -moved; s <= moved; s++) {
    const double here = covariance(x, y + s - c, 2 * c + 1);

    if (here > best) {
      best = here;
      at = s;
    }
  }
  left = covariance(x, y + at - 1 - c, 2 * c + 1);
  right = covariance(x, y + at + 1 - c, 2 * c + 1);
  const double curve = left - 2 * best + right;

  *fine = curve < 0 ? fmax(-0.5, fmin(0.5, 0.5 * (left - right) / curve)) : 0;
  return at;
}

bool ps_mean_add(ps_mean_beat *mean, double *x, const double *y, int64_t n, int64_t r, double rate,
                 double noise, double *shift)
{
  const int64_t h = ps_mean_reach(rate), c = (int64_t)ceil(COMPARED * rate);
  const int64_t moved = (int64_t)ceil(MOVED * rate);

  *shift = 0;
  if (r - h - moved - 1 < 0 || r + h + moved + 1 >= n) {
    return false;
  }
  const double quiet = QUIET * ps_beat_height(y + r - c, 2 * c + 1);
  const double share = noise > quiet ? quiet / noise : 1;
  const double weight =
      fmax(share * share, 1 / (double)(mean->n < mean->most ? mean->n + 1 : mean->most));

  if (mean->n == 0 || weight == 1) {
    ps_mean_begin(mean, x, y + r - h, 2 * h + 1, noise);
    return true;
  }
  double fine = 0;
  const int64_t at = align(x + h - c, y + r, c, moved, &fine);
  const double *own = y + r + at;
  const ps_likeness like = ps_beat_compare(x + h - c, mean->noise, own - c, noise, 2 * c + 1);
  const bool alike =
      like.correlation >= PS_BEAT_ALIKE && like.size >= 1.0 / SIZE && like.size <= SIZE;

  if (ps_mean_count(mean, alike, true, PS_BEAT_UNLIKE)) {
    ps_mean_begin(mean, x, y + r - h, 2 * h + 1, noise);
    return true;
  }
  if (alike) {
    ps_mean_learn(mean, x, own - h, 2 * h + 1, weight, noise);
    *shift = (double)at + fine;
  }
  return alike;
}
