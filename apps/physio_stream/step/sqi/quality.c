/* quality.c - see quality.h. */
#include "step/sqi/quality.h"
#include <math.h>

/* Frequencies whose recurrences run side by side, and samples after which they begin anew: their
 * rounding grows with the square of that. */
enum { LANES = 8, BLOCK = 256 };
/* Slack of a band's borders, Hz: a frequency on the border lies within. */
#define SLACK 1e-9
#define TWO_PI 6.283185307179586476925286766559
#define HIGHEST 40.0

static int64_t bins(int64_t n, double rate)
{
  return (int64_t)floor((HIGHEST + SLACK) * (double)n / rate) + 1;
}

static int64_t padded(int64_t n, double rate)
{
  return (bins(n, rate) + LANES - 1) / LANES * LANES;
}

int64_t ps_quality_scratch(int64_t n, double rate)
{
  return n + padded(n, rate);
}

/* Slots i of the phase of bin k, exactly reduced. */
static double phase(int64_t k, int64_t i, int64_t n)
{
  return TWO_PI * (double)(k * (i % n) % n) / (double)n;
}

/* |X[k]|^2 for k = first .. first + LANES - 1 of n values, by Goertzel's recurrence in blocks. */
static void powers(const double *x, int64_t n, int64_t first, double *power)
{
  double re[LANES] = {0}, im[LANES] = {0}, twice[LANES];

  for (int j = 0; j < LANES; j++) {
    twice[j] = 2 * cos(phase(first + j, 1, n));
  }
  for (int64_t b = 0; b < n; b += BLOCK) {
    const int64_t m = n - b < BLOCK ? n - b : BLOCK;
    double s1[LANES] = {0}, s2[LANES] = {0};

    for (int64_t i = 0; i < m; i++) {
      for (int j = 0; j < LANES; j++) {
        const double s = x[b + i] + twice[j] * s1[j] - s2[j];

        s2[j] = s1[j];
        s1[j] = s;
      }
    }
    for (int j = 0; j < LANES; j++) {
      /* sum of x e^(-i w t) = s1 e^(-i w (b + m - 1)) - s2 e^(-i w (b + m)) */
      const double here = phase(first + j, b + m - 1, n), next = phase(first + j, b + m, n);

      re[j] += s1[j] * cos(here) - s2[j] * cos(next);
      im[j] -= s1[j] * sin(here) - s2[j] * sin(next);
    }
  }
  for (int j = 0; j < LANES; j++) {
    power[j] = re[j] * re[j] + im[j] * im[j];
  }
}

static double band(const double *power, int64_t n, double rate, double lo, double hi)
{
  const int64_t count = bins(n, rate);
  double sum = 0;

  for (int64_t k = 0; k < count; k++) {
    const double f = (double)k * rate / (double)n;

    sum += f >= lo - SLACK && f <= hi + SLACK ? power[k] : 0;
  }
  return sum;
}

static int64_t next_beat(const uint8_t *bits, int64_t at, int64_t n, int which)
{
  while (at < n && !(bits[at] & which)) {
    at++;
  }
  return at;
}

/* Beats of the two detectors in order of time, each with at most one of the other. */
static void agree(const uint8_t *bits, int64_t n, double rate, int64_t match, ps_quality *q)
{
  const int64_t first = next_beat(bits, 0, n, PS_QUALITY_FIRST);
  int64_t i = first, last = first, a = 0, b = 0, both = 0;
  int64_t j = next_beat(bits, 0, n, PS_QUALITY_SECOND);

  while (i < n || j < n) {
    const bool pair = i < n && j < n && (i > j ? i - j : j - i) <= match;
    const bool take_first = pair || i < j, take_second = pair || j < i;

    both += pair;
    if (take_first) {
      last = i;
      a++;
      i = next_beat(bits, i + 1, n, PS_QUALITY_FIRST);
    }
    if (take_second) {
      b++;
      j = next_beat(bits, j + 1, n, PS_QUALITY_SECOND);
    }
  }
  q->q = a + b > 0 ? 2.0 * (double)both / (double)(a + b) : 0;
  q->rate = a > 1 ? 60.0 * rate * (double)(a - 1) / (double)(last - first) : 0;
}

/* y: x without its mean, 0 where absent. Returns the kurtosis E[y^4] / E[y^2]^2. */
static double center(const float *x, const uint8_t *bits, int64_t n, double *y)
{
  double sum = 0, m2 = 0, m4 = 0;
  int64_t count = 0;

  for (int64_t i = 0; i < n; i++) {
    if (bits[i] & PS_QUALITY_PRESENT) {
      sum += (double)x[i];
      count++;
    }
  }
  const double mean = count > 0 ? sum / (double)count : 0;

  for (int64_t i = 0; i < n; i++) {
    y[i] = bits[i] & PS_QUALITY_PRESENT ? (double)x[i] - mean : 0;
    const double square = y[i] * y[i];

    m2 += square;
    m4 += square * square;
  }
  /* What rounding leaves of a flat line is no variance. */
  const bool flat = !(m2 > 1e-24 * mean * mean * (double)count);

  for (int64_t i = 0; flat && i < n; i++) {
    y[i] = 0;
  }
  return flat ? 0 : (double)count * m4 / (m2 * m2);
}

ps_quality ps_quality_of(const float *x, const uint8_t *bits, int64_t n, double rate, int64_t match,
                         double *scratch)
{
  double *power = scratch, *y = scratch + padded(n, rate);
  ps_quality q = {.k = center(x, bits, n, y)};

  agree(bits, n, rate, match, &q);
  for (int64_t k = 0; k < padded(n, rate); k += LANES) {
    powers(y, n, k, power + k);
  }
  const double qrs = band(power, n, rate, 5, 40), all = band(power, n, rate, 0, 40);

  q.p = qrs > 0 ? band(power, n, rate, 5, 15) / qrs : 0;
  q.bas = all > 0 ? 1 - band(power, n, rate, 0, 1) / all : 0;
  return q;
}

static ps_quality_class class_of(bool best, bool worst)
{
  return best    ? PS_QUALITY_EXCELLENT
         : worst ? PS_QUALITY_UNACCEPTABLE
                 : PS_QUALITY_BARELY_ACCEPTABLE;
}

/* kSQI > 5: kurtosis of which a normal distribution has 3, as in Li et al. (2008), whom ZZ2018
 * cites. Programs that compare the excess kurtosis with 5 ask for 8. */
ps_quality_class ps_quality_classify(const ps_quality *q)
{
  const double low = q->rate >= 130 ? 0.4 : 0.5, high = q->rate >= 130 ? 0.7 : 0.8;
  const ps_quality_class each[] = {
      /* optimal, suspicious or unqualified */
      class_of(q->q > 0.9, !(q->q >= 0.6)),
      class_of(q->p >= low && q->p <= high, !(q->p >= low - 0.1 && q->p <= high)),
      class_of(q->k > 5, !(q->k > 5)),
      class_of(q->bas >= 0.95, !(q->bas >= 0.9)),
  };
  int n[3] = {0};

  for (int k = 0; k < 4; k++) {
    n[each[k]]++;
  }
  const int unqualified = n[PS_QUALITY_UNACCEPTABLE], suspicious = n[PS_QUALITY_BARELY_ACCEPTABLE];

  return class_of(unqualified == 0 && suspicious <= 1, unqualified >= 3 ||
                                                           (unqualified == 2 && suspicious >= 1) ||
                                                           (unqualified == 1 && suspicious == 3));
}
