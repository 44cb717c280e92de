/* driver_cuda.c - opening NVIDIA's driver, and what it says of failures. */
#include <dlfcn.h>
#include <string.h>

#include "device/cuda/driver.h"

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name) /* of the version that cuda.h means by the name */

weir_status driver_open(driver *d)
{
  d->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (d->library == NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: no NVIDIA driver on this machine (%s)",
                     dlerror());
  }
#define X(name)                                                                                 \
  {                                                                                             \
    void *address = dlsym(d->library, NAME_OF(name));                                           \
    if (address == NULL) {                                                                      \
      dlclose(d->library);                                                                      \
      return weir_fail(WEIR_ERR_UNSUPPORTED,                                                    \
                       "device cuda: the NVIDIA driver is older than CUDA %d.%d: it has no %s", \
                       CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10, NAME_OF(name));           \
    }                                                                                           \
    memcpy(&d->name##_, &address, sizeof address);                                              \
  }
  CUDA_FUNCTIONS(X)
#undef X
  return WEIR_OK;
}

weir_status driver_fail(const driver *d, CUresult result, const char *what)
{
  const char *name = NULL, *text = NULL;

  (void)d->cuGetErrorName_(result, &name);
  (void)d->cuGetErrorString_(result, &text);
  return weir_fail(result == CUDA_ERROR_OUT_OF_MEMORY ? WEIR_ERR_MEMORY : WEIR_ERR_EXTERNAL,
                   "device cuda: %s: %s (%s)", what, text == NULL ? "unknown failure" : text,
                   name == NULL ? "unknown" : name);
}
