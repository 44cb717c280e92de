/* errors_test.c - the three errors of a field of four cells, by hand. */
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "eval/errors.h"

static void errors_match_hand_calculation(void **state)
{
  double bias[] = {-1, 0};
  const wx_standard s = {.n_x = 1, .n_y = 2, .cells = 4, .bias = bias, .pair = {0, -1}};
  const float x[] = {1, 2, 3, 4};
  const float truth[] = {0, 1, 2, 1, 5, 5, 5, 5};
  const float field[] = {0, 1, 2, 3, 5, 5, 5, 1};
  wx_errors e = {.samples = 0};
  const wx_channel channel[] = {{"t", "K"}, {"rain", "mm"}};
  weir_cells cells = {0};

  assert_true(isnan(wx_errors_rmse(&e, &s, 0, WX_ERROR_RAW)));
  wx_errors_take(&e, &s, x, truth, field);
  wx_errors_take(&e, &s, x, truth, field);
  assert_near(wx_errors_rmse(&e, &s, 0, WX_ERROR_RAW), sqrt((1 + 1 + 1 + 9) / 4.0), 1e-12);
  assert_near(wx_errors_rmse(&e, &s, 0, WX_ERROR_UNBIASED), sqrt(4 / 4.0), 1e-12);
  assert_near(wx_errors_rmse(&e, &s, 0, WX_ERROR_NETWORK), sqrt(4 / 4.0), 1e-12);
  assert_true(isnan(wx_errors_rmse(&e, &s, 1, WX_ERROR_RAW)));
  assert_near(wx_errors_rmse(&e, &s, 1, WX_ERROR_NETWORK), 2, 1e-12);
  wx_errors_table(&e, &s, channel, &cells);
  assert_int_equal(cells.count, 2 * (2 + WX_ERRORS));
  assert_string_equal(cells.cell[5], "rain");
  assert_string_equal(cells.cell[7], "-");
  weir_cells_fini(&cells);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(errors_match_hand_calculation)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
