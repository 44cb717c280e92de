/* weir_optim.h - the section `optim:` of every app's configuration and its builder: clips the
 * gradient, applies the rule, averages the parameters. */
#ifndef WEIR_OPTIM_H
#define WEIR_OPTIM_H
#include "optim/weir_average.h"
#include "optim/weir_clip.h"
#include "optim/weir_exchange.h"
#include "optim/weir_rule.h"
#include "optim/weir_schedule.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_OPTIM_AVERAGE "optim.average" /* the stored array of averages */

/* Which arrays of an update ranks have shards of, where they compute steps together. */
typedef enum weir_optim_shard {
  WEIR_OPTIM_SHARD_NONE,
  WEIR_OPTIM_SHARD_STATE,     /* of the update rule and the average */
  WEIR_OPTIM_SHARD_GRADIENTS, /* and of the gradient */
  WEIR_OPTIM_SHARD_PARAMETERS /* and of the parameters */
} weir_optim_shard;

/* Rows in weir_optim_opts. */
typedef struct weir_optim_cfg {
  weir_one_of rule;     /* of weir_rule_table; empty: adam with its defaults */
  weir_one_of exchange; /* of weir_exchange_table; empty: allreduce */
  int shard;            /* weir_optim_shard */
  weir_schedule_cfg schedule;
  weir_clip_cfg clip;
  weir_average_cfg average;
} weir_optim_cfg;
extern const weir_opt weir_optim_opts[];

/* Returns the chosen rule. Fails: WEIR_ERR_CONFIG, naming the existing rules. */
weir_status weir_optim_rule(const weir_optim_cfg *cfg, const weir_rule_desc **out) WEIR_CHECKED;
/* Returns the chosen exchange policy. Fails: WEIR_ERR_CONFIG, naming the existing ones. */
weir_status weir_optim_exchange(const weir_optim_cfg *cfg,
                                const weir_exchange_desc **out) WEIR_CHECKED;
/* Appends clipping, rule and average to a graph, whose step then updates the parameters and the
 * state arrays. args: [n], one for each array of parameters, which share only the norm of the
 * gradient; opts and state are ignored in favour of cfg and store. *length, if not NULL: that norm
 * before clipping, a scalar of f64. Fails as weir_rule_build. */
weir_status weir_optim_build(weir_graph *g, const weir_optim_cfg *cfg, const weir_store *store,
                             const weir_rule_args *args, int64_t n,
                             weir_value *length) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
