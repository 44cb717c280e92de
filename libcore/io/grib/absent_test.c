/* absent_test.c - without the library all is refused; with it, files that are none are. */
#include "support/io/io_test.h"
#include "io/weir_grib.h"

static char dir[256];
static char path[512];

static void refused(const char *said)
{
  const char *const paths[] = {path};
  weir_grib *g = (weir_grib *)(void *)dir;

  assert_true(weir_grib_open(paths, 1, NULL, &g) != WEIR_OK);
  assert_null(g);
  if (!weir_grib_available()) {
    said = "this build has no ecCodes";
  }
  if (!strstr(weir_last_message(), said)) {
    fprintf(stderr, "%s\n", weir_last_message());
  }
  assert_non_null(strstr(weir_last_message(), said));
  weir_grib_close(&g);
}

static void files_that_are_none_are_refused(void **state)
{
  (void)state;
  refused("none.grib");
  write_text(path, "");
  refused("is empty");
  write_text(path, "GRI");
  refused("has no GRIB message");
  write_text(path, "some GRIB of words");
  refused("message 1 (byte 5) is damaged: identifier");
  write_text(path, "some GRIB of so many words");
  refused("message 1 (byte 5) is damaged: edition=32");
  write_text(path, "GRXB of words 7777GRIB"); /* what ends as a message is no heading */
  refused("message 1 (byte 0) is damaged: identifier: 18 bytes neither begin with 'GRIB' nor are");
  write_text(path, "words\x15GRIB");
  refused("message 1 (byte 0) is damaged: identifier: 6 bytes");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_that_are_none_are_refused)};

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/none.grib", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
