/* band_structure.h - band structure of a lead: E(k_x) of the wire that repeats its cell,
 *   H(k_x) u = E S(k_x) u, H(k_x) = H0 + H1 exp(i k_x a) + its adjoint, S likewise,
 * over the Brillouin zone |k_x| <= pi / a of a cell of length a; phonons: hbar omega. */
#ifndef QT_BAND_STRUCTURE_H
#define QT_BAND_STRUCTURE_H
#include "model/lead/lead.h"

/* All zero is none; owns its arrays (qt_band_structure_fini). */
typedef struct qt_band_structure {
  int64_t n_points, n;
  double *wave_vector; /* [n_points] k_x a / pi in [-1, 1], ascending                       */
  double *energy;      /* [n_points, n] eV, ascending at each k_x; phonons: hbar omega, with the
                          sign of its square                                                */
} qt_band_structure;

/* Computes bands at n_points >= 2 wave vectors, the ends of the zone among them; threads: 0 is all.
 * Fails: WEIR_ERR_NUMERIC (an overlap that is not positive definite; no convergence),
 * WEIR_ERR_MEMORY; *out is then empty. */
weir_status qt_band_structure_create(const qt_cell *c, qt_particle particle, int64_t n_points,
                                     int threads, qt_band_structure *out) WEIR_CHECKED;
void qt_band_structure_fini(qt_band_structure *b);

#endif
