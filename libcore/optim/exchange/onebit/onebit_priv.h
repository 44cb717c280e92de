/* onebit_priv.h - options of the policy. */
#ifndef WEIR_ONEBIT_PRIV_H
#define WEIR_ONEBIT_PRIV_H
#include "optim/exchange/onebit/signs.h"
#include "optim/weir_exchange.h"

struct onebit_opts {
  int64_t freeze_step, block;
  double momentum;
  int values; /* signs_values */
};

#endif
