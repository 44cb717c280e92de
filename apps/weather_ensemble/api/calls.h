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

/* Distributions of one family, borrowed; eval/score/family.h says what location and scale are. */
typedef struct wx_call_distributions {
  const double *location, *scale; /* [n] */
  int64_t n;
  const char *const
      *sets; /* [n_sets] of `fit` of the model emos: "family=log_normal", lower, shift */
  int64_t n_sets;
} wx_call_distributions;
/* What is computed of a distribution at a number: its CRPS and its logarithmic score at a truth,
 * its value of a probability in (0, 1), and the probability of values above a threshold. */
typedef enum wx_call_of {
  WX_CALL_CRPS,
  WX_CALL_LOG_SCORE,
  WX_CALL_QUANTILE,
  WX_CALL_ABOVE,
  WX_CALL_OF
} wx_call_of;
/* Computes it for each distribution at at[n] into out[n]; NaN where a number is NaN or the scale
 * negative. Fails: WEIR_ERR_CONFIG (an option, a shifted gamma distribution without a positive
 * shift, a probability outside (0, 1)), WEIR_ERR_SHAPE (n or `of` out of range). */
weir_status wx_call_distribution(const wx_call_distributions *d, int64_t of, const double *at,
                                 double *out) WEIR_CHECKED;

/* Cases of vectors of d numbers, borrowed. */
typedef struct wx_call_vectors {
  const double *members; /* [cases, m, d] */
  const double *truth;   /* [cases, d]    */
  int64_t cases, m, d;
} wx_call_vectors;
/* Compute the energy score, empirical or fair (NaN for one member), and the variogram score of
 * an order > 0, of each case into out[cases], as `eval` does of squares of points
 * (eval/ensemble.h); NaN where a number is NaN. Fail: WEIR_ERR_SHAPE (no member, no number),
 * WEIR_ERR_CONFIG (the order). */
weir_status wx_call_energy_score(const wx_call_vectors *v, int64_t fair, double *out) WEIR_CHECKED;
weir_status wx_call_variogram_score(const wx_call_vectors *v, double order,
                                    double *out) WEIR_CHECKED;

/* What EMOS is fitted to: moments of members and truth [dates, n_lat, n_lon], borrowed. A case with
 * NaN, or of negative variance, does not count. */
typedef struct wx_call_emos {
  const float *mean, *variance, *truth;
  const double *weight; /* [n_lat, n_lon] of cells; NULL: all 1 */
  int64_t dates, n_lat, n_lon;
  int64_t wraps;           /* 1: the last longitude is next to the first */
  const char *const *sets; /* [n_sets] options of `fit` of the model emos, "pool=window" */
  int64_t n_sets;
} wx_call_emos;
/* Fits as the model `emos` does. coefficients[n_lat, n_lon, 4]: alpha, beta, gamma and delta of
 * each cell (baseline/emos.h); *sets: how many sets are different, 1 where all cells share one,
 * which is then in every cell. Fails: WEIR_ERR_CONFIG (an option), WEIR_ERR_SHAPE (no cell, no
 * date), WEIR_ERR_DATA (fewer than two cases count, truth below the bound), WEIR_ERR_MEMORY. */
weir_status wx_call_emos_fit(const wx_call_emos *c, double *coefficients,
                             int64_t *sets) WEIR_CHECKED;
#endif
