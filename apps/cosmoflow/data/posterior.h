/* posterior.h - posteriors of the parameters of samples over labels in [-1, 1], and their variables
 * in predictions.nc: mixtures of Gaussians (model/mixture.h), or a flow (data/flow.h). Moments
 * (model/moments.h) are read as one Gaussian.
 *
 * The prior is 0 outside the ranges of the parameters, and these are not. A posterior may be
 * restricted to the ranges: q / Q, where Q is the probability of q inside, which draws find. */
#ifndef CF_POSTERIOR_H
#define CF_POSTERIOR_H
#include "data/flow.h"
#include "io/weir_netcdf.h"

enum { CF_MAX_COMPONENTS = 64 };

/* Rows without a prediction are NaN. */
typedef struct cf_posteriors {
  int64_t n, n_labels;
  double limit; /* posteriors are restricted to labels within +-limit; INFINITY: they are not */
  int64_t components; /* of mixtures; 0: of a flow */
  double *weight;     /* [n, components], of sum 1 */
  double *mean;       /* [n, components, n_labels] */
  double *factor;  /* [n, components, n_labels, n_labels]: Cholesky factor C of a covariance C C',
                      lower triangular, its diagonal above 0 */
  bool moments;    /* of one component: mean and covariance were fitted, and no density */
  cf_flow *flow;   /* owned; NULL: mixtures */
  double *feature; /* [n, flow->shape.features] */
} cf_posteriors;

/* Allocates n mixtures, or n posteriors of a flow of that shape, all NaN. Fails: WEIR_ERR_MEMORY;
 * WEIR_ERR_SHAPE (no components or more than CF_MAX_COMPONENTS; as cf_flow_create). */
weir_status cf_posteriors_create(int64_t n, int64_t n_labels, int64_t components,
                                 cf_posteriors **out) WEIR_CHECKED;
weir_status cf_posteriors_create_flow(int64_t n, const cf_flow_shape *shape,
                                      cf_posteriors **out) WEIR_CHECKED;
/* Accepts NULL. */
void cf_posteriors_destroy(cf_posteriors **p);
/* Checks the posterior of a row. Fails: WEIR_ERR_NUMERIC, naming `path` and the row, where it is
 * not finite, weights of components are negative or do not add up to 1, or a diagonal is not above
 * 0. */
weir_status cf_posteriors_check(const cf_posteriors *p, int64_t row, const char *path) WEIR_CHECKED;
/* Checks the weights of a flow, which all rows share. Fails: WEIR_ERR_NUMERIC, naming `path`. */
weir_status cf_posteriors_check_flow(const cf_posteriors *p, const char *path) WEIR_CHECKED;

/* Returns ln q(y), not restricted, y[n_labels] in [-1, 1]: a density over half ranges. */
double cf_posterior_log_density(const cf_posteriors *p, int64_t row, const double *y);
/* Computes the mean of a posterior that is not restricted, [n_labels]: of a flow that of 1000 fixed
 * draws. */
void cf_posterior_mean(const cf_posteriors *p, int64_t row, double *mean);
/* Draws out[n, n_labels] from the posterior, by rejection of draws that lie outside; *inside: the
 * share that was kept, Q. They depend on (seed, sample) alone. Returns false,
 * with fewer draws, where fewer than one in 1000 is inside: the sample is unlike those of the
 * training, or the training was too short. */
bool cf_posterior_draw(const cf_posteriors *p, int64_t row, uint64_t seed, int64_t sample,
                       int64_t n, double *out, double *inside);

/* Writes the variables over the dimensions of samples and labels, or reads them into a new *out,
 * NULL where the file has none. Fails: WEIR_ERR_DATA, as weir_netcdf. */
weir_status cf_posteriors_put(const cf_posteriors *p, weir_netcdf *nc, int sample,
                              int parameter) WEIR_CHECKED;
weir_status cf_posteriors_take(weir_netcdf *nc, const char *path, int64_t n, int64_t n_labels,
                               cf_posteriors **out) WEIR_CHECKED;
#endif
