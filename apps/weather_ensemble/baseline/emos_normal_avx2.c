/* emos_normal_avx2.c - sums of normal distributions, 256 bits at a time. */
#if defined(__x86_64__)
#define NAME emos_normal_sums_avx2
#include "baseline/emos_normal_kernel.h"
#endif
