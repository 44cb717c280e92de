/* conv_form_priv.h - a node checked to be one kind of convolution. */
#ifndef CONV_FORM_PRIV_H
#define CONV_FORM_PRIV_H
#include "ops/conv/conv_form.h"
#include "ops/conv/weir_conv.h"

/* sum_j coef[j] i_j + offset (of dimensions with more than one iteration) divided by div. */
typedef struct conv_line {
  int64_t coef[WEIR_MAX_DIMS], offset, div;
} conv_line;

typedef enum conv_test {
  CONV_WHOLE, /* the line is a whole number       */
  CONV_FROM,  /* its numerator is at least bound  */
  CONV_BELOW  /* its numerator is less than bound */
} conv_test;

typedef struct conv_condition {
  conv_test test;
  conv_line line; /* div 1 unless CONV_WHOLE */
  int64_t bound;
} conv_condition;

#define CONV_MAX_CONDITIONS 32

/* Sums of so many products of numbers that are small stay within 64 bits. */
static inline bool conv_is_small(int64_t v)
{
  return v >= -(INT64_C(1) << 29) && v <= INT64_C(1) << 29;
}

/* In place of a dimension: there is none. */
#define NONE (-1)
#define NOTHING (-2) /* no operand at all, nor the output */
/* Variables of a convolution. */
enum {
  OF_N,
  OF_Y,
  OF_TAP = OF_Y + CONV_FORM_DIMS,
  OF_GROUP = OF_TAP + CONV_FORM_DIMS,
  OF_IN,
  OF_OUT,
  VARIABLES
};

/* An index over the variables. */
typedef struct form_line {
  int64_t coef[VARIABLES], offset;
} form_line;

typedef struct matching {
  const weir_access *a;
  const weir_derivation *derivation;
  conv_form *f;
  const weir_operand *x, *y, *w;
  conv_line xi[WEIR_MAX_RANK], yi[WEIR_MAX_RANK], wi[WEIR_MAX_RANK];
  conv_condition condition[CONV_MAX_CONDITIONS];
  int n_conditions;
  /* Iteration dimensions, or NONE: of each variable; elements of x, and how often it wraps;
   * channels of x and y. */
  int of[VARIABLES], element[CONV_FORM_DIMS], wrap[CONV_FORM_DIMS], x_channel, y_channel;
  bool solved[CONV_FORM_DIMS]; /* elements of x count, and o or t follows */
  bool still[WEIR_MAX_DIMS];   /* dimensions of which conditions leave the iteration 0 alone */
  int64_t extent[VARIABLES];
  form_line line[WEIR_MAX_DIMS]; /* what each iteration dimension is */
} matching;

/* conv_names.c: says what the node's iteration dimensions are, from its derivation: `of`, element,
 * wrap, channels; reads kernel_size, stride, dilation, lo, border and groups of the form. */
bool conv_name_dims(matching *m);
/* Iterations of a dimension, 1 for NONE. */
int64_t conv_extent_of(const matching *m, int dim);

/* conv_body.c: number of conditions of a body that multiplies its two inputs wherever they hold, or
 * -1 when it is another. */
int conv_body_conditions(const weir_access *a, conv_condition *conditions);
/* Takes iteration dimensions that stand still out of a line, and common divisors; writes a
 * condition in one way of all those that say the same. */
void conv_line_reduce(const weir_access *a, conv_line *l);
void conv_condition_reduce(const weir_access *a, conv_condition *c);

#endif
