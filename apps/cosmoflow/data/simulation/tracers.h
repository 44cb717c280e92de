/* tracers.h - what is observed of the matter: its density as baryons change it, and tracers such as
 * galaxies, a Poisson sample of it. */
#ifndef CF_TRACERS_H
#define CF_TRACERS_H
#include "data/simulation/mesh.h"

/* Feedback of stars and black holes, which moves gas out of haloes. */
typedef struct cf_feedback_opts {
  double mass;     /* M_c, Msun/h: haloes of less mass lose their gas; 0: no feedback */
  double ejection; /* eta_b, ejection radius over escape radius */
} cf_feedback_opts;

/* Returns the ratio of the power spectra of matter with and without baryons at wave number k
 * (h/Mpc), by the fit of the baryonic correction model (Schneider and Teyssier, JCAP 12 (2015)
 * 049):
 *
 *   S = (1 - B + B / (1 + (k / k_g)^3)) (1 + (k / k_s)^2)
 *   B = (0.105 log10 M_c - 1.27) / (1 + (z / 2.3)^2.5),  k_g = 0.7 (1 - B)^4 eta_b^-1.6,  k_s = 55
 */
double cf_feedback_boost(const cf_feedback_opts *o, double k, double z);
/* Checks the options. Fails: WEIR_ERR_CONFIG where the fit has no effect or the opposite one. */
weir_status cf_feedback_check(const cf_feedback_opts *o) WEIR_CHECKED;
/* Multiplies the coefficients of a density in a box of this side (Mpc/h) by sqrt(S): the phases and
 * the mean remain. Values below 0, which the sharpest peaks leave around them, become 0. */
void cf_feedback_apply(const cf_feedback_opts *o, const cf_mesh *m, double box, double z,
                       float *density);

/* Returns a Poisson number of this mean, 0 to 2^31, a function of all arguments: by inversion below
 * a mean of 30, above by transformed rejection (PTRS, Hoermann, Insurance: Mathematics and
 * Economics 12 (1993) 39). */
double cf_poisson(double mean, uint64_t seed, uint64_t index);
/* Replaces a density by the number of tracers in each cell: a Poisson number whose mean is
 * `per_cell` times the density over its mean. A density of 0 has none. */
void cf_tracers_draw(const cf_mesh *m, double per_cell, uint64_t seed, float *density);
#endif
