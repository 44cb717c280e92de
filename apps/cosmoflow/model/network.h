/* network.h - the networks by name: inputs, outputs and losses.
 *
 * All take samples [n, side, side, side, channels], those that estimate parameters also maps, [n,
 * 1, side, side, channels], preprocessed values of the sources, and are compositions of layers of
 * nn/. To add one: a file in model/net/ with one cf_net of the name of the file, and its options in
 * model/nets.h. */
#ifndef CF_NETWORK_H
#define CF_NETWORK_H
#include "conf/weir_opt.h"
#include "model/flow.h"
#include "model/mixture.h"
#include "model/segment.h"
#include "nn/weir_net.h"

typedef enum cf_target {
  CF_ESTIMATE, /* numbers for each parameter: [n, outputs]         */
  CF_SEGMENT,  /* logits of each voxel's class: [n, side, side, side, outputs] */
} cf_target;

typedef enum cf_loss {
  CF_LOSS_DEFAULT, /* what the network was published with */
  CF_LOSS_MSE,
  CF_LOSS_MAE,
  CF_LOSS_ENTROPY, /* categorical, over the channels: segment only */
  CF_LOSS_DENSITY, /* negative log density of the truth: of a posterior, no choice of model.loss */
  CF_LOSS_MOMENTS, /* squared errors of mean and covariance: of that head, no choice either */
} cf_loss;
#define CF_LOSS_CHOICES "default|mse|mae|cross_entropy"

/* A network, one a file of model/net/; the build lists them. */
typedef struct cf_net {
  const char *name, *cite, *help;
  const weir_opt *opts;
  size_t opts_size;
  cf_target target;
  cf_loss loss;
  /* Appends the network to the graph of `net`. Fails in the graph's status: WEIR_ERR_SHAPE (samples
   * that it does not take). */
  weir_value (*build)(weir_net *net, const void *opts, int64_t outputs, weir_value x);
  size_t bound; /* offset in opts of the double by which the tanh of the outputs is multiplied; 0
                   there makes them linear. 0: they are */
} cf_net;
extern const cf_net *const cf_net_table[]; /* ends in NULL */

/* What a network that estimates parameters computes of a sample: `model.head`. */
typedef enum cf_head {
  CF_HEAD_ESTIMATE, /* a number for each parameter               */
  CF_HEAD_MIXTURE,  /* the posterior: model/mixture.h             */
  CF_HEAD_FLOW,     /* the posterior: model/flow.h                */
  CF_HEAD_MOMENTS,  /* its mean and covariance: model/moments.h   */
  CF_HEADS
} cf_head;

/* The section `model`. */
typedef struct cf_model_opts {
  weir_one_of net, head;
  int loss;                /* cf_loss */
  cf_segment_opts segment; /* of networks that segment */
} cf_model_opts;
extern const weir_opt cf_model_options[];

/* Returns the chosen network; default: mlperf. */
const cf_net *cf_model_net(const cf_model_opts *o);
/* Returns the chosen head, and the components of a mixture: 1 of moments, read as a Gaussian, 0 of
 * the other heads. */
cf_head cf_model_head(const cf_model_opts *o);
int64_t cf_model_components(const cf_model_opts *o);
/* Returns the shape of the flow of so many labels. The head is a flow. */
cf_flow_shape cf_model_flow(const cf_model_opts *o, int64_t labels);
/* Returns the outputs of a sample with so many labels: as many, or those that its head reads. */
int64_t cf_model_outputs(const cf_model_opts *o, int64_t labels);
/* Determines its loss, never CF_LOSS_DEFAULT. Fails: WEIR_ERR_CONFIG where loss, head and target do
 * not match. */
weir_status cf_model_loss_kind(const cf_model_opts *o, cf_loss *out) WEIR_CHECKED;
/* What a network makes of samples. */
typedef struct cf_made {
  weir_value y;        /* the output of its target for labels or classes; [n, cf_model_outputs] */
  cf_flow_values flow; /* of a flow */
} cf_made;
/* Appends the network to x, samples as above, for `outputs` labels or classes; .y is
 * invalid where the graph's status is an error: WEIR_ERR_SHAPE, WEIR_ERR_MEMORY, WEIR_ERR_CONFIG (a
 * flow of one label). */
cf_made cf_model_apply(weir_net *net, const cf_model_opts *o, int64_t outputs, weir_value x);
/* Returns the estimates [n, labels] of what was made: itself, the mean of the posterior, or of a
 * flow its centre (cf_flow_graph_centre). */
weir_value cf_model_estimate(weir_graph *g, const cf_model_opts *o, int64_t labels,
                             const cf_made *made);
/* Appends the loss of what was made, a scalar. truth: the labels [n, labels], or for cross entropy
 * the classes [n, side, side, side], integers. weights: as in nn/weir_loss.h, or
 * WEIR_NO_VALUE. */
weir_value cf_model_loss(weir_graph *g, const cf_model_opts *o, const cf_made *made,
                         weir_value truth, weir_value weights);

#endif
