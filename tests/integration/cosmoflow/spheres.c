/* spheres.c - classes of voxels that files have: inspected, learnt by the U-Net, refused where they
 * are wrong. */
#include "spheres.h"
#include <string.h>
#include "io/weir_netcdf.h"
#include "program.h"

enum { SIDE = 16, VOLUMES = 16, CELLS = SIDE * SIDE * SIDE };

#define DATA "--set data.scale=raw --set data.split.valid=4 --set data.split.test=4 --seed 3 "
#define NETWORK                                                                         \
  "--set 'model.net={unet: {levels: 1, base: 4, momentum: 0.3}}' --set train.epochs=6 " \
  "--set train.batch=2 --set train.optim.rule=adam --set "                              \
  "train.optim.schedule.lr=0.02 --set exec.tier=vector "

/* The volumes in SCRATCH/NAME.nc. */
static const char *volumes(const char *name, int64_t first, int64_t n, bool classes, int bad)
{
  spheres_write(in_scratch("%s", name), SIDE, first, n, classes, bad);
  return in_scratch("%s.nc", name);
}

/* Share of the voxels of so many volumes that are of class 0. */
static double background(int64_t n)
{
  double sum = 0;

  for (int64_t i = 0; i < n * CELLS; i++) {
    const int64_t j = i % CELLS, at[3] = {j / SIDE / SIDE, j / SIDE % SIDE, j % SIDE};

    sum += spheres_class((uint64_t)(i / CELLS), SIDE, at) == 0;
  }
  return sum / (double)(n * CELLS);
}

#define NEEDS_NETCDF()                               \
  do {                                               \
    if (!weir_netcdf_available()) {                  \
      printf("skipped: this build has no NetCDF\n"); \
      skip();                                        \
    }                                                \
  } while (0)

static void the_unet_learns_the_classes_of_files(void **state)
{
  NEEDS_NETCDF();
  const char *const file = volumes("a", 0, VOLUMES, true, -1);

  assert_int_equal(
      program("run " DATA NETWORK "--set source.input=[%s] --out %s", file, in_scratch("run")), 0);
  const double accuracy = event_number(in_scratch("run"), "epoch_end", "accuracy");
  const double least = background(VOLUMES);

  print_message("accuracy %.3f, background %.3f of the voxels; overlaps %.3f %.3f %.3f\n", accuracy,
                least, event_number(in_scratch("run"), "epoch_end", "overlap_0"),
                event_number(in_scratch("run"), "epoch_end", "overlap_1"),
                event_number(in_scratch("run"), "epoch_end", "overlap_2"));
  assert_true(accuracy > least + 0.5 * (1 - least)); /* half of what a constant gets wrong */
  assert_true(event_number(in_scratch("run"), "epoch_end", "overlap_1") > 0.5);
  assert_true(event_number(in_scratch("run"), "epoch_end", "overlap_2") > 0.4);
}

static void inspect_counts_the_classes(void **state)
{
  NEEDS_NETCDF();
  const char *const file = volumes("a", 0, 1, true, 7);

  assert_int_equal(program("inspect %s", file), 0);
  assert_non_null(strstr(printed(), "variable volume, classes of voxels"));
  assert_non_null(strstr(printed(), "classes up to 7, and files.classes is 3"));
  assert_int_equal(program("inspect --set files.classes=8 %s", file), 0);
  assert_null(strstr(printed(), "classes up to 7"));
}

/* All of them, also those of the tests, before the first step. */
static void wrong_classes_are_refused_before_the_training(void **state)
{
  NEEDS_NETCDF();
  const char *const wrong = volumes("wrong", 0, 8, true, 5);
  const char *const bare = volumes("bare", 0, 8, false, -1);

  assert_int_equal(program("run " DATA NETWORK "--set data.split.valid=2 --set data.split.test=2 "
                           "--set source.input=[%s] --out %s",
                           wrong, in_scratch("b")),
                   3);
  assert_non_null(strstr(printed(), "wrong.nc: sample 8: the class of voxel 2176 is 5, and there"));
  assert_int_equal(program("run " DATA NETWORK
                           "--set data.split.valid=2 --set source.input=[%s] --out %s",
                           bare, in_scratch("c")),
                   4);
  assert_non_null(strstr(printed(), "segmentation"));
  assert_int_equal(program("run " DATA "--set source.input=[%s] --out %s", wrong, in_scratch("d")),
                   3);
  assert_non_null(strstr(printed(), "wrong.nc: sample 1: the samples have no labels"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(the_unet_learns_the_classes_of_files),
      TEST(inspect_counts_the_classes),
      TEST(wrong_classes_are_refused_before_the_training),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
