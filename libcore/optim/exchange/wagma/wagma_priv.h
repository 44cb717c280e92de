/* wagma_priv.h - options of the policy. */
#ifndef WEIR_WAGMA_PRIV_H
#define WEIR_WAGMA_PRIV_H
#include "optim/weir_exchange.h"

enum { WAGMA_PAPER, WAGMA_RELEASED };

struct wagma_opts {
  int64_t group, period;
  int merge;
};

#endif
