/* sums_base.c - sums of one block. */
#define TABLE weir_sums_base
#include "stream/sums_kernel.h"
