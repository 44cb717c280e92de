/* fft_avx512.c - the transforms for avx512. */
#if defined(__x86_64__)
#define TABLE weir_fft_avx512
#include "stream/op/filter/fft_kernel.h"
#endif
