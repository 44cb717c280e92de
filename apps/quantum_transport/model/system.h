/* system.h - an open system: a device between two leads, as matrices.
 *
 * Electrons: H and S, energies in eV. Phonons: H is the dynamical matrix in eV^2 of displacements
 * scaled by the root of the mass, its eigenvalues (hbar omega)^2, S is the identity. Transport runs
 * along x. Orbitals are ordered so that blocks couple to their neighbours only (block
 * tridiagonal). */
#ifndef QT_SYSTEM_H
#define QT_SYSTEM_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "model/sparse.h"

typedef enum qt_particle { QT_ELECTRONS, QT_PHONONS } qt_particle;

/* A matrix that depends on the transverse wave vector k = (k_y, k_z), in reciprocal lattice
 * vectors: M(k) = sum_m matrix[m] exp(2 pi i k . image[m]). Without periodic directions one image,
 * (0, 0). count 0: there is no such matrix (an orthonormal basis has no overlap). Owns all. */
typedef struct qt_bloch {
  int64_t count;
  int64_t (*image)[2];
  qt_sparse *matrix;
} qt_bloch;
void qt_bloch_fini(qt_bloch *m);

/* An atom, or a site of a model. */
typedef struct qt_atom {
  double position[3];        /* Angstrom                                       */
  int64_t first, n_orbitals; /* its orbitals (or displacements) of the device  */
  char symbol[4];            /* chemical symbol; "X" for a site of a model     */
  double mass;               /* amu; 0 where unknown                           */
} qt_atom;

/* A lead: a perfect wire that repeats one cell. */
typedef struct qt_lead {
  int64_t n;                   /* orbitals of a cell                                        */
  qt_bloch cell, overlap;      /* [n, n] of a cell                                          */
  qt_bloch next, next_overlap; /* [n, n] from a cell (rows) to its neighbour at larger x    */
  double length;               /* Angstrom of a cell along x                                */
} qt_lead;

enum { QT_LEFT, QT_RIGHT, QT_LEADS };

/* All zero is no system; owns everything (qt_system_fini). The left lead's cells continue the
 * device at smaller x and couple to its first block alone, which has lead[QT_LEFT].n orbitals in
 * the order of a cell of the lead and couples to that lead by its `next`; likewise the right lead
 * and the last block. */
typedef struct qt_system {
  qt_particle particle;
  bool has_spin;    /* both spins are in the basis: a state holds one electron, not two */
  bool one_spin;    /* the matrices are those of one of two spins, which alone is computed */
  int64_t n;        /* orbitals of the device                                  */
  int64_t n_blocks; /* at least 1                                              */
  int64_t *block;   /* [n_blocks + 1] first orbital of each block, and n       */
  qt_bloch h, s;    /* [n, n]; s.count 0: the identity                         */
  qt_lead lead[QT_LEADS];
  int64_t n_atoms;
  qt_atom *atom;     /* [n_atoms] in the order of their orbitals                */
  bool is_schematic; /* positions are made up: 1 Angstrom from block to block   */
  double cell[3][3]; /* Angstrom; rows: along x the whole device                */
  bool periodic[3];  /* of cell; x is not                                       */
} qt_system;
void qt_system_fini(qt_system *s);
/* Returns the bytes of its arrays. */
double qt_system_bytes(const qt_system *s);
/* Returns the electrons of a state of the basis: 2, or 1 where the basis has spin or is that of one
 * spin. */
double qt_system_spin(const qt_system *s);

/* SHA-256 (as text) of all that defines a system, but symbols and masses of its atoms. */
void qt_system_digest(const qt_system *s, char digest[65]);

/* Adds factor times M(k) of block (row_block, column_block) of the device to out [rows, columns]
 * (dense, row by row). */
void qt_system_add_block(const qt_system *s, const qt_bloch *m, const double k[2],
                         int64_t row_block, int64_t column_block, weir_c128 factor, weir_c128 *out);
/* Block (row, column) of A = z S - H - Sigma, the inverse of G, to out [rows, columns]; sigma[c]:
 * of a lead, [n, n] of its end block. */
void qt_system_inverse_block(const qt_system *s, const double k[2], weir_c128 z,
                             weir_c128 *const sigma[QT_LEADS], int64_t row, int64_t column,
                             weir_c128 *out);
/* Returns the index of the image (y, z) in m->image, -1 without one. */
int64_t qt_bloch_find(const qt_bloch *m, int64_t y, int64_t z);
/* Returns exp(2 pi i k . image[i]). */
weir_c128 qt_bloch_phase(const qt_bloch *m, int64_t i, const double k[2]);
/* out [rows, columns] += factor times M(k), of all of a lead's matrix. */
void qt_bloch_add(const qt_bloch *m, const double k[2], weir_c128 factor, weir_c128 *out);

#endif
