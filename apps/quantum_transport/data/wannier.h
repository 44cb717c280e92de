/* wannier.h - an open system of a Wannier Hamiltonian: truncated, folded to principal layers,
 * repeated.
 *
 * Transport runs along one lattice vector a; x is the normal of the plane of the other two, y lies
 * along the next of them in cyclic order, which are the transverse directions of k. */
#ifndef QT_WANNIER_H
#define QT_WANNIER_H
#include <stdbool.h>
#include "conf/weir_opt.h"
#include "io/weir_wannier.h"
#include "model/system.h"

typedef struct qt_wannier_opts {
  const char *seed;
  bool wsvec, spin_in_basis;
  int64_t direction, layer, cells;
  double cutoff, tolerance;
} qt_wannier_opts;
extern const weir_opt qt_wannier_options[];

/* Drops elements below opts->cutoff, after each element and the adjoint one have been replaced by
 * their mean; tells the discarded norm. w: changed in place; its cell and centres stay. Fails:
 * WEIR_ERR_DATA where they differ by more than opts->tolerance, naming lattice vector and
 * functions. */
weir_status qt_wannier_truncate(const qt_wannier_opts *opts, weir_wannier *w) WEIR_CHECKED;
/* Finds the principal layers of a system of such a Hamiltonian, in cells of w: the longest hopping
 * along the direction, or opts->layer. Fails: WEIR_ERR_CONFIG (a thinner layer), WEIR_ERR_DATA (no
 * hopping along the direction). */
weir_status qt_wannier_layer(const qt_wannier_opts *opts, const weir_wannier *w,
                             int64_t *cells) WEIR_CHECKED;
/* Creates the system of a truncated Hamiltonian: opts->cells cells, rounded up to whole layers of
 * as many cells; every layer and both leads are alike. A function is a site; those of a layer are
 * ordered by x. Fails: WEIR_ERR_MEMORY; the caller finishes *out, which arrives all zero, in any
 * case. */
weir_status qt_wannier_system(const qt_wannier_opts *opts, const weir_wannier *w, int64_t layer,
                              qt_system *out) WEIR_CHECKED;
#endif
