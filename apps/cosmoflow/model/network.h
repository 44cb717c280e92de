/* network.h - the networks by name: inputs, outputs and losses.
 *
 * All take samples [n, side, side, side, channels], preprocessed values of the sources, and are
 * compositions of layers of nn/. To add one: a file in model/net/ with one cf_net of the name of
 * the file, and its options in model/nets.h. */
#ifndef CF_NETWORK_H
#define CF_NETWORK_H
#include "conf/weir_opt.h"
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

/* The section `model`. */
typedef struct cf_model_opts {
  weir_one_of net, head;
  int loss;                /* cf_loss */
  cf_segment_opts segment; /* of networks that segment */
} cf_model_opts;
extern const weir_opt cf_model_options[];

/* Returns the chosen network; default: mlperf. */
const cf_net *cf_model_net(const cf_model_opts *o);
/* Returns the components of the posterior that it computes (model/mixture.h); 0: it estimates
 * numbers, or classes. */
int64_t cf_model_components(const cf_model_opts *o);
/* Returns the outputs of a sample with so many labels: as many, or those of its posterior. */
int64_t cf_model_outputs(const cf_model_opts *o, int64_t labels);
/* Determines its loss, never CF_LOSS_DEFAULT. Fails: WEIR_ERR_CONFIG where loss, head and target do
 * not match. */
weir_status cf_model_loss_kind(const cf_model_opts *o, cf_loss *out) WEIR_CHECKED;
/* Appends the network to x, [n, side, side, side, channels]; returns the output of its target for
 * `outputs` labels or classes, [n, cf_model_outputs] of a posterior, invalid where the graph's
 * status is an error: WEIR_ERR_SHAPE, WEIR_ERR_MEMORY. */
weir_value cf_model_apply(weir_net *net, const cf_model_opts *o, int64_t outputs, weir_value x);
/* Returns the estimates [n, labels] of the output `made`: itself, or the mean of the posterior. */
weir_value cf_model_estimate(weir_graph *g, const cf_model_opts *o, int64_t labels,
                             weir_value made);
/* Appends the loss of the output `made`, a scalar. truth: the labels [n, labels], or for cross
 * entropy the classes [n, side, side, side], integers. weights: as in nn/weir_loss.h, or
 * WEIR_NO_VALUE. */
weir_value cf_model_loss(weir_graph *g, const cf_model_opts *o, weir_value made, weir_value truth,
                         weir_value weights);

#endif
