/* emos_normal_avx512.c - sums of normal distributions, 512 bits at a time. */
#if defined(__x86_64__)
#define NAME emos_normal_sums_avx512
#include "baseline/emos_normal_kernel.h"
#endif
