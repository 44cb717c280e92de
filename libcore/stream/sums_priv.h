/* sums_priv.h - the inner loop of sums, once for each instruction set. */
#ifndef WEIR_SUMS_PRIV_H
#define WEIR_SUMS_PRIV_H
#include "stream/weir_sums.h"

typedef weir_sums (*sums_kernel)(const float *x, int64_t n);
extern const sums_kernel weir_sums_base, weir_sums_avx2, weir_sums_avx512;

#endif
