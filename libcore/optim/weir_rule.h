/* weir_rule.h - what an update rule is, and how one is appended to a training graph.
 *
 * A rule is a graph over flat banks: it reads the gradients, the parameters and banks of its own,
 * and ends in weir_update of what it keeps. A
 * NaN gradient makes its parameter NaN (lars, lamb: its whole segment); no rule hides one. */
#ifndef WEIR_RULE_H
#define WEIR_RULE_H
#include "base/weir_status.h"
#include "conf/weir_opt.h"
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_RULE_STATES 4 /* banks that a rule keeps, at most */

/* One parameter in the bank: a layer's weight or bias, of which per-layer norms are taken. */
typedef struct weir_segment {
  int64_t first, count;
} weir_segment;

/* What a rule may read and must update. Values of one placement: flat banks, [count], f32 or f64.
 * Rank-0 values and decay may have any dtype; weir_rule_build casts them. */
typedef struct weir_rule_args {
  const void *opts;  /* the rule's own options, already range-checked                      */
  weir_value lr;     /* rank 0: learning rate of this step, from the schedule              */
  weir_value step;   /* rank 0: number of this step, from 1                                */
  weir_value grad;   /* already combined over ranks                                        */
  weir_value param;  /* stored; the rule ends in weir_update(g, param, ...)                */
  weir_value *state; /* desc->n_state stored banks, all zero before step 1                 */
  weir_value decay;  /* [count] or rank 0: share of weight decay that each parameter takes, 0 or
                        1; WEIR_NO_VALUE: 1                                                */
  const weir_segment *segments; /* ascending, disjoint; none: the bank is one              */
  int64_t n_segments;
  const char *part; /* weir_optim_build: after the names of stored banks, where the parameters lie
                       in several: "optim.m.2" for ".2"; NULL: none */
} weir_rule_args;

/* One per folder under optim/rule/. Const; the build lists the folders. */
typedef struct weir_rule_desc {
  const char *name;     /* value of the config key optim.rule                */
  const char *cite;     /* where the formula comes from                      */
  const char *help;     /* one line                                          */
  const weir_opt *opts; /* options: default, range, unit, help               */
  size_t opts_size;     /* bytes those options fill                          */
  int n_state;          /* banks kept in addition to the parameters                  */
  const char *state[WEIR_RULE_STATES]; /* their names: "m", "v"                             */
  /* Appends the rule. Called by weir_rule_build, which has checked and completed the arguments: lr
   * and decay have the bank's dtype, step is f64, there is at least one segment. */
  weir_status (*build)(weir_graph *, const weir_rule_args *);
} weir_rule_desc;

/* All rules of this build, sorted by name, NULL at the end: generated. */
extern const weir_rule_desc *const weir_rule_table[];

/* Finds `name` among the built-in rules. Local.
 * Fails: WEIR_ERR_CONFIG, naming the rules that exist; *out is then NULL. */
weir_status weir_rule_find(const char *name, const weir_rule_desc **out) WEIR_CHECKED;
/* The table as choices of a WEIR_OPT_ONE_OF row. */
bool weir_rule_choice(int64_t i, weir_opt_choice *entry);

/* Adds the rule's banks, zeroed, to the store as "optim.m", "optim.v", ... Fails: WEIR_ERR_CONFIG
 * (a name exists), WEIR_ERR_SHAPE, WEIR_ERR_MEMORY. */
weir_status weir_rule_add_state(const weir_rule_desc *rule, weir_store *store, weir_dtype dtype,
                                int64_t count) WEIR_CHECKED;
/* Those banks as stored values of the graph, which keeps the error of one that is not there. part:
 * after their names, NULL: none. */
void weir_rule_get_state(const weir_rule_desc *rule, weir_graph *g, const weir_store *store,
                         const char *part, weir_value state[WEIR_RULE_STATES]);
/* Checks the arguments and appends the rule to the graph. Fails: WEIR_ERR_SHAPE, naming what does
 * not fit; the first error of the graph. */
weir_status weir_rule_build(weir_graph *g, const weir_rule_desc *rule,
                            const weir_rule_args *args) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
