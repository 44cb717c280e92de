/* weir_wannier.h - tight-binding Hamiltonians of Wannier90 (user guide, version 3.1): seed_hr.dat
 * or seed_tb.dat, seed_wsvec.dat, seed_centres.xyz, the cell of seed.win. Local calls. */
#ifndef WEIR_WANNIER_H
#define WEIR_WANNIER_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_complex.h"
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_wannier_atom {
  char symbol[4];
  double position[3]; /* Angstrom */
} weir_wannier_atom;

/* H(k) = sum over R of h(R) exp(2 pi i k . R): with all weights applied. Owns its arrays
 * (weir_wannier_fini); all zero is empty. */
typedef struct weir_wannier {
  int64_t n;           /* functions of a cell                                                */
  int64_t n_r;         /* lattice vectors                                                    */
  int64_t (*r)[3];     /* [n_r] in units of the cell's vectors, ascending; -R is included with R */
  weir_c128 *h;        /* [n_r, n, n] eV: from function m of cell 0 (row) to n of cell R     */
  int64_t n_file;      /* lattice vectors of the file, before shifts                         */
  bool shifted;        /* weights of nearest images are applied */
  double (*centre)[3]; /* [n] Angstrom; NULL where no file gives them                        */
  int64_t n_atoms;
  weir_wannier_atom *atom; /* [n_atoms]; NULL where no file gives them                        */
  bool spinors;            /* of .win: both spins are among the functions                     */
  bool has_cell;
  double cell[3][3]; /* rows: vectors in Angstrom                                             */
} weir_wannier;
void weir_wannier_fini(weir_wannier *w);

/* Reads the files with the name `seed` ("silicon" for silicon_hr.dat):
 * _hr.dat, or else _tb.dat; _wsvec.dat with `shifts`; _centres.xyz and .win. Files other than the
 * first are optional. Fails: WEIR_ERR_DATA naming file, line and reason, WEIR_ERR_MEMORY; *out is
 * then empty. */
weir_status weir_wannier_read(const char *seed, bool shifts, weir_wannier *out) WEIR_CHECKED;

/* Read the files one by one. hr and tb divide by the degeneracies and refuse a lattice vector, or
 * an element, that is missing or given twice; tb gives cell and centres too. */
weir_status weir_wannier_read_hr(const char *path, weir_wannier *out) WEIR_CHECKED;
weir_status weir_wannier_read_tb(const char *path, weir_wannier *out) WEIR_CHECKED;
/* Replaces each h(R) by its shares at the nearest images R + T of wsvec.dat. */
weir_status weir_wannier_read_shifts(const char *path, weir_wannier *w) WEIR_CHECKED;
weir_status weir_wannier_read_centres(const char *path, weir_wannier *w) WEIR_CHECKED;
/* Reads the cell of .win, and `spinors`. */
weir_status weir_wannier_read_win(const char *path, weir_wannier *w) WEIR_CHECKED;

/* Returns the index of a lattice vector; -1 where there is none. */
int64_t weir_wannier_find(const weir_wannier *w, const int64_t r[3]);

#ifdef __cplusplus
}
#endif
#endif
