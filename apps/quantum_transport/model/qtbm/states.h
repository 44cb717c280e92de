/* states.h - what follows of scattering states: transmission, densities, currents. */
#ifndef QTBM_STATES_H
#define QTBM_STATES_H
#include "model/qtbm/matrix.h"

/* Scattering states at a point, and the waves of the right lead; borrowed. */
typedef struct qtbm_states {
  const qtbm_matrix *matrix;
  double energy;             /* E, of phonons the square of hbar omega             */
  int64_t count[QT_LEADS];   /* that come from each lead                           */
  int64_t first, all;        /* of those of the left lead: number of the first of all of them */
  const weir_c128 *psi;      /* [count of both, n], of the left lead first         */
  int64_t n_right;           /* waves that the right lead can send                 */
  const weir_c128 *incoming; /* [n_right, orbitals of its cell] J of them          */
} qtbm_states;

/* Amplitudes t[i,j] of the states j of the left lead in the channels i of the right lead, up to a
 * unitary matrix of these; into columns first... of out [n_right, all]. */
void qtbm_states_amplitudes(const qtbm_states *s, weir_c128 *out);
/* Adds factor times sum |psi|^2 of the states of a lead, with the overlap Re(psi* S psi), to out
 * [n]; memory: [n]. */
void qtbm_states_add_density(const qtbm_states *s, int side, double factor, weir_c128 *memory,
                             double *out);
/* Adds currents along bonds (bonds.h) of the states of a lead to out [bonds]. */
void qtbm_states_add_currents(const qtbm_states *s, int side, const qt_sparse *bonds, double *out);
/* Eigenvalues of t^H t, descending, of t [rows, columns]; out [the smaller of both]. Fails:
 * WEIR_ERR_MEMORY. */
weir_status qtbm_states_channels(int64_t rows, int64_t columns, const weir_c128 *t,
                                 double *out) WEIR_CHECKED;

#endif
