/* weir_rule.h - update rules (optimisers), appended to a training graph.
 *
 * A
 * rule is a graph over flat buffers: it reads the gradients, the parameters and its own state, and
 * ends in weir_update of parameters and state. A NaN gradient makes its parameter NaN (lars, lamb:
 * its whole segment); NaN is never masked. */
#ifndef WEIR_RULE_H
#define WEIR_RULE_H
#include "base/weir_status.h"
#include "conf/weir_opt.h"
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_RULE_STATES 4 /* maximum number of state buffers of a rule */

/* A parameter in the flat buffer, such as a layer's weight or bias, whose norm layer-wise rules
 * use. */
typedef struct weir_segment {
  int64_t first, count;
} weir_segment;

/* Inputs of a rule and the arrays it must update. All in one layout: flat buffers, [count], f32 or
 * f64. Scalars and decay may have any dtype; weir_rule_build casts them. */
typedef struct weir_rule_args {
  const void *opts;  /* options of the rule, range-checked */
  weir_value lr;     /* scalar: learning rate of this step, from the schedule */
  weir_value step;   /* scalar: number of this step, from 1 */
  weir_value grad;   /* already reduced over ranks */
  weir_value param;  /* stored; the rule ends in weir_update(g, param, ...)                */
  weir_value *state; /* desc->n_state stored arrays, all zero before step 1 */
  weir_value decay;  /* [count] or scalar: factor of weight decay of each parameter, 0 or 1;
                        WEIR_NO_VALUE: 1 */
  const weir_segment *segments; /* ascending, disjoint; none: one segment */
  int64_t n_segments;
  const char *suffix; /* weir_optim_build: suffix of the names of stored arrays, where the
                         parameters are in several arrays: "optim.m.2" for ".2"; NULL: none */
} weir_rule_args;

/* One per folder under optim/rule/. Const; the build lists the folders. */
typedef struct weir_rule_desc {
  const char *name;                    /* value of the config key optim.rule                */
  const char *cite;                    /* reference of the formula */
  const char *help;                    /* one line                                          */
  const weir_opt *opts;                /* options: default, range, unit, help               */
  size_t opts_size;                    /* bytes those options fill                          */
  int n_state;                         /* state buffers in addition to the parameters */
  const char *state[WEIR_RULE_STATES]; /* their names: "m", "v"                             */
  /* Appends the rule. Called by weir_rule_build, which has checked and completed the arguments: lr
   * and decay have the dtype of the parameters, step is f64, there is at least one segment. */
  weir_status (*build)(weir_graph *, const weir_rule_args *);
} weir_rule_desc;

/* All rules of this build, sorted by name, NULL-terminated: generated. */
extern const weir_rule_desc *const weir_rule_table[];

/* Finds the built-in rule `name`. Local. Fails: WEIR_ERR_CONFIG, naming the existing rules; *out is
 * then NULL. */
weir_status weir_rule_find(const char *name, const weir_rule_desc **out) WEIR_CHECKED;
/* Lists the table as choices of a WEIR_OPT_ONE_OF row. */
bool weir_rule_choice(int64_t i, weir_opt_choice *entry);

/* Adds the state buffers of the rule, zeroed, to the store as "optim.m", "optim.v", ... Fails:
 * WEIR_ERR_CONFIG (a name exists), WEIR_ERR_SHAPE, WEIR_ERR_MEMORY. */
weir_status weir_rule_add_state(const weir_rule_desc *rule, weir_store *store, weir_dtype dtype,
                                int64_t count) WEIR_CHECKED;
/* Reads the state buffers as stored values of the graph, which keeps the error of a missing one.
 * `suffix` of their names, NULL: none. */
void weir_rule_get_state(const weir_rule_desc *rule, weir_graph *g, const weir_store *store,
                         const char *suffix, weir_value state[WEIR_RULE_STATES]);
/* Checks the arguments and appends the rule to the graph. Fails: WEIR_ERR_SHAPE, naming the
 * argument that does not match; the first error of the graph. */
weir_status weir_rule_build(weir_graph *g, const weir_rule_desc *rule,
                            const weir_rule_args *args) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
