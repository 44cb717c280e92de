/* momentum_priv.h - options of momentum. */
#ifndef WEIR_MOMENTUM_PRIV_H
#define WEIR_MOMENTUM_PRIV_H
#include "optim/optim_priv.h"

struct momentum_opts {
  double mu, weight_decay;
  bool nesterov;
};
extern const weir_rule_desc weir_rule_momentum;
#endif
