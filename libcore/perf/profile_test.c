/* profile_test.c - a table of times is what was put into it, in memory and in its file; damaged
 * files are refused by line. */
#include "perf/weir_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"

enum { ROWS = 100 };

static char path[64];

static int open_folder(void **state)
{
  char folder[] = "/tmp/weir_profile_XXXXXX";

  assert_non_null(mkdtemp(folder));
  (void)snprintf(path, sizeof path, "%s/table", folder);
  return 0;
}

static int close_folder(void **state)
{
  (void)unlink(path);
  *strrchr(path, '/') = 0;
  return rmdir(path);
}

/* Keys in no order: an odd number times i is a permutation of 64 bits. */
static uint64_t key_of(int64_t i)
{
  return (uint64_t)(i + 1) * UINT64_C(0x9E3779B97F4A7C15);
}

static weir_profile filled(int64_t n)
{
  weir_profile t = {.n = 0};

  for (int64_t i = 0; i < n; i++) {
    assert_ok(weir_profile_add(&t, key_of(i), (double)i / 3e6));
  }
  return t;
}

static void what_was_added_is_found(void **state)
{
  weir_profile t = filled(ROWS);

  assert_int_equal(t.n, ROWS);
  for (int64_t i = 0; i < ROWS; i++) {
    assert_near(weir_profile_find(&t, key_of(i)), (double)i / 3e6, 0);
    assert_true(i == 0 || t.row[i - 1].key < t.row[i].key);
  }
  assert_true(weir_profile_find(&t, key_of(ROWS)) < 0);
  assert_ok(weir_profile_add(&t, key_of(3), 7)); /* the first time counts */
  assert_int_equal(t.n, ROWS);
  assert_near(weir_profile_find(&t, key_of(3)), 3 / 3e6, 0);
  weir_profile_fini(&t);
  assert_true(weir_profile_find(&t, key_of(3)) < 0);
}

static void keys_differ_by_digest_and_setting(void **state)
{
  weir_profile two = {.setting = "2 ranks"}, four = {.setting = "4 ranks"};
  char digest[65];

  weir_sha256("a", 1, digest);
  const uint64_t key = weir_profile_key(&two, digest);

  assert_true(key == weir_profile_key(&two, digest));
  assert_true(key != weir_profile_key(&four, digest));
  digest[63] = digest[63] == '0' ? '1' : '0';
  assert_true(key != weir_profile_key(&two, digest));
}

static void a_file_gives_the_same_bits(void **state)
{
  weir_profile t = filled(ROWS), back = {.n = 0};

  assert_ok(weir_profile_read(&back, path)); /* there is none yet */
  assert_int_equal(back.n, 0);
  assert_ok(weir_profile_write(&t, path));
  assert_ok(weir_profile_read(&back, path));
  assert_int_equal(back.n, ROWS);
  assert_memory_equal(back.row, t.row, ROWS * sizeof *t.row);
  weir_profile_fini(&t);
  weir_profile_fini(&back);
}

static void put(const char *text, size_t n)
{
  FILE *out = fopen(path, "w");

  assert_non_null(out);
  assert_int_equal(fwrite(text, 1, n, out), n);
  assert_int_equal(fclose(out), 0);
}

/* Refused as damaged, naming file and line. */
static void refused(const char *text, int64_t line)
{
  weir_profile t = {.n = 0};
  char where[96];

  put(text, strlen(text));
  assert_int_equal(weir_profile_read(&t, path), WEIR_ERR_DATA);
  (void)snprintf(where, sizeof where, "%s:%lld: ", path, (long long)line);
  assert_non_null(strstr(weir_last_message(), where));
  weir_profile_fini(&t);
}

static void damaged_files_are_refused_by_line(void **state)
{
#define HEAD "weir group times 1\n"
#define ROW "00000000000000a1 0.5\n"
  refused("", 1);
  refused("weir group times 2\n0 rows\n", 1);
  refused(HEAD, 2);
  refused(HEAD ROW, 3);
  refused(HEAD ROW "2 rows\n", 3);
  refused(HEAD ROW "1 rows", 3);
  refused(HEAD ROW "1 rows\n" ROW, 3);
  refused(HEAD "00000000000000A1 0.5\n1 rows\n", 2);
  refused(HEAD "0000000000000a1 0.5\n1 rows\n", 2);
  refused(HEAD "00000000000000a1 -0.5\n1 rows\n", 2);
  refused(HEAD ROW "00000000000000a2 nan\n2 rows\n", 3);
  refused(HEAD ROW "00000000000000a2 0.5 \n2 rows\n", 3);
  refused(HEAD ROW "00000000000000a2\n2 rows\n", 3);
}

/* Cut anywhere: not one length of a file but the whole is a table. */
static void no_part_of_a_file_is_one(void **state)
{
  weir_profile t = filled(5);
  char *text = NULL;
  int64_t size = 0;

  assert_ok(weir_profile_write(&t, path));
  assert_ok(weir_file_read(path, 10000, &text, &size));
  for (int64_t n = 0; n < size; n++) {
    weir_profile truncated = {.n = 0};

    put(text, (size_t)n);
    assert_int_equal(weir_profile_read(&truncated, path), WEIR_ERR_DATA);
    weir_profile_fini(&truncated);
  }
  weir_free(&text);
  weir_profile_fini(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_added_is_found),
      cmocka_unit_test(keys_differ_by_digest_and_setting),
      cmocka_unit_test(a_file_gives_the_same_bits),
      cmocka_unit_test(damaged_files_are_refused_by_line),
      cmocka_unit_test(no_part_of_a_file_is_one),
  };

  return cmocka_run_group_tests(tests, open_folder, close_folder);
}
