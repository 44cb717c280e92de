/* predictions_test.c - files of predictions: the same bits back, and inconsistent rows are refused.
 */
#include "data/predictions.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_random.h"
#include "io/weir_netcdf.h"

#define NEEDS_NETCDF()                               \
  do {                                               \
    if (!weir_netcdf_available()) {                  \
      printf("skipped: this build has no NetCDF\n"); \
      skip();                                        \
    }                                                \
  } while (0)

static char dir[256], path[512];

static int make_dir(void **state)
{
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/predictions.nc", dir);
  return 0;
}

static int drop_dir(void **state)
{
  weir_check_rmdir(dir);
  return 0;
}

/* Rows in no order, three of a universe; every fifth universe is not predicted. */
static cf_predictions *random_rows(int64_t n, int64_t labels)
{
  cf_predictions *p = NULL;

  assert_ok(cf_predictions_create(n, labels, &p));
  for (int64_t i = 0; i < n; i++) {
    p->sample[i] = 2 * n - 1 - i;
    p->universe[i] = i / 3 * 7;
    p->subset[i] = (uint8_t)(i / 3 % CF_SUBSETS);
    p->known[i] = i / 3 % 5 != 1;
    for (int64_t k = 0; k < labels; k++) {
      const uint64_t at = (uint64_t)(i * labels + k);

      p->truth[at] = (float)weir_random_normal(1, 2, 0, at);
      p->predicted[at] = p->known[i] ? (float)weir_random_normal(1, 3, 0, at) : NAN;
    }
  }
  for (int64_t k = 0; k < labels; k++) {
    p->lo[k] = -0.1 * (double)k;
    p->hi[k] = 0.3;
  }
  (void)snprintf(p->label[0], CF_MAX_NAME, "omega_m");
  (void)snprintf(p->source, sizeof p->source, "weights a.nc, \"quoted\"");
  return p;
}

static void the_same_comes_back(void **state)
{
  static const int64_t cases[][2] = {{1, 1}, {1, CF_MAX_LABELS}, {47, 4}, {300, 3}};

  NEEDS_NETCDF();
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    const int64_t n = cases[c][0], labels = cases[c][1];
    cf_predictions *p = random_rows(n, labels), *q = NULL;

    assert_ok(cf_predictions_write(p, path));
    assert_ok(cf_predictions_read(path, &q));
    assert_int_equal(q->n, n);
    assert_int_equal(q->n_labels, labels);
    assert_string_equal(q->model, "network");
    assert_string_equal(q->source, p->source);
    for (int64_t k = 0; k < labels; k++) {
      assert_string_equal(q->label[k], p->label[k]);
    }
    assert_memory_equal(q->lo, p->lo, sizeof *p->lo * (size_t)labels);
    assert_memory_equal(q->hi, p->hi, sizeof *p->hi * (size_t)labels);
    assert_memory_equal(q->sample, p->sample, sizeof *p->sample * (size_t)n);
    assert_memory_equal(q->universe, p->universe, sizeof *p->universe * (size_t)n);
    assert_memory_equal(q->subset, p->subset, (size_t)n);
    assert_memory_equal(q->known, p->known, (size_t)n);
    assert_memory_equal(q->truth, p->truth, sizeof *p->truth * (size_t)(n * labels));
    for (int64_t i = 0; i < n * labels; i++) {
      assert_true(p->known[i / labels] ? q->predicted[i] == p->predicted[i]
                                       : isnan(q->predicted[i]));
    }
    cf_predictions_destroy(&p);
    cf_predictions_destroy(&q);
  }
}

/* Parameters in their own units are written next to those in [-1, 1]. */
static void physical_values_are_in_the_file(void **state)
{
  const int64_t zero[2] = {0, 0};
  cf_predictions *p = NULL;
  weir_netcdf_shape s;
  weir_netcdf *nc = NULL;
  double value[2];
  int var = 0;

  NEEDS_NETCDF();
  assert_ok(cf_predictions_create(2, 1, &p));
  p->lo[0] = 0.1;
  p->hi[0] = 0.5;
  p->truth[0] = -1;
  p->truth[1] = 0.5f;
  p->predicted[0] = 1;
  p->predicted[1] = 0;
  assert_ok(cf_predictions_write(p, path));
  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_find(nc, "physPar", &var, &s));
  assert_ok(weir_netcdf_read(nc, var, zero, s.lengths, value));
  assert_near(value[0], 0.1, 1e-15);
  assert_near(value[1], 0.4, 1e-15);
  assert_ok(weir_netcdf_find(nc, "physPredicted", &var, &s));
  assert_ok(weir_netcdf_read(nc, var, zero, s.lengths, value));
  assert_near(value[0], 0.5, 1e-15);
  assert_near(value[1], 0.3, 1e-15);
  weir_netcdf_close(&nc);
  cf_predictions_destroy(&p);
}

/* -1 to 1 is no range of a parameter: the file says that it is not known, and gives none. */
static void unknown_ranges_are_marked(void **state)
{
  const int64_t zero[2] = {0, 0};
  cf_predictions *p = NULL, *q = NULL;
  weir_netcdf *nc = NULL;
  weir_netcdf_shape s;
  char names[64];
  double value[2][2];
  uint8_t known[2];
  int var = 0;

  NEEDS_NETCDF();
  assert_ok(cf_predictions_create(2, 2, &p));
  p->lo[1] = 0.1;
  p->hi[1] = 0.5;
  memset(p->predicted, 0, 4 * sizeof *p->predicted);
  cf_predictions_normalised(p, names, sizeof names);
  assert_string_equal(names, "parameter_1");
  assert_ok(cf_predictions_write(p, path));
  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_find(nc, "physPredicted", &var, &s));
  assert_ok(weir_netcdf_read(nc, var, zero, s.lengths, value));
  assert_true(isnan(value[0][0]) && isnan(value[1][0]));
  assert_near(value[0][1], 0.3, 1e-15);
  assert_ok(weir_netcdf_find(nc, "rangePar", &var, &s));
  assert_ok(weir_netcdf_read(nc, var, zero, s.lengths, value));
  assert_true(isnan(value[0][0]) && isnan(value[0][1]));
  assert_ok(weir_netcdf_find(nc, "rangeKnown", &var, &s));
  assert_ok(weir_netcdf_read(nc, var, zero, s.lengths, known));
  assert_true(known[0] == 0 && known[1] == 1);
  weir_netcdf_close(&nc);
  assert_ok(cf_predictions_read(path, &q));
  assert_false(cf_predictions_ranged(q, 0));
  assert_true(cf_predictions_ranged(q, 1));
  assert_near(q->lo[0], -1, 0);
  cf_predictions_destroy(&p);
  cf_predictions_destroy(&q);
}

/* Predictions of unknown parameters have no truth, in the file neither. */
static void samples_may_have_no_labels(void **state)
{
  cf_predictions *p = NULL, *q = NULL;
  weir_netcdf *nc = NULL;
  weir_netcdf_shape s;
  int var = 0;

  NEEDS_NETCDF();
  p = random_rows(12, 2);
  p->unlabelled = true;
  for (int i = 0; i < 24; i++) {
    p->truth[i] = NAN;
  }
  assert_ok(cf_predictions_write(p, path));
  assert_ok(weir_netcdf_open(path, &nc));
  assert_int_equal(weir_netcdf_find(nc, "unitPar", &var, &s), WEIR_ERR_DATA);
  assert_int_equal(weir_netcdf_find(nc, "physPar", &var, &s), WEIR_ERR_DATA);
  assert_ok(weir_netcdf_find(nc, "physPredicted", &var, &s));
  weir_netcdf_close(&nc);
  assert_ok(cf_predictions_read(path, &q));
  assert_true(q->unlabelled && q->n == 12 && isnan(q->truth[0]));
  assert_memory_equal(q->universe, p->universe, sizeof *p->universe * 12);
  assert_true(q->predicted[0] == p->predicted[0]);
  cf_predictions_destroy(&p);
  cf_predictions_destroy(&q);
}

static void what_cannot_be_is_refused(void **state)
{
  cf_predictions *p = NULL, *none = NULL;

  NEEDS_NETCDF();
  assert_int_equal(cf_predictions_create(0, 1, &none), WEIR_ERR_SHAPE);
  assert_int_equal(cf_predictions_create(1, CF_MAX_LABELS + 1, &none), WEIR_ERR_SHAPE);
#define REFUSED(change, code, text)                        \
  do {                                                     \
    p = random_rows(12, 2);                                \
    change;                                                \
    assert_int_equal(cf_predictions_write(p, path), code); \
    assert_non_null(strstr(weir_last_message(), text));    \
    assert_false(weir_file_exists(path));                  \
    cf_predictions_destroy(&p);                            \
  } while (0)
  REFUSED(p->subset[1] = CF_TEST, WEIR_ERR_DATA,
          "universe 0 is of train in row 1 and of test in row 2");
  REFUSED(p->subset[1] = CF_SUBSETS, WEIR_ERR_DATA, "row 2");
  REFUSED(p->universe[4] = -1, WEIR_ERR_DATA, "universe -1");
  REFUSED(p->sample[7] = p->sample[2], WEIR_ERR_DATA, "stands in rows 3 and 8");
  REFUSED(p->predicted[3] = NAN, WEIR_ERR_NUMERIC, "row 2 (sample 22): parameter_2 is nan by the");
  REFUSED(p->predicted[0] = INFINITY, WEIR_ERR_NUMERIC, "omega_m is inf by the prediction");
  REFUSED(p->truth[2] = NAN, WEIR_ERR_NUMERIC, "omega_m is nan by its label");
  REFUSED(p->hi[1] = p->lo[1], WEIR_ERR_DATA, "label 2, 'parameter_2', has the range");
  REFUSED(p->lo[0] = NAN, WEIR_ERR_DATA, "'omega_m', has the range");
  REFUSED(memcpy(p->label[1], p->label[0], CF_MAX_NAME), WEIR_ERR_DATA, "two labels");
  REFUSED(p->label[1][0] = 0, WEIR_ERR_DATA, "label 2");
  assert_null(none);
}

/* A file of another kind, one that lost its end, and one whose rows were changed later. */
static void files_are_judged_when_they_are_read(void **state)
{
  cf_predictions *p = NULL, *q = NULL;
  weir_netcdf *nc = NULL;
  int dim = 0, var = 0;

  NEEDS_NETCDF();
  assert_int_equal(cf_predictions_read(path, &q), WEIR_ERR_DATA);
  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "sample", 3, &dim));
  assert_ok(weir_netcdf_var(nc, "unitPar", WEIR_F32, 1, &dim, &var));
  assert_ok(weir_netcdf_commit(&nc));
  assert_int_equal(cf_predictions_read(path, &q), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "variable unitPar is not what"));
  p = random_rows(12, 2);
  assert_ok(cf_predictions_write(p, path));
  cf_predictions_destroy(&p);
  for (int64_t size = 100; size < 20000; size += 1711) {
    char truncated[600];
    static char bytes[20000];
    FILE *f = fopen(path, "rb");
    const size_t n = fread(bytes, 1, (size_t)size, f);

    (void)fclose(f);
    snprintf(truncated, sizeof truncated, "%s/cut.nc", dir);
    weir_check_write(truncated, bytes, n);
    if (n == (size_t)size) { /* else the file is whole */
      assert_int_not_equal(cf_predictions_read(truncated, &q), WEIR_OK);
      assert_null(q);
    }
  }
}

static weir_status make(void *context)
{
  cf_predictions *p = NULL;

  (void)context;
  WEIR_TRY(cf_predictions_create(5, 2, &p));
  cf_predictions_destroy(&p);
  return WEIR_OK;
}

static weir_status make_by_reading(void *context)
{
  cf_predictions *p = NULL;

  (void)context;
  WEIR_TRY(cf_predictions_read(path, &p));
  cf_predictions_destroy(&p);
  return WEIR_OK;
}

static void memory_that_is_missing_is_no_leak(void **state)
{
  cf_predictions *p = NULL;

  assert_true(weir_check_faults(make, NULL) >= 7);
  NEEDS_NETCDF();
  p = random_rows(12, 2);
  assert_ok(cf_predictions_write(p, path));
  cf_predictions_destroy(&p);
  assert_true(weir_check_faults(make_by_reading, NULL) >= 9);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
  const struct CMUnitTest tests[] = {
      CASE(the_same_comes_back),
      CASE(physical_values_are_in_the_file),
      CASE(unknown_ranges_are_marked),
      CASE(samples_may_have_no_labels),
      CASE(what_cannot_be_is_refused),
      CASE(files_are_judged_when_they_are_read),
      CASE(memory_that_is_missing_is_no_leak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
