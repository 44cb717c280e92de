/* matrix.h - E S - H - Sigma of a device as one sparse matrix, whose pattern no energy changes. */
#ifndef QTBM_MATRIX_H
#define QTBM_MATRIX_H
#include "model/system.h"

/* All zero is none; owns its arrays. */
typedef struct qtbm_matrix {
  const qt_system *system;
  qt_sparse a;               /* E S - H - Sigma                                           */
  weir_c128 *h, *s;          /* H(k) and S(k) on its pattern; s NULL: the identity        */
  int64_t n_ports[QT_LEADS]; /* orbitals of an end cell that its lead couples to          */
  int64_t *port[QT_LEADS];   /* [n_ports] in the cell, ascending                          */
  int64_t first[QT_LEADS];   /* first orbital of the device of that cell                  */
  int64_t *sigma[QT_LEADS];  /* [n_ports, n_ports] where Sigma's elements are in a        */
  double making_bytes;       /* temporary, while it was made                              */
} qtbm_matrix;
/* Fails: WEIR_ERR_MEMORY. *out is finished by the caller, on failure too. */
weir_status qtbm_matrix_create(const qt_system *s, qtbm_matrix *out) WEIR_CHECKED;
void qtbm_matrix_fini(qtbm_matrix *m);

/* Sets H and S to those of a wave vector. */
void qtbm_matrix_set_k(qtbm_matrix *m, const double k[2]);
/* Sets a to that of an energy; sigma: [n, n] of the cells of the leads. */
void qtbm_matrix_set_energy(qtbm_matrix *m, double energy, weir_c128 *const sigma[QT_LEADS]);
/* Computes out [n] = S psi, of one state. */
void qtbm_matrix_overlap(const qtbm_matrix *m, const weir_c128 *psi, weir_c128 *out);

#endif
