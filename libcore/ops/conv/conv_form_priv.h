/* conv_form_priv.h - a node checked to be one kind of convolution. */
#ifndef CONV_FORM_PRIV_H
#define CONV_FORM_PRIV_H
#include "ops/conv/conv_form.h"
#include "ops/conv/weir_conv.h"

/* In place of a dimension: there is none. */
#define NONE (-1)

/* sum_j coef[j] i_j + offset (of dimensions with more than one iteration) divided by div. */
typedef struct conv_line {
  int64_t coef[WEIR_MAX_DIMS], offset, div;
} conv_line;

typedef enum conv_test {
  CONV_WHOLE, /* the line is a whole number       */
  CONV_FROM,  /* its numerator is at least bound  */
  CONV_BELOW, /* its numerator is less than bound */
  CONV_EQUAL, /* its numerator is bound           */
  CONV_EDGE   /* dimension `shift` is 0, or below 0 at element 0, or above 0 at element `bound` */
} conv_test;

typedef struct conv_condition {
  conv_test test;
  conv_line line; /* div 1 unless CONV_WHOLE; 0 for CONV_EDGE */
  int64_t bound;
  int shift, element; /* CONV_EDGE: dimensions; element NONE: there is only one */
} conv_condition;

#define CONV_MAX_CONDITIONS 32

/* Sums of so many products of numbers that are small stay within 64 bits. */
static inline bool conv_is_small(int64_t v)
{
  return v >= -(INT64_C(1) << 29) && v <= INT64_C(1) << 29;
}

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
  /* Iteration dimensions, or NONE: of each variable; elements of x, and what leads from them beyond
   * the ends of x; channels of x and y. */
  int of[VARIABLES], element[CONV_FORM_DIMS], beyond[CONV_FORM_DIMS], x_channel, y_channel;
  weir_border rule[CONV_FORM_DIMS]; /* of `beyond`, and the step that it takes */
  int64_t period[CONV_FORM_DIMS];
  bool met[CONV_MAX_CONDITIONS]; /* conditions that are part of a border rule */
  bool solved[CONV_FORM_DIMS];   /* elements of x count, and o or t follows */
  bool still[WEIR_MAX_DIMS];     /* dimensions of which conditions leave the iteration 0 alone */
  int64_t extent[VARIABLES];
  form_line line[WEIR_MAX_DIMS]; /* what each iteration dimension is */
} matching;

/* conv_names.c: says what the node's iteration dimensions are, from its derivation: `of`, element,
 * beyond, channels; reads kernel_size, stride, dilation, lo, border and groups of the form. */
bool conv_name_dims(matching *m);
/* Returns the derivation of a gradient by x as that of a convolution of y, whose x and y are
 * exchanged, which is what it is where a tap is alone: what counted along y then counts kernel
 * elements, and channels in are channels out. d: spatial dimensions. */
weir_derivation conv_exchanged(const weir_derivation *derivation, int d);
/* Iterations of a dimension, 1 for NONE. */
int64_t conv_extent_of(const matching *m, int dim);

/* conv_border.c: how elements that a gradient counts along lead beyond the ends of x. Reads the
 * rule from the line that was solved; false where it is none. Then checks that all positions that
 * windows reach are counted, and finds the conditions of the rules (`met`). */
bool conv_border_read(matching *m, int k, const conv_line *l);
bool conv_border_reaches(const matching *m, int k);
bool conv_border_conditions(matching *m);
/* Coefficient that the element of dimension k has in the position before the rule: 1, or -1. */
int64_t conv_border_sign(const matching *m, int k);

/* conv_body.c: number of conditions of a body that multiplies its two inputs wherever they hold, or
 * -1 when it is another. */
int conv_body_conditions(const weir_access *a, conv_condition *conditions);
/* Marks dimensions that the conditions leave only 0 (`still`): i of [0, n) is 0 where (multiples of
 * div + i) / div, n <= div, is whole, which is what is left of a division that was solved. */
void conv_find_still(matching *m);
/* Takes iteration dimensions that stand still out of a line, and common divisors; writes a
 * condition in one way of all those that say the same. */
void conv_line_reduce(const weir_access *a, conv_line *l);
void conv_condition_reduce(const weir_access *a, conv_condition *c);

#endif
