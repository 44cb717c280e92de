/* adpsgd_priv.h - options of the policy. */
#ifndef WEIR_ADPSGD_PRIV_H
#define WEIR_ADPSGD_PRIV_H
#include "optim/weir_exchange.h"

struct adpsgd_opts {
  int64_t partners, staleness, seed;
};

#endif
