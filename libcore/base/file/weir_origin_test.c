/* weir_origin_test.c - digests of files that a result came from: the same, others, gone. */
#include "base/weir_origin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/weir_check.h"
#include "base/weir_file.h"

static char dir[256];

static const char *put(const char *name, const char *text)
{
  static char path[4][512];
  static int at;
  char *const to = path[at++ % 4];
  FILE *out = NULL;

  (void)snprintf(to, sizeof path[0], "%s/%s", dir, name);
  out = fopen(to, "w");
  assert_non_null(out);
  assert_true(fputs(text, out) >= 0 && fclose(out) == 0);
  return to;
}

static int make(void **state)
{
  (void)state;
  (void)snprintf(dir, sizeof dir, "weir_origin_XXXXXX");
  return mkdtemp(dir) != NULL ? 0 : -1;
}

static int drop(void **state)
{
  static const char *const name[] = {"a", "b", "c"};

  (void)state;
  for (int i = 0; i < 3; i++) {
    char path[512];

    (void)snprintf(path, sizeof path, "%s/%s", dir, name[i]);
    (void)unlink(path);
  }
  return rmdir(dir);
}

static void a_file_is_known_by_its_bytes(void **state)
{
  const char *const path = put("a", "abc"); /* FIPS 180-4, the first example */
  weir_origin o = {.n = 0};

  (void)state;
  assert_ok(weir_origin_text(&o, "source", "a test"));
  assert_ok(weir_origin_file(&o, "weights", path));
  assert_string_equal(weir_origin_find(&o, "source"), "a test");
  assert_string_equal(weir_origin_find(&o, "weights_sha256"),
                      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_int_equal(weir_origin_find(&o, "weights_file")[0], '/');
  assert_null(weir_origin_find(&o, "weights"));
  assert_int_equal(weir_origin_check_file(&o, "weights"), WEIR_BELONGS);
  (void)put("a", "abd");
  assert_int_equal(weir_origin_check_file(&o, "weights"), WEIR_BELONGS_NOT);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(weir_origin_check_file(&o, "weights"), WEIR_BELONGS_UNKNOWN);
  assert_int_equal(weir_origin_check_file(&o, "data"), WEIR_BELONGS_UNKNOWN);
  weir_origin_fini(&o);
  assert_int_equal(weir_origin_file(&o, "weights", path), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "cannot be read completely"));
  assert_int_equal(o.n, 0);
}

/* Whoever made the result chose the path: what cannot be read to an end is not begun. */
static void what_is_no_file_is_not_waited_for(void **state)
{
  const char *const path = put("a", "abc");
  weir_origin o = {.n = 0};

  (void)state;
  assert_ok(weir_origin_file(&o, "weights", path));
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0);
  (void)alarm(20); /* a pipe that nobody writes into is waited for until this */
  assert_int_equal(weir_origin_check_file(&o, "weights"), WEIR_BELONGS_UNKNOWN);
  (void)alarm(0);
  weir_origin_fini(&o);
}

/* Names do not count, order does. */
static void several_files_are_one_digest(void **state)
{
  const char *const of[] = {put("a", "abc"), put("b", "")};
  const char *const turned[] = {of[1], of[0]}, *const copied[] = {put("c", "abc"), of[1]};
  weir_belongs is = WEIR_BELONGS_UNKNOWN;
  weir_origin o = {.n = 0};

  (void)state;
  assert_ok(weir_origin_files(&o, "one", of, 1));
  assert_ok(weir_origin_files(&o, "data", of, 2));
  assert_string_equal(weir_origin_find(&o, "one_sha256"),
                      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_ok(weir_origin_check_files(&o, "data", of, 2, &is));
  assert_int_equal(is, WEIR_BELONGS);
  assert_ok(weir_origin_check_files(&o, "data", copied, 2, &is));
  assert_int_equal(is, WEIR_BELONGS);
  assert_ok(weir_origin_check_files(&o, "data", turned, 2, &is));
  assert_int_equal(is, WEIR_BELONGS_NOT);
  assert_ok(weir_origin_check_files(&o, "data", of, 1, &is));
  assert_int_equal(is, WEIR_BELONGS_NOT);
  assert_ok(weir_origin_check_files(&o, "other", of, 2, &is));
  assert_int_equal(is, WEIR_BELONGS_UNKNOWN);
  weir_origin_fini(&o);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_file_is_known_by_its_bytes, make, drop),
      cmocka_unit_test_setup_teardown(what_is_no_file_is_not_waited_for, make, drop),
      cmocka_unit_test_setup_teardown(several_files_are_one_digest, make, drop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
