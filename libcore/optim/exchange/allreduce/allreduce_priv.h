/* allreduce_priv.h - the sum over all ranks. */
#ifndef WEIR_ALLREDUCE_PRIV_H
#define WEIR_ALLREDUCE_PRIV_H
#include "optim/weir_exchange.h"

extern const weir_exchange_desc weir_exchange_allreduce;
#endif
