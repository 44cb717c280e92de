/* vector_kernels.c - the kernels for the instruction set of the build. */
#define VM_TABLE vm_kernels_base
#define VM_BYTES 16
#include "exec/backend/vector/vector_kernels.h"
