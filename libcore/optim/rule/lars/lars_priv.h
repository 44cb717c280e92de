/* lars_priv.h - options of lars. */
#ifndef WEIR_LARS_PRIV_H
#define WEIR_LARS_PRIV_H
#include "optim/optim_priv.h"

struct lars_opts {
  double mu, trust, eps, weight_decay;
  int adapt; /* decayed, all */
};
extern const weir_rule_desc weir_rule_lars;
#endif
