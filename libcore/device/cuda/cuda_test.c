/* cuda_test.c - opening the library of the GPU where it, or what it needs, is not there. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "device/cuda/cuda_open.h"

static const weir_device_options usual = {0, 0};

static void absent_library_is_named(void **state)
{
  weir_device device = {.state = NULL};

  assert_int_equal(cuda_open_library("/nowhere/libweir_cuda.so", &device, &usual),
                   WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "/nowhere/libweir_cuda.so"));
  assert_null(device.state);
}

/* Any library that is no plugin stands for one of another interface. */
static void library_of_another_interface_is_refused(void **state)
{
  weir_device device = {.state = NULL};

  assert_int_equal(cuda_open_library("libm.so.6", &device, &usual), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "of another build"));
  assert_null(device.state);
}

/* Either it opens, or it says what is missing; it is never another device. */
static void device_opens_or_says_what_is_missing(void **state)
{
  const int64_t held = weir_alloc_bytes();
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
  assert_int_equal(weir_alloc_bytes(), held);
  assert_int_equal(weir_device_open("cuda", &(weir_device_options){.index = 4096}, &device),
                   WEIR_ERR_UNSUPPORTED);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(absent_library_is_named),
      cmocka_unit_test(library_of_another_interface_is_refused),
      cmocka_unit_test(device_opens_or_says_what_is_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
