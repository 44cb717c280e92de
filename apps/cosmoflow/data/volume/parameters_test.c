/* parameters_test.c - tables of CAMELS and Quijote, and what is wrong with others. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "data/volume/parameters.h"

static char dir[256], path[512];

/* The first lines of CosmoAstroSeed_SIMBA_CV.txt have constants alone: these are of a Latin
 * hypercube. */
static const char camels[] = "#Name  Omega_m  sigma_8  A_SN1  A_AGN1  A_SN2  A_AGN2  seed\n"
                             "   LH_0 0.30900 0.97900 3.11234 1.12194 0.66841 0.53182 5000\n"
                             "   LH_1 0.10000 0.60000 0.25000 0.25000 0.50000 0.50000 5001\r\n"
                             "  LH_10 0.50000 1.00000 4.00000 4.00000 2.00000 2.00000 5002\n\n";

static void put(const char *text)
{
  weir_writer *w = NULL;

  (void)snprintf(path, sizeof path, "%s/table.txt", dir);
  assert_ok(weir_writer_open(path, &w));
  assert_ok(weir_writer_write(w, text, strlen(text)));
  assert_ok(weir_writer_commit(&w));
}

static cf_parameters_opts options(void)
{
  return (cf_parameters_opts){.table = path};
}

static void names_of_camels_are_folders(void **state)
{
  const cf_parameters_opts o = options();
  cf_volume_info info = {.n_labels = 0};
  cf_facts facts = {.has_physical = false};
  float labels[CF_MAX_LABELS];
  cf_parameters *p = NULL;
  int64_t row = -1;

  (void)state;
  put(camels);
  assert_ok(cf_parameters_read(&o, "paint", &p));
  assert_int_equal(cf_parameters_count(p), 3);
  cf_parameters_info(p, &info);
  assert_int_equal(info.n_labels, 6);
  assert_string_equal(info.label[0], "omega_m");
  assert_string_equal(info.label[5], "A_AGN2");
  assert_true(info.lo[1] == 0.6 && info.hi[1] == 1);
  assert_ok(cf_parameters_find(p, "Sims/LH_1/LH_10/snapshot_090.hdf5", &row));
  assert_int_equal(row, 2); /* the last folder, and LH_10 is not LH_1 */
  assert_ok(cf_parameters_find(p, "LH_0/snapshot_090.hdf5", &row));
  assert_int_equal(row, 0);
  cf_parameters_get(p, row, labels, &facts);
  assert_true(facts.has_physical && !facts.has_cosmology && facts.physical[2] == 3.11234);
  assert_near(labels[0], 2 * 0.209 / 0.4 - 1, 1e-6);
  assert_int_equal(cf_parameters_find(p, "LH_0.hdf5", &row), WEIR_ERR_DATA);
  assert_int_equal(cf_parameters_find(p, "0/a.hdf5", &row), WEIR_ERR_DATA);
  cf_parameters_destroy(&p);
}

/* Names of the one-parameter set of CAMELS begin with a digit. */
static void names_may_begin_with_digits(void **state)
{
  const cf_parameters_opts o = options();
  cf_volume_info info = {.n_labels = 0};
  cf_parameters *p = NULL;
  int64_t row = -1;

  (void)state;
  put("#Name Omega_m sigma_8\n1P_p1_n2 0.1 0.8\n1P_p1_0 0.3 0.9\n1P_p1_0 0.3 1\n");
  assert_ok(cf_parameters_read(&o, "paint", &p));
  cf_parameters_info(p, &info);
  assert_int_equal(info.n_labels, 2);
  assert_string_equal(info.label[0], "omega_m");
  assert_ok(cf_parameters_find(p, "1P/1P_p1_n2/snapshot_090.hdf5", &row));
  assert_int_equal(row, 0);
  assert_int_equal(cf_parameters_find(p, "1P/1P_p1_0/snapshot_090.hdf5", &row), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "1P_p1_0 is the name of two lines"));
  cf_parameters_destroy(&p);
}

static void numbers_of_quijote_are_folders(void **state)
{
  const char *columns[] = {"Om", "Ob", "h", "ns", "s8"}, *labels_of[] = {"sigma_8", "Omega_m"};
  double range[] = {0.5, 1.5, 0, 1};
  cf_parameters_opts o = options();
  cf_volume_info info = {.n_labels = 0};
  cf_facts facts = {.has_physical = false};
  float labels[CF_MAX_LABELS];
  cf_parameters *p = NULL;
  int64_t row = -1;

  (void)state;
  put("2.463000000000000189e-01 4.53e-02 6.661e-01 8.175e-01 9.317e-01\n"
      "3.853e-01 3.973e-02 6.359e-01 9.003e-01 8.833e-01\n");
  assert_int_equal(cf_parameters_read(&o, "paint", &p), WEIR_ERR_CONFIG); /* no names */
  o.columns = (weir_string_list){columns, 5};
  o.labels = (weir_string_list){labels_of, 2};
  o.range = (weir_real_list){range, 4};
  assert_ok(cf_parameters_read(&o, "paint", &p));
  cf_parameters_info(p, &info);
  assert_string_equal(info.label[0], "sigma_8");
  assert_ok(cf_parameters_find(p, "latin_hypercube/1/snapdir_004/snap_004.0.hdf5", &row));
  assert_int_equal(row, 1);
  cf_parameters_get(p, row, labels, &facts);
  assert_true(facts.has_cosmology && facts.cosmology[1] == 3.973e-2 &&
              facts.cosmology[4] == 0.8833);
  assert_near(labels[0], 2 * 0.3833 - 1, 1e-6);
  assert_near(labels[1], 2 * 0.3853 - 1, 1e-6);
  assert_int_equal(cf_parameters_find(p, "latin_hypercube/2/a.hdf5", &row), WEIR_ERR_DATA);
  assert_int_equal(cf_parameters_find(p, "99999999999999999999/a.hdf5", &row), WEIR_ERR_DATA);
  cf_parameters_destroy(&p);
}

static void what_is_wrong_is_named(void **state)
{
  static const struct {
    const char *text, *message;
    weir_status status;
  } cases[] = {
      {"", "has no line of parameters", WEIR_ERR_DATA},
      {"#a b\n1 2\n3\n", "line 3: has 1 numbers, not one for each of 2 columns", WEIR_ERR_DATA},
      {"#a b\n1 2 3\n", "line 2: has 3 numbers", WEIR_ERR_DATA},
      {"#a b\n1 2\n1 x\n", "line 3: 'x' is no finite number", WEIR_ERR_DATA},
      {"#a b\n1 2\n1 inf\n", "line 3: 'inf' is no finite number", WEIR_ERR_DATA},
      {"#Name a\nX 2\n5\n", "line 3: has 0 numbers", WEIR_ERR_DATA},
      {"#a b\n1 2\n3 2\n", "b is from 2 to 2", WEIR_ERR_CONFIG},
  };
  const cf_parameters_opts o = options();
  cf_parameters *p = NULL;

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    put(cases[i].text);
    assert_int_equal(cf_parameters_read(&o, "paint", &p), cases[i].status);
    assert_non_null(strstr(weir_last_message(), cases[i].message));
    assert_null(p);
  }
}

static void a_failed_allocation_leaves_nothing(void **state)
{
  const cf_parameters_opts o = options();
  const int64_t before = weir_alloc_bytes();
  cf_parameters *p = NULL;
  weir_status status = WEIR_ERR_MEMORY;

  (void)state;
  put(camels);
  for (int64_t k = 1; status == WEIR_ERR_MEMORY; k++) {
    weir_alloc_fail_after(k);
    status = cf_parameters_read(&o, "paint", &p);
    weir_alloc_fail_after(0);
    cf_parameters_destroy(&p);
    assert_int_equal(weir_alloc_bytes(), before);
  }
  assert_ok(status);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_of_camels_are_folders),
      cmocka_unit_test(names_may_begin_with_digits),
      cmocka_unit_test(numbers_of_quijote_are_folders),
      cmocka_unit_test(what_is_wrong_is_named),
      cmocka_unit_test(a_failed_allocation_leaves_nothing),
  };

  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
