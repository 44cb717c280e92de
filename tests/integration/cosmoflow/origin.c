/* origin.c - what predictions say that they came from, how eval judges it, and labels whose ranges
 * nothing says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_file.h"
#include "data/predictions.h"
#include "support/cosmoflow/volume_test.h"
#include "needs.h"
#include "program.h"

#define UNIVERSES                                                                    \
  "--set simulate.universes=10 --set simulate.file=10 --set simulate.side=8 "        \
  "--set simulate.particles=16 --set simulate.box=128 --set simulate.redshifts=[0] " \
  "--set simulate.preset=wide2 "
#define RUN                                                                                 \
  "run --set data.split.valid=2 --set data.split.test=3 --set train.epochs=1 --set "        \
  "train.batch=5 --set 'model.net={mlperf: {blocks: 2, base: 4, hidden1: 8, hidden2: 4}}' " \
  "--set exec.tier=vector "
#define PREDICT "predict %s --set exec.tier=vector --set predict.weights=%s --out %s"
#define EVAL "eval --set 'eval.sets=[{name: s, predictions: %s, truth: [%s]}]' --out %s"

/* Universes u, the same of other voxels in v, weights r, predictions p; the status of predict. */
static int make(void)
{
  assert_int_equal(program("prepare " UNIVERSES "--out %s", in_scratch("u")), 0);
  assert_int_equal(program("prepare " UNIVERSES "--set simulate.method=pm --set simulate.steps=3 "
                           "--out %s",
                           in_scratch("v")),
                   0);
  assert_int_equal(
      program(RUN "--set source.input=[%s] --out %s", in_scratch("u"), in_scratch("r")), 0);
  return program(PREDICT, in_scratch("u"), in_scratch("r/weights.nc"), in_scratch("p"));
}

static void is_digest(const weir_origin *o, const char *name, const char *path)
{
  char hex[65];
  int64_t bytes = 0;

  assert_true(weir_file_sha256(path, hex, &bytes));
  assert_non_null(weir_origin_find(o, name));
  assert_string_equal(weir_origin_find(o, name), hex);
}

static void predictions_carry_their_digests(void **state)
{
  cf_predictions *p = NULL;
  weir_netcdf *nc = NULL;
  double box = 0, cell = 0, cosmology[10][CF_COSMOLOGY];
  const int64_t zero[2] = {0, 0};
  weir_netcdf_shape s;
  int var = 0;

  (void)state;
  NEEDS_LIBRARIES();
  const int status = make();

  NEEDS_YAML(status);
  assert_int_equal(status, 0);
  assert_ok(cf_predictions_read(in_scratch("p/predictions.nc"), &p));
  is_digest(&p->origin, "weights_sha256", in_scratch("r/weights.nc"));
  is_digest(&p->origin, "config_sha256", in_scratch("p/resolved.yaml"));
  is_digest(&p->origin, "data_sha256", in_scratch("u/universes-00000000.nc"));
  assert_ok(weir_netcdf_open(in_scratch("p/predictions.nc"), &nc));
  assert_ok(weir_netcdf_get_numbers(nc, WEIR_NETCDF_FILE, "box_size_mpc_h", &box, 1));
  assert_ok(weir_netcdf_get_numbers(nc, WEIR_NETCDF_FILE, "cell_size_mpc_h", &cell, 1));
  assert_near(box, 128, 0);
  assert_near(cell, 16, 0);
  assert_ok(weir_netcdf_find(nc, "cosmology", &var, &s));
  assert_ok(weir_netcdf_read(nc, var, zero, s.lengths, cosmology));
  for (int64_t i = 0; i < 10; i++) {
    assert_near(cosmology[i][0], cf_predictions_physical(p, 0, (double)p->truth[2 * i]), 1e-6);
    assert_near(cosmology[i][4], cf_predictions_physical(p, 1, (double)p->truth[2 * i + 1]), 1e-6);
  }
  weir_netcdf_close(&nc);
  cf_predictions_destroy(&p);
}

/* Labels and universes of v are those of u: only the digest tells them apart. */
static void predictions_that_do_not_belong_are_refused(void **state)
{
  const char *const predictions = in_scratch("p/predictions.nc"), *const u = in_scratch("u");
  const char *const weights = in_scratch("r/weights.nc");
  cf_predictions *p = NULL;
  FILE *f = NULL;

  (void)state;
  NEEDS_LIBRARIES();
  const int status = make();

  NEEDS_YAML(status);
  assert_int_equal(status, 0);
  assert_int_equal(program(EVAL, predictions, u, in_scratch("e0")), 0);
  assert_null(strstr(printed(), "is not checked"));
  assert_int_equal(program(EVAL, predictions, in_scratch("v"), in_scratch("e1")), 3);
  assert_non_null(strstr(printed(), "was predicted from other samples than "));
  assert_non_null(strstr(printed(), "(data_sha256): name those that were predicted"));
  assert_false(weir_file_exists(in_scratch("e1/scores.csv")));
  f = fopen(in_scratch("p/resolved.yaml"), "ab");
  assert_true(f != NULL && fputs("# more\n", f) >= 0 && fclose(f) == 0);
  assert_int_equal(program(EVAL, predictions, u, in_scratch("e2")), 0);
  assert_non_null(strstr(printed(), "is no longer the configuration that it was predicted with"));
  f = fopen(weights, "ab");
  assert_true(f != NULL && fputc(0, f) == 0 && fclose(f) == 0);
  assert_int_equal(program(EVAL, predictions, u, in_scratch("e3")), 3);
  assert_non_null(strstr(printed(), "was predicted by other weights than "));
  assert_int_equal(remove(weights), 0); /* out of reach */
  assert_int_equal(program(EVAL, predictions, u, in_scratch("e4")), 0);
  assert_ok(cf_predictions_read(predictions, &p));
  weir_origin_fini(&p->origin);
  assert_ok(cf_predictions_write(p, in_scratch("old.nc")));
  cf_predictions_destroy(&p);
  assert_int_equal(program(EVAL, in_scratch("old.nc"), u, in_scratch("e5")), 0);
  assert_non_null(strstr(printed(), "does not say of which weights it is"));
  assert_non_null(strstr(printed(), "it has no digest of such samples"));
}

/* The same numbers as something else, and the same cells of another box. */
static void weights_compare_voxels_and_boxes(void **state)
{
  (void)state;
  NEEDS_LIBRARIES();
  const int status = make();

  NEEDS_YAML(status);
  assert_int_equal(status, 0);
  assert_null(strstr(printed(), "is not checked"));
  assert_int_equal(program(PREDICT " --set files.voxels=density", in_scratch("u"),
                           in_scratch("r/weights.nc"), in_scratch("q")),
                   3);
  assert_non_null(strstr(printed(), "was trained on voxels that are counts (voxels); these are "
                                    "density"));
  assert_int_equal(program("prepare " UNIVERSES "--set simulate.universes=2 --set simulate.file=2 "
                           "--set simulate.side=16 --set simulate.block=8 --set simulate.box=256 "
                           "--set simulate.particles=32 --out %s",
                           in_scratch("w")),
                   0);
  assert_int_equal(program(PREDICT " --set predict.external_universes=true", in_scratch("w"),
                           in_scratch("r/weights.nc"), in_scratch("q")),
                   0);
  assert_non_null(strstr(printed(), "in boxes of 128 Mpc/h, and these are of 256"));
}

/* Files without names and ranges: nothing that is written looks like a parameter in its own unit.
 */
static void labels_without_ranges_stay_normalised(void **state)
{
  const cf_volume_info info = {.lengths = {8, 8, 8, 1}, .dtype = WEIR_F32, .n_labels = 2};
  const int64_t zero[2] = {0, 0};
  weir_netcdf_shape s;
  weir_netcdf *nc = NULL;
  double physical[10][2];
  uint8_t known[2];
  int var = 0;

  (void)state;
  NEEDS_LIBRARIES();
  assert_ok(weir_dir_create(in_scratch("t")));
  cf_test_write("tfrecord", in_scratch("t/s"), &info, 0, 10, 0);
  assert_int_equal(program(RUN "--set data.scale=raw --set files.dtype=f32 --set source.input=[%s] "
                               "--out %s",
                           in_scratch("t"), in_scratch("r")),
                   0);
  const int status = program(PREDICT " --set files.dtype=f32", in_scratch("t"),
                             in_scratch("r/weights.nc"), in_scratch("p"));

  NEEDS_YAML(status);
  assert_int_equal(status, 0);
  assert_non_null(strstr(printed(), "parameter_1, parameter_2: normalised to [-1, 1], ranges "
                                    "unknown"));
  assert_ok(weir_netcdf_open(in_scratch("p/predictions.nc"), &nc));
  assert_ok(weir_netcdf_find(nc, "physPredicted", &var, &s));
  assert_ok(weir_netcdf_read(nc, var, zero, s.lengths, physical));
  assert_ok(weir_netcdf_find(nc, "rangeKnown", &var, &s));
  assert_ok(weir_netcdf_read(nc, var, zero, s.lengths, known));
  weir_netcdf_close(&nc);
  assert_true(isnan(physical[0][0]) && isnan(physical[9][1]) && known[0] == 0 && known[1] == 0);
  char *text = contents(in_scratch("p/predictions.csv"));

  assert_non_null(strstr(text, ",parameter_1_normalised,parameter_1_normalised_predicted,"));
  free(text);
  assert_int_equal(program("eval --set 'eval.sets=[{name: s, predictions: %s}]' --out %s",
                           in_scratch("p/predictions.nc"), in_scratch("e")),
                   0);
  assert_non_null(strstr(printed(), "parameter_1, parameter_2: normalised, ranges unknown"));
  text = contents(in_scratch("e/report.html"));
  assert_non_null(strstr(text, "parameter_1, parameter_2: normalised, ranges unknown"));
  free(text);
  text = contents(in_scratch("e/scores.csv"));
  assert_non_null(strstr(text, "parameter_1,mae,normalised,"));
  assert_null(strstr(text, ",own,"));
  assert_non_null(strstr(text, "parameter_1,relative,1,nan,"));
  free(text);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make_scratch, drop_scratch)
  const struct CMUnitTest tests[] = {
      CASE(predictions_carry_their_digests),
      CASE(predictions_that_do_not_belong_are_refused),
      CASE(weights_compare_voxels_and_boxes),
      CASE(labels_without_ranges_stay_normalised),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
