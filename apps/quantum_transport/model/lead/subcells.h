/* subcells.h - a lead as a matrix polynomial of its smallest repeated unit. A cell that repeats p
 * sub-cells of n orbitals gives T(z) = sum over |m| <= d of z^m A_m of sub-cells, and of T(z) v = 0
 * the mode lambda = z^p, u = (v, z v, z^2 v, ...). */
#ifndef QT_LEAD_SUBCELLS_H
#define QT_LEAD_SUBCELLS_H
#include "model/lead/moments.h"
#include "model/lead/bloch_modes.h"

/* All zero is none; owns its arrays. */
typedef struct lead_subcells {
  int64_t cells, n, degree; /* p, orbitals of a sub-cell, d   */
  weir_c128 *matrix;        /* [2 p + 1, n, n] A_m, m = -p ... p */
  double *size;             /* [2 d + 1] norms of A_m         */
  weir_c128 *t, *image;     /* [n, n], [n]: memory            */
} lead_subcells;
/* Finds at most max_cells sub-cells. *out is finished by the caller, on failure too. Fails:
 * WEIR_ERR_MEMORY. */
weir_status lead_subcells_create(int64_t max_cells, const lead_blocks *b,
                                 lead_subcells *out) WEIR_CHECKED;
void lead_subcells_fini(lead_subcells *c);
/* Returns T, of powers -d ... d; borrows. */
lead_polynomial lead_subcells_polynomial(const lead_subcells *c);
/* |T v| / (|T| |v|), |T| without what cancels; infinite of no vector. */
double lead_subcells_residual(lead_subcells *c, weir_c128 z, const weir_c128 *v);
/* Adds the mode of z and v to m, which has memory for u of each (lead_bloch_modes.mode). */
void lead_subcells_add(const lead_subcells *c, weir_c128 z, const weir_c128 *v,
                       lead_bloch_modes *m);

#endif
