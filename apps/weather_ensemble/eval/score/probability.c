/* probability.c - see probability.h. */
#include "eval/score/probability.h"
#include <math.h>

double wx_brier(double p, int o)
{
  return (p - o) * (p - o);
}

double wx_brier_fair(double p, int o, int64_t m)
{
  return m == 0 ? wx_brier(p, o) : m == 1 ? NAN : wx_brier(p, o) - p * (1 - p) / (double)(m - 1);
}

int64_t wx_reliability_of(double p, int64_t n)
{
  const int64_t k = (int64_t)floor(p * (double)(n - 1) + 0.5);

  return k < 0 ? 0 : k < n ? k : n - 1;
}

void wx_reliability_take(wx_reliability_bin *bin, int64_t n, double p, int o, double weight)
{
  wx_reliability_bin *const b = &bin[wx_reliability_of(p, n)];

  b->weight += weight;
  b->forecast += weight * p;
  b->observed += weight * o;
  b->count++;
}

wx_brier_decomposition wx_reliability_decompose(const wx_reliability_bin *bin, int64_t n)
{
  double weight = 0, observed = 0;
  wx_brier_decomposition p = {.reliability = 0};

  for (int64_t k = 0; k < n; k++) {
    weight += bin[k].weight;
    observed += bin[k].observed;
  }
  if (!(weight > 0)) {
    return (wx_brier_decomposition){NAN, NAN, NAN, NAN};
  }
  p.rate = observed / weight;
  p.uncertainty = p.rate * (1 - p.rate);
  for (int64_t k = 0; k < n; k++) {
    if (bin[k].weight > 0) {
      const double share = bin[k].weight / weight, mean = bin[k].forecast / bin[k].weight;
      const double seen = bin[k].observed / bin[k].weight;

      p.reliability += share * (mean - seen) * (mean - seen);
      p.resolution += share * (seen - p.rate) * (seen - p.rate);
    }
  }
  return p;
}

/* Last bin of the pool that begins at bin k: the longest stretch whose mean is smallest, so that
 * what follows is higher. */
static int64_t pool_from(const wx_reliability_bin *bin, int64_t n, int64_t k, double *mean)
{
  double weight = 0, observed = 0;
  int64_t last = k;

  *mean = INFINITY;
  for (int64_t i = k; i < n; i++) {
    weight += bin[i].weight;
    observed += bin[i].observed;
    if (weight > 0 && observed / weight <= *mean) {
      *mean = observed / weight;
      last = i;
    }
  }
  return last;
}

wx_corp wx_reliability_corp(const wx_reliability_bin *bin, int64_t n, double *recalibrated)
{
  const wx_brier_decomposition brier = wx_reliability_decompose(bin, n);
  double weight = 0, raw = 0, calibrated = 0;

  for (int64_t k = 0; k < n; k++) {
    double mean;
    const int64_t last = pool_from(bin, n, k, &mean);

    for (; k <= last; k++) {
      const wx_reliability_bin *const b = &bin[k];

      recalibrated[k] = b->weight > 0 ? mean : NAN;
      if (b->weight > 0) {
        const double p = b->forecast / b->weight, event = b->observed;

        weight += b->weight;
        raw += event * (1 - p) * (1 - p) + (b->weight - event) * p * p;
        calibrated += event * (1 - mean) * (1 - mean) + (b->weight - event) * mean * mean;
      }
    }
    k = last;
  }
  return (wx_corp){(raw - calibrated) / weight, brier.uncertainty - calibrated / weight,
                   brier.uncertainty};
}

void wx_reliability_roc_curve(const wx_reliability_bin *bin, int64_t n, double *false_alarm,
                              double *hit)
{
  double events = 0, others = 0, hits = 0, alarms = 0;

  for (int64_t k = 0; k < n; k++) {
    events += bin[k].observed;
    others += bin[k].weight - bin[k].observed;
  }
  for (int64_t k = n; k >= 0; k--) { /* warned of from bin k on */
    if (k < n) {
      hits += bin[k].observed;
      alarms += bin[k].weight - bin[k].observed;
    }
    hit[n - k] = events > 0 ? hits / events : NAN;
    false_alarm[n - k] = others > 0 ? alarms / others : NAN;
  }
}

double wx_reliability_roc(const wx_reliability_bin *bin, int64_t n)
{
  double events = 0, others = 0, above = 0, area = 0;

  for (int64_t k = n - 1; k >= 0; k--) {
    const double hit = bin[k].observed, alarm = bin[k].weight - bin[k].observed;

    area += alarm * (above + hit / 2);
    above += hit;
    events += hit;
    others += alarm;
  }
  return events > 0 && others > 0 ? area / (events * others) : NAN;
}
