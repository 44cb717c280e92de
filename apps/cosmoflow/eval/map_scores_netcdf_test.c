/* map_scores_netcdf_test.c - class maps against the classes of volumes: counts by hand, of one
 * subset; inconsistent files are refused. */
#include "eval/map_scores.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "data/volume/class_maps.h"
#include "data/volume/volume_format.h"
#include "eval/confusion.h"

enum { D = 3, H = 4, W = 5, CELLS = D * H * W, SAMPLES = 4, CLASSES = 3 };

static char dir[256], truth_path[300], maps_path[300];
static const char *truth_paths[1] = {truth_path};

static uint8_t class_of(uint32_t what, int64_t sample, int64_t voxel)
{
  return (uint8_t)(weir_random_bits(8, what, (uint32_t)sample, (uint64_t)voxel) % CLASSES);
}

/* Volumes of universes 10, 11, ..; depth planes each. */
static void make_truth(int64_t depth, bool classes)
{
  const cf_volume_info info = {
      .lengths = {depth, H, W, 1}, .dtype = WEIR_F32, .n_classes = classes ? CLASSES : 0};
  const float voxels[CELLS * 2] = {0};
  uint8_t class[CELLS * 2];
  cf_volume_writer *w = NULL;
  char stem[280];

  snprintf(stem, sizeof stem, "%s/truth", dir);
  snprintf(truth_path, sizeof truth_path, "%s.nc", stem);
  assert_ok(cf_volume_create("netcdf", stem, &info, SAMPLES, 1, &w));
  for (int64_t k = 0; k < SAMPLES; k++) {
    for (int64_t i = 0; i < depth * H * W; i++) {
      class[i] = class_of(1, k, i);
    }
    assert_ok(cf_volume_append(w, voxels, &(cf_volume_about){NULL, 10 + k, class, NULL}));
  }
  assert_ok(cf_volume_commit(&w));
}

/* Rows of samples 3, 2, 1, 0 of the subsets test, test, valid, train; and their errors. */
typedef struct wrong {
  int64_t sample, universe; /* of the first row; -1: as it is */
  int subset, class;
} wrong;
static const wrong nothing = {-1, -1, -1, -1};
static int64_t rows = SAMPLES;

static void make_maps(wrong w)
{
  static const int subset[SAMPLES] = {CF_TEST, CF_TEST, CF_VALID, CF_TRAIN};
  const cf_class_maps_spec spec = {
      .n = rows, .lengths = {D, H, W}, .classes = CLASSES, .source = "made here"};
  cf_class_maps *m = NULL;
  uint8_t class[CELLS];

  snprintf(maps_path, sizeof maps_path, "%s/classes.nc", dir);
  assert_ok(cf_class_maps_create(maps_path, &spec, &m));
  for (int64_t row = 0; row < rows; row++) {
    const int64_t sample = SAMPLES - 1 - row;

    for (int64_t i = 0; i < CELLS; i++) {
      class[i] = class_of(2, sample, i);
    }
    cf_class_map map = {sample, 10 + sample, (cf_subset)subset[row], class, NULL};

    if (row == 0) {
      map.sample = w.sample >= 0 ? w.sample : map.sample;
      map.universe = w.universe >= 0 ? w.universe : map.universe;
      map.subset = w.subset >= 0 ? (cf_subset)w.subset : map.subset;
      class[CELLS - 1] = w.class >= 0 ? (uint8_t)w.class : class[CELLS - 1];
    }
    assert_ok(cf_class_maps_add(m, &map));
  }
  assert_ok(cf_class_maps_commit(&m));
}

/* Two sets of the same files, or as many of them as are asked for. */
static weir_status make_scores(int64_t sets, int64_t truths, int subset, cf_map_scores *out)
{
  const cf_eval_set_opts set[] = {{"a", maps_path, {truth_paths, truths}},
                                  {"b", maps_path, {truth_paths, truths}}};
  const cf_eval_opts opts = {.sets = {(void *)(uintptr_t)set, sets}, .part = subset};
  cf_source_opts source = {.cache_bytes = 0};
  cf_volume_opts files;

  weir_opts_default(cf_volume_options, sizeof files, &files);
  const weir_status status =
      cf_map_scores_make(&opts, &(cf_source_spec){.source = &source, .files = &files}, NULL, out);

  for (int64_t i = 0; status == WEIR_OK && i < out->n_sets; i++) {
    assert_string_equal(out->set[i].opts->name, set[i].name);
    out->set[i].opts = NULL; /* it ends here */
  }
  return status;
}

static void counts_are_those_of_a_subset(void **state)
{
  static const int subset[SAMPLES] = {CF_TRAIN, CF_VALID, CF_TEST, CF_TEST}; /* of samples */
  cf_map_scores m;

  make_truth(D, true);
  make_maps(nothing);
  assert_true(cf_class_maps_are(maps_path));
  assert_false(cf_class_maps_are(truth_path));
  assert_false(cf_class_maps_are(dir));
  for (int p = 0; p < CF_SUBSETS; p++) {
    int64_t count[CLASSES * CLASSES] = {0};

    for (int64_t k = 0; k < SAMPLES; k++) {
      for (int64_t i = 0; i < CELLS && subset[k] == p; i++) {
        count[class_of(1, k, i) * CLASSES + class_of(2, k, i)]++;
      }
    }
    assert_ok(make_scores(2, 1, p, &m));
    assert_int_equal(m.classes, CLASSES);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(m.set[i].samples, p == CF_TEST ? 2 : 1);
      assert_string_equal(m.set[i].source, "made here");
      assert_memory_equal(m.set[i].count[CF_MAP_NETWORK], count, sizeof count);
      assert_int_equal(cf_confusion_voxels(CLASSES, m.set[i].count[CF_MAP_MAJORITY]),
                       cf_confusion_voxels(CLASSES, count));
    }
    cf_map_scores_fini(&m);
  }
}

static void assert_refused(int64_t truths, weir_status status, const char *message)
{
  const int64_t before = weir_alloc_bytes();
  cf_map_scores m;

  assert_int_equal(make_scores(1, truths, CF_TEST, &m), status);
  assert_non_null(strstr(weir_last_message(), message));
  assert_int_equal(weir_alloc_bytes(), before);
}

static void what_does_not_belong_together_is_refused(void **state)
{
  cf_map_scores m;

  make_truth(D, true);
  make_maps(nothing);
  assert_refused(0, WEIR_ERR_CONFIG, "a: has no truth");
  assert_int_equal(make_scores(0, 1, CF_TEST, &m), WEIR_ERR_CONFIG);
  make_maps((wrong){SAMPLES, -1, -1, -1});
  assert_refused(1, WEIR_ERR_DATA, "row 1 is of sample 4, ");
  make_maps((wrong){1, -1, -1, -1});
  assert_refused(1, WEIR_ERR_DATA, "sample 1 comes twice");
  make_maps((wrong){-1, 11, -1, -1});
  assert_refused(1, WEIR_ERR_DATA, "row 1 is of universe 11, the truth of universe 13");
  make_maps((wrong){-1, -1, CF_SUBSETS, -1});
  assert_refused(1, WEIR_ERR_DATA, "row 1 is of sample 3, universe 13, subset 3");
  make_maps((wrong){-1, -1, -1, CLASSES});
  assert_refused(1, WEIR_ERR_DATA, "row 1: the class of voxel 59 is 3, and there are 3");
  make_maps(nothing);
  make_truth(D + 1, true);
  assert_refused(1, WEIR_ERR_DATA, "classes.nc: is of 3 x 4 x 5 voxels, ");
  make_truth(D, false);
  assert_refused(1, WEIR_ERR_DATA, "truth.nc: has no classes of its voxels");
  snprintf(maps_path, sizeof maps_path, "%s", truth_path);
  assert_refused(1, WEIR_ERR_DATA, "truth.nc");
}

static void a_part_without_rows_is_refused(void **state)
{
  cf_map_scores m;

  make_truth(D, true);
  make_maps((wrong){-1, -1, CF_TRAIN, -1});
  assert_ok(make_scores(1, 1, CF_TEST, &m)); /* the second row is left */
  assert_int_equal(m.set[0].samples, 1);
  cf_map_scores_fini(&m);
  rows = 1;
  make_maps(nothing);
  rows = SAMPLES;
  assert_int_equal(make_scores(1, 1, CF_VALID, &m), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "has no row of the subset valid (eval.part)"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_those_of_a_subset),
      cmocka_unit_test(what_does_not_belong_together_is_refused),
      cmocka_unit_test(a_part_without_rows_is_refused),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
