/* conv_unit.h - convolutions of stride 1, dilation 1 and one group, as kernels of this project make
 * them: in three dimensions, as sums by x and w (forward; by data, of y and the turned weights) or
 * gradients by w. */
#ifndef CONV_UNIT_H
#define CONV_UNIT_H
#include "ops/conv/conv_chunks.h"
#ifdef __cplusplus
extern "C" {
#endif

/* y[n, o, c] = sum over tap, r of x[n, o + tap - lo, r] w[tap, r, c]; the first dimensions have one
 * element and one tap where there are fewer than three. */
typedef struct conv_unit {
  int64_t batch, read, made; /* channels of x and y                                       */
  int64_t taps[3], x[3], y[3], lo[3]; /* extents; y[o] reads x[o + tap - lo]              */
  weir_border border[3];              /* elements beyond the ends of x; ABSENT: left out        */
  int64_t x_step[4], y_step[4];       /* elements between neighbours along n and the dimensions */
  int64_t w_step[5];                  /* those of w: taps, read, made                           */
} conv_unit;

/* A group that is one. */
typedef struct conv_unit_claim {
  conv_form form, f;   /* as matched; by x without border rules, else the same */
  bool folds;          /* they differ                                          */
  weir_dtype operands; /* f32 or bf16; sums are f32                            */
  conv_unit s;         /* by x it reads y and makes x: steps are those of a run */
} conv_unit_claim;

/* A run of one: the arrays that are read and made, w from its first tap on. */
typedef struct conv_unit_run {
  conv_unit s;
  void *x, *y, *w;
  bool half;                      /* what is made is bf16                                   */
  void *others;                   /* the workspace behind what is folded                    */
  int64_t lo[3], hi[3], first[3]; /* a run of a block: its box, and where y's view begins */
} conv_unit_run;

bool conv_unit_find(const weir_graph *g, const weir_group *group, conv_unit_claim *c);
bool conv_unit_by_weights(const conv_unit_claim *c);
/* Bytes of the workspace for x before it is folded; of scratch for a row of its sums. */
int64_t conv_unit_folded_bytes(const conv_unit_claim *c);
int64_t conv_unit_row_bytes(const conv_unit_claim *c);
void conv_unit_bind(const conv_unit_claim *c, const weir_kernel_run *r, conv_unit_run *run);
/* Pieces of the stage that folds, and one of them: a row of x. */
int64_t conv_unit_folds(const conv_unit_claim *c);
void conv_unit_fold(const conv_unit_claim *c, const weir_kernel_run *r);
/* Where what is read as element `raw` of dimension d, beyond the ends of x, lies, or -1. */
int64_t conv_unit_beyond(const conv_unit *s, int d, int64_t raw);
/* Where what is read as element `at` of dimension d lies, counted from -lo on, or -1. */
static inline int64_t conv_unit_index(const conv_unit *s, int d, int64_t at)
{
  const int64_t raw = at - s->lo[d];

  return raw >= 0 && raw < s->x[d] ? raw : conv_unit_beyond(s, d, raw);
}

#ifdef __cplusplus
}
#endif
#endif
