/* constants_test.c - constants of the machine: from a file, from the environment, and refused. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "device/weir_device.h"
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
  assert_int_equal(weir_cpu_get()->constants.l2_bytes, 123456);
  assert_true(weir_cpu_get()->constants.bandwidth == 2e9);
  assert_true(weir_cpu_get()->constants.cache_bandwidth == 8e9);
  assert_true(weir_cpu_get()->constants.flop_rate == before.constants.flop_rate);
  assert_false(weir_cpu_get()->constants.measured);
  assert_int_equal(weir_cpu_get()->constants.l1_bytes, before.constants.l1_bytes);
  assert_int_equal(weir_cpu_get()->avx512, before.avx512);
  assert_ok(weir_cpu_load(NULL));
  assert_int_equal(weir_cpu_get()->constants.l2_bytes, before.constants.l2_bytes);
  assert_true(weir_cpu_get()->constants.bandwidth == before.constants.bandwidth);
  assert_ok(load("bandwidth: 2e9\nflop_rate: 5e10\nrow_s: 1e-8\n"));
  assert_true(weir_cpu_get()->constants.measured && weir_cpu_get()->constants.row_s == 1e-8);
  assert_ok(weir_cpu_load(NULL));
  assert_true(weir_cpu_get()->constants.row_s == before.constants.row_s);
}

static void the_reference_page_is_the_table(void **state)
{
  char *page = NULL, *printed = NULL;
  size_t size = 0;
  int64_t length = 0;
  FILE *out = open_memstream(&printed, &size);

  assert_non_null(out);
  assert_ok(weir_opts_print_markdown(weir_constants_opts, "Machine constants", out));
  assert_int_equal(fclose(out), 0);
  assert_ok(weir_file_read(WEIR_SOURCE_DIR "/docs/reference/machine.md", 1 << 20, &page, &length));
  assert_string_equal(page, printed);
  weir_free(&page);
  free(printed);
}

static weir_status read_text(const char *text, weir_constants *out)
{
  char folder[256], path[300];

  weir_check_mkdir(folder, sizeof folder);
  assert_ok(weir_path_join(folder, "other.yaml", path, sizeof path));
  weir_check_write(path, text, strlen(text));
  const weir_status status = weir_constants_read(path, out);
  weir_check_rmdir(folder);
  return status;
}

static void constants_of_another_device_are_read_and_not_detected(void **state)
{
  weir_constants c = {.processors = 77};

  if (!reads_files()) {
    skip();
  }
  const weir_cpu before = *weir_cpu_get();

  assert_int_equal(read_text("bandwidth: 2e9\nflop_rate: 5e10\n", &c), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "other.yaml: states no processors"));
  assert_int_equal(read_text("processors: 3\nbandwidth: 2e9\n", &c), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "states no bandwidth or flop_rate"));
  assert_int_equal(read_text("processors: 3\nbandwidth: 0\nflop_rate: 1\n", &c), WEIR_ERR_CONFIG);
  assert_int_equal(weir_constants_read("no/such/file.yaml", &c), WEIR_ERR_CONFIG);
  assert_int_equal(c.processors, 77);
  assert_ok(read_text("processors: 3\nbandwidth: 2e9\nflop_rate: 5e10\n", &c));
  assert_true(c.total_bandwidth == 6e9 && c.flop_rate_f64 == 2.5e10 && c.flop_rate_bf16 == 5e10);
  assert_true(c.resident_blocks == 1 && c.l1_bytes == 0 && c.memory_bytes == 0);
  assert_ok(read_text("processors: 3\nbandwidth: 2e9\nflop_rate: 5e10\ntotal_bandwidth: 5e9\n"
                      "flop_rate_f64: 7\nflop_rate_bf16: 8\nresident_blocks: 4\n",
                      &c));
  assert_true(c.total_bandwidth == 5e9 && c.flop_rate_f64 == 7 && c.flop_rate_bf16 == 8);
  assert_int_equal(c.resident_blocks, 4);
  assert_int_equal(memcmp(weir_cpu_get(), &before, sizeof before), 0);
}

static void examples_of_other_devices_are_complete(void **state)
{
  int n = 0;
  glob_t found;

  if (!reads_files()) {
    skip();
  }
  assert_int_equal(glob(WEIR_SOURCE_DIR "/configs/machines/*.yaml", 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    weir_constants c;

    assert_ok(weir_constants_read(found.gl_pathv[i], &c));
    /* A part that was divided by the number of processors, or was not, would be far off. */
    assert_true(c.flop_rate >= 1e10 && c.flop_rate <= 1e12);
    assert_true(c.bandwidth >= 1e9 && c.bandwidth <= 1e11);
    assert_true(c.total_bandwidth >= c.bandwidth);
    assert_true(c.total_bandwidth <= 1.01 * (double)c.processors * c.bandwidth);
    assert_true(c.flop_rate_f64 <= c.flop_rate && c.flop_rate_bf16 >= c.flop_rate);
    n++;
  }
  globfree(&found);
  assert_true(n >= 6);
}

/* Passes and kernels divide by some of them. */
static void every_device_has_constants(void **state)
{
  for (int k = 0; weir_device_row_get(k) != NULL; k++) {
    const weir_constants *c = weir_constants_get(weir_device_row_get(k)->name);

    assert_ptr_equal(c, weir_device_row_get(k)->constants());
    assert_true(c->l1_bytes > 0 && c->l2_bytes >= c->l1_bytes && c->line_bytes > 0);
    assert_true(c->processors > 0 && c->total_bandwidth >= c->bandwidth);
    assert_true(c->bandwidth > 0 && c->cache_bandwidth > 0 && c->flop_rate > 0 && c->link_bw > 0);
    assert_true(c->min_tile_points > 0 && c->max_tile_points > 0 && c->tile_flops > 0);
  }
  assert_ptr_equal(weir_constants_get(NULL), &weir_cpu_get()->constants);
  assert_ptr_equal(weir_constants_get("cpu"), &weir_cpu_get()->constants);
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
  assert_int_equal(weir_cpu_get()->constants.l3_bytes, 777);
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
  assert_int_equal(weir_cpu_get()->constants.l1_bytes, 4321);
  assert_ok(load("l2_bytes: 8765\n")); /* a file that is named wins */
  assert_true(weir_cpu_get()->constants.l1_bytes != 4321 &&
              weir_cpu_get()->constants.l2_bytes == 8765);
  assert_int_equal(unsetenv("WEIR_MACHINE"), 0);
  assert_ok(weir_cpu_load(NULL));
  weir_check_rmdir(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_file_states_replaces_what_is_detected),
      cmocka_unit_test(the_reference_page_is_the_table),
      cmocka_unit_test(constants_of_another_device_are_read_and_not_detected),
      cmocka_unit_test(examples_of_other_devices_are_complete),
      cmocka_unit_test(every_device_has_constants),
      cmocka_unit_test(instruction_sets_are_limited_and_never_invented),
      cmocka_unit_test(malformed_files_are_refused_and_change_nothing),
      cmocka_unit_test(the_environment_names_the_default_file),
  };

  (void)unsetenv("WEIR_MACHINE"); /* whoever runs the tests may have set it */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
