/* sgp_priv.h - options of the policy. */
#ifndef WEIR_SGP_PRIV_H
#define WEIR_SGP_PRIV_H
#include "optim/weir_exchange.h"

enum { SGP_MAX_PEERS = 8 };

struct sgp_opts {
  int64_t peers, overlap;
};

#endif
