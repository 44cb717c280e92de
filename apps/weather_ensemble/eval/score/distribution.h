/* distribution.h - distributions of a location and a scale that a forecast may have: the normal and
 * the logistic one, whole, truncated at a lower bound or censored there, with their scores in
 * closed form. Units: those of the forecast.
 *
 * truncated: the part above the bound, as a distribution of its own (wind speed). censored: all
 * that would lie below the bound is at the bound, with a probability above zero (precipitation,
 * cloud); with an upper bound, all that would lie above it is there, too (fractions). The scale of
 * a logistic distribution is sd sqrt(3) / pi.
 *
 * Two more by mean and standard deviation (location and scale): the log-normal distribution of what
 * is above the bound, and a gamma distribution that begins `shift` below the bound and is censored
 * there. Their mean is above their beginning, or else all is at the bound. */
#ifndef WX_DISTRIBUTION_H
#define WX_DISTRIBUTION_H
#include <stdbool.h>
#include "eval/score/family.h"

/* The option `upper` where there is no upper bound. */
#define WX_NO_UPPER 1e30
/* Return whether the family has a lower bound; whether values at it have a probability; and whether
 * it may have an upper bound. */
bool wx_family_is_bounded(wx_family family);
bool wx_family_is_censored(wx_family family);
bool wx_family_has_upper(wx_family family);
/* Returns the upper bound; infinite where there is none. */
double wx_distribution_upper(const wx_distribution *d);

/* Return the probability of values below (above) x, those equal to x not among them. */
double wx_distribution_below(const wx_distribution *d, double x);
double wx_distribution_above(const wx_distribution *d, double x);
/* Returns the value of probability p in (0, 1): the smallest x with P(X <= x) >= p. */
double wx_distribution_quantile(const wx_distribution *d, double p);
/* Returns -ln of the density at y, or of the probability at the bound; NaN where there is none: no
 * mean survives an infinite score. */
double wx_distribution_log_score(const wx_distribution *d, double y);
/* Computes mean and standard deviation. */
void wx_distribution_moments(const wx_distribution *d, double *mean, double *sd);

/* Returns the CRPS: integral of (P(X <= x) - 1{y <= x})^2 (Jordan, Krueger and Lerch, Journal of
 * Statistical Software 90 (2019) 12, appendix A). Truth outside the bounds is scored as such. */
double wx_distribution_crps(const wx_distribution *d, double y);
/* The same integral over values above t (upper), or below it. */
double wx_distribution_crps_tail(const wx_distribution *d, double y, double t, bool upper);

/* Returns the CRPS with its derivatives. */
wx_crps_slopes wx_distribution_crps_slopes(const wx_distribution *d, double y);
#endif
