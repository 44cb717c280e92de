/* texts_test.c - the files that a configuration names, wherever it does. */
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "conf/weir_opt.h"

struct inner {
  const char *file;
};

struct options {
  const char *one, *none, *folder;
  weir_string_list many;
  struct inner inner;
};

static const weir_opt inner_rows[] = {
    WEIR_OPT_PATH(struct inner, file, "", "a file"),
    WEIR_OPT_END,
};
static const weir_opt rows[] = {
    WEIR_OPT_PATH(struct options, one, "", "a file"),
    WEIR_OPT_PATH(struct options, none, "", "a file that is not there"),
    WEIR_OPT_STRING(struct options, folder, "", "a folder"),
    WEIR_OPT_STRING_LIST(struct options, many, "", "files"),
    WEIR_OPT_TABLE(struct options, inner, inner_rows, "a section"),
    WEIR_OPT_END,
};

/* Names of the files that were visited, without their folder. */
static weir_status append(void *context, const char *path)
{
  char *const text = context;

  (void)strcat(strcat(text, strrchr(path, '/') + 1), " ");
  return strstr(text, "stop") != NULL ? weir_fail(WEIR_ERR_DATA, "stopped") : WEIR_OK;
}

static weir_status visit(const char *dir, const char *format, char text[256])
{
  char set[5][600];
  const char *sets[5];
  struct options o;
  weir_config *config = NULL;

  (void)snprintf(set[0], sizeof set[0], "one=%s/a", dir);
  (void)snprintf(set[1], sizeof set[1], "none=%s/nowhere", dir);
  (void)snprintf(set[2], sizeof set[2], "folder=%s", dir);
  (void)snprintf(set[3], sizeof set[3], format, dir, dir);
  (void)snprintf(set[4], sizeof set[4], "inner.file=%s/a", dir);
  for (int i = 0; i < 5; i++) {
    sets[i] = set[i];
  }
  text[0] = 0;
  assert_ok(weir_config_load(rows, sizeof o, NULL, 0, sets, 5, &o, &config));
  const weir_status status = weir_config_files(config, append, text);

  weir_config_destroy(&config);
  return status;
}

static void files_are_found_in_all_texts(void **state)
{
  static const char *const names[] = {"a",
                                      "b.hea",
                                      "b.dat",
                                      "seed_hr.dat",
                                      "seed_tb.dat",
                                      "seed_wsvec.dat",
                                      "seed_centres.xyz",
                                      "seed.win",
                                      "stop"};
  char dir[256], path[512], text[256];

  weir_check_mkdir(dir, sizeof dir);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_ok(weir_path_join(dir, names[i], path, sizeof path));
    weir_check_write(path, "x", 1);
  }
  assert_ok(visit(dir, "many=[%s/b, %s/seed]", text));
  assert_string_equal(text, "a b.hea seed_hr.dat seed_tb.dat seed_wsvec.dat seed_centres.xyz "
                            "seed.win a ");
  assert_int_equal(visit(dir, "many=[%s/stop, %s/seed]", text), WEIR_ERR_DATA);
  assert_string_equal(text, "a stop ");
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_found_in_all_texts)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
