/* vector_kernels_avx512.c - the kernels for avx512. */
#define VM_TABLE vm_kernels_avx512
#define VM_BYTES 64
#include "exec/backend/vector/vector_kernels.h"
