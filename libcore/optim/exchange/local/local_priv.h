/* local_priv.h - options of the policy. */
#ifndef WEIR_LOCAL_PRIV_H
#define WEIR_LOCAL_PRIV_H
#include "optim/weir_exchange.h"

struct local_opts {
  int64_t period, first;
};

#endif
