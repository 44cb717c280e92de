/* host_kernel.h - kernels of weir_device.h that run on the host: compiled by the C compiler, the
 * threads of a block one after another as fibers, a barrier where all of them meet. */
#ifndef HOST_KERNEL_H
#define HOST_KERNEL_H
#include "device/device_priv.h"

typedef struct host_kernel host_kernel;

/* Opens C text as a library, compiled in a private folder that is removed. *handle is for dlclose.
 * Fails: WEIR_ERR_UNSUPPORTED, with what the compiler said. */
weir_status host_compile(const char *text, void **handle) WEIR_CHECKED;

weir_status host_kernel_create(const weir_device_source *source, host_kernel **out) WEIR_CHECKED;
void host_kernel_destroy(host_kernel **kernel);
/* Bytes of its __shared__ arrays. */
int64_t host_kernel_shared_bytes(const host_kernel *kernel);

typedef struct host_run {
  const device_op *op;
  bool descending; /* threads of a block, and blocks, from last to first */
  int poison;      /* byte that fills shared memory before each block */
} host_run;
/* Runs the launch. Fails: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL (a barrier that some threads of a
 * block do not reach; with `guarded`, an address that must not be touched: *fault is it, or NULL
 * where the system does not say it; else NULL). */
weir_status host_kernel_run(host_kernel *kernel, const host_run *run, bool guarded,
                            const void **fault) WEIR_CHECKED;
#endif
