/* nvrtc_cuda.c - kernels: text compiled by NVRTC for the device at hand. */
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/cuda/driver.h"

typedef struct cuda_kernel {
  CUmodule module;
  CUfunction function;
} cuda_kernel;

static const char prelude[] = "typedef signed char int8_t;\ntypedef unsigned char uint8_t;\n"
                              "typedef short int16_t;\ntypedef unsigned short uint16_t;\n"
                              "typedef int int32_t;\ntypedef unsigned int uint32_t;\n"
                              "typedef long long int64_t;\ntypedef unsigned long long uint64_t;\n";

/* The device's own architecture, or the newest that NVRTC knows below it, whose code the driver
 * then compiles again. */
static weir_status choose_target(const cuda_state *s, char target[48], bool *binary)
{
  const int mine = 10 * s->major + s->minor;
  int n = 0, best = 0, *known = NULL;

  if (nvrtcGetNumSupportedArchs(&n) == NVRTC_SUCCESS && n > 0) {
    known = calloc((size_t)n, sizeof *known);
  }
  if (known != NULL && nvrtcGetSupportedArchs(known) == NVRTC_SUCCESS) {
    for (int k = 0; k < n; k++) {
      best = known[k] <= mine && known[k] > best ? known[k] : best;
    }
  }
  free(known);
  if (best == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: NVRTC compiles for no GPU as old as sm_%d",
                     mine);
  }
  *binary = best == mine;
  (void)snprintf(target, 48, "--gpu-architecture=%s_%d", *binary ? "sm" : "compute", best);
  return WEIR_OK;
}

static weir_status fail_compile(nvrtcProgram program, const char *name, nvrtcResult result)
{
  char log[1024] = "";
  size_t size = 0;

  if (program != NULL && nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 0) {
    char *whole = malloc(size);
    if (whole != NULL && nvrtcGetProgramLog(program, whole) == NVRTC_SUCCESS) {
      (void)snprintf(log, sizeof log, "%s", whole);
    }
    free(whole);
  }
  return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: kernel %s: %s: %s", name,
                   nvrtcGetErrorString(result), log);
}

/* Machine code or PTX of the program. */
static weir_status take_code(nvrtcProgram program, const char *name, bool binary, char **out)
{
  size_t size = 0;
  void *memory = NULL;

  nvrtcResult result = binary ? nvrtcGetCUBINSize(program, &size) : nvrtcGetPTXSize(program, &size);
  if (result != NVRTC_SUCCESS) {
    return fail_compile(program, name, result);
  }
  WEIR_TRY(weir_alloc((int64_t)size, 1, &memory));
  result = binary ? nvrtcGetCUBIN(program, memory) : nvrtcGetPTX(program, memory);
  if (result != NVRTC_SUCCESS) {
    weir_free(&memory);
    return fail_compile(program, name, result);
  }
  *out = memory;
  return WEIR_OK;
}

/* Sums and products stay apart, divisions and roots are rounded correctly: the bits of the host. */
static weir_status compile(const cuda_state *s, const weir_device_source *source, const char *text,
                           char **code)
{
  char target[48];
  bool binary = false;
  nvrtcProgram program = NULL;

  WEIR_TRY(choose_target(s, target, &binary));
  const char *options[] = {target, "--fmad=false", "--prec-div=true", "--prec-sqrt=true",
                           "--ftz=false"};
  nvrtcResult result = nvrtcCreateProgram(&program, text, source->name, 0, NULL, NULL);
  if (result != NVRTC_SUCCESS) {
    return fail_compile(NULL, source->name, result);
  }
  result = nvrtcCompileProgram(program, sizeof options / sizeof options[0], options);
  const weir_status status = result != NVRTC_SUCCESS
                                 ? fail_compile(program, source->name, result)
                                 : take_code(program, source->name, binary, code);
  nvrtcDestroyProgram(&program);
  return status == WEIR_OK ? WEIR_OK : weir_trace_at(status, __FILE__, __LINE__, __func__);
}

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
  char *text = NULL, *code = NULL;
  void *memory = NULL;

  WEIR_TRY(device_source_text(source, prelude, "extern \"C\" __global__", &text));
  WEIR_TRY_GOTO(compile(s, source, text, &code), done);
  WEIR_TRY_GOTO(weir_alloc(1, sizeof(cuda_kernel), &memory), done);
  kernel->state = memory;
  WEIR_TRY_GOTO(load(s, source->name, code, kernel->state), done);
done:
  if (status != WEIR_OK) {
    weir_free(&kernel->state);
  }
  weir_free(&code);
  weir_free(&text);
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
