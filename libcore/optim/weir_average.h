/* weir_average.h - a running average of the parameters, with which a model predicts; Polyak and
 * Juditsky 1992, with exponential weights. */
#ifndef WEIR_AVERAGE_H
#define WEIR_AVERAGE_H
#include "conf/weir_opt.h"
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Rows in weir_average_opts. */
typedef struct weir_average_cfg {
  double decay; /* 0: no average is kept */
} weir_average_cfg;
extern const weir_opt weir_average_opts[];

/* After step t the stored bank `average` is the mean of the parameters after steps i = 1 .. t with
 * weights decay^(t - i): that of the parameters themselves after the first, without a bias towards
 * the zeros it began with. step: rank 0, from 1. To be appended after the update rule, whose new
 * parameters it reads; appends nothing when decay is 0. Fails: WEIR_ERR_SHAPE; the graph's first
 * error. */
weir_status weir_average(weir_graph *g, const weir_average_cfg *cfg, weir_value param,
                         weir_value average, weir_value step) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
