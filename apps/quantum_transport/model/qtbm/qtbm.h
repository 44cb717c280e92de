/* qtbm.h - coherent transport by wave functions: the quantum transmitting boundary method (Lent and
 * Kirkner, J. Appl. Phys. 67, 6353 (1990); by sparse systems Luisier et al., Phys. Rev. B 74,
 * 205323 (2006)). Of every wave that a lead sends, at unit flux, (E S - H - Sigma_L - Sigma_R) psi
 * = J, one sparse factorisation and as many right sides as there are waves, so that a long device
 * costs little more than its elements. With the states of lead c as columns of Psi_c and the waves
 * J_R that the right lead would send, A_c = G Gamma_c G^H = Psi_c Psi_c^H,  t = J_R^H Psi_L,  T =
 * Tr[t^H t], the same numbers as Green's functions give, but for states localised in the device,
 * which no wave reaches. */
#ifndef QT_QTBM_H
#define QT_QTBM_H
#include "model/transmission.h"

/* As qt_transport_create. Leads are solved by all threads, sparse systems one after the other. The
 * density of states is the sum of the parts of the leads, each Re (A_c S)[i,i] / 2 pi (phonons:
 * times 2 hbar omega). Fails besides: WEIR_ERR_CONFIG (lead.method: decimation),
 * WEIR_ERR_UNSUPPORTED (a build without PETSc), WEIR_ERR_EXTERNAL. */
weir_status qt_qtbm_create(const qt_system *s, const qt_transport_spec *spec,
                           qt_transport *out) WEIR_CHECKED;

#endif
