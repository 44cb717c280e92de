/* constants_test.c - constants of the machine: from a file, from the environment, and refused. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "device/weir_parallel.h"

/* Loads a file of that text. */
static weir_status load(const char *text)
{
  char folder[256], path[300];

  weir_check_mkdir(folder, sizeof folder);
  assert_ok(weir_path_join(folder, "machine.yaml", path, sizeof path));
  weir_check_write(path, text, strlen(text));
  const weir_status status = weir_cpu_load(path);
  weir_check_rmdir(folder);
  return status;
}

static bool reads_files(void)
{
  if (load("{}\n") != WEIR_ERR_UNSUPPORTED) {
    return true;
  }
  printf("skipped: this build has no libyaml\n");
  return false;
}

static void what_a_file_states_replaces_what_is_detected(void **state)
{
  if (!reads_files()) {
    skip();
  }
  const weir_cpu before = *weir_cpu_get();

  assert_ok(load("l2_bytes: 123456\nbandwidth: 2e9\n"));
  assert_int_equal(weir_cpu_get()->l2_bytes, 123456);
  assert_true(weir_cpu_get()->bandwidth == 2e9 && weir_cpu_get()->flop_rate == 0);
  assert_int_equal(weir_cpu_get()->l1_bytes, before.l1_bytes);
  assert_int_equal(weir_cpu_get()->avx512, before.avx512);
  assert_ok(weir_cpu_load(NULL));
  assert_int_equal(weir_cpu_get()->l2_bytes, before.l2_bytes);
  assert_true(weir_cpu_get()->bandwidth == before.bandwidth);
}

static void instruction_sets_are_limited_and_never_invented(void **state)
{
  if (!reads_files()) {
    skip();
  }
  assert_ok(load("simd: base\n"));
  assert_true(!weir_cpu_get()->avx2 && !weir_cpu_get()->avx512 && !weir_cpu_get()->sse42);
  assert_ok(load("simd: auto\n"));
  const weir_cpu all = *weir_cpu_get();

  assert_int_equal(load("simd: avx2\n"), all.avx2 && all.fma ? WEIR_OK : WEIR_ERR_CONFIG);
  assert_true(weir_cpu_get()->avx2 == all.avx2 && (!all.avx2 || !weir_cpu_get()->avx512));
  assert_int_equal(load("simd: avx512\n"), all.avx512 ? WEIR_OK : WEIR_ERR_CONFIG);
  assert_ok(weir_cpu_load(NULL));
}

static void malformed_files_are_refused_and_change_nothing(void **state)
{
  if (!reads_files()) {
    skip();
  }
  assert_ok(load("l3_bytes: 777\n"));
  assert_int_equal(load("l2_bytes: -1\n"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "machine.yaml:1:"));
  assert_int_equal(load("l4_bytes: 1\n"), WEIR_ERR_CONFIG);
  assert_int_equal(weir_cpu_load("no/such/file.yaml"), WEIR_ERR_CONFIG);
  assert_int_equal(weir_cpu_get()->l3_bytes, 777);
  assert_ok(weir_cpu_load(NULL));
}

/* For programs without that option, such as tests. */
static void the_environment_names_the_default_file(void **state)
{
  char folder[256], path[300];

  if (!reads_files()) {
    skip();
  }
  weir_check_mkdir(folder, sizeof folder);
  assert_ok(weir_path_join(folder, "environment.yaml", path, sizeof path));
  weir_check_write(path, "l1_bytes: 4321\n", 15);
  assert_int_equal(setenv("WEIR_MACHINE", path, 1), 0);
  assert_ok(weir_cpu_load(""));
  assert_int_equal(weir_cpu_get()->l1_bytes, 4321);
  assert_ok(load("l2_bytes: 8765\n")); /* a file that is named wins */
  assert_true(weir_cpu_get()->l1_bytes != 4321 && weir_cpu_get()->l2_bytes == 8765);
  assert_int_equal(unsetenv("WEIR_MACHINE"), 0);
  assert_ok(weir_cpu_load(NULL));
  weir_check_rmdir(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_file_states_replaces_what_is_detected),
      cmocka_unit_test(instruction_sets_are_limited_and_never_invented),
      cmocka_unit_test(malformed_files_are_refused_and_change_nothing),
      cmocka_unit_test(the_environment_names_the_default_file),
  };

  (void)unsetenv("WEIR_MACHINE"); /* whoever runs the tests may have set it */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
