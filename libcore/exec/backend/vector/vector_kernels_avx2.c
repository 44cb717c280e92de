/* vector_kernels_avx2.c - the kernels for avx2. */
#define VM_TABLE vm_kernels_avx2
#define VM_BYTES 32
#include "exec/backend/vector/vector_kernels.h"
