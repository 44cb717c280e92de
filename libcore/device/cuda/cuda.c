/* cuda.c - NVIDIA GPUs: the row opens libweir_cuda, which holds the device, at run time, so that
 * one build runs with and without a GPU. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "device/cuda/cuda_open.h"
#include "device/weir_parallel.h"
#include "weir_device_abi.h"

enum { PATH_CAPACITY = 4096 };

/* "FOLDER OF LIBWEIR/libweir_cuda.so", or the bare name, which the loader looks for. */
static void library_path(char path[PATH_CAPACITY])
{
  Dl_info info;

  if (dladdr(&weir_device_row_cuda, &info) != 0 && info.dli_fname != NULL) {
    const char *slash = strrchr(info.dli_fname, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - info.dli_fname) + 1;
    const int n = snprintf(path, PATH_CAPACITY, "%.*slibweir_cuda.so", folder, info.dli_fname);
    if (n > 0 && n < PATH_CAPACITY) {
      return;
    }
  }
  (void)snprintf(path, PATH_CAPACITY, "libweir_cuda.so");
}

weir_status cuda_open_library(const char *path, const device_plugin **out)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

  *out = NULL;
  if (library == NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "device cuda: %s (libweir_cuda.so is made by a build with the CUDA toolkit)",
                     dlerror());
  }
  const device_plugin *plugin = dlsym(library, "weir_device_plugin");

  if (plugin == NULL || plugin->abi == NULL || strcmp(plugin->abi, WEIR_DEVICE_ABI) != 0) {
    const weir_status status = weir_fail(
        WEIR_ERR_UNSUPPORTED,
        "device cuda: %s belongs to another build than this libweir (interface %.16s, expected "
        "%.16s): build both together",
        path, plugin == NULL || plugin->abi == NULL ? "none" : plugin->abi, WEIR_DEVICE_ABI);
    dlclose(library);
    return status;
  }
  *out = plugin; /* the library stays: records of failures, too, name its text */
  return WEIR_OK;
}

static weir_status open_device(weir_device *device, const weir_device_options *options)
{
  char path[PATH_CAPACITY];
  const device_plugin *plugin = NULL;

  library_path(path);
  WEIR_TRY(cuda_open_library(path, &plugin));
  WEIR_TRY(plugin->open(device, options));
  return WEIR_OK;
}

static weir_status compile(const char *architecture, const weir_device_source *source,
                           weir_device_usage *out)
{
  char path[PATH_CAPACITY];
  const device_plugin *plugin = NULL;

  library_path(path);
  WEIR_TRY(cuda_open_library(path, &plugin));
  WEIR_TRY(plugin->compile(architecture, source, out));
  return WEIR_OK;
}

static weir_status plan(const char *properties, const weir_library_spec *spec, int64_t *workspace)
{
  char path[PATH_CAPACITY];
  const device_plugin *plugin = NULL;

  library_path(path);
  WEIR_TRY(cuda_open_library(path, &plugin));
  WEIR_TRY(plugin->plan(properties, spec, workspace));
  return WEIR_OK;
}

/* Those of the host: only copies and launches of a GPU have been measured. */
static const weir_constants *constants(void)
{
  return &weir_cpu_get()->constants;
}

const weir_device_row weir_device_row_cuda = {
    .name = "cuda",
    .help = "NVIDIA GPUs",
    .constants = constants,
    .open = open_device,
    .compile = compile,
    .plan = plan,
};
