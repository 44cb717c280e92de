/* foreign.c - universes that h5py wrote (foreign/make.py), records that tfrecord did, through the
 * program: what labels and channels mean is read in every file, and what cannot be meant is refused
 * before a training. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "data/predictions.h"
#include "support/cosmoflow/volume_test.h"
#include "needs.h"
#include "program.h"

#define FILE_OF(name) FOREIGN "/" name ".h5"
#define NETWORK                                                                           \
  "--set data.split.valid=1 --set data.split.test=0 "                                     \
  "--set data.split.samples_per_universe=1 --set data.split.order=last "                  \
  "--set 'model.net={mlperf: {blocks: 1, base: 2, hidden1: 4, hidden2: 4, dropout: 0}}' " \
  "--set train.epochs=1 --set train.batch=1 --set exec.tier=vector "

/* Names and redshifts in another order than the first file's: labels and channels are reordered. */
static void other_orders_are_reordered(void **state)
{
  const char *const paths[] = {FILE_OF("a"), FILE_OF("b"), FILE_OF("c")};
  const float unit[3][3] = {{0.5f, -0.25f, 0.125f}, {-0.5f, 0.75f, -0.625f}, {0.25f, 0.5f, -0.75f}};
  const cf_volume_opts opts = cf_test_opts();
  int16_t voxels[128];
  float labels[CF_MAX_LABELS];
  cf_volumes *v = NULL;
  cf_facts facts;

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  assert_ok(cf_volumes_open(paths, 3, &opts, &v));
  for (int64_t k = 0; k < 3; k++) {
    assert_ok(cf_volumes_labels(v, k, labels));
    assert_memory_equal(labels, unit[k], sizeof unit[k]);
    assert_ok(cf_volumes_facts(v, k, &facts));
    assert_true(facts.has_physical);
    assert_near(facts.physical[1], 70 + 20 * (double)unit[k][1], 1e-12);
    assert_ok(cf_volumes_read(v, k, 0, 4, WEIR_I16, voxels));
    for (int64_t i = 0; i < 128; i++) {
      assert_int_equal(voxels[i], (7 * k + 3 * (i / 2) + 5 * (i % 2)) % 11);
    }
  }
  /* physPar with unitPar determines the values at -1 and 1. */
  const cf_volume_info *const info = cf_volumes_info(v);
  const double lo[3] = {0.1, 50, 0.6}, hi[3] = {0.5, 90, 1};

  for (int k = 0; k < 3; k++) {
    assert_true(info->lo[k] == lo[k] && info->hi[k] == hi[k]);
  }
  cf_volumes_close(&v);
}

/* Exit status and texts of a training on a.h5, then another file. */
static void refused(const char *name, int status, const char *options, const char *const *message)
{
  assert_int_equal(program("run " NETWORK "--set source.input=[" FOREIGN "/a.h5," FOREIGN
                           "/%s.h5] %s --overwrite --out %s",
                           name, options, in_scratch("run")),
                   status);
  for (; *message; message++) {
    if (!strstr(printed(), *message)) {
      fail_msg("'%s' is not in %s", *message, printed());
    }
  }
  assert_false(weir_file_exists(in_scratch("run/weights.nc")));
}

static void what_means_something_else_is_refused(void **state)
{
  NEEDS_LIBRARIES();
#define REFUSED(name, options, ...) \
  refused(name, 3, options, (const char *const[]){__VA_ARGS__, NULL})
  REFUSED("names", "", "names.h5", "\"Om ns sigma8\"", "a.h5", "\"Om H0 sigma8\"");
  REFUSED("redshifts", "", "redshifts.h5", "\"0 3\"", "a.h5", "\"0 1.5\"");
  REFUSED("raw", "", "raw.h5: sample 1: label 2 H0 is 65", "files.label_scale=physical",
          "files.label_limit");
  /* Two files determine a range, and the third is outside it. */
  REFUSED("phys", "--set source.input=[" FOREIGN "/a.h5," FOREIGN "/b.h5," FOREIGN "/phys.h5]",
          "phys.h5: sample 1: label 2 H0", "physPar is 66");
  assert_int_equal(program("run " NETWORK "--set source.input=[" FOREIGN "/a.h5," FOREIGN
                           "/b.h5," FOREIGN "/c.h5] --out %s",
                           in_scratch("good")),
                   0);
}

/* A training on one kind of file alone. */
static int train_on(const char *name, const char *options)
{
  return program("run " NETWORK "--set data.split.valid=0 --set source.input=[" FOREIGN
                 "/%s.h5] %s --overwrite --out %s",
                 name, options, in_scratch("run"));
}

static void voxels_that_cannot_be_are_refused(void **state)
{
  NEEDS_LIBRARIES();
#define VOXELS(name, options, status, message)           \
  do {                                                   \
    assert_int_equal(train_on(name, options), status);   \
    if (!strstr(printed(), message)) {                   \
      fail_msg("'%s' is not in %s", message, printed()); \
    }                                                    \
  } while (0)
  VOXELS("bytes", "", 3, "bytes.h5: sample 1: the two bytes of its voxels look exchanged");
  VOXELS("bytes", "--set data.scale=raw", 3, "look exchanged");
  VOXELS("log", "", 3, "log.h5: sample 1: voxel 0 is 1.94591, which is no whole number");
  VOXELS("log", "--set data.scale=mean", 3, "files.voxels=density");
  VOXELS("swapped", "", 3, "e-41, which is no whole number");
  VOXELS("swapped", "--set data.scale=raw", 3, "another byte order");
  VOXELS("a", "", 0, "");
  VOXELS("log", "--set files.voxels=any", 0, "");
  VOXELS("log", "--set data.scale=raw", 0, "");
  VOXELS("bytes", "--set files.voxels=any", 0, "");
}

/* Labels in the units of the parameters are accepted where that is stated. */
static void physical_labels_are_taken_where_stated(void **state)
{
  const char *const paths[] = {FILE_OF("raw")};
  cf_volume_opts opts = cf_test_opts();
  double range[6] = {0.1, 0.5, 50, 90, 0.6, 1};
  float labels[CF_MAX_LABELS];
  cf_volumes *v = NULL;

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  opts.label_scale = CF_LABELS_PHYSICAL;
  assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "files.range"));
  opts.range = (weir_real_list){range, 6};
  assert_ok(cf_volumes_open(paths, 1, &opts, &v));
  assert_ok(cf_volumes_labels(v, 0, labels));
  assert_true(fabsf(labels[0] - 0.5f) < 1e-6f && fabsf(labels[1] + 0.25f) < 1e-6f);
  cf_volumes_close(&v);
  range[3] = 60; /* 65 is beyond it */
  assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "beyond its range"));
  opts.range.count = 4;
  assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "files.range: 4 are stated"));
  opts = cf_test_opts();
  opts.label_limit = 100;
  assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_OK);
  cf_volumes_close(&v);
}

/* Records that the package tfrecord wrote (foreign/make_tfrecord.py): bytes as MLPerf HPC has them,
 * and lists of floats under an unknown key. */
static void records_of_another_writer_are_read(void **state)
{
  static const float label[3][2] = {{0.5f, -0.25f}, {-0.5f, 0.75f}, {0.25f, -1}};
  static const char *const files[] = {FOREIGN "/bytes.tfrecord", FOREIGN "/floats.tfrecord"};
  const cf_volume_opts opts = cf_test_opts();

  (void)state;
  for (int f = 0; f < 2; f++) {
    cf_volumes *v = NULL;
    float voxels[128], labels[CF_MAX_LABELS];

    assert_ok(cf_volumes_open(&files[f], 1, &opts, &v));
    assert_int_equal(cf_volumes_count(v), f == 0 ? 3 : 1);
    assert_int_equal(cf_volumes_info(v)->dtype, f == 0 ? WEIR_I16 : WEIR_F32);
    for (int64_t k = 0; k < cf_volumes_count(v); k++) {
      assert_ok(cf_volumes_labels(v, k, labels));
      assert_memory_equal(labels, label[k], sizeof label[k]);
      assert_ok(cf_volumes_read(v, k, 0, 4, WEIR_F32, voxels));
      for (int64_t i = 0; i < 128; i++) {
        assert_true(voxels[i] == (float)((7 * k + 3 * (i / 2) + 5 * (i % 2)) % 11));
      }
    }
    cf_volumes_close(&v);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(other_orders_are_reordered),         TEST(what_means_something_else_is_refused),
      TEST(voxels_that_cannot_be_are_refused),  TEST(physical_labels_are_taken_where_stated),
      TEST(records_of_another_writer_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
