/* optim_priv.h - what rules share. */
#ifndef WEIR_OPTIM_PRIV_H
#define WEIR_OPTIM_PRIV_H
#include "optim/weir_rule.h"
#include "ops/elementwise/weir_elementwise.h"

/* x + weight_decay * decay * param, per element; x when weight_decay is 0. */
weir_value weir_rule_pull(weir_graph *g, const weir_rule_args *a, weir_value x,
                          double weight_decay);
/* Updates the parameters to param - rate * x; rate: rank 0 or [count]. */
void weir_rule_move(weir_graph *g, const weir_rule_args *a, weir_value rate, weir_value x);
#endif
