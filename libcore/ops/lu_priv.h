/* lu_priv.h - elimination with partial pivoting of one small matrix beside its right sides: the
 * vector code. Re and im lie apart, so that vectors run along rows; LU_PANEL columns are eliminated
 * at a time (Golub and Van Loan 2013, section 3.4.7). */
#ifndef LU_PRIV_H
#define LU_PRIV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/weir_batch.h"

enum { LU_PANEL = 4 };

/* a [n, n] in columns 0 to n of every row, b [n, k] in columns `side` to side + k; 0 between and
 * behind. step and side are multiples of the lanes. Of real numbers im and panel_im are not read.
 */
typedef struct lu_system {
  int64_t n, k, side, step;
  void *re, *im;             /* [n, step]                                       */
  void *panel_re, *panel_im; /* [LU_PANEL, panel_step], 0 behind the n-th        */
  int64_t panel_step;        /* `side` and the lanes more, at least               */
  int64_t *row;              /* [n]; afterwards row[i] is where row i of x lies  */
  const char *ahead[3];      /* memory of the system after this one that is brought nearer */
  int64_t ahead_bytes[3];
} lu_system;

/* A matrix of s->n rows and n columns in memory, and the column of the system where it begins. */
typedef struct lu_part {
  void *data;
  int64_t n, down, across, at; /* down, across: elements from one to the next */
} lu_part;

/* Vector code of one dtype and instruction set. */
typedef struct lu_kernels {
  int64_t lanes;
  /* b becomes x. False when a pivot is exactly 0. */
  bool (*solve)(const lu_system *s);
  /* Into the system, 0 up to a multiple of the lanes; x out of it. */
  void (*load)(const lu_system *s, const lu_part *from, bool conj);
  void (*store)(const lu_system *s, const lu_part *to);
  /* Whether all n numbers are finite, a multiple of the lanes. */
  bool (*is_finite)(const void *x, int64_t n);
} lu_kernels;

extern const lu_kernels weir_lu_f32_avx2, weir_lu_f64_avx2, weir_lu_c64_avx2, weir_lu_c128_avx2;
extern const lu_kernels weir_lu_f32_avx512, weir_lu_f64_avx512;
extern const lu_kernels weir_lu_c64_avx512, weir_lu_c128_avx512;

/* weir_lu_solve on one instruction set. */
void lu_solve(const lu_kernels *k, const weir_matrix *m, bool conj, const weir_matrix *next,
              void *memory);

#endif
