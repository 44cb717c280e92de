/* conv_form.h - the convolution that a node says it is, checked against its access: what kernels
 * match.
 *
 * A convolution is a set of triples of elements that are multiplied,
 *   x[n, stride o + dilation t - lo, g in + i]   w[.., t, g, i, c]   y[n, o, g out + c]
 * for all n, o, g, c, t, i where x has that element (or its border rule gives one). A node that
 * sums over two of the three and writes the third is the convolution itself, its gradient by x or
 * its gradient by w. Which one, and what its iterations count, is asked of its derivation; steps,
 * extents and borders are read from the access, and nothing is believed that the access does not
 * show. */
#ifndef CONV_FORM_H
#define CONV_FORM_H
#include "graph/weir_kernel.h"
#ifdef __cplusplus
extern "C" {
#endif

#define CONV_FORM_DIMS 3
#define CONV_FORM_OUTPUT (-1) /* instead of an input's number */

typedef enum conv_kind {
  CONV_FORWARD, /* x, w -> y */
  CONV_DATA,    /* w, y -> x */
  CONV_WEIGHTS  /* x, y -> w */
} conv_kind;

/* Index of one dimension of the weights' array, over what a weight stands for. */
typedef struct conv_weight_index {
  int64_t tap[CONV_FORM_DIMS], group, in, out, offset;
} conv_weight_index;

typedef struct conv_form {
  conv_kind kind;
  weir_dtype dtype;                     /* that the sums are made in                      */
  weir_dtype x_dtype, y_dtype, w_dtype; /* of the arrays: that one, or bf16 where it is f32 */
  int d;                      /* spatial dimensions, 1 to 3                                  */
  int x, y, w;                /* input operand that each is, or CONV_FORM_OUTPUT             */
  int64_t n, groups, in, out; /* in, out: channels of one group               */
  /* Per spatial dimension. x and y are [n, extents, channels of all groups]. hi: how far the last
   * tap reaches beyond the end, below 0 where it does not reach it. */
  int64_t x_extent[CONV_FORM_DIMS], y_extent[CONV_FORM_DIMS], kernel_size[CONV_FORM_DIMS];
  int64_t stride[CONV_FORM_DIMS], dilation[CONV_FORM_DIMS];
  int64_t lo[CONV_FORM_DIMS], hi[CONV_FORM_DIMS];
  /* Elements of x beyond its ends: ABSENT (they count as 0 and are left out) or a border rule. */
  weir_border border[CONV_FORM_DIMS];
  /* By data, REFLECT: the gradient is a sum of nodes. This one adds up, along the dimension, what
   * lies at reflected positions (2 (n - 1) q - e of element e, ends left out), or at all others. */
  bool mirrored[CONV_FORM_DIMS];
  int w_rank;
  conv_weight_index w_index[WEIR_MAX_RANK];
} conv_form;

/* Places in memory of the weights, in elements. */
typedef struct conv_weight_strides {
  int64_t base, tap[CONV_FORM_DIMS], group, in, out;
} conv_weight_strides;

/* True, and *f filled, when the access is the convolution that `derivation` says; a wrong
 * `derivation` gives false. */
bool conv_form_of(const weir_access *a, const weir_derivation *derivation, conv_form *f);
/* Likewise of the one node of a group. */
bool conv_form_of_group(const weir_graph *g, const weir_group *group, conv_form *f);
/* Returns whether the sums and all arrays are of one dtype, this one. */
bool conv_form_is(const conv_form *f, weir_dtype dtype);
/* 2 x multiplications, those with padding included. */
double conv_form_flops(const conv_form *f);
/* Where weight (t, g, i, c) lies in a view of the weights' array: data + base + sum of index times
 * stride. */
conv_weight_strides conv_form_weights(const conv_form *f, const weir_view *w);
/* Steps of a view [n, extents, channels] along n and three dimensions: 0 along those in front that
 * it has not. */
void conv_form_steps(const weir_view *v, int d, int64_t step[4]);
/* For kernels that make x or y by samples, planes and rows of three dimensions, whole to the last
 * one and the channels: the block size; the box of a run, and where its view begins. */
void conv_form_block_size(int d, weir_kernel_blocks *blocks);
void conv_form_box(const weir_kernel_run *r, const weir_view *made, int d, int64_t lo[3],
                   int64_t hi[3], int64_t first[3]);
/* Arrays of x, w, y in this order, for weir_kernel.arrays: 3. */
int conv_form_arrays(const weir_graph *g, const weir_group *group, int32_t *arrays, int n);

#ifdef __cplusplus
}
#endif
#endif
