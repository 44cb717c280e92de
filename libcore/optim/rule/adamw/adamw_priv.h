/* adamw_priv.h - options of adamw. */
#ifndef WEIR_ADAMW_PRIV_H
#define WEIR_ADAMW_PRIV_H
#include "optim/optim_priv.h"

struct adamw_opts {
  double beta1, beta2, eps, weight_decay;
  int64_t freeze_step;
};
extern const weir_rule_desc weir_rule_adamw;
#endif
