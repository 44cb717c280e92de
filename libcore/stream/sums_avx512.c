/* sums_avx512.c - sums of one block, 8 doubles at a time. */
#if defined(__x86_64__)
#define TABLE weir_sums_avx512
#include "stream/sums_kernel.h"
#endif
