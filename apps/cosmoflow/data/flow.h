/* flow.h - a conditional masked autoregressive flow in double precision: its density and draws
 * (Papamakarios, Pavlakou and Murray, arXiv:1705.07057, section 3). model/flow.h has it as a graph.
 *
 * Transform t takes u [labels] to z, with features x of the sample that it is conditioned on:
 *
 *   h_j = tanh(bias_j + sum_f x_f feature_fj + sum over i seen by j of u_i label_ij)
 *   z_i = u_i exp(c(s_i)) + m_i,   m_i = out_bias_i0 + sum over j seen by i of h_j out_ji0,
 *   c(s) = s / (1 + |s| / ln 1000),  s_i likewise of out_bias_i1, out_ji1
 *
 * so that a factor is within 1/1000 and 1000 (zuko 1.6.0, MonotonicAffineTransform). Labels are in
 * ascending order in even transforms, in descending order in odd ones: label i has degree i or
 * labels - 1 - i. The hidden unit j has degree j mod labels, sees the labels of lower degrees and
 * is seen by those of its degree and higher ones (masks of MADE: Germain et al., arXiv:1502.03509).
 * The last z is a standard normal vector, and
 *
 *   ln q(y) = sum of c(s) over all transforms and labels - |z|^2 / 2 - labels / 2 ln(2 pi).
 *
 * A transform is inverted label by label in the order of the degrees, exactly. */
#ifndef CF_FLOW_H
#define CF_FLOW_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

enum { CF_FLOW_MAX_TRANSFORMS = 16, CF_FLOW_MAX_HIDDEN = 256, CF_FLOW_MAX_FEATURES = 1024 };
#define CF_LN_2PI 1.8378770664093454836
#define CF_FLOW_LN_MAX_FACTOR 6.9077552789821370521 /* ln 1000 */

typedef struct cf_flow_shape {
  int64_t labels, features, transforms, hidden;
} cf_flow_shape;

/* The weights, in this order, each of all transforms. */
typedef enum cf_flow_part {
  CF_FLOW_LABEL,    /* [transforms, labels, hidden]   */
  CF_FLOW_FEATURE,  /* [transforms, features, hidden] */
  CF_FLOW_BIAS,     /* [transforms, hidden]           */
  CF_FLOW_OUT,      /* [transforms, hidden, 2, labels] */
  CF_FLOW_OUT_BIAS, /* [transforms, 2, labels]        */
  CF_FLOW_PARTS
} cf_flow_part;

/* Returns the weights of a part of one transform, and of all parts and transforms. */
int64_t cf_flow_part_count(const cf_flow_shape *s, cf_flow_part part);
int64_t cf_flow_count(const cf_flow_shape *s);
/* Returns the degree of a label in a transform, 0 to labels - 1. */
int64_t cf_flow_degree(const cf_flow_shape *s, int64_t transform, int64_t label);

typedef struct cf_flow {
  cf_flow_shape shape;
  double *weight; /* [cf_flow_count] */
} cf_flow;

/* Allocates a flow with weights of NaN; destroy accepts NULL. Fails: WEIR_ERR_MEMORY,
 * WEIR_ERR_SHAPE (fewer than 2 labels, or a shape beyond the limits above). */
weir_status cf_flow_create(const cf_flow_shape *shape, cf_flow **out) WEIR_CHECKED;
void cf_flow_destroy(cf_flow **f);
/* Returns whether all weights are finite. */
bool cf_flow_is_finite(const cf_flow *f);

/* Computes what all densities and draws of a sample share, start[transforms, hidden]: bias and
 * contribution of its features[features]. */
void cf_flow_start(const cf_flow *f, const double *features, double *start);
/* Returns ln q(y), y[labels]. */
double cf_flow_log_density(const cf_flow *f, const double *start, const double *y);
/* Computes the y[labels] that the flow takes to z[labels]: a draw from q where z is one from the
 * standard normal distribution. */
void cf_flow_invert(const cf_flow *f, const double *start, const double *z, double *y);
#endif
