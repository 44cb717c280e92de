/* lamb_priv.h - options of lamb. */
#ifndef WEIR_LAMB_PRIV_H
#define WEIR_LAMB_PRIV_H
#include "optim/optim_priv.h"

struct lamb_opts {
  double beta1, beta2, eps, weight_decay, min_norm, max_norm;
  int adapt; /* decayed, all */
};
extern const weir_rule_desc weir_rule_lamb;
#endif
