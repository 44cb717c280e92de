/* fine_tuning.c - trainings that start from the weights of an earlier one: they begin with these,
 * state what both have seen, and refuse weights of another network. */
#include <stdlib.h>
#include "month.h"

#define TUNE \
  "run " NETWORK ARCHIVES "--threads 1 --set train.initial_weights=%s --set train.steps=1 "
/* Trained and validated on other dates than the first training. */
#define EARLY                                                                           \
  "--set data.split.test.from=2000-01-20 --set data.split.valid.from=2000-01-10 --set " \
  "data.split.valid.to=2000-01-16 "

static int make_network(void **state)
{
  (void)make_scratch(state);
  prepare(60);
  assert_int_equal(program("run " NETWORK ARCHIVES "--set train.steps=3 --threads 1 --out %s",
                           FILES, in_scratch("r")),
                   0);
  return 0;
}

/* Steps of length 0 leave them and what they score. */
static void weights_are_those_of_the_file(void **state)
{
  (void)state;
  assert_int_equal(program(TUNE "--set train.optim.schedule.lr=0 --out %s", FILES, weights("r"),
                           in_scratch("same")),
                   0);
  assert_true(same_weights("r", "same"));
  char *const a = contents(in_scratch("r/validation.csv"));
  char *const b = contents(in_scratch("same/validation.csv"));

  assert_string_equal(a, b);
  free(a);
  free(b);
  assert_int_equal(program(TUNE "--out %s", FILES, weights("r"), in_scratch("tuned")), 0);
  assert_false(same_weights("r", "tuned"));
}

/* Statistics are those of the file, also where the training samples are others. */
static void dates_are_those_of_both(void **state)
{
  weir_netcdf *nc = NULL;
  char *dates = NULL, *of_first = NULL;

  (void)state;
  assert_int_equal(program(TUNE EARLY "--out %s", FILES, weights("r"), in_scratch("early")), 0);
  assert_non_null(strstr(printed(), "validation samples share times with samples that"));
  assert_ok(weir_netcdf_open(weights("r"), &nc));
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "dates", &of_first));
  weir_netcdf_close(&nc);
  assert_ok(weir_netcdf_open(weights("early"), &nc));
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "dates", &dates));
  weir_netcdf_close(&nc);
  assert_ptr_equal(strstr(dates, "train: 2000-01-01 00:00 to 2000-01-09"), dates);
  assert_non_null(strstr(dates, of_first));
  weir_free(&dates);
  weir_free(&of_first);
  /* The test period of this training is not new: the first was trained on some of it. */
  assert_int_equal(program("predict " NETWORK EARLY "--set predict.weights=%s --threads 1 "
                           "--set predict.part=test --set data.forecast=[%s] --out %s",
                           weights("early"), in_scratch("s/forecast.nc"), in_scratch("fields")),
                   0);
  assert_int_equal(program("eval " NETWORK EARLY ARCHIVES "--threads 1 --set eval.part=test --set "
                           "'eval.models=[{use: {predictions: {files: [%s]}}}]' --out %s",
                           FILES, in_scratch("fields/predictions.nc"), in_scratch("v")),
                   0);
  assert_int_equal(
      program("predict " NETWORK "--set data.split.test.from=2000-01-16 --set "
              "data.split.valid.from=2000-01-10 --set data.split.valid.to=2000-01-14 --set "
              "predict.weights=%s --threads 1 --set predict.part=test --set data.forecast=[%s] "
              "--out %s",
              weights("early"), in_scratch("s/forecast.nc"), in_scratch("seen")),
      0);
  assert_int_equal(
      program("eval " NETWORK "--set data.split.test.from=2000-01-16 --set "
              "data.split.valid.from=2000-01-10 --set data.split.valid.to=2000-01-14 " ARCHIVES
              "--threads 1 --set eval.part=test --set 'eval.models=[{use: {predictions: {files: "
              "[%s]}}}]' --out %s",
              FILES, in_scratch("seen/predictions.nc"), in_scratch("w")),
      2);
  assert_non_null(strstr(printed(), "initialisation times that would be scored"));
}

/* As many training samples of other dates, with the statistics of the same file. */
static void other_samples_are_not_resumed(void **state)
{
  (void)state;
  assert_int_equal(program(TUNE "--set data.split.train.to=2000-01-10 --out %s", FILES,
                           weights("r"), in_scratch("part")),
                   0);
  assert_int_equal(program(TUNE "--set data.split.train.to=2000-01-10 --set train.steps=2 --out %s",
                           FILES, weights("r"), in_scratch("part")),
                   0);
  assert_int_equal(program(TUNE "--set data.split.train.from=2000-01-02 --set "
                                "data.split.train.to=2000-01-11 --set train.steps=3 --out %s",
                           FILES, weights("r"), in_scratch("part")),
                   2);
  assert_non_null(strstr(printed(), "is of other training samples than these"));
}

static void others_are_refused(void **state)
{
  (void)state;
  assert_int_equal(program("run " NETWORK ARCHIVES "--set bias.use=true --set "
                           "train.initial_weights=%s --out %s",
                           FILES, weights("r"), in_scratch("x4")),
                   2);
  assert_non_null(strstr(printed(), "set bias.use to false"));
  assert_int_equal(
      program(TUNE "--set model.unet.base=5 --out %s", FILES, weights("r"), in_scratch("x1")), 2);
  assert_non_null(strstr(printed(), "its weights are of another network"));
  assert_int_equal(program(TUNE "--out %s", FILES, in_scratch("none.nc"), in_scratch("x2")), 3);
  assert_non_null(strstr(printed(), "none.nc"));
  assert_int_equal(program("run " NETWORK ARCHIVES "--set bias.use=true --set "
                           "bias.train.initial_weights=%s --out %s",
                           FILES, weights("r"), in_scratch("x3")),
                   2);
  assert_non_null(strstr(printed(), "bias.train.initial_weights: each bias network"));
  /* The folder of a training from random weights is not continued. */
  assert_int_equal(program(TUNE "--out %s", FILES, weights("r"), in_scratch("r")), 4);
  assert_non_null(strstr(printed(), "another network or training"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_those_of_the_file),
      cmocka_unit_test(dates_are_those_of_both),
      cmocka_unit_test(other_samples_are_not_resumed),
      cmocka_unit_test(others_are_refused),
  };

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, make_network, drop_scratch);
}
