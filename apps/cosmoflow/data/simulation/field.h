/* field.h - Gaussian random fields with the linear spectrum of a universe.
 *
 * The field is white noise, one number a site, times the root of the spectrum: a site's number
 * depends on seed and site alone, so that any slice of the noise can be drawn on any rank. */
#ifndef CF_FIELD_H
#define CF_FIELD_H
#include <stdbool.h>
#include "data/simulation/linear.h"
#include "data/simulation/mesh.h"

/* Draws standard normal numbers of planes [first, first + n_planes) of n^3 sites to out [n_planes,
 * n, pitch], beginning with plane `first`. Philox4x32-10, key = seed, counter = site / 4; four
 * numbers of a draw by Box and Muller, |number| <= 6.7. */
void cf_noise(uint64_t seed, int64_t n, int64_t pitch, int64_t first, int64_t n_planes, float *out);

/* Draws the coefficients of the linear density contrast today (z = 0) in a box of side `box`,
 * Mpc/h; of a shared mesh those of this rank, collective. `fixed`: every wave has the modulus
 * sqrt(P / V), its phase is that of the noise (Angulo and Pontzen, MNRAS 462 (2016) L1); otherwise
 * the modulus is random as well. Fails: WEIR_ERR_MEMORY. */
weir_status cf_field_draw(const cf_mesh *m, const cf_linear *l, double box, uint64_t seed,
                          bool fixed, float *delta) WEIR_CHECKED;
#endif
