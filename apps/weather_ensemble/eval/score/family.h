/* family.h - a distribution by its family, location and scale, as distribution.h explains them, and
 * its CRPS with derivatives. */
#ifndef WX_FAMILY_H
#define WX_FAMILY_H

typedef enum wx_family {
  WX_NORMAL,
  WX_TRUNCATED_NORMAL,
  WX_CENSORED_NORMAL,
  WX_LOGISTIC,
  WX_TRUNCATED_LOGISTIC,
  WX_CENSORED_LOGISTIC,
  WX_LOG_NORMAL,
  WX_CENSORED_SHIFTED_GAMMA,
  WX_FAMILIES
} wx_family;
#define WX_FAMILY_CHOICES                                                                  \
  "normal|truncated_normal|censored_normal|logistic|truncated_logistic|censored_logistic|" \
  "log_normal|censored_shifted_gamma"

/* location and scale >= 0 are those of the whole distribution; scale 0: all at one value. The bound
 * does not count where the family has none. Scores and probabilities are NaN where one of these is,
 * and where scale < 0. */
typedef struct wx_distribution {
  wx_family family;
  double location, scale, lower;
  double shift; /* > 0, of the family censored_shifted_gamma alone; other families: 0 */
  double width; /* upper bound less the lower one, > 0, of a censored normal or logistic
                   distribution; 0: there is no upper bound */
} wx_distribution;

/* The CRPS with its derivatives by location m and scale s. */
typedef struct wx_crps_slopes {
  double crps, m, s, mm, ms, ss;
} wx_crps_slopes;
#endif
