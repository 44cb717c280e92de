/* weir_triplets.h - sparse
 * matrices as stored in files: elements by row and column, from 0, in any order. Readers of the
 * formats of electronic structure programs. Local calls. */
#ifndef WEIR_TRIPLETS_H
#define WEIR_TRIPLETS_H
#include <stdint.h>
#include "base/weir_complex.h"
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_triplet {
  int64_t row, column;
  weir_c128 value; /* finite */
} weir_triplet;
/* Elements with equal indices are summed. Owns them (weir_triplets_fini); all zero is empty. */
typedef struct weir_triplets {
  int64_t rows, columns; /* 1 at least */
  int64_t count, capacity;
  weir_triplet *item; /* [count] */
} weir_triplets;
void weir_triplets_fini(weir_triplets *t);
/* Appends an element. Fails: WEIR_ERR_MEMORY. */
weir_status weir_triplets_add(weir_triplets *t, int64_t row, int64_t column,
                              weir_c128 value) WEIR_CHECKED;

/* The readers fail with WEIR_ERR_DATA, naming file, line (or byte) and reason, and WEIR_ERR_MEMORY;
 * *out is then empty. Counts are checked against the size of the file before memory is allocated.
 */

/* Read a file of any of the formats below, detected from its first bytes: one matrix (*count 1), or
 * that of a cell and its coupling to the next cell (2); or exactly one. */
weir_status weir_triplets_read_cells(const char *path, weir_triplets out[2],
                                     int *count) WEIR_CHECKED;
weir_status weir_triplets_read(const char *path, weir_triplets *out) WEIR_CHECKED;
/* Reads Matrix Market (math.nist.gov/MatrixMarket/formats.html): coordinate or array; real, integer
 * or complex; elements implied by symmetric, skew-symmetric and hermitian files are added. */
weir_status weir_matrix_market_read(const char *path, weir_triplets *out) WEIR_CHECKED;
/* Reads a matrix saved by PETSc with MatView and a binary viewer, sparse or dense, of real or
 * complex builds, with indices of 32 or 64 bits. */
weir_status weir_petsc_binary_read(const char *path, weir_triplets *out) WEIR_CHECKED;
/* H_4.bin and S_4.bin of OMEN and CP2K, or their text versions: rows, elements, first index (0 or
 * 1), then row, column, real part and, where there is one, imaginary part; H in eV. Binary files
 * have the byte order of this machine. */
weir_status weir_omen_read(const char *path, weir_triplets *out) WEIR_CHECKED;
/* seed_htB.dat, _htL.dat and _htR.dat of Wannier90 (eV): the matrix of a cell, then that from a
 * cell (rows) to the next; _htC.dat, _htLC.dat and _htCR.dat: one matrix. *count is 1 or 2; zeros
 * are left out. Fails: WEIR_ERR_DATA naming file, line and reason, WEIR_ERR_MEMORY; out is then
 * empty.
 */
weir_status weir_wannier_read_ht(const char *path, weir_triplets out[2], int *count) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
