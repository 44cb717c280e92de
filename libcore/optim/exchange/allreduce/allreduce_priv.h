/* allreduce_priv.h - the sum over all ranks. */
#ifndef WEIR_ALLREDUCE_PRIV_H
#define WEIR_ALLREDUCE_PRIV_H
#include "optim/weir_exchange.h"

struct allreduce_opts {
  double bucket; /* MB; 0: all at once */
  bool in_plan;
};

extern const weir_exchange_desc weir_exchange_allreduce;
#endif
