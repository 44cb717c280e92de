/* probability.h - forecasts of the probability of an event: Brier score and its decomposition,
 * reliability diagram, ROC. */
#ifndef WX_PROBABILITY_H
#define WX_PROBABILITY_H
#include <stdint.h>

/* Returns (p - o)^2, o 0 or 1. */
double wx_brier(double p, int o);
/* Returns the Brier score less the contribution of m members: p (1 - p) / (m - 1) (Ferro, QJRMS 140
 * (2014) 1917). NaN for one member; m 0 is a distribution: as wx_brier. */
double wx_brier_fair(double p, int o, int64_t m);

/* Weighted sums of the cases of a bin of probabilities. */
typedef struct wx_reliability_bin {
  double weight, forecast, observed; /* sums of 1, p, o */
  int64_t count;
} wx_reliability_bin;
/* Returns the bin of p among n of [0, 1]: of equal width, the ends of the middle of the bins at 0
 * and 1, so that k / (n - 1) is the middle of bin k: members of n - 1 lose nothing. */
int64_t wx_reliability_of(double p, int64_t n);
void wx_reliability_take(wx_reliability_bin *bin, int64_t n, double p, int o, double weight);

/* Brier score of bins as reliability - resolution + uncertainty, each bin's p its mean; what
 * different p within bins add is left out (Murphy, JAM 12 (1973) 595). NaN where nothing was
 * counted. */
typedef struct wx_brier_decomposition {
  double reliability, resolution, uncertainty, rate; /* rate: of the event */
} wx_brier_decomposition;
wx_brier_decomposition wx_reliability_decompose(const wx_reliability_bin *bin, int64_t n);
/* Brier score of bins as miscalibration - discrimination + uncertainty: the first is what
 * recalibration by a rising function would gain, which is found by pooling neighbours that fall
 * (CORP: Dimitriadis, Gneiting and Jordan, PNAS 118 (2021) e2016191118). Exact where bins hold one
 * probability each. `recalibrated` [n] gets the recalibrated probability of each bin; NaN: it is
 * empty. */
typedef struct wx_corp {
  double miscalibration, discrimination, uncertainty;
} wx_corp;
wx_corp wx_reliability_corp(const wx_reliability_bin *bin, int64_t n, double *recalibrated);
/* Returns the area under hit rate over false alarm rate, all n + 1 thresholds with the ends (0,0)
 * and (1,1), by trapezoids. NaN where the event came always or never. */
double wx_reliability_roc(const wx_reliability_bin *bin, int64_t n);
/* Points of the curve, from (0,0) to (1,1), [n + 1] each. */
void wx_reliability_roc_curve(const wx_reliability_bin *bin, int64_t n, double *false_alarm,
                              double *hit);
#endif
