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
#include "conf/weir_opt.h"
#include "model/point/point.h"

/* Starts the solver of sparse systems, before all others, with its options (petsc of the
 * configuration), once. Collective over all ranks. Fails: WEIR_ERR_UNSUPPORTED in a build without
 * PETSc; WEIR_ERR_CONFIG (lead.method: decimation; petsc), WEIR_ERR_EXTERNAL. */
weir_status qt_qtbm_start(const qt_lead_opts *lead, const weir_string_list *petsc) WEIR_CHECKED;

/* The sparse matrix of a device, and memory of its points. */
typedef struct qt_qtbm qt_qtbm;
/* Creates the pattern of the matrix; borrows the system. Fails: as qt_qtbm_start, WEIR_ERR_SHAPE,
 * WEIR_ERR_MEMORY. */
weir_status qt_qtbm_create(const qt_system *s, const qt_lead_opts *lead,
                           const weir_string_list *petsc, qt_qtbm **out) WEIR_CHECKED;
void qt_qtbm_destroy(qt_qtbm **q);
/* Returns the maximum number of eigenvalues of the transmission: orbitals of an end cell that
 * couple to its lead. */
int64_t qt_qtbm_channels(const qt_qtbm *q);
/* Returns the maximum of bytes, without results and factors, where leads are solved by so many
 * threads. */
double qt_qtbm_bytes(const qt_qtbm *q, const qt_point_spec *p, int threads);
/* Estimates bytes of factors and of the work space of MUMPS, as its analysis of the pattern
 * expects, which weir_alloc does not count; NaN of another solver. Fails: WEIR_ERR_EXTERNAL,
 * WEIR_ERR_MEMORY. */
weir_status qt_qtbm_factor_bytes(qt_qtbm *q, double *bytes) WEIR_CHECKED;

/* Allocates memory for points, whose spec it borrows. Fails: WEIR_ERR_MEMORY. */
weir_status qt_qtbm_open(qt_qtbm *q, const qt_point_spec *p, int threads) WEIR_CHECKED;
/* Computes n points, k [n, 2], energy [n], into arrays out [n, elements]: leads by all threads,
 * sparse systems one after the other. The density of states is the sum of the shares of the leads,
 * each Re (A_c S)[i,i] / 2 pi (phonons: times 2 hbar omega). A point that fails says so in its
 * number QT_POINT_STATUS; returns the failure of the last one that does. */
weir_status qt_qtbm_run(qt_qtbm *q, int64_t n, const double *k, const double *energy,
                        double *const out[QT_POINT_ARRAYS]) WEIR_CHECKED;

#endif
