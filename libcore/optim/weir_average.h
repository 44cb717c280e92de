/* weir_average.h - exponential moving average of the parameters, used for prediction; Polyak and
 * Juditsky 1992. */
#ifndef WEIR_AVERAGE_H
#define WEIR_AVERAGE_H
#include "conf/weir_opt.h"
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Rows in weir_average_opts. */
typedef struct weir_average_cfg {
  double decay; /* 0: no average */
} weir_average_cfg;
extern const weir_opt weir_average_opts[];

/* Appends the average: after step t the stored array `average` is the mean of the parameters after
 * steps i = 1 .. t with weights decay^(t - i): the parameters themselves after the first step,
 * without a bias towards the initial zeros. step: scalar, from 1. Append it after the update rule,
 * whose new parameters it reads; appends nothing when decay is 0. Fails: WEIR_ERR_SHAPE; the
 * graph's first error. */
weir_status weir_average(weir_graph *g, const weir_average_cfg *cfg, weir_value param,
                         weir_value average, weir_value step) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
