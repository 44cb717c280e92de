/* lensing.h - the weak lensing convergence of a slab of matter. */
#ifndef CF_LENSING_H
#define CF_LENSING_H

/* Returns the factor of the convergence of a slab (Bartelmann and Schneider, Phys. Rep. 340 (2001)
 * 291, eq. 6.18, of a single plane): kappa = factor times its overdensity; lengths in Mpc/h, flat
 * universe of matter and a cosmological constant. */
double cf_lensing_factor(double omega_m, double redshift, double source, double thickness);
#endif
