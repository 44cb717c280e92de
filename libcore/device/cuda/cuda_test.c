/* cuda_test.c - opening the library of the GPU where it, or what it needs, is not there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "device/cuda/cuda_open.h"

static void absent_library_is_named(void **state)
{
  const device_plugin *plugin = NULL;

  assert_int_equal(cuda_open_library("/nowhere/libweir_cuda.so", &plugin), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "/nowhere/libweir_cuda.so"));
  assert_null(plugin);
}

/* Any library that is no plugin stands for one of another interface. */
static void library_of_another_interface_is_refused(void **state)
{
  const device_plugin *plugin = NULL;

  assert_int_equal(cuda_open_library("libm.so.6", &plugin), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "another build"));
  assert_null(plugin);
}

/* The same with a plugin whose hash is another: what a stale library is. */
static void library_of_another_hash_is_refused(void **state)
{
  static const char text[] = "const struct { const char *abi; void *open, *compile; } "
                             "weir_device_plugin = {\"0123\", 0, 0};\n";
  const device_plugin *plugin = NULL;
  char folder[256], source[300], library[300], command[800];

  weir_check_mkdir(folder, sizeof folder);
  (void)snprintf(source, sizeof source, "%s/stale.c", folder);
  (void)snprintf(library, sizeof library, "%s/stale.so", folder);
  (void)snprintf(command, sizeof command, "cc -shared -fPIC -o %s %s", library, source);
  weir_check_write(source, text, sizeof text - 1);
  assert_int_equal(system(command), 0);
  assert_int_equal(cuda_open_library(library, &plugin), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "(interface 0123, expected "));
  assert_null(plugin);
  weir_check_rmdir(folder);
}

/* Either it opens, or it says what is missing; it is never another device. */
static void device_opens_or_says_what_is_missing(void **state)
{
  const int64_t before = weir_alloc_bytes();
  weir_device *device = NULL;
  const weir_status status = weir_device_open("cuda", NULL, &device);

  if (status == WEIR_OK) {
    assert_string_equal(weir_device_name(device), "cuda");
  } else {
    assert_int_equal(status, WEIR_ERR_UNSUPPORTED);
    assert_null(device);
    assert_non_null(strstr(weir_last_message(), "device cuda: "));
  }
  weir_device_close(&device);
  assert_int_equal(weir_alloc_bytes(), before);
  assert_int_equal(weir_device_open("cuda", &(weir_device_options){.index = 4096}, &device),
                   WEIR_ERR_UNSUPPORTED);
}

/* Without a GPU, too, where the build has NVRTC: what it refuses, and what it says of a kernel. */
static void kernels_compile_for_other_gpus_cuda(void **state)
{
  static const weir_device_param params[] = {{"float *", "x", sizeof(float *)}, {"int", "n", 4}};
  weir_device_source source = {.name = "many",
                               .params = params,
                               .n_params = 2,
                               .body = "__shared__ float s[100];\n"
                                       "s[threadIdx.x] = x[threadIdx.x];\n__syncthreads();\n"
                                       "x[n] = s[99 - threadIdx.x];"};
  weir_device_usage usage;

  assert_int_equal(weir_device_compile("cpu", "sm_90", &source, &usage), WEIR_ERR_UNSUPPORTED);
  assert_int_equal(weir_device_compile("abacus", "sm_90", &source, &usage), WEIR_ERR_CONFIG);
  const weir_status status = weir_device_compile("cuda", "sm_90", &source, &usage);
  if (status != WEIR_OK && strstr(weir_last_message(), "is made by a build") != NULL) {
    print_message("this build has no NVRTC: %s\n", weir_last_message());
    skip();
  }
  assert_ok(status);
  assert_int_equal(usage.shared_bytes, 400);
  assert_in_range(usage.registers, 4, 64);
  assert_int_equal(usage.spill_bytes, 0);
  assert_int_equal(usage.stack_bytes, 0);
  source.body = "double a[200];\nfor (int i = 0; i < 200; i++) {\n  a[i] = x[i * n];\n}\n"
                "x[0] = (float)a[(int)x[1] % 200];";
  assert_ok(weir_device_compile("cuda", "sm_80", &source, &usage));
  assert_true(usage.stack_bytes >= 1600);
  source.body = "int unused;\nx[0] = n;";
  assert_int_equal(weir_device_compile("cuda", "sm_80", &source, &usage), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "warning"));
  source.body = "x[0] = n";
  assert_int_equal(weir_device_compile("cuda", "sm_80", &source, &usage), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "expected a \";\""));
  source.body = "x[0] = n;";
  assert_int_equal(weir_device_compile("cuda", "sm_11", &source, &usage), WEIR_ERR_UNSUPPORTED);
  assert_int_equal(weir_device_compile("cuda", "avx512", &source, &usage), WEIR_ERR_UNSUPPORTED);
}

/* The last test: after it this process can use the GPU no more. */
static void fault_on_the_gpu_is_an_error(void **state)
{
  static const weir_device_param params[] = {{"int *", "out", sizeof(int *)}};
  const weir_device_source source = {
      .name = "fault", .params = params, .n_params = 1, .body = "out[0] = 1;"};
  int *nowhere = NULL;
  const void *const args[] = {&nowhere};
  weir_device *device = NULL;
  weir_device_queue *queue = NULL;
  weir_device_kernel *kernel = NULL;

  if (weir_device_open("cuda", NULL, &device) != WEIR_OK) {
    print_message("no GPU: %s\n", weir_last_message());
    return; /* what it says is tested above */
  }
  assert_ok(weir_device_queue_create(device, &queue));
  assert_ok(weir_device_kernel_create(device, &source, &kernel));
  assert_ok(weir_device_launch(
      queue, &(weir_device_launch_spec){
                 .kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args}));
  assert_int_equal(weir_device_queue_sync(queue), WEIR_ERR_EXTERNAL);
  assert_non_null(strstr(weir_last_message(), "CUDA_ERROR_ILLEGAL_ADDRESS"));
  weir_device_kernel_destroy(&kernel);
  weir_device_queue_destroy(&queue);
  weir_device_close(&device);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(absent_library_is_named),
      cmocka_unit_test(library_of_another_interface_is_refused),
      cmocka_unit_test(library_of_another_hash_is_refused),
      cmocka_unit_test(device_opens_or_says_what_is_missing),
      cmocka_unit_test(kernels_compile_for_other_gpus_cuda),
      cmocka_unit_test(fault_on_the_gpu_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
