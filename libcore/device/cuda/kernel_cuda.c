/* kernel_cuda.c - kernels on the device at hand: loaded and launched. */
#include "base/weir_alloc.h"
#include "device/cuda/driver.h"

typedef struct cuda_kernel {
  CUmodule module;
  CUfunction function;
} cuda_kernel;

static weir_status load(const cuda_state *s, const char *name, const char *code, cuda_kernel *k)
{
  WEIR_CUDA_CALL(&s->driver, cuModuleLoadData, &k->module, code);
  const CUresult result = s->driver.cuModuleGetFunction_(&k->function, k->module, name);
  if (result != CUDA_SUCCESS) {
    (void)s->driver.cuModuleUnload_(k->module);
    return driver_fail(&s->driver, result, name);
  }
  return WEIR_OK;
}

weir_status cuda_kernel_create(weir_device_kernel *kernel, const weir_device_source *source)
{
  const cuda_state *s = cuda_enter(kernel->device);
  weir_status status = WEIR_OK;
  char target[48];
  void *code = NULL;

  WEIR_TRY(cuda_target(s->major, s->minor, target));
  WEIR_TRY(weir_alloc(1, sizeof(cuda_kernel), &kernel->state));
  WEIR_TRY_GOTO(cuda_compile(source, target, &code, NULL), done);
  WEIR_TRY_GOTO(load(s, source->name, code, kernel->state), done);
done:
  if (status != WEIR_OK) {
    weir_free(&kernel->state);
  }
  weir_free(&code);
  return status;
}

void cuda_kernel_destroy(weir_device_kernel *kernel)
{
  const cuda_state *s = cuda_enter(kernel->device);
  cuda_kernel *k = kernel->state;

  (void)s->driver.cuCtxSynchronize_();
  (void)s->driver.cuModuleUnload_(k->module);
  weir_free(&kernel->state);
}

weir_status cuda_launch(CUstream stream, const device_op *op)
{
  const cuda_state *s = op->kernel->device->state;
  const cuda_kernel *k = op->kernel->state;
  void *args[DEVICE_PARAMS];

  for (int i = 0; i < op->kernel->n_params; i++) {
    args[i] = (void *)(uintptr_t)(op->args + op->kernel->offsets[i]);
  }
  WEIR_CUDA_CALL(&s->driver, cuLaunchKernel, k->function, (unsigned)op->grid[0],
                 (unsigned)op->grid[1], (unsigned)op->grid[2], (unsigned)op->block[0],
                 (unsigned)op->block[1], (unsigned)op->block[2], 0, stream, args, NULL);
  return WEIR_OK;
}
