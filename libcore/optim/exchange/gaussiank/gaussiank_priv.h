/* gaussiank_priv.h - options of the policy `gaussiank`. */
#ifndef GAUSSIANK_PRIV_H
#define GAUSSIANK_PRIV_H
#include "optim/exchange_sparse.h"

struct gaussiank_opts {
  double density;
  int64_t dense_steps;
  double reselect_factor, scale;
  int64_t max_scalings;
};

#endif
