/* bonds.h - currents along the bonds of a device, as transmissions: how the states that one lead
 * fills move from orbital to orbital.
 *
 * With K = H - E S and the spectral function A_c = G Gamma_c G^H of lead c, from orbital i to j
 *   J_c[i,j] = 2 Im(K[j,i] A_c[i,j]) = -J_c[j,i]
 * (Papior et al., Comput. Phys. Commun. 212, 8 (2017); the sign is that of the code of TBtrans).
 * The sum over the bonds from the left to the right of a cut is T for the left lead, -T for the
 * right one; an orbital not coupled to a lead loses nothing. */
#ifndef QT_BONDS_H
#define QT_BONDS_H
#include "model/rgf/layout.h"
#include "model/system.h"

/* Lists the bonds: element (i, j), i < j, where H or S couples orbital i to j or to an image of it.
 * Values count the matrices that do. Fails: WEIR_ERR_MEMORY; *out is then empty. */
weir_status qt_bonds_create(const qt_system *s, qt_sparse *out) WEIR_CHECKED;

/* Where the currents of a point are computed; all borrowed. */
typedef struct qt_bonds_job {
  const qt_system *s;
  const qt_layout *layout;
  const qt_sparse *bonds;
  const double *k;               /* [2]                                               */
  double energy;                 /* E, of phonons the square of hbar omega            */
  int64_t first_block, n_blocks; /* those whose orbitals i are wanted                 */
  const weir_c128 *g, *lesser;   /* G^R, G^< = i A of the left lead: elements of the layout from */
  int64_t first_element;         /* here on, with those to the block after the last one wanted   */
  weir_c128 *scratch;            /* [layout->max, layout->max]                        */
} qt_bonds_job;
/* Computes current[c] [bonds]: J_c[i,j], i < j, of orbitals i of the blocks wanted. Of images of j
 * the sum.
 */
void qt_bonds_currents(const qt_bonds_job *job, double *const current[QT_LEADS]);

#endif
