/* spheres.c - classes of voxels that files have: inspected, learnt by the U-Net, refused where they
 * are wrong. */
#include "spheres.h"
#include <string.h>
#include "base/weir_file.h"
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

/* Rows of classes.nc against the truth, and what the program says of them. */
static void assert_maps(const char *dir, int64_t rows, int subset)
{
  uint8_t predicted[CELLS], subsets[VOLUMES];
  float probability[CELLS * SPHERES_CLASSES];
  int64_t number[VOLUMES], right = 0;
  weir_netcdf_shape shape;
  weir_netcdf *nc = NULL;
  int var = 0, wide = 0;

  assert_ok(weir_netcdf_open(in_scratch("%s/classes.nc", dir), &nc));
  assert_ok(weir_netcdf_find(nc, "sample_number", &var, &shape));
  assert_int_equal(shape.lengths[0], rows);
  assert_ok(weir_netcdf_read_whole(nc, var, &shape, (int64_t[]){0}, &rows, number));
  assert_ok(weir_netcdf_find(nc, "part", &var, &shape));
  assert_ok(weir_netcdf_read(nc, var, (int64_t[]){0}, &rows, subsets));
  assert_ok(weir_netcdf_find(nc, "probability", &wide, &shape));
  assert_ok(weir_netcdf_find(nc, "classes", &var, &shape));
  for (int64_t r = 0; r < rows; r++) {
    const int64_t start[5] = {r}, count[5] = {1, SIDE, SIDE, SIDE, SPHERES_CLASSES};

    assert_int_equal(subsets[r], subset);
    assert_ok(weir_netcdf_read(nc, var, start, count, predicted));
    assert_ok(weir_netcdf_read(nc, wide, start, count, probability));
    for (int64_t i = 0; i < CELLS; i++) {
      const int64_t at[3] = {i / SIDE / SIDE, i / SIDE % SIDE, i % SIDE};
      const float *const p = probability + i * SPHERES_CLASSES;

      assert_near(p[0] + p[1] + p[2], 1, 1e-5);
      assert_true(p[predicted[i]] >= p[0] && p[predicted[i]] >= p[1] && p[predicted[i]] >= p[2]);
      right += predicted[i] == spheres_class((uint64_t)number[r], SIDE, at);
    }
  }
  weir_netcdf_close(&nc);
  assert_near((double)right / (double)(rows * CELLS),
              event_number(in_scratch("%s", dir), "predicted", "accuracy"), 1e-6);
}

/* eval reports the scores that predict reported. */
static void assert_scored(const char *file)
{
  assert_int_equal(program("eval --set 'eval.sets=[{name: balls, predictions: %s, truth: [%s]}]' "
                           "--out %s",
                           in_scratch("said/classes.nc"), file, in_scratch("scores")),
                   0);
  assert_int_equal(event_count(in_scratch("scores"), "scores"), 2); /* the last: majority */
  char *const predicted = contents(in_scratch("said/classes.csv"));
  char *const table = contents(in_scratch("scores/scores.csv"));
  char *const confusion = contents(in_scratch("scores/confusion.csv"));
  char *rest = NULL, row[256];

  assert_non_null(strtok_r(predicted, "\n", &rest));
  for (const char *line = strtok_r(NULL, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    assert_true(strncmp(line, "test,", 5) == 0);
    (void)snprintf(row, sizeof row, "\nballs,%s\n", line + 5);
    assert_non_null(strstr(table, row));
  }
  assert_non_null(strstr(confusion, "balls,2,0,"));
  assert_true(weir_file_exists(in_scratch("scores/report.html")));
  free(predicted);
  free(table);
  free(confusion);
  assert_int_equal(program("eval --set 'eval.sets=[{name: balls, predictions: %s}]' --out %s",
                           in_scratch("said/classes.nc"), in_scratch("bad")),
                   2);
  assert_non_null(strstr(printed(), "has no truth"));
}

#define PREDICT                                                                           \
  "predict --set predict.weights=%s --set predict.part=test --set predict.batch=3 --set " \
  "predict.probabilities=true "

/* After the training in SCRATCH/run: its tests, then volumes without classes, in other memory. */
static void assert_predicted(const char *file)
{
  const char *const weights = in_scratch("run/weights.nc");

  const int status = program(PREDICT "%s --out %s", weights, file, in_scratch("said"));

  if (status == 7) {
    printf("not predicted: this build has no libyaml\n");
    return;
  }
  assert_int_equal(status, 0);
  assert_maps("said", 4, 2);
  const double accuracy = event_number(in_scratch("said"), "predicted", "accuracy");
  const double majority = event_number(in_scratch("said"), "predicted", "accuracy_majority");

  print_message("tests: accuracy %.3f, majority %.3f\n", accuracy, majority);
  assert_true(accuracy > majority + 0.5 * (1 - majority));
  char *const table = contents(in_scratch("said/classes.csv"));

  assert_non_null(strstr(table, "test,network,iou,2,"));
  assert_non_null(strstr(table, "test,majority,accuracy,all,"));
  free(table);
  assert_scored(file);
  assert_int_equal(program(PREDICT "--set predict.memory=1 %s --out %s", weights,
                           volumes("a", 0, VOLUMES, false, -1), in_scratch("bare")),
                   0);
  assert_non_null(strstr(printed(), "nothing is scored"));
  assert_int_equal((int)event_number(in_scratch("bare"), "predict_plan", "batch"), 1);
  assert_int_equal(event_count(in_scratch("bare"), "predicted"), 0);
}

static void the_unet_learns_the_classes_of_files(void **state)
{
  NEEDS_NETCDF();
  const char *const file = volumes("a", 0, VOLUMES, true, -1);

  assert_int_equal(
      program("run " DATA NETWORK "--set source.input=[%s] --out %s", file, in_scratch("run")), 0);
  const double accuracy = event_number(in_scratch("run"), "epoch_end", "accuracy");
  const double majority = background(VOLUMES);

  print_message("accuracy %.3f, background %.3f of the voxels; IoU %.3f %.3f %.3f\n", accuracy,
                majority, event_number(in_scratch("run"), "epoch_end", "iou_0"),
                event_number(in_scratch("run"), "epoch_end", "iou_1"),
                event_number(in_scratch("run"), "epoch_end", "iou_2"));
  assert_true(accuracy > majority + 0.5 * (1 - majority)); /* half of what a constant gets wrong */
  assert_true(event_number(in_scratch("run"), "epoch_end", "iou_1") > 0.5);
  assert_true(event_number(in_scratch("run"), "epoch_end", "iou_2") > 0.4);
  assert_predicted(file);
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

/* Of any plane, also of the tests, before the first step. */
static void wrong_classes_are_refused_before_the_training(void **state)
{
  NEEDS_NETCDF();
  const char *const wrong = volumes("wrong", 0, 8, true, 5);
  const char *const bare = volumes("bare", 0, 8, false, -1);

  assert_int_equal(program("run " DATA NETWORK "--set data.split.valid=2 --set data.split.test=2 "
                           "--set source.input=[%s] --out %s",
                           wrong, in_scratch("b")),
                   3);
  assert_non_null(strstr(printed(), "wrong.nc: sample 8: the class of voxel 4095 is 5, and there"));
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
