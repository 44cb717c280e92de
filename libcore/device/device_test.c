/* device_test.c - the table of devices: names, what is printed, and what is refused. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "device/weir_device.h"

static void unknown_name_is_refused_with_those_there_are(void **state)
{
  weir_device *device = NULL;

  assert_int_equal(weir_device_open("gpu", NULL, &device), WEIR_ERR_CONFIG);
  assert_null(device);
  assert_non_null(strstr(weir_last_message(), "'gpu'"));
  assert_non_null(strstr(weir_last_message(), "cpu, cuda, emulated"));
}

static void list_has_a_line_for_each_row(void **state)
{
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);

  assert_non_null(file);
  assert_ok(weir_device_print(file));
  assert_int_equal(fclose(file), 0);
  for (int k = 0; weir_device_row_get(k) != NULL; k++) {
    char line[64];
    (void)snprintf(line, sizeof line, "\n  %s: ", weir_device_row_get(k)->name);
    assert_non_null(strstr(text, line));
  }
  free(text);
  file = fopen("/dev/full", "w");
  if (file != NULL) {
    setbuf(file, NULL);
    assert_int_equal(weir_device_print(file), WEIR_ERR_DATA);
    fclose(file);
  }
}

static void names_of_no_device_are_refused(void **state)
{
  assert_ok(weir_device_check(NULL));
  assert_ok(weir_device_check("emulated"));
  assert_int_equal(weir_device_check("abacus"), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "--device abacus: not available"));
}

static void second_device_of_a_kind_and_too_many_queues_are_refused(void **state)
{
  weir_device *device = NULL;
  weir_device_queue *queues[WEIR_DEVICE_QUEUES + 1];

  assert_int_equal(weir_device_open("cpu", &(weir_device_options){.index = 1}, &device),
                   WEIR_ERR_UNSUPPORTED);
  assert_int_equal(weir_device_open("emulated", &(weir_device_options){.index = 1}, &device),
                   WEIR_ERR_UNSUPPORTED);
  assert_ok(weir_device_open("emulated", NULL, &device));
  for (int k = 0; k < WEIR_DEVICE_QUEUES; k++) {
    assert_ok(weir_device_queue_create(device, &queues[k]));
  }
  assert_int_equal(weir_device_queue_create(device, &queues[WEIR_DEVICE_QUEUES]), WEIR_ERR_CONFIG);
  assert_null(queues[WEIR_DEVICE_QUEUES]);
  weir_device_queue_destroy(&queues[3]);
  assert_ok(weir_device_queue_create(device, &queues[3]));
  for (int k = 0; k < WEIR_DEVICE_QUEUES; k++) {
    weir_device_queue_destroy(&queues[k]);
  }
  weir_device_close(&device);
}

static weir_status make(void *context)
{
  const int64_t bytes[] = {100, 0, 77};
  void *arrays[3];
  weir_device *device = NULL;
  weir_device_arena *arena = NULL;
  weir_device_queue *queue = NULL;
  weir_device_capture *capture = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_device_open(context, NULL, &device));
  WEIR_TRY_GOTO(weir_device_queue_create(device, &queue), done);
  WEIR_TRY_GOTO(weir_device_arena_create(device, WEIR_SPACE_STAGING, 3, bytes, arrays, &arena),
                done);
  WEIR_TRY_GOTO(weir_device_capture_begin(queue), done);
  const weir_status copied = weir_device_copy(queue, arrays[0], arrays[2], 77);
  status = weir_device_capture_end(queue, &capture);
  WEIR_TRY_GOTO(copied != WEIR_OK ? copied : status, done);
  WEIR_TRY_GOTO(weir_device_replay(capture, queue), done);
  WEIR_TRY_GOTO(weir_device_queue_sync(queue), done);
done:
  weir_device_capture_destroy(&capture);
  weir_device_arena_destroy(&arena);
  weir_device_queue_destroy(&queue);
  weir_device_close(&device);
  return status;
}

static void exhausted_memory_is_reported(void **state)
{
  assert_true(weir_check_faults(make, (void *)(uintptr_t) "cpu") > 5);
  assert_true(weir_check_faults(make, (void *)(uintptr_t) "emulated") > 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unknown_name_is_refused_with_those_there_are),
      cmocka_unit_test(list_has_a_line_for_each_row),
      cmocka_unit_test(names_of_no_device_are_refused),
      cmocka_unit_test(second_device_of_a_kind_and_too_many_queues_are_refused),
      cmocka_unit_test(exhausted_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
