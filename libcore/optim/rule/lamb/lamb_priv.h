/* lamb_priv.h - options of lamb. */
#ifndef WEIR_LAMB_PRIV_H
#define WEIR_LAMB_PRIV_H
#include "optim/optim_priv.h"

struct lamb_opts {
  double beta1, beta2, eps, weight_decay, norm_least, norm_most;
  int adapt; /* decayed, all */
};
extern const weir_rule_desc weir_rule_lamb;
#endif
