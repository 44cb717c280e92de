/* ensemble.c - see ensemble.h. */
#include "eval/ensemble.h"
#include <math.h>

wx_moments wx_ensemble_moments(const double *x, int64_t m, int ddof)
{
  double mean = 0, squares = 0;

  for (int64_t i = 0; i < m; i++) {
    mean += x[i] - x[0];
  }
  mean = m > 0 ? x[0] + mean / (double)m : NAN;
  for (int64_t i = 0; i < m; i++) {
    squares += (x[i] - mean) * (x[i] - mean);
  }
  return (wx_moments){mean, m > ddof ? squares / (double)(m - ddof) : NAN};
}

int64_t wx_ensemble_rank(const double *x, int64_t m, double y, uint64_t bits)
{
  int64_t below = 0, equal = 0;

  for (int64_t i = 0; i < m; i++) {
    below += x[i] < y;
    equal += x[i] == y;
  }
  /* The high bits, as a fraction of the ranks. */
  return below + (equal > 0 ? (int64_t)(((bits >> 32) * (uint64_t)(equal + 1)) >> 32) : 0);
}

double wx_ensemble_quantile(const double *x, int64_t m, double p)
{
  const double at = p * (double)(m + 1);
  const int64_t i = (int64_t)floor(at);

  if (i < 1 || i >= m) {
    return i < 1 ? x[0] : x[m - 1];
  }
  return x[i - 1] + (at - (double)i) * (x[i] - x[i - 1]);
}

wx_interval wx_interval_ensemble(const double *x, int64_t m, double nominal)
{
  const double max_coverage = (double)(m - 1) / (double)(m + 1);
  const double p = fmin(nominal, max_coverage), tail = (1 - p) / 2;

  return nominal >= max_coverage ? (wx_interval){x[0], x[m - 1], max_coverage}
                                 : (wx_interval){wx_ensemble_quantile(x, m, tail),
                                                 wx_ensemble_quantile(x, m, 1 - tail), p};
}

double wx_interval_score(const wx_interval *i, double y)
{
  const double miss = fmax(fmax(i->lo - y, y - i->hi), 0);

  return i->hi - i->lo + 2 / (1 - i->nominal) * miss;
}

double wx_pit_rank(int64_t rank, int64_t m, double u)
{
  return ((double)rank + u) / (double)(m + 1);
}

static double distance(const double *a, const double *b, int64_t d)
{
  double squares = 0;

  for (int64_t k = 0; k < d; k++) {
    squares += (a[k] - b[k]) * (a[k] - b[k]);
  }
  return sqrt(squares);
}

wx_energy wx_energy_score(const double *x, int64_t m, int64_t stride, const double *y, int64_t d)
{
  const double n = (double)m;
  double skill = 0, pairs = 0;

  for (int64_t i = 0; i < m; i++) {
    skill += distance(x + i * stride, y, d);
    for (int64_t j = 0; j < i; j++) {
      pairs += distance(x + i * stride, x + j * stride, d);
    }
  }
  return (wx_energy){skill / n - pairs / (n * n), m > 1 ? skill / n - pairs / (n * (n - 1)) : NAN};
}

/* The order that is used most costs a root. */
static double power(double x, double p)
{
  return p == 0.5 ? sqrt(x) : pow(x, p);
}

double wx_variogram_score(const double *x, int64_t m, int64_t stride, const double *y, int64_t d,
                          double p)
{
  double sum = 0;

  for (int64_t i = 0; i < d; i++) {
    for (int64_t j = 0; j < i; j++) {
      double mean = 0;

      for (int64_t k = 0; k < m; k++) {
        mean += power(fabs(x[k * stride + i] - x[k * stride + j]), p);
      }
      const double apart = power(fabs(y[i] - y[j]), p) - mean / (double)m;

      sum += apart * apart;
    }
  }
  return d > 1 ? sum / ((double)d * (double)(d - 1) / 2) : 0;
}
