/* score_test.c - percentiles, cells and files of scores. */
#include <math.h>
#include <string.h>
#include "app/weir_score.h"
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"

static void percentiles_lie_between_neighbours(void **state)
{
  const double x[] = {1, 2, 4, 8};

  assert_near(weir_percentile(x, 4, 0), 1, 0);
  assert_near(weir_percentile(x, 4, 0.5), 3, 1e-15);
  assert_near(weir_percentile(x, 4, 1), 8, 0);
  assert_near(weir_percentile(x, 4, 0.95), 7.4, 1e-14);
  assert_near(weir_percentile(x, 4, -1), 1, 0);
  assert_near(weir_percentile(x, 4, 2), 8, 0);
  assert_near(weir_percentile(x, 1, 0.3), 1, 0);
}

static void undefined_scores_are_written_as_nan(void **state)
{
  static const char *const head[] = {"value", "lo", "hi", NULL};
  char dir[256], path[512], *text = NULL;
  int64_t size = 0;
  weir_table c = {0};

  weir_check_mkdir(dir, sizeof dir);
  weir_score_add_estimate(&c, &(weir_estimate){0.5, NAN, 1}, 2);
  assert_ok(weir_score_write(&c, dir, "scores.csv", head));
  assert_ok(weir_path_join(dir, "scores.csv", path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 10, &text, &size));
  assert_string_equal(text, "value,lo,hi\n1,nan,2\n");
  weir_score_add(&c, 1);
  assert_int_equal(weir_score_write(&c, dir, "odd.csv", head), WEIR_ERR_SHAPE);
  weir_table_fini(&c);
  weir_free(&text);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(percentiles_lie_between_neighbours),
      cmocka_unit_test(undefined_scores_are_written_as_nan),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
