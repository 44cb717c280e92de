/* eager_priv.h - options of the policy. */
#ifndef WEIR_EAGER_PRIV_H
#define WEIR_EAGER_PRIV_H
#include "optim/weir_exchange.h"

enum { EAGER_SOLO, EAGER_MAJORITY, EAGER_QUORUM };

struct eager_opts {
  int mode;
  int64_t quorum, period, seed;
};

#endif
