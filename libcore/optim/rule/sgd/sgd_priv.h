/* sgd_priv.h - options of plain gradient descent. */
#ifndef WEIR_SGD_PRIV_H
#define WEIR_SGD_PRIV_H
#include "optim/optim_priv.h"

struct sgd_opts {
  double weight_decay;
};
extern const weir_rule_desc weir_rule_sgd;
#endif
