/* native_walk.h - a box as rows: where they lie, and which section of each stays inside the arrays.
 */
#ifndef WEIR_NATIVE_WALK_H
#define WEIR_NATIVE_WALK_H
#include "exec/backend/native/native_priv.h"

enum { NATIVE_OFFSETS = WEIR_LANES * NATIVE_OPERANDS };

/* What the rows of one run share. */
typedef struct native_walk {
  const native_form *f;
  const native_kernels *kernels;
  const weir_loop_run *run;
  weir_dim_kind direction[WEIR_MAX_DIMS];
  int64_t lo[WEIR_MAX_DIMS], hi[WEIR_MAX_DIMS];
  int64_t i[WEIR_MAX_DIMS];      /* the iteration at which the next row starts */
  int64_t weight[WEIR_MAX_DIMS]; /* of a parallel dimension in `point`          */
  char *start[WEIR_MAX_OPERANDS], *start_out[WEIR_MAX_OUTPUTS]; /* iteration 0 of plain operands */
  int64_t step[WEIR_MAX_OPERANDS][WEIR_MAX_DIMS], step_out[WEIR_MAX_OUTPUTS][WEIR_MAX_DIMS];
  int64_t size[WEIR_MAX_OPERANDS], size_out[WEIR_MAX_OUTPUTS];
  int outer[WEIR_MAX_DIMS], n_outer, around[WEIR_MAX_DIMS], n_around;
  int64_t n; /* iterations of a whole row */
  bool inside, unit;
  bool scattered;  /* digits of a number whose dimensions are not dense: all is up to `border` */
  char *scratch;   /* buffer to expand them  */
  int64_t *offset; /* [NATIVE_OFFSETS] of native_row, for `small` */
  native_row row;
  bool nest;       /* start and step are without the dimensions that have a table */
  int64_t *tables; /* [NATIVE_TABLE_CAPACITY]                                         */
} native_walk;

/* Starts at the first iteration of every dimension. The caller keeps the box from being empty in
 * dimensions that are not reduced. */
void native_walk_begin(native_walk *w, const native_form *f, const native_kernels *kernels,
                       const weir_loop_run *run);
/* Next iteration of the listed dimensions, the last one fastest; false after the last, when all are
 * back at the first. */
bool native_walk_next(native_walk *w, const int *list, int n);
/* Puts the row at iteration w->i. */
void native_walk_locate(native_walk *w);
/* Moves the row's start u iterations on. */
void native_walk_advance(native_walk *w, int64_t u);
/* The iterations [range[0], range[1]) of the row of n that leave no array. */
void native_walk_inside(const native_walk *w, int64_t n, int64_t range[2]);
/* The last dimension around the rows, when one call may run several of them along it (row.m), -1:
 * not; sets the distances of rows. */
int native_walk_second(native_walk *w);
/* Readies the walk for the kernel `nest`, whose rows lie along dimension line; false, and nothing
 * is changed, where it does not serve this box. */
bool native_walk_nest(native_walk *w);
/* Runs the next n iterations of the located row; leaves the row somewhere in them. */
void native_walk_row(native_walk *w, int64_t n);

/* For native_walk_nest.c. May index d of input k leave its array? Digits of one number do not. */
bool native_walk_is_bordered(const native_walk *w, int k, int d);
/* Iterations of dimension d continue those of the inner one, so that both make one row. */
bool native_walk_continues(const native_walk *w, int d);
/* apart: array dimensions that are found by other means. */
void native_walk_set_steps(const weir_operand *o, const weir_view *v, int n_dims, unsigned apart,
                           unsigned carries, char **start, int64_t *step);

#endif
