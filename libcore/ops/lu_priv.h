/* lu_priv.h - elimination with partial pivoting of one small matrix with its right-hand sides: the
 * vector code. Re and im lie apart, so that vectors run along rows; LU_PANEL columns are eliminated
 * at a time (Golub and Van Loan 2013, section 3.4.7). Of many systems, vectors run across: one has
 * a number of as many systems as there are lanes (interleaved batches, Dongarra et al. 2017). Both
 * ways do the same operations on every number in the same order, and give the same bits. */
#ifndef LU_PRIV_H
#define LU_PRIV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/weir_batch.h"

enum { LU_PANEL = 4, LU_LANES = 16 }; /* LU_LANES: of any dtype, at most */

/* a [n, n] in columns 0 to n of every row, b [n, k] in columns `side` to side + k; 0 between and
 * after. step and side are multiples of the lanes. Of real numbers im and panel_im are not read.
 */
typedef struct lu_system {
  int64_t n, k, side, step;
  bool identity; /* b is the identity, loaded as 0: column c of b belongs to the row that becomes
                    pivot c, so that the inverse of L is a triangle, of which the rest is skipped */
  void *re, *im; /* [n, step]                                       */
  void *panel_re, *panel_im; /* [LU_PANEL, panel_step], 0 after the n-th        */
  int64_t panel_step;        /* `side` and the lanes more, at least               */
  int64_t *row;              /* [n]; afterwards row[i] is where row i of x lies  */
  const char *ahead[3];      /* memory of the system after this one that is brought nearer */
  int64_t ahead_bytes[3];
} lu_system;

/* A matrix of s->n rows and n columns in memory, and the column of the system where it begins. */
typedef struct lu_block {
  void *data;
  int64_t n, down, across, at; /* down, across: elements from one to the next */
} lu_block;

/* As many systems as a vector has lanes, one in each: a number is [re | im, lanes]. a [n, n] in
 * columns 0 to n of every row, b [n, k] in columns n to n + k. */
typedef struct lu_lanes {
  int64_t n, k, step; /* numbers from one row to the next */
  int64_t block;      /* columns that the first cache holds */
  void *data;         /* [n, step]                        */
  void *reciprocal;   /* [n]: of the pivots               */
  unsigned *exact;    /* [n]: bit l: lane l has one       */
} lu_lanes;

/* Vector code of one dtype and instruction set. */
typedef struct lu_kernels {
  int64_t lanes;
  /* b becomes x. False when a pivot is exactly 0. */
  bool (*solve)(const lu_system *s);
  /* Into the system, 0 up to a multiple of the lanes; x out of it. */
  void (*load)(const lu_system *s, const lu_block *from, bool conj);
  void (*store)(const lu_system *s, const lu_block *to);
  /* Whether all n numbers are finite, a multiple of the lanes. */
  bool (*is_finite)(const void *x, int64_t n);
  /* The same of systems in lanes. from: [lanes]. Bit l of what is returned: lane l has no pivot
   * that is exactly 0; all its numbers are finite. */
  unsigned (*solve_lanes)(const lu_lanes *s);
  unsigned (*load_lanes)(const lu_lanes *s, const lu_block *from, bool conj);
  void (*store_lanes)(const lu_lanes *s, const lu_block *to);
} lu_kernels;

extern const lu_kernels weir_lu_f32_avx2, weir_lu_f64_avx2, weir_lu_c64_avx2, weir_lu_c128_avx2;
extern const lu_kernels weir_lu_f32_avx512, weir_lu_f64_avx512;
extern const lu_kernels weir_lu_c64_avx512, weir_lu_c128_avx512;

/* weir_lu_solve on one instruction set. */
void lu_solve(const lu_kernels *k, const weir_matrix *m, bool conj, const weir_matrix *next,
              void *memory);

/* Systems of one shape and strides, as many as there are lanes or fewer: a, b and x of each. */
typedef struct lu_systems {
  int64_t n;
  weir_matrix m[LU_LANES][3];
} lu_systems;

/* weir_lu_solve of each. */
void lu_solve_lanes(const lu_kernels *k, const lu_systems *s, bool conj, void *memory);

#endif
