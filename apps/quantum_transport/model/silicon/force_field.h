/* force_field.h - vibrations of silicon by valence force fields: four parameters (Sui and Herman,
 * PRB 48, 17938 (1993); Paul, Luisier, Klimeck, J. Comput. Electron. 9, 160 (2010)), of which
 * Keating's (PR 145, 637 (1966)) has the first two.
 *
 * With s_ij = r_ij^2 - d^2 and t_jik = r_ij.r_ik less its value at rest,
 *   U = 3 / (16 d^2) { alpha sum_ij s_ij^2
 *       + sum_i,j!=k (beta t_jik^2 + delta s_ij s_ik + gamma s_ij t_jik)
 *       + nu sum of t_jik t_ikl over coplanar chains j-i-k-l }
 * over ordered pairs, triples and chains of bonded atoms. */
#ifndef QT_FORCE_FIELD_H
#define QT_FORCE_FIELD_H
#include "conf/weir_opt.h"
#include "model/silicon/crystal.h"

typedef struct qt_force_constants {
  double alpha, beta, delta, nu, gamma; /* N/m */
} qt_force_constants;
typedef struct qt_force_opts {
  int model; /* 0: mvff, 1: keating, 2: custom */
  qt_force_constants custom;
  double mass;
} qt_force_opts;
extern const weir_opt qt_force_options[];
#define QT_FORCE_CITE \
  "valence force fields of Sui, Herman, PRB 48, 17938 (1993) and Keating, PR 145, 637 (1966)"

/* Computes the dynamical matrix (eV^2) of the crystal's cell, three displacements an atom. Missing
 * neighbours exert no force: surfaces are free. *out is the caller's to finish, on failure too.
 * Fails: WEIR_ERR_MEMORY. */
weir_status qt_force_wire(const qt_crystal *c, const qt_force_opts *o, qt_wire *out) WEIR_CHECKED;

#endif
