/* calls.h - scores of ensembles in memory, for programs in other languages: the library
 * libweir_weather_ensemble. All return a weir_status, 0 for success; weir_last_message then says
 * what failed. */
#ifndef WX_CALLS_H
#define WX_CALLS_H
#include <stdint.h>
#include "base/weir_status.h"

/* Cases, borrowed. */
typedef struct wx_call_cases {
  const double *members; /* [cases, m] in any order */
  const double *truth;   /* [cases]                 */
  int64_t cases, m;
} wx_call_cases;

/* Computes the CRPS of each case as `weather_ensemble eval` does, into out[cases], in the unit of
 * the forecast; NaN where the truth or a member is NaN. share: of the fair score: 0 for the CRPS of
 * the empirical distribution, 1 for the fair CRPS (NaN for one member), between them the almost
 * fair one. Fails: WEIR_ERR_SHAPE (no member), WEIR_ERR_CONFIG (share outside [0, 1]),
 * WEIR_ERR_MEMORY. */
weir_status wx_call_crps(const wx_call_cases *c, double share, double *out) WEIR_CHECKED;
/* Computes the CRPS of normal distributions, mean[n] and sd[n], at truth[n] into out[n]: sd 0 gives
 * |truth - mean|; NaN where sd < 0 or a number is NaN. */
void wx_call_crps_normal(const double *mean, const double *sd, const double *truth, int64_t n,
                         double *out);
#endif
