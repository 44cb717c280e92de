/* emos.h - ensemble model output statistics: a distribution whose location and squared scale are
 * linear in mean and variance of the members,
 *
 *   mu = alpha + beta m,   sigma^2 = gamma^2 + delta^2 v   (v with M - 1),
 *
 * with the coefficients of minimum mean CRPS over given cases: normal (Gneiting et al., MWR 133
 * (2005) 1098), truncated normal for wind speed (Thorarinsdottir and Gneiting, JRSS A 173 (2010)
 * 371), censored logistic for precipitation (Messner et al., MWR 142 (2014) 3003). */
#ifndef WX_EMOS_H
#define WX_EMOS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "baseline/cases.h"
#include "conf/weir_opt.h"
#include "eval/score/distribution.h"

/* alpha, gamma, bound, shift and width of the family in units of truth; gamma, delta >= 0 where
 * they were fitted. */
typedef struct wx_emos {
  double alpha, beta, gamma, delta;
  wx_family family;
  double lower, shift, width;
} wx_emos;

/* full: all four; scale: beta = 1 and gamma the minimum, so that alpha is a bias and delta a
 * factor.
 */
typedef enum wx_emos_form { WX_EMOS_FULL, WX_EMOS_SCALE } wx_emos_form;
#define WX_EMOS_FORM_CHOICES "full|scale"
typedef enum wx_emos_pool { WX_EMOS_GLOBAL, WX_EMOS_POINT, WX_EMOS_WINDOW } wx_emos_pool;
#define WX_EMOS_POOL_CHOICES "global|point|window"

typedef struct wx_emos_opts {
  int family;        /* wx_family */
  double lower;      /* bound of a family that has one          */
  double upper;      /* upper bound of a censored normal or logistic distribution; WX_NO_UPPER */
  double shift;      /* of censored_shifted_gamma: how far below the bound it begins */
  int form;          /* wx_emos_form */
  int pool;          /* wx_emos_pool */
  int64_t radius;    /* cells on each side in a window          */
  int64_t min_cases; /* cases that coefficients of a point need */
  double floor;      /* minimum gamma, standard deviations of truth */
  double tolerance;  /* of the mean CRPS, relative              */
  int64_t starts;    /* searches besides that from least squares, with few cases */
  int64_t max_iter;  /* steps                                   */
} wx_emos_opts;
extern const weir_opt wx_emos_options[];

typedef struct wx_emos_fit {
  wx_emos at;
  double crps;   /* the mean that was reached */
  int64_t cases; /* that counted              */
  bool constant; /* truth was the same in all */
  int64_t steps;
} wx_emos_fit;

/* Minimises the CRPS by damped Newton from least squares, in alpha, beta, gamma^2 and delta^2; bits
 * do not depend on threads. What cases do not determine is set: beta = 1 where m never changes,
 * delta = 0 where v never does, alpha = y and beta = 0 where truth never does (form full). Between
 * two bounds a second search begins from the variance of the truth, with up to 256 cases further
 * ones (`starts`) from lines through pairs of cases, and the one of the lowest CRPS counts.
 * gamma and delta times the root mean v are at most 1000 standard deviations of the truth. On the
 * calling thread alone where scratch is NULL, which else has wx_emos_workspace(cases) numbers.
 * False where no case counts. */
bool wx_emos_minimise(const wx_emos_opts *opts, const wx_cases *cases, double *scratch,
                      wx_emos_fit *out);
int64_t wx_emos_workspace(const wx_cases *cases);
/* Returns the bound as truth is stored, in f32: a truth at the bound is then equal to it. */
double wx_emos_lower(const wx_emos_opts *opts);
/* Returns by how much the upper bound, in f32, is above the lower one; 0: there is none. */
double wx_emos_width(const wx_emos_opts *opts);
/* Returns what is wrong with shift and upper bound of the family, NULL: nothing. */
const char *wx_emos_wrong(const wx_emos_opts *opts);
/* Fails: WEIR_ERR_DATA where truth is outside the bounds of the family: it is not of such a
 * quantity. */
weir_status wx_emos_check_truth(const wx_emos_opts *opts, const wx_cases *cases) WEIR_CHECKED;
/* Fits the coefficients on all threads. Fails: WEIR_ERR_MEMORY, WEIR_ERR_DATA where there are fewer
 * than two cases, and where truth is outside the bounds of the family. */
weir_status wx_emos_fit_cases(const wx_emos_opts *opts, const wx_cases *cases,
                              wx_emos_fit *out) WEIR_CHECKED;
/* Returns the mean CRPS of given coefficients, NaN without cases; and its derivatives by alpha,
 * beta, gamma^2 and delta^2 where gradient is not NULL. */
double wx_emos_crps(const wx_emos *at, const wx_cases *cases, double gradient[4]);

/* Coefficients of every cell of a grid. */
typedef struct wx_emos_grid {
  int64_t n_lat, n_lon;
  bool wraps;
} wx_emos_grid;
/* Fits the sets of a grid. cases: [dates, cells], weight: areas. Pool global: one set, at out[0];
 * point: each cell its own; window: each cell of all cases within `radius` cells of it. Cells with
 * fewer cases than `min_cases` have the set of all cells; *few tells how many. out: [wx_emos_sets].
 * Fails: as above.
 */
weir_status wx_emos_fit_grid(const wx_emos_opts *opts, const wx_cases *cases,
                             const wx_emos_grid *grid, wx_emos *out, int64_t *few) WEIR_CHECKED;
int64_t wx_emos_sets(const wx_emos_opts *opts, int64_t cells);
/* Computes location and scale of n cells; n_sets is 1 or n. NaN where mean or variance is. */
void wx_emos_apply(const wx_emos *at, int64_t n_sets, const float *mean, const float *variance,
                   int64_t n, float *mu, float *sigma);
#endif
