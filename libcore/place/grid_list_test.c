/* grid_list_test.c - grids by name, and bytes of the update with its shards. */
#include "place/grid_list.h"

#include <string.h>

#include "base/weir_check.h"
#include "conf/weir_opt.h"

static void names_are_grids(void **state)
{
  static const struct {
    const char *text;
    int extent[4];
  } cases[] = {{"1", {1, 1, 1, 1}},
               {"16x4", {16, 4, 1, 1}},
               {"2x3x5", {2, 3, 5, 1}},
               {"16x4x2x1", {16, 4, 2, 1}},
               {"1000000", {1000000, 1, 1, 1}}};

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_grid grid;

    assert_ok(place_parse_grid("key", cases[i].text, &grid));
    assert_int_equal(grid.dims, 4);
    for (int d = 0; d < 4; d++) {
      assert_int_equal(grid.extent[d], cases[i].extent[d]);
    }
  }
}

static void others_are_refused(void **state)
{
  static const char *const cases[] = {"",    "x",         "0",         "2x", "2x0",
                                      "-2",  "2xx3",      "1x2x3x4x5", " 2", "1000001",
                                      "2y4", "1001x1000", "4x2 "};

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_grid grid = {.dims = 7};

    assert_int_equal(place_parse_grid("describe.grids", cases[i], &grid), WEIR_ERR_CONFIG);
    assert_int_equal(grid.dims, 7);
    assert_non_null(strstr(weir_last_message(), "describe.grids: '"));
  }
}

/* Two states of adam, the gradient and the parameters, 10 elements over 4 ranks: 3 at most. */
static void shards_follow_their_stage(void **state)
{
  static const int64_t elements[] = {40, 6 + 20, 6 + 3 + 10, 12};

  for (int shard = WEIR_OPTIM_SHARD_NONE; shard <= WEIR_OPTIM_SHARD_PARAMETERS; shard++) {
    weir_optim_cfg cfg;
    int64_t bytes = 0;

    weir_opts_default(weir_optim_opts, sizeof cfg, &cfg);
    cfg.rule.name = "adam";
    cfg.shard = shard;
    assert_ok(place_update_bytes(&cfg, 10, 4, &bytes));
    assert_int_equal(bytes, 4 * elements[shard]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_grids),
      cmocka_unit_test(others_are_refused),
      cmocka_unit_test(shards_follow_their_stage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
