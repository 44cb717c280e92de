/* winograd_avx512.c - Winograd convolutions, 16 channels at a time. */
#if defined(__x86_64__)
#include "ops/conv/winograd/winograd_avx512.h"
#define TABLE weir_winograd_avx512
#include "ops/conv/winograd/winograd_kernel.h"
#endif
