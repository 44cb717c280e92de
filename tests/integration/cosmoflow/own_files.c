/* own_files.c - samples of other programs through the commands: universes that are stated by
 * position, samples without labels, other simulations with the numbers of the training, and what
 * inspect and describe tell of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_file.h"
#include "data/predictions.h"
#include "support/cosmoflow/volume_test.h"
#include "needs.h"
#include "program.h"

#define NETWORK                                                                             \
  "--set data.split.valid=1 --set data.split.test=3 --set train.epochs=1 --set "            \
  "train.batch=2 --set 'model.net={mlperf: {blocks: 2, base: 4, hidden1: 8, hidden2: 4}}' " \
  "--set exec.tier=vector --set files.names=[omega_m,sigma_8] "                             \
  "--set files.range=[0.1,0.5,0.5,1.1] "
#define RUN "run " NETWORK "--set source.input=[%s] --out %s "
#define PREDICT "predict %s --set exec.tier=vector --set predict.weights=%s --out %s "
#define EACH(n) "--set data.split.samples_per_universe=" #n " "

static void expect(int status, int wanted, const char *text)
{
  if (status != wanted || !strstr(printed(), text)) {
    fail_msg("status %d, not %d, or '%s' is not in %s", status, wanted, text, printed());
  }
}

/* n boxes of counts, two of a universe, which they do not state, as NumPy pairs. */
static void put_boxes(const char *dir, int n, bool labels)
{
  const weir_npy_shape shape = {WEIR_I16, 4, {8, 8, 8, 1}}, row = {WEIR_F32, 1, {2}};
  int16_t voxels[512];

  assert_ok(weir_dir_create(in_scratch("%s", dir)));
  for (int k = 0; k < n; k++) {
    const float label[2] = {(float)(k / 2) / 16 - 0.5f, 0.25f};

    for (int i = 0; i < 512; i++) {
      voxels[i] =
          (int16_t)(weir_random_bits(7, (uint32_t)k, 0, (uint64_t)i) % (3 + (uint64_t)k / 2));
    }
    assert_ok(weir_npy_write(in_scratch("%s/b%02d_data.npy", dir, k), &shape, voxels));
    if (labels) {
      assert_ok(weir_npy_write(in_scratch("%s/b%02d_label.npy", dir, k), &row, label));
    }
  }
}

/* The number of samples per universe is checked by a run, and stored by convert. */
static void universes_by_position_are_checked(void **state)
{
  NEEDS_LIBRARIES();
  put_boxes("b", 24, true);
#define TRY(option, dir) program(RUN option, in_scratch("b"), in_scratch(dir))
  expect(TRY("", "r0"), 2, "data.split.samples_per_universe");
  expect(TRY(EACH(5), "r0"), 2, "24 samples are not a multiple of it");
  expect(TRY(EACH(3), "r0"), 3, "samples 1 and 3 are of universe 0, and label 1 of them is");
  expect(TRY(EACH(1), "r1"), 0, "24 of 24 universes share all labels with another");
  expect(TRY(EACH(2), "r2"), 0, "test: 6 from 3");
  assert_null(strstr(printed(), "share all labels"));
#define CONVERT                                                                               \
  "convert %s --set files.names=[omega_m,sigma_8] --set files.range=[0.1,0.5,0.5,1.1] --set " \
  "convert.side=4 --set convert.format=netcdf --out %s "
  expect(program(CONVERT, in_scratch("b"), in_scratch("c0")), 2,
         "set data.split.samples_per_universe");
  expect(program(CONVERT EACH(2), in_scratch("b"), in_scratch("c2")), 0, "192 samples");
  /* The files state 12 universes now. */
  expect(program(RUN, in_scratch("c2"), in_scratch("r3")), 0, "test: 48 from 3");
  expect(program(RUN EACH(64), in_scratch("c2"), in_scratch("r4")), 0,
         "samples_per_universe=64 is not used: the files state universes, and samples 16 and 17");
}

/* Estimating unknown parameters is what a network is for. */
static void samples_without_labels_are_predicted(void **state)
{
  cf_predictions *p = NULL;

  NEEDS_LIBRARIES();
  put_boxes("b", 24, true);
  put_boxes("u", 3, false);
  assert_int_equal(program(RUN EACH(2), in_scratch("b"), in_scratch("r")), 0);
  expect(program(RUN EACH(1), in_scratch("u"), in_scratch("s")), 3, "b00_label.npy is not there");
  const int status = program(PREDICT "--set files.names=[omega_m,sigma_8]", in_scratch("u"),
                             in_scratch("r/weights.nc"), in_scratch("p"));

  NEEDS_YAML(status);
  expect(status, 0, "3 samples without labels");
  assert_int_equal((int)event_number(in_scratch("p"), "predict_end", "samples"), 3);
  assert_int_equal(event_count(in_scratch("p"), "predicted"), 0);
  char *csv = contents(in_scratch("p/predictions.csv"));

  assert_int_equal(
      strncmp(csv, "sample,universe,part,omega_m_predicted,sigma_8_predicted\n0,0,test,", 66), 0);
  free(csv);
  assert_ok(cf_predictions_read(in_scratch("p/predictions.nc"), &p));
  assert_true(p->unlabelled && isfinite(p->predicted[5]) && isnan(p->truth[0]));
  cf_predictions_destroy(&p);
  expect(program("eval --set 'eval.sets=[{name: a, predictions: %s}]' --out %s",
                 in_scratch("p/predictions.nc"), in_scratch("e")),
         3, "its samples have no labels");
  assert_false(weir_file_exists(in_scratch("e/scores.csv")));
}

/* Universes of another seed with the numbers of the training's are no training universes. */
static void another_simulation_is_recognised(void **state)
{
#define PREPARE                                                                       \
  "prepare --set simulate.universes=10 --set simulate.file=10 --set simulate.side=8 " \
  "--set simulate.particles=16 --set simulate.box=128 --set simulate.redshifts=[0] "  \
  "--set simulate.preset=wide2 --out %s "
  cf_predictions *p = NULL;

  NEEDS_LIBRARIES();
  assert_int_equal(program(PREPARE, in_scratch("u")), 0);
  assert_int_equal(program(PREPARE "--seed 1", in_scratch("v")), 0);
  assert_int_equal(program(PREPARE "--set simulate.method=1lpt", in_scratch("w")), 0);
  assert_int_equal(program(RUN, in_scratch("u"), in_scratch("r")), 0);
  const int status = program(PREDICT, in_scratch("u"), in_scratch("r/weights.nc"), in_scratch("p"));

  NEEDS_YAML(status);
  assert_int_equal(status, 0);
  assert_null(strstr(printed(), "another simulation"));
  assert_int_equal(event_count(in_scratch("p"), "predicted"), 3);
  expect(program(PREDICT, in_scratch("w"), in_scratch("r/weights.nc"), in_scratch("pw")), 0,
         "another simulation (\"2lpt of 16^3 particles\" and \"1lpt of 16^3 particles\")");
  assert_int_equal(event_count(in_scratch("pw"), "predicted"), 3);
  expect(program(PREDICT, in_scratch("v"), in_scratch("r/weights.nc"), in_scratch("pv")), 0,
         "another simulation (\"seed 0\" and \"seed 1\"): all universes are external ones");
  assert_int_equal(event_count(in_scratch("pv"), "predicted"), 1);
  assert_ok(cf_predictions_read(in_scratch("pv/predictions.nc"), &p));
  assert_int_equal(strncmp(p->source, "10 samples of 8 x 8 x 8 x 1", 27), 0);
  assert_non_null(strstr(p->source, "weights.nc, trained on the training subset of 10 samples"));
  for (int64_t i = 0; i < p->n; i++) {
    assert_int_equal(p->subset[i], CF_TEST);
  }
  cf_predictions_destroy(&p);
}

/* What a run refuses is remarked before. */
static void inspect_checks_as_a_run(void **state)
{
  (void)state;
  put_boxes("b", 24, true);
#define INSPECT "inspect %s --set files.names=[omega_m,sigma_8] "
  expect(program(INSPECT, in_scratch("b")), 0,
         "remark:   run refuses these universes: data.split.");
  expect(program(INSPECT EACH(2), in_scratch("b")), 0, "checked:  1 of 24 samples");
  assert_null(strstr(printed(), "refuse"));
  expect(program(INSPECT EACH(5), in_scratch("b")), 0, "24 samples are not a multiple of it");
  expect(program(INSPECT EACH(3) "--set inspect.samples=24", in_scratch("b")), 0,
         "samples 1 and 3 are of universe 0, and label 1 of them is");
  expect(program(INSPECT EACH(2) "--set inspect.samples=100", in_scratch("b")), 0,
         "checked:  24 of 24 samples");
  assert_null(strstr(printed(), "refuse"));
  put_boxes("u", 2, false);
  expect(program("inspect %s " EACH(1), in_scratch("u")), 0, "remark:   no labels: predict");
  /* The second box is empty. */
  const weir_npy_shape shape = {WEIR_I16, 4, {8, 8, 8, 1}};
  const int16_t voxels[512] = {0};

  assert_ok(weir_npy_write(in_scratch("u/b01_data.npy"), &shape, voxels));
  expect(program("inspect %s --set inspect.samples=2 " EACH(1), in_scratch("u")), 0,
         "remark:   run and predict refuse these voxels: ");
  assert_non_null(strstr(printed(), "b01_data.npy: sample 1: all its voxels are 0"));
}

/* The network of a training on these samples, not on the default of simulate. */
static void describe_reads_the_samples(void **state)
{
  (void)state;
  put_boxes("b", 2, true);
#define DESCRIBE                                                                             \
  "describe --set 'model.net={mlperf: {blocks: 2, base: 4, hidden1: 8, hidden2: 4}}' --set " \
  "source.input=[%s] "
  expect(program(DESCRIBE "--set files.names=[omega_m,sigma_8]", in_scratch("b")), 0,
         "# source.input: 2 samples of 8 x 8 x 8 x 1 i16 with 2 labels");
  assert_null(strstr(printed(), "universes in"));
  assert_non_null(strstr(printed(), "# label omega_m: range unknown"));
  expect(program(DESCRIBE, in_scratch("none")), 0, "none is not there: described for");
  assert_non_null(strstr(printed(), "universes in"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(universes_by_position_are_checked), TEST(samples_without_labels_are_predicted),
      TEST(another_simulation_is_recognised),  TEST(inspect_checks_as_a_run),
      TEST(describe_reads_the_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
