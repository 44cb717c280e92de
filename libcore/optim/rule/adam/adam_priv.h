/* adam_priv.h - options of adam. */
#ifndef WEIR_ADAM_PRIV_H
#define WEIR_ADAM_PRIV_H
#include "optim/optim_priv.h"

struct adam_opts {
  double beta1, beta2, eps, weight_decay;
  int64_t freeze_step;
};
extern const weir_rule_desc weir_rule_adam;
#endif
