/* linear.h - linear theory of structure in a flat universe of matter and a cosmological constant:
 * transfer functions, power spectrum, growth (docs/science/cosmoflow.md).
 *
 * Wave numbers k in h/Mpc, lengths in Mpc/h, P in (Mpc/h)^3, a = 1 / (1 + z); no radiation. */
#ifndef CF_LINEAR_H
#define CF_LINEAR_H
#include "base/weir_status.h"

/* Shares of the critical density today (of all matter, of baryons), H0 / (100 km/s/Mpc), slope of
 * the primordial spectrum, and the standard deviation of the linear density within spheres of 8
 * Mpc/h today. */
typedef struct cf_cosmology {
  double omega_m, omega_b, h, n_s, sigma_8;
} cf_cosmology;

/* Eisenstein and Hu, ApJ 496 (1998) 605: their fit with acoustic oscillations, or the smooth one
 * that runs through it. */
typedef enum cf_transfer { CF_TRANSFER_FULL, CF_TRANSFER_SMOOTH } cf_transfer;

/* Constants of one cosmology; may be copied. Private to linear.c. */
typedef struct cf_linear {
  cf_cosmology c;
  cf_transfer transfer;
  double amplitude;                        /* A of P = A k^n_s T^2 */
  double growth_today;                     /* of the integral, before D(1) = 1 */
  double theta2, f_b, f_c, sound;          /* (T / 2.7 K)^2; baryons, the rest; Mpc */
  double k_eq, k_silk;                     /* 1/Mpc */
  double alpha_c, beta_c, alpha_b, beta_b; /* of the full fit */
  double beta_node, smooth_sound, alpha_gamma;
} cf_linear;

/* Computes the constants of a cosmology. Fails: WEIR_ERR_CONFIG for a density, h or sigma_8 that is
 * not above 0, omega_b not below omega_m, omega_m above 1, or an n_s outside [-2, 3], where sigma_8
 * has no finite amplitude. */
weir_status cf_linear_init(const cf_cosmology *c, cf_transfer transfer,
                           cf_linear *out) WEIR_CHECKED;
/* Returns T(k), 1 at k = 0. */
double cf_linear_transfer(const cf_linear *l, double k);
/* Returns P(k) today; 0 at k = 0. */
double cf_linear_power(const cf_linear *l, double k);
/* Returns the standard deviation of the linear density within spheres of that radius, today. */
double cf_linear_sigma(const cf_linear *l, double radius);
/* Returns the rms displacement of matter along one axis until today, Mpc/h: the root of int P dk /
 * (6 pi^2) over waves up to max_k. */
double cf_linear_displacement(const cf_linear *l, double max_k);

/* Returns E(a) = H(a) / H0. */
double cf_linear_expansion(const cf_linear *l, double a);
/* Return D(a), D(1) = 1, and dlnD/dlna, both exact; 0 < a. */
double cf_linear_growth(const cf_linear *l, double a);
double cf_linear_growth_rate(const cf_linear *l, double a);
/* Return the second order: D2(a) = -3/7 D^2 Om(a)^(-1/143), below 0, and dlnD2/dlna = 2
 * Om(a)^(6/11) (Bouchet et al., A&A 296 (1995) 575). */
double cf_linear_growth2(const cf_linear *l, double a);
double cf_linear_growth2_rate(const cf_linear *l, double a);
#endif
