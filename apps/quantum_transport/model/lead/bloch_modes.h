/* bloch_modes.h - Bloch modes of a lead, psi_{m+1} = lambda psi_m, and the self-energies that
 * follow of them: (A- / lambda + A0 + A+ lambda) u = 0 at a real energy, where A- is the adjoint of
 * A+ = W Z^H of rank r. Of the modes that decay or move away from the device, with the columns p =
 * Z^H u of P and q = W^H u / lambda of Q, Sigma_R = -W P Q^-1 W^H  and of those on the other side
 * Sigma_L = -Z Q P^-1 Z^H (Groth et al., New J. Phys. 16, 063065 (2014), section 4). The flux of a
 * mode with |lambda| = 1, whose sign is that of its group velocity, is 2 Im(q^H p). */
#ifndef QT_LEAD_BLOCH_MODES_H
#define QT_LEAD_BLOCH_MODES_H
#include "model/lead/lead_priv.h"

typedef struct lead_bloch_modes {
  const qt_cell *cell;
  int64_t n, r;
  int64_t count;            /* of the modes below, at most 2 r                               */
  weir_c128 *alpha, *beta;  /* [2 r] lambda = alpha / beta                                   */
  weir_c128 *vector;        /* [2 r, 2 r], a row (p, q) for each mode                        */
  weir_c128 *mode;          /* [2 r, n] u of each; NULL: B^-1 ((i Z - lambda W) p + (i lambda W - Z)
                               q), B^-1 [W Z] in g                                           */
  int *direction;           /* [2 r] QT_LEFT: belongs to the left lead's Sigma               */
  int64_t moving[QT_LEADS]; /* propagating modes of each direction                           */
  weir_c128 *w, *z;         /* [n, n], the first r columns                                   */
  weir_c128 *a, *f, *g;     /* [n, n]; [n, 2 r]: memory of those that find modes             */
  weir_c128 *m0, *m1;       /* [2 r, 2 r], likewise                                          */
  void *work;               /* of weir_linear_solve (n, 2 r) and weir_linear_pair (2 r)      */
} lead_bloch_modes;
/* Allocates memory, and A+ in factors; no modes. *m arrives all zero and is finished by the caller,
 * on failure too. Fails: WEIR_ERR_MEMORY. */
weir_status lead_bloch_modes_create(const qt_cell *c, const lead_blocks *b,
                                    lead_bloch_modes *m) WEIR_CHECKED;
/* Multiplications of complex numbers: of A+ in factors of rank r, and of Sigma of both sides. */
double lead_bloch_modes_work(int64_t n, int64_t r);
void lead_bloch_modes_fini(lead_bloch_modes *m);
/* Tells the directions of the modes; *n_modes propagate to either side; *found: no more than r
 * belong to a side. Fails: WEIR_ERR_MEMORY. */
weir_status lead_bloch_modes_sort(const qt_lead_opts *o, lead_bloch_modes *m, int64_t *n_modes,
                                  bool *found) WEIR_CHECKED;
/* Computes the modes that propagate towards the device, at unit flux; before
 * lead_bloch_modes_sigma, which takes the memory of the modes. At most n of a side. Fails:
 * WEIR_ERR_MEMORY. */
weir_status lead_bloch_modes_incoming(const qt_lead_opts *o, lead_bloch_modes *m,
                                      const lead_incoming *out) WEIR_CHECKED;
/* Computes Sigma of a side. Where it has fewer than r modes, the others count as lambda = 0 (of
 * the left lead, infinite). False where they are not independent. */
bool lead_bloch_modes_sigma(lead_bloch_modes *m, int side, weir_c128 *sigma);

#endif
