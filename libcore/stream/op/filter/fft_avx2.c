/* fft_avx2.c - the transforms for avx2. */
#if defined(__x86_64__)
#define TABLE weir_fft_avx2
#include "stream/op/filter/fft_kernel.h"
#endif
