/* sums_avx2.c - sums of one block, 4 doubles at a time. */
#if defined(__x86_64__)
#define TABLE weir_sums_avx2
#include "stream/sums_kernel.h"
#endif
