/* fisher.h - the smallest error of unbiased estimates of the parameters from the linear power
 * spectrum: the Fisher (Cramer-Rao) bound for Gaussian waves (Tegmark, Taylor and Heavens, ApJ 480
 * (1997) 22).
 *
 *   F_ij = sum over bins of modes / 2 dlnP/dp_i dlnP/dp_j + 1 / prior variance of p_i (i = j)
 *
 * over the waves of a periodic cube of n^3 cells up to `reach` times Nyquist's, without noise. A
 * uniform range counts as a prior with its variance, width^2 / 12, so that a parameter of which the
 * spectrum knows nothing has the deviation of its range. Redshifts of one box show the same waves:
 * one counts. */
#ifndef CF_FISHER_H
#define CF_FISHER_H
#include "conf/weir_opt.h"
#include "data/predictions.h"

typedef struct cf_fisher_opts {
  double box;             /* side of a sample, Mpc/h; 0: no bound is wanted */
  double n_s, h, baryons; /* of those that are no labels; Omega_b h^2 */
} cf_fisher_opts;
extern const weir_opt cf_fisher_options[];

typedef struct cf_fisher cf_fisher;

/* Creates the bound for samples of side^3 cells with the labels and ranges of p, borrowed, from
 * waves up to `reach` times Nyquist's along an axis (cf_power_reach). Fails: WEIR_ERR_CONFIG (a
 * label other than omega_m, sigma_8, n_s and h; maps: side 1), WEIR_ERR_UNSUPPORTED (no FFTW),
 * WEIR_ERR_MEMORY.
 */
weir_status cf_fisher_create(const cf_fisher_opts *opts, const cf_predictions *p, int64_t side,
                             double reach, cf_fisher **out) WEIR_CHECKED;
/* Returns the number of bins of P(k), each one fundamental wave wide; *k_max: the largest wave
 * number, the upper edge of the last bin or the corner of the mesh, in h/Mpc. */
int64_t cf_fisher_bins(const cf_fisher *f, double *k_max);
/* Accepts NULL. */
void cf_fisher_destroy(cf_fisher **f);
/* Computes standard deviations sigma[n_labels] at the true value[n_labels], both in the units of
 * the labels. Fails: WEIR_ERR_CONFIG (an impossible cosmology), WEIR_ERR_MEMORY. */
weir_status cf_fisher_bound(cf_fisher *f, const double *value, double *sigma) WEIR_CHECKED;
#endif
