/* powersgd_priv.h - options of the policy. */
#ifndef WEIR_POWERSGD_PRIV_H
#define WEIR_POWERSGD_PRIV_H
#include "optim/weir_exchange.h"

typedef enum powersgd_orthogonal {
  POWERSGD_GRAM_SCHMIDT,
  POWERSGD_GRAM_SCHMIDT_TWICE
} powersgd_orthogonal;

struct powersgd_opts {
  int64_t rank, seed;
  bool warm_start;
  int orthogonalisation; /* powersgd_orthogonal */
};

#endif
