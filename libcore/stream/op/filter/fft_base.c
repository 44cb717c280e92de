/* fft_base.c - the transforms for any processor. */
#define TABLE weir_fft_base
#include "stream/op/filter/fft_kernel.h"
