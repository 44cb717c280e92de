/* host_compile.c - a kernel's text as a library that is open. */
#include <dlfcn.h>
#include <stdio.h>

#include "device/host_kernel.h"
#include "device/weir_compile.h"

/* Contraction would change bits; the rest is as the library itself is compiled. */
static const char *const flags[] = {"-O1",
                                    "-std=gnu11",
                                    "-ffp-contract=off",
                                    "-fno-math-errno",
                                    "-fno-trapping-math",
                                    "-fno-strict-aliasing",
                                    "-w",
                                    "-fPIC",
                                    "-shared",
                                    "-lm"};
static const weir_compiler compiler = {.command = "cc",
                                       .flags = flags,
                                       .n_flags = (int)(sizeof flags / sizeof flags[0]),
                                       .keep = true};

weir_status host_compile(const char *text, void **handle)
{
  weir_status status = WEIR_OK;
  char folder[4096], path[4096];

  *handle = NULL;
  WEIR_TRY_GOTO(weir_compile(&compiler, &text, 1, folder), done);
  weir_compiled_path(folder, 0, path);
  *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (*handle == NULL) {
    status = weir_fail(WEIR_ERR_UNSUPPORTED, "a kernel compiled for the host: %s", dlerror());
  }
done:
  weir_compile_remove(folder, 1);
  return status;
}
