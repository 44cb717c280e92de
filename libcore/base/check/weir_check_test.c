/* weir_check_test.c - the helpers that other tests trust. */
#include "base/weir_check.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"

static void comparison_counts_what_is_outside(void **state)
{
  const float expected[] = {1, 2, 3, NAN, INFINITY, 0};
  const float same[] = {1, 2, 3, NAN, INFINITY, -0.0f};
  const float wrong[] = {1, 2.5f, NAN, 3, -INFINITY, 1e-9f};
  const weir_tolerance tol = {1e-6, 1e-3};

  assert_int_equal(weir_compare("same", WEIR_F32, same, expected, 6, tol), 0);
  assert_int_equal(weir_compare("on purpose", WEIR_F32, wrong, expected, 6, tol), 4);
  assert_int_equal(weir_compare("nothing", WEIR_F32, NULL, NULL, 0, tol), 0);
}

static void wide_integers_are_compared_exactly(void **state)
{
  const int64_t a[] = {INT64_MAX, INT64_MIN, 9007199254740993};
  const int64_t b[] = {INT64_MAX - 1, INT64_MIN, 9007199254740992};

  assert_int_equal(weir_compare("on purpose", WEIR_I64, a, b, 3, weir_tolerance_of(WEIR_I64)), 2);
  assert_int_equal(weir_compare("same", WEIR_I64, a, a, 3, weir_tolerance_of(WEIR_I64)), 0);
}

static void tolerance_is_relative_above_one(void **state)
{
  assert_true(weir_near(1000.1, 1000.0, 1.01e-4));
  assert_false(weir_near(1000.1, 1000.0, 0.99e-4));
  assert_true(weir_near(0.0001, 0.0, 1.01e-4));
  assert_true(weir_near(NAN, NAN, 0));
  assert_false(weir_near(NAN, 0, 1e300));
  assert_true(weir_near(INFINITY, INFINITY, 0));
  assert_true(weir_tolerance_of(WEIR_F32).fail > weir_tolerance_of(WEIR_F64).fail);
  assert_true(weir_tolerance_of(WEIR_U8).fail == 0);
}

static weir_status make_three(void *context)
{
  void *block[3] = {NULL, NULL, NULL};
  weir_status status = WEIR_OK;
  int *calls = context;

  (*calls)++;
  for (int i = 0; i < 3 && status == WEIR_OK; i++) {
    status = weir_alloc(1, 8, &block[i]);
  }
  for (int i = 0; i < 3; i++) {
    weir_free(&block[i]);
  }
  return status;
}

static void faults_are_made_at_each_allocation(void **state)
{
  int calls = 0;

  assert_int_equal(weir_check_faults(make_three, &calls), 3);
  assert_int_equal(calls, 4);
}

static void folders_come_and_go(void **state)
{
  char dir[256], inner[512], file[600];
  weir_writer *w;

  weir_check_mkdir(dir, sizeof dir);
  assert_true(weir_file_exists(dir));
  assert_ok(weir_path_join(dir, "a/b", inner, sizeof inner));
  assert_ok(weir_dir_create(inner));
  assert_ok(weir_path_join(inner, "file", file, sizeof file));
  assert_ok(weir_writer_open(file, &w));
  assert_ok(weir_writer_commit(&w));
  weir_check_rmdir(dir);
  assert_false(weir_file_exists(dir));
}

static void data_folder_exists_when_named(void **state)
{
  const char *data = weir_check_data();

  if (data == NULL) {
    print_message("skipped: no test data; set WEIR_TEST_DATA to its folder\n");
    skip();
  }
  assert_true(weir_dir_has_entries(data));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comparison_counts_what_is_outside),
      cmocka_unit_test(wide_integers_are_compared_exactly),
      cmocka_unit_test(tolerance_is_relative_above_one),
      cmocka_unit_test(faults_are_made_at_each_allocation),
      cmocka_unit_test(folders_come_and_go),
      cmocka_unit_test(data_folder_exists_when_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
