/* driver.h - functions of NVIDIA's driver, found at run time: a program that were linked with it
 * would not start where there is none. Files that end in _cuda.c alone include this. */
#ifndef DRIVER_H
#define DRIVER_H
#include <cuda.h>
#include "device/device_priv.h"

// clang-format off
#define CUDA_FUNCTIONS(X)                                                                        \
  X(cuInit) X(cuGetErrorName) X(cuGetErrorString)                                                \
  X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceTotalMem)                      \
  X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease)               \
  X(cuCtxSetCurrent) X(cuCtxSynchronize)                                                         \
  X(cuMemAlloc) X(cuMemFree) X(cuMemAllocHost) X(cuMemFreeHost) X(cuMemcpyAsync)                 \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamWaitEvent)               \
  X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize)                      \
  X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuLaunchKernel)                 \
  X(cuLaunchHostFunc)                                                                            \
  X(cuStreamBeginCapture) X(cuStreamEndCapture)                                                  \
  X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphDestroy) X(cuGraphExecDestroy)
// clang-format on

typedef struct driver {
  void *library;
#define X(name) __typeof__(&name) name##_;
  CUDA_FUNCTIONS(X)
#undef X
} driver;

typedef struct cuda_state {
  driver driver;
  CUdevice device;
  CUcontext context;
  int major, minor;                       /* compute capability */
  struct cuda_products *products;         /* libraries of calls, NULL: not opened yet */
  struct cuda_convolutions *convolutions; /* likewise */
  struct cuda_transforms *transforms;
} cuda_state;

/* Fails: WEIR_ERR_UNSUPPORTED, saying what is missing. */
weir_status driver_open(driver *d) WEIR_CHECKED;
/* Records what a call of the driver failed with. */
weir_status driver_fail(const driver *d, CUresult result, const char *what);

/* Calls a function of the driver: WEIR_CUDA_CALL(&state->driver, cuInit, 0). */
#define WEIR_CUDA_CALL(d, name, ...)                         \
  do {                                                       \
    const CUresult cuda_result_ = (d)->name##_(__VA_ARGS__); \
    if (cuda_result_ != CUDA_SUCCESS) {                      \
      return driver_fail(d, cuda_result_, #name);            \
    }                                                        \
  } while (0)

/* The state of a device, its context made current for this thread. */
static inline cuda_state *cuda_enter(const weir_device *device)
{
  cuda_state *s = device->state;

  (void)s->driver.cuCtxSetCurrent_(s->context);
  return s;
}

/* compile_cuda.c: the architecture "sm_.." of the device, or "compute_.." of the newest that NVRTC
 * knows below it, whose PTX the driver then compiles. Fails: WEIR_ERR_UNSUPPORTED. */
weir_status cuda_target(int major, int minor, char target[48]) WEIR_CHECKED;
/* Machine code or PTX for it, in memory of weir_alloc, and what it takes; code or usage may be
 * NULL. With usage, warnings are failures. Fails: WEIR_ERR_UNSUPPORTED, with what NVRTC said. */
weir_status cuda_compile(const weir_device_source *source, const char *target, void **code,
                         weir_device_usage *usage) WEIR_CHECKED;
/* Kernels (kernel_cuda.c). */
weir_status cuda_kernel_create(weir_device_kernel *kernel,
                               const weir_device_source *source) WEIR_CHECKED;
void cuda_kernel_destroy(weir_device_kernel *kernel);
weir_status cuda_launch(CUstream stream, const device_op *op) WEIR_CHECKED;
#endif
