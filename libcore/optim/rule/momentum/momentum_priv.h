/* momentum_priv.h - options of momentum. */
#ifndef WEIR_MOMENTUM_PRIV_H
#define WEIR_MOMENTUM_PRIV_H
#include "optim/optim_priv.h"

enum { MOMENTUM_PYTORCH, MOMENTUM_KERAS };

struct momentum_opts {
  double mu, weight_decay;
  bool nesterov;
  int form;
};
extern const weir_rule_desc weir_rule_momentum;
#endif
