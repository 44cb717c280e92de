/* distribution.h - distributions of a location and a scale that a forecast may have: the normal and
 * the logistic one, whole, truncated at a lower bound or censored there, with their scores in
 * closed form. Units: those of the forecast.
 *
 * truncated: the part above the bound, as a distribution of its own (wind speed). censored: all
 * that would lie below the bound is at the bound, with a probability above zero (precipitation,
 * cloud). The scale of a logistic distribution is sd sqrt(3) / pi. */
#ifndef WX_DISTRIBUTION_H
#define WX_DISTRIBUTION_H
#include <stdbool.h>

typedef enum wx_family {
  WX_NORMAL,
  WX_TRUNCATED_NORMAL,
  WX_CENSORED_NORMAL,
  WX_LOGISTIC,
  WX_TRUNCATED_LOGISTIC,
  WX_CENSORED_LOGISTIC,
  WX_FAMILIES
} wx_family;
#define WX_FAMILY_CHOICES \
  "normal|truncated_normal|censored_normal|logistic|truncated_logistic|censored_logistic"

/* location and scale >= 0 are those of the whole distribution; scale 0: all at one value. The bound
 * does not count where the family has none. Scores and probabilities are NaN where one of these is,
 * and where scale < 0. */
typedef struct wx_distribution {
  wx_family family;
  double location, scale, lower;
} wx_distribution;

/* Return whether the family has a lower bound; and whether values at it have a probability. */
bool wx_family_is_bounded(wx_family family);
bool wx_family_is_censored(wx_family family);

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
 * Statistical Software 90 (2019) 12, appendix A). Truth below the bound is scored as such. */
double wx_distribution_crps(const wx_distribution *d, double y);
/* The same integral over values above t (upper), or below it. */
double wx_distribution_crps_tail(const wx_distribution *d, double y, double t, bool upper);

/* The CRPS with its derivatives by location m and scale s. */
typedef struct wx_crps_slopes {
  double crps, m, s, mm, ms, ss;
} wx_crps_slopes;
wx_crps_slopes wx_distribution_crps_slopes(const wx_distribution *d, double y);
#endif
