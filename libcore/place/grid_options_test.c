/* grid_options_test.c - grids by numbers, and which do not fit. */
#include "place/weir_grid_options.h"

#include <string.h>

#include "base/weir_check.h"

static void an_open_dimension_takes_what_is_left(void **state)
{
  weir_grid_cfg cfg;
  weir_grid grid;

  weir_opts_default(weir_grid_opts, sizeof cfg, &cfg);
  assert_ok(weir_grid_from_cfg(&cfg, 6, &grid));
  assert_int_equal(grid.dims, WEIR_ALONG_DIMS);
  assert_int_equal(grid.extent[WEIR_ALONG_SAMPLES], 6);
  cfg = (weir_grid_cfg){.samples = 3, .height = 1, .width = 2};
  assert_ok(weir_grid_from_cfg(&cfg, 12, &grid));
  assert_int_equal(grid.extent[WEIR_ALONG_DEPTH], 2);
  assert_int_equal(weir_grid_size(&grid), 12);
  cfg = (weir_grid_cfg){.samples = 1, .depth = 1, .height = 1, .width = 1};
  assert_ok(weir_grid_from_cfg(&cfg, 1, &grid));
}

static void grids_that_do_not_fit_are_refused(void **state)
{
  static const struct {
    int64_t numbers[WEIR_ALONG_DIMS];
    int ranks;
    const char *message;
  } bad[] = {
      {{0, 0, 1, 1}, 4, "samples and depth are both 0"},
      {{2, 2, 1, 1}, 3, "does not fit 3 ranks"},
      {{2, 2, 1, 1}, 8, "2 x 2 x 1 x 1"},
      {{0, 3, 1, 1}, 4, "does not fit 4 ranks"},
      {{0, 8, 1, 1}, 4, "does not fit 4 ranks"},
      {{1000000, 1000000, 1000000, 1000000}, 1, "does not fit 1 rank"},
  };
  weir_grid grid;

  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const int64_t *n = bad[i].numbers;
    const weir_grid_cfg cfg = {.samples = n[0], .depth = n[1], .height = n[2], .width = n[3]};

    assert_int_equal(weir_grid_from_cfg(&cfg, bad[i].ranks, &grid), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), bad[i].message));
  }
}

static void the_table_is_complete(void **state)
{
  assert_int_equal(weir_opts_incomplete(weir_grid_opts), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_open_dimension_takes_what_is_left),
      cmocka_unit_test(grids_that_do_not_fit_are_refused),
      cmocka_unit_test(the_table_is_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
