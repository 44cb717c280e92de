/* significance.h - what means over start dates are worth: intervals by the bootstrap of blocks, the
 * test of Diebold and Mariano, and maps of many tests. */
#ifndef WX_SIGNIFICANCE_H
#define WX_SIGNIFICANCE_H
#include <stdbool.h>
#include <stdint.h>
#include "app/weir_score.h"
#include "base/weir_status.h"
#include "conf/weir_opt.h"

typedef enum wx_interval_kind { WX_INTERVAL_PERCENTILE, WX_INTERVAL_BCA } wx_interval_kind;
typedef struct wx_bootstrap_opts {
  double block; /* days */
  int64_t resamples;
  double confidence;
  int interval; /* wx_interval_kind */
  int64_t seed;
} wx_bootstrap_opts;
extern const weir_opt wx_bootstrap_options[];

/* Returns the lag-one correlation of n values (NaN are left out, and pairs with them), and the
 * independent values they are worth: n (1 - r) / (1 + r), at most n (Wilks, Statistical Methods in
 * the Atmospheric Sciences, eq. 5.12). */
double wx_lag_one(const double *d, int64_t n);
double wx_effective_count(const double *d, int64_t n);

/* Computes the number of initialisation times in a block of so many days: distances are the median
 * of those between the times (s), in ascending order. At least 1, at most half of n. Fails:
 * WEIR_ERR_MEMORY.
 */
weir_status wx_block_length(const int64_t *time, int64_t n, double days,
                            int64_t *block) WEIR_CHECKED;

/* A number from resampled initialisation times: start i counts count[i] times. */
typedef double (*wx_statistic)(const void *context, const double *count, int64_t n);
/* Draws the count of each start in each resample of moving blocks (Kuensch, Annals of Statistics 17
 * (1989) 1217). Resample r is of (seed, r) alone: all models are given the same initialisation
 * times. */
typedef struct wx_resamples {
  int64_t n, block, resamples;
  double *count; /* [resamples, n] */
} wx_resamples;
/* Creates resamples. Fails: WEIR_ERR_MEMORY. */
weir_status wx_resamples_create(const wx_bootstrap_opts *o, uint64_t seed, int64_t block, int64_t n,
                                wx_resamples *out) WEIR_CHECKED;
void wx_resamples_fini(wx_resamples *r);

/* Computes the statistic of all initialisation times and its interval: percentiles, or
 * bias-corrected and accelerated ones (Efron, JASA 82 (1987) 171, the acceleration by leaving out a
 * block at a time). lo and hi are NaN for fewer than 2 blocks. Fails: WEIR_ERR_MEMORY. */
weir_status wx_bootstrap(const wx_bootstrap_opts *o, const wx_resamples *r, wx_statistic statistic,
                         const void *context, weir_estimate *out) WEIR_CHECKED;

/* Sums over initialisation times as numbers of their own: sum a / sum b, and the root of it. */
typedef struct wx_ratio {
  const double *up, *down;
} wx_ratio;
double wx_ratio_of(const void *wx_ratio, const double *count, int64_t n);
double wx_root_ratio_of(const void *wx_ratio, const double *count, int64_t n);
/* 1 - (sum a / sum weight a) / (sum b / sum weight b); and the difference a - b. */
typedef struct wx_pair {
  const double *a, *a_weight, *b, *b_weight;
} wx_pair;
double wx_skill_of(const void *wx_pair, const double *count, int64_t n);
double wx_difference_of(const void *wx_pair, const double *count, int64_t n);

/* Diebold and Mariano (JBES 13 (1995) 253): whether the mean of n differences is 0, two-sided, with
 * n_eff in place of n and Student's distribution. p is NaN for fewer than 2 values; 1 where all are
 * 0. */
typedef struct wx_mean_test {
  double mean, n_eff, t, p;
  int64_t n;
} wx_mean_test;
wx_mean_test wx_diebold_mariano(const double *d, int64_t n);

/* Marks those of n tests that are significant when `rate` of those are to be false (Benjamini and
 * Hochberg, JRSS B 57 (1995) 289; in maps rate = 2 alpha: Wilks, BAMS 97 (2016) 2263). NaN is no
 * test. significant[n]; returns how many. Fails: WEIR_ERR_MEMORY. */
weir_status wx_false_discovery(const double *p, int64_t n, double rate, bool *significant,
                               int64_t *count) WEIR_CHECKED;
#endif
