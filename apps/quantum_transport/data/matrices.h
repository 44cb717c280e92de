/* matrices.h - an open system of matrices that other programs wrote: the Hamiltonian of the whole
 * device, or of a cell that is repeated; leads of its ends or of files of their own. */
#ifndef QT_MATRICES_H
#define QT_MATRICES_H
#include <stdbool.h>
#include "conf/weir_opt.h"
#include "data/axes.h"
#include "io/weir_tshs.h"
#include "model/system.h"

typedef struct qt_matrices_lead_opts {
  int64_t layer;
  const char *h, *s, *coupling;
} qt_matrices_lead_opts;

typedef struct qt_matrices_opts {
  const char *h, *s;
  qt_matrices_lead_opts left, right;
  int64_t cells, direction, spin;
  bool spin_in_basis, fermi, sort;
  double tolerance;
} qt_matrices_opts;
extern const weir_opt qt_matrices_options[];

/* Matrices of files by image, with what is known of the atoms. Owns all
 * (qt_matrices_file_fini). */
typedef struct qt_matrices_file {
  weir_tshs t;       /* n_atoms 0: the file has none                       */
  bool has_s;        /* t.s is an overlap; else the basis is orthonormal   */
  qt_axes axes;      /* cubes of 1 Angstrom where the file has no cell     */
  int64_t *position; /* [t.n_orbitals] of its orbitals in the system; NULL: as in the file */
} qt_matrices_file;
void qt_matrices_file_fini(qt_matrices_file *f);
/* Reads the Hamiltonian `h`, of any format that is read, and the overlap `s` ("": none, or that of
 * the .TSHS). A file of a cell and its coupling gives images 0 and 1 along the direction.
 * Energies of .TSHS are from their Fermi energy with opts->fermi. Fails: WEIR_ERR_DATA,
 * WEIR_ERR_SHAPE (not square, sizes that differ), WEIR_ERR_MEMORY; *out is then all zero. */
weir_status qt_matrices_file_read(const qt_matrices_opts *opts, const char *h, const char *s,
                                  qt_matrices_file *out) WEIR_CHECKED;
/* Makes h(k) (or s(k), with `overlap`; nothing where there is none) of the images `step` cells
 * along x. *out arrives all zero; the caller finishes it. */
weir_status qt_matrices_file_bloch(const qt_matrices_file *f, bool overlap, int64_t step,
                                   qt_bloch *out) WEIR_CHECKED;
/* Couplings beyond some cells: their norm (eV); the largest and its position in the file, from 0.
 */
typedef struct qt_matrices_rest {
  double norm, largest;
  int64_t image, row, column;
} qt_matrices_rest;
/* Returns the couplings of the Hamiltonian beyond `n_cells` cells along x. */
qt_matrices_rest qt_matrices_file_beyond(const qt_matrices_file *f, int64_t n_cells);

/* Creates the system. Fails: WEIR_ERR_CONFIG naming the key, WEIR_ERR_DATA and WEIR_ERR_SHAPE
 * naming the file, WEIR_ERR_MEMORY; the caller finishes *out, which arrives all zero, in any case.
 */
weir_status qt_matrices_system(const qt_matrices_opts *opts, qt_system *out) WEIR_CHECKED;
#endif
