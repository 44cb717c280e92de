/* weir_alloc_test.c - alignment, zeroing, refusals, accounting and fault injection. */
#include <limits.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"

static bool all_zero(const unsigned char *data, size_t bytes)
{
  for (size_t i = 0; i < bytes; i++) {
    if (data[i] != 0) {
      return false;
    }
  }
  return true;
}

static void memory_is_aligned_zero_and_counted(void **state)
{
  const int64_t sizes[] = {1, 63, 64, 65, 4095, 131071, 131072, 1000003};

  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const int64_t before = weir_alloc_bytes();
    unsigned char *data;
    assert_ok(weir_alloc(sizes[i], 1, (void **)&data));
    assert_int_equal((uintptr_t)data % 64, 0);
    assert_true(all_zero(data, (size_t)sizes[i]));
    memset(data, 0xA5, (size_t)sizes[i]);
    assert_int_equal(weir_alloc_bytes() - before, sizes[i]);
    assert_true(weir_alloc_peak() >= weir_alloc_bytes());
    weir_free(&data);
    assert_null(data);
    assert_int_equal(weir_alloc_bytes(), before);
  }
}

static void nothing_is_null_and_freeing_it_is_fine(void **state)
{
  void *data = &data;

  assert_ok(weir_alloc(0, 8, &data));
  assert_null(data);
  assert_ok(weir_alloc(8, 0, &data));
  assert_null(data);
  weir_free(&data);
  weir_free(NULL);
}

static void impossible_sizes_are_refused(void **state)
{
  const struct {
    int64_t count;
    size_t size;
  } cases[] = {{-1, 1},           {INT64_MAX, 1},      {INT64_MAX, 8}, {1, SIZE_MAX},
               {2, SIZE_MAX / 2}, {INT64_MAX / 4, 16}, {INT64_MIN, 1}, {1, (size_t)1 << 62}};

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    void *data = &data;
    assert_int_equal(weir_alloc(cases[i].count, cases[i].size, &data), WEIR_ERR_MEMORY);
    assert_null(data);
  }
}

static void realloc_keeps_what_fits_and_zeroes_the_rest(void **state)
{
  for (uint64_t trial = 0; trial < 50; trial++) {
    const int64_t old_count = (int64_t)(weir_random_bits(3, 1, 0, trial) % 300);
    const int64_t new_count = (int64_t)(weir_random_bits(3, 2, 0, trial) % 300);
    int32_t *data;
    assert_ok(weir_alloc(old_count, sizeof *data, (void **)&data));
    for (int64_t i = 0; i < old_count; i++) {
      data[i] = (int32_t)i + 1;
    }
    assert_ok(weir_realloc((void **)&data, old_count, new_count, sizeof *data));
    for (int64_t i = 0; i < new_count; i++) {
      assert_int_equal(data[i], i < old_count ? i + 1 : 0);
    }
    weir_free(&data);
  }
}

static void reserve_grows_and_keeps(void **state)
{
  int64_t *items = NULL, capacity = 0;

  for (int64_t n = 0; n < 1000; n++) {
    assert_ok(weir_reserve(&items, &capacity, n + 1, sizeof *items));
    assert_true(capacity > n);
    items[n] = n * n;
  }
  for (int64_t n = 0; n < 1000; n++) {
    assert_int_equal(items[n], n * n);
  }
  assert_int_equal(weir_reserve(&items, &capacity, INT64_MAX, sizeof *items), WEIR_ERR_MEMORY);
  assert_int_equal(items[999], 999 * 999);
  weir_free(&items);
}

static weir_status use_every_function(void *context)
{
  weir_status status;
  void *data = NULL;
  char *text = NULL;
  int64_t capacity = 10;

  WEIR_TRY_GOTO(weir_alloc(10, 4, &data), done);
  ((int32_t *)data)[9] = 9;
  status = weir_realloc(&data, 10, 20, 4);
  if (status != WEIR_OK) {
    assert_int_equal(((int32_t *)data)[9], 9); /* unchanged on failure */
    goto done;
  }
  capacity = 20;
  status = weir_reserve(&data, &capacity, 21, 4);
  if (status != WEIR_OK) {
    assert_int_equal(capacity, 20);
    assert_int_equal(((int32_t *)data)[9], 9);
    goto done;
  }
  WEIR_TRY_GOTO(weir_strdup("text", &text), done);
  assert_string_equal(text, "text");
done:
  weir_free(&data);
  weir_free(&text);
  return status;
}

static void each_fault_is_reported_and_leaks_nothing(void **state)
{
  assert_int_equal(weir_check_faults(use_every_function, NULL), 4);
}

static void only_the_kth_allocation_fails(void **state)
{
  void *data[5];

  weir_alloc_fail_after(3);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(weir_alloc(1, 1, &data[i]), i == 2 ? WEIR_ERR_MEMORY : WEIR_OK);
  }
  assert_int_equal(weir_alloc_count(), 5);
  weir_alloc_fail_after(0);
  assert_int_equal(weir_alloc_count(), 0);
  for (int i = 0; i < 5; i++) {
    weir_free(&data[i]);
  }
}

static void checked_arithmetic_sees_overflow(void **state)
{
  int64_t out;

  assert_true(weir_mul_ok((int64_t)1 << 31, (int64_t)1 << 31, &out));
  assert_false(weir_mul_ok((int64_t)1 << 32, (int64_t)1 << 31, &out));
  assert_true(weir_add_ok(INT64_MAX, (int64_t)0, &out));
  assert_false(weir_add_ok(INT64_MAX, (int64_t)1, &out));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_aligned_zero_and_counted),
      cmocka_unit_test(nothing_is_null_and_freeing_it_is_fine),
      cmocka_unit_test(impossible_sizes_are_refused),
      cmocka_unit_test(realloc_keeps_what_fits_and_zeroes_the_rest),
      cmocka_unit_test(reserve_grows_and_keeps),
      cmocka_unit_test(each_fault_is_reported_and_leaks_nothing),
      cmocka_unit_test(only_the_kth_allocation_fails),
      cmocka_unit_test(checked_arithmetic_sees_overflow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
