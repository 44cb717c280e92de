/* given.h - quantiles of a forecast, and probabilities of events, at every cell. */
#ifndef WX_GIVEN_H
#define WX_GIVEN_H
#include <stdbool.h>
#include "eval/forecast_model.h"

/* Returns the distribution at a cell, where there are no members. */
wx_distribution wx_given_distribution(const wx_given *g, int64_t cell);
/* Computes quantiles at n ascending probabilities in (0, 1) of a distribution or of members,
 * between which they lie in proportion: h = (M - 1) p from the smallest (type 7 of Hyndman and Fan,
 * 1996). Missing members do not count; NaN where nothing is there. scratch: [members,
 * WX_LANES + 1]; out: [n, cells]. */
void wx_given_quantiles(const wx_given *g, int64_t cells, const double *p, int64_t n,
                        double *scratch, float *out);
/* Computes the probability of a value above (below) the threshold: of a distribution, or the share
 * of the members that are there. out: [cells]. */
void wx_given_chance(const wx_given *g, int64_t cells, double threshold, bool above, float *out);
#endif
