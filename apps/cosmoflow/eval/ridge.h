/* ridge.h - linear regression with a penalty on the square of its weights (Hoerl and Kennard,
 * Technometrics 12 (1970) 55), chosen by cross-validation over universes.
 *
 * Of standardised features z and centred targets y over n training rows, the weights of a target
 * minimise  mean (y - w z)^2 + penalty |w|^2:  w = (R + penalty)^-1 r,  R = mean z z', r = mean z
 * y, through the eigenvectors of R, so that all penalties cost one decomposition. Features that do
 * not vary get no weight. */
#ifndef CF_RIDGE_H
#define CF_RIDGE_H
#include "conf/weir_opt.h"
#include "data/volume/volume.h"
#include "eval/regression/folds.h"

typedef struct cf_ridge_opts {
  int64_t folds;
  weir_real_list penalties;
} cf_ridge_opts;
extern const weir_opt cf_ridge_options[];

typedef struct cf_ridge {
  int64_t n_features, n_targets, folds, groups; /* folds that were used, universes fitted on */
  double *mean, *scale;                         /* [n_features]; scale 0: does not vary */
  double *weight;                               /* [n_targets, n_features] of standardised ones */
  double offset[CF_MAX_LABELS];
  double penalty[CF_MAX_LABELS]; /* chosen for each target */
  double error[CF_MAX_LABELS];   /* mean square error of the folds with it */
} cf_ridge;

/* Checks that there is a penalty to choose. Fails: WEIR_ERR_CONFIG. */
weir_status cf_ridge_check(const cf_ridge_opts *opts) WEIR_CHECKED;
/* Fits a model. Fold k holds every folds-th universe of an order that the seed shuffles; with fewer
 * universes than opts->folds each is a fold. Standardisation also uses the training rows of a fold
 * alone. Fails: WEIR_ERR_CONFIG (no penalty, a negative one), WEIR_ERR_DATA (fewer than two
 * universes), WEIR_ERR_NUMERIC (non-finite features or targets), WEIR_ERR_MEMORY. */
weir_status cf_ridge_fit(const cf_ridge_opts *opts, uint64_t seed, const cf_ridge_rows *rows,
                         cf_ridge *out) WEIR_CHECKED;
void cf_ridge_fini(cf_ridge *r);
/* Predicts out[n_targets] from x[n_features]. */
void cf_ridge_predict(const cf_ridge *r, const double *x, double *out);
#endif
