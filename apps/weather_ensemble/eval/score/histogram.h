/* histogram.h - what rank histograms and histograms of the probability integral transform say of an
 * ensemble. Counts may be weights. */
#ifndef WX_HISTOGRAM_H
#define WX_HISTOGRAM_H
#include <stdint.h>

typedef struct wx_uniformity {
  double total;
  double delta; /* reliability index: sum of |share - 1 / bins| (Delle Monache et al., JGR 111
                   (2006) D24307) */
  double chi2;  /* of one case: times the independent cases it is compared with chi-square of
                   bins - 1 degrees of freedom */
  double slope; /* the terms of chi2 that a linear and a quadratic contrast take: bias, and too */
  double curvature; /* little or much spread (Jolliffe and Primo, MWR 136 (2008) 2133). With the
                       sign of the contrast: slope > 0: the truth lies high; curvature > 0: a U */
} wx_uniformity;
/* Computes the uniformity of a histogram; NaN where nothing was counted. */
wx_uniformity wx_histogram_uniformity(const double *count, int64_t bins);
/* Returns the relative error of a share of n independent cases: sqrt((bins - 1) / n). */
double wx_histogram_error(int64_t bins, double cases);
#endif
