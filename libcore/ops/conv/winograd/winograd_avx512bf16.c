/* winograd_avx512bf16.c - Winograd convolutions of bf16, 16 channels at a time: VDPBF16PS adds the
 * products of 32 pairs of numbers as fast as others those of 16. */
#if defined(__x86_64__)
#include "ops/conv/winograd/winograd_avx512bf16.h"
#define TABLE weir_winograd_avx512bf16
#include "ops/conv/winograd/winograd_kernel.h"
#endif
