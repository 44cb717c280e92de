/* weir_tshs.h - Hamiltonian and overlap of SIESTA (.TSHS, version 1), in eV and Angstrom. Local
 * calls. */
#ifndef WEIR_TSHS_H
#define WEIR_TSHS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "io/weir_triplets.h"
#ifdef __cplusplus
extern "C" {
#endif

/* H(k) = sum over images of h exp(2 pi i k . image), S(k) likewise; rows are orbitals of the cell,
 * columns those of the image. Of 4 spin components (non-collinear) or 8 (spin-orbit coupling) the
 * basis holds both spins: orbital o of the file is 2 o with spin up, 2 o + 1 with spin down. Owns
 * its arrays (weir_tshs_fini); all zero is empty. */
typedef struct weir_tshs {
  int64_t n_atoms, n_orbitals;
  int64_t n_spins;       /* components: 1, 2, 4, 8                           */
  double cell[3][3];     /* rows: vectors, Angstrom                          */
  double (*position)[3]; /* [n_atoms] Angstrom                               */
  int64_t *first;        /* [n_atoms + 1] first orbital of each atom, and n  */
  double fermi;          /* eV; h is not shifted by it                       */
  int64_t n_images;
  int64_t (*image)[3];  /* [n_images] in units of the cell's vectors        */
  weir_triplets *h, *s; /* [n_images], n_orbitals x n_orbitals, of the same elements; h in eV */
} weir_tshs;
void weir_tshs_fini(weir_tshs *t);

/* Reads the Hamiltonian of one spin (0 or 1), or of both together (0), and the overlap. Fails:
 * WEIR_ERR_DATA naming file, byte and reason (also: it contains only the overlap), WEIR_ERR_CONFIG
 * (no such spin), WEIR_ERR_MEMORY; *out is then empty. */
weir_status weir_tshs_read(const char *path, int64_t spin, weir_tshs *out) WEIR_CHECKED;
/* Whether the file starts as a .TSHS of version 1. */
bool weir_tshs_is(const char *path);

#ifdef __cplusplus
}
#endif
#endif
