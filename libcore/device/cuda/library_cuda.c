/* library_cuda.c - opening NVIDIA's libraries, and which of them a call is for. */
#include <dlfcn.h>
#include <string.h>

#include "device/cuda/library.h"

weir_status cuda_library_open(const char *const *names, void **out)
{
  *out = NULL;
  for (int k = 0; names[k] != NULL && *out == NULL; k++) {
    *out = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
  }
  return *out != NULL
             ? WEIR_OK
             : weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: no %s (%s)", names[0], dlerror());
}

weir_status cuda_library_find(void *library, const char *name, void *function, size_t bytes)
{
  void *address = dlsym(library, name);

  if (address == NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: a library is too old: it has no %s", name);
  }
  memcpy(function, &address, bytes);
  return WEIR_OK;
}

/* The library of each kind of call. */
static const struct {
  weir_status (*create)(weir_library_call *);
  void (*destroy)(weir_library_call *);
  weir_status (*run)(const cuda_state *, CUstream, const device_op *);
} libraries[] = {
    [WEIR_LIBRARY_PRODUCT] = {cuda_product_create, cuda_product_destroy, cuda_product_run},
    [WEIR_LIBRARY_CONVOLUTION] = {cuda_convolution_create, cuda_convolution_destroy,
                                  cuda_convolution_run},
    [WEIR_LIBRARY_TRANSFORM] = {cuda_transform_create, cuda_transform_destroy, cuda_transform_run},
};

weir_status cuda_call_create(weir_library_call *call)
{
  WEIR_TRY(libraries[call->spec.kind].create(call));
  return WEIR_OK;
}

weir_status cuda_call_plan(const char *properties, const weir_library_spec *spec,
                           int64_t *workspace)
{
  if (spec->kind != WEIR_LIBRARY_CONVOLUTION) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: %s tells only where it runs",
                     spec->kind == WEIR_LIBRARY_PRODUCT ? "cuBLASLt" : "cuFFT");
  }
  WEIR_TRY(cuda_convolution_plan(properties, spec, workspace));
  return WEIR_OK;
}

void cuda_call_destroy(weir_library_call *call)
{
  const cuda_state *s = cuda_enter(call->device);

  (void)s->driver.cuCtxSynchronize_();
  libraries[call->spec.kind].destroy(call);
}

weir_status cuda_call_run(CUstream stream, const device_op *op)
{
  const cuda_state *s = cuda_enter(op->call->device);

  WEIR_TRY(libraries[op->call->spec.kind].run(s, stream, op));
  return WEIR_OK;
}

void cuda_libraries_close(cuda_state *s)
{
  cuda_product_close(s);
  cuda_convolution_close(s);
  cuda_transform_close(s);
}
