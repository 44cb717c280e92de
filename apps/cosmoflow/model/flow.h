/* flow.h - the posterior of the parameters of a sample as a masked autoregressive flow (data/flow.h
 * has the formulas and the layout of the weights), whose features a network computes: its raw
 * outputs. The flow's own weights are parameters of the network, "flow/label" and so on. */
#ifndef CF_MODEL_FLOW_H
#define CF_MODEL_FLOW_H
#include "conf/weir_opt.h"
#include "data/flow.h"
#include "nn/weir_net.h"

typedef struct cf_flow_opts {
  int64_t transforms, hidden, features;
} cf_flow_opts;
extern const weir_opt cf_flow_options[];

/* The weights of the flow in a graph, each of all transforms. */
typedef struct cf_flow_values {
  cf_flow_shape shape;
  weir_value part[CF_FLOW_PARTS];
} cf_flow_values;

/* Returns the scoped name of the parameter that a part is. */
const char *cf_flow_param(cf_flow_part part);
/* Declares the weights, or takes them from the parameters. Fails in the graph's status:
 * WEIR_ERR_CONFIG (one label: the flow is one Gaussian). */
cf_flow_values cf_flow_declare(weir_net *net, const cf_flow_opts *o, int64_t labels);
/* Appends ln q(truth) of each sample, [n, 1]. raw: [n, features]; truth: [n, labels]; floats of one
 * dtype, that of the result. Fails in the graph's status: WEIR_ERR_SHAPE, WEIR_ERR_MEMORY. */
weir_value cf_flow_graph_log_density(weir_graph *g, const cf_flow_values *f, weir_value raw,
                                     weir_value truth);
/* Appends the y that the flow takes to z = 0, [n, labels]: the median of one label given those
 * before it in one transform, near the mean of a posterior that is nearly symmetric. */
weir_value cf_flow_graph_centre(weir_graph *g, const cf_flow_values *f, weir_value raw);
#endif
