/* rows.h - results that are rows, each a sum of a few rows of an array times coefficients:
 * interpolation and its derivative by the array. f32, by the vector code of this processor; the
 * array may be of bf16, and results rounded to it. */
#ifndef INTERPOLATE_ROWS_H
#define INTERPOLATE_ROWS_H
#include "graph/weir_access.h"
#include "graph/weir_view.h"

/* For each point: how many terms read something of x, where they read and times what, and the sum
 * of the others: zero times coefficients, NaN where one is not finite. */
typedef struct rows_entries {
  int64_t terms;               /* at most, of a point            */
  int64_t *count, *offset;     /* [points], [points, terms]      */
  float *coefficient, *others; /* [points, terms], [points]      */
} rows_entries;

/* Rows of n elements, one for each point q of [from, to), `out_step` bytes apart:
 *   out[0 .. n) = others[q] + sum over i of coefficient[q, i] x[offset[q, i] ..)
 * one product added after the other; x and out are f32, or bf16 where the name says half. */
typedef void rows_sum(void *out, int64_t out_step, const void *x, const rows_entries *e,
                      int64_t from, int64_t to, int64_t n);
extern rows_sum rows_sum_avx2, rows_sum_avx512, rows_sum_to_half, rows_sum_of_half,
    rows_sum_half_to_half;
/* The best that this processor runs for x and results of f32 or bf16, or NULL. */
rows_sum *rows_sum_get(weir_dtype x, weir_dtype out);

/* Dimensions of the result, in its order: its iteration dimension; whether coefficients or places
 * in x depend on it in another way than by a fixed step ("point"). The last one is no point: a row.
 */
typedef struct rows_form {
  int x, table; /* operands */
  int rank, dim[WEIR_MAX_RANK];
  bool point[WEIR_MAX_RANK];
  int n_reduced, reduced[WEIR_MAX_DIMS];
  weir_dtype of, out;    /* of x and the result: f32 or bf16 */
  int64_t points, terms; /* combinations of iterations of points; of reduced ones */
} rows_form;

/* True, and *f filled, when the access is such a sum of at most ROWS_ENTRIES points x terms. */
enum { ROWS_ENTRIES = 1 << 16 };
bool rows_form_of(const weir_access *a, rows_form *f);

/* In place of an index: beyond the ends, where zero is read; the term does not count. */
enum { ROWS_OUTSIDE = -1, ROWS_NOTHING = -2 };
/* What is known before a run: the places that terms read, by point. */
typedef struct rows_plan {
  weir_access access; /* owned */
  rows_form form;
  int64_t extent[WEIR_MAX_RANK]; /* of the result */
  int64_t *x, *table; /* [points, terms, rank of the operand]: indices, or ROWS_OUTSIDE first, or
                         ROWS_NOTHING in x                                                      */
} rows_plan;

weir_status rows_plan_make(const weir_access *a, rows_plan *p) WEIR_CHECKED;
void rows_plan_fini(rows_plan *p);
/* Bytes of offsets and coefficients, and what writes them for the views of a run. */
int64_t rows_workspace(const rows_plan *p);
void rows_fill(const rows_plan *p, const weir_view *x, const weir_view *table, void *workspace);
/* Pieces of the whole result; a piece of it, and the elements [lo, hi) of it. */
int64_t rows_pieces(const rows_plan *p);
void rows_piece(const rows_plan *p, const weir_view *x, const weir_view *out, const void *workspace,
                int64_t piece);
void rows_box(const rows_plan *p, const weir_view *x, const weir_view *out, const void *workspace,
              const int64_t *lo, const int64_t *hi);

#endif
