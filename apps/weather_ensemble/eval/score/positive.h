/* positive.h - the families of distribution.h that are not cut from a symmetric one: log-normal
 * (Baran and Lerch, QJRMS 141 (2015) 2289) and censored shifted gamma (Scheuerer and Hamill, MWR
 * 143 (2015) 4578), by mean and standard deviation of the distribution before it is censored.
 * Functions as those of distribution.h, for scale > 0. */
#ifndef WX_POSITIVE_H
#define WX_POSITIVE_H
#include <stdbool.h>
#include "eval/score/family.h"

bool wx_positive(wx_family family);
/* Returns whether all of the distribution is at its bound: the location is not above the origin, or
 * by so little that no number holds the rest. */
bool wx_positive_is_point(const wx_distribution *d);
/* Returns whether the scale is so small a share of the distance to the origin, 1e-3 of it for gamma
 * and 1e-7 for log-normal, that the distribution is normal to a third of this share. */
bool wx_positive_is_narrow(const wx_distribution *d);
/* The rest is for distributions that are neither. */
double wx_positive_below(const wx_distribution *d, double x);
double wx_positive_above(const wx_distribution *d, double x);
double wx_positive_quantile(const wx_distribution *d, double p);
double wx_positive_log_score(const wx_distribution *d, double y);
void wx_positive_moments(const wx_distribution *d, double *mean, double *sd);
wx_crps_slopes wx_positive_crps_slopes(const wx_distribution *d, double y);
/* By quadrature, absolute error below 1e-9 scales. */
double wx_positive_crps_tail(const wx_distribution *d, double y, double t, bool upper);
#endif
