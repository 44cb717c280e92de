/* grid_slow.c - training with the samples and the space of a sample shared among ranks: the weights
 * are those of one rank except for the rounding of sums over ranks. */
#include "month.h"

/* Updates without the division of adam by gradients that are nothing but rounding. */
#define RUN                                                                                   \
  "run " NETWORK ARCHIVES "--threads 1 --set train.steps=3 --set train.optim.rule=sgd --set " \
  "train.optim.schedule.lr=0.01 --set train.keep_best=false "
#define VOLUME                                                                     \
  "--set data.lead=[24,48] --set data.depth=lead --set model.unet.z.pool=1 --set " \
  "model.unet.z.kernel=3 "

static int make_archives(void **state)
{
  (void)make_scratch(state);
  if (weir_netcdf_available()) {
    assert_int_equal(program("prepare " SAMPLES "--set simulate.leads=[24,48] --set "
                             "simulate.init_times=60 --out %s",
                             in_scratch("s")),
                     0);
  }
  return 0;
}

/* Trains on grids, of so many ranks each, and compares with one rank. */
static void compare(const char *name, const char *options, const char *const *grid,
                    const int *ranks)
{
  char one[64], other[64];

  (void)snprintf(one, sizeof one, "%s1", name);
  assert_int_equal(program(RUN "%s --out %s", FILES, options, in_scratch("%s", one)), 0);
  for (int k = 0; grid[k] != NULL; k++) {
    bool same = false;

    (void)snprintf(other, sizeof other, "%s_%s", name, grid[k]);
    assert_int_equal(program(RUN "%s --ranks %d --grid %s --out %s", FILES, options, ranks[k],
                             grid[k], in_scratch("%s", other)),
                     0);
    const double worst = weights_difference(one, other, &same);

    if (!(worst < 1e-5)) {
      fail_msg("%s on %s: weights differ by %g", name, grid[k], worst);
    }
  }
}

static void weights_are_those_of_one_rank(void **state)
{
  const char *const grid[] = {"1x1x2x1", "1x1x1x2", "auto", NULL};

  (void)state;
  compare("plain", "", grid, (const int[]){2, 2, 2});
}

static void of_volumes_too(void **state)
{
  const char *const grid[] = {"1x2x1x1", NULL};

  (void)state;
  compare("volume", VOLUME, grid, (const int[]){2});
}

static void grids_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  assert_int_equal(program(RUN "--ranks 2 --grid 1x2x1x1 --out %s", FILES, in_scratch("flat")), 2);
  assert_non_null(strstr(printed(), "2 ranks along the depth, and no input of 'forecast' has one"));
  assert_int_equal(program(RUN "--ranks 2 --grid 1x1x3x1 --out %s", FILES, in_scratch("three")), 2);
  assert_non_null(strstr(printed(), "does not fit 2 ranks"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_those_of_one_rank),
      cmocka_unit_test(of_volumes_too),
      cmocka_unit_test(grids_that_do_not_fit_are_refused),
  };

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, make_archives, drop_scratch);
}
