/* curve_test.c - texts of several programs, interpolation, and what is refused with its line. */
#include "eval/curve.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "io/weir_netcdf.h"

static char dir[256], path[512];

static weir_status read(const char *text, qt_curve *out)
{
  (void)snprintf(path, sizeof path, "%s/curve", dir);
  weir_check_write(path, text, strlen(text));
  return qt_curve_read(path, out);
}

static void columns_of_every_program_are_understood(void **state)
{
  static const char *const texts[] = {
      "energy_eV,transmission,modes,dos_per_eV\n-1,0.5,1,2\n2.5,1e-3,1,\n",
      " ## by wannier90\n   -1.000000000       0.500000000\n    2.500000000       0.001000000\n",
      "# E [eV] T\n\n\t-1\t0.5 7\r\n2.5\t.001\r\n", "-1 0.5\n2.5 0.001"};

  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    qt_curve c;

    assert_ok(read(texts[i], &c));
    assert_int_equal(c.n, 2);
    assert_true(c.energy[0] == -1 && c.energy[1] == 2.5);
    assert_true(c.transmission[0] == 0.5 && c.transmission[1] == 0.001);
    qt_curve_fini(&c);
  }
}

static void values_between_are_interpolated(void **state)
{
  qt_curve c;

  assert_ok(read("0 1\n1 3\n3 -1\n", &c));
  for (int i = 0; i <= 30; i++) {
    const double e = 0.1 * i;

    assert_near(qt_curve_at(&c, e), e <= 1 ? 1 + 2 * e : 5 - 2 * e, 1e-14);
  }
  qt_curve_fini(&c);
  assert_ok(read("2 7\n", &c)); /* one value */
  assert_true(qt_curve_at(&c, 2) == 7);
  qt_curve_fini(&c);
}

static void wrong_files_are_refused_with_their_line(void **state)
{
  const struct {
    const char *text, *said;
  } cases[] = {{"", "holds no transmission"},
               {"# nothing\n", "holds no transmission"},
               {"energy T\nenergy T\n", ":2: an energy (eV) and a transmission are expected, not "
                                        "'energy'"},
               {"0 1\n1\n", ":2:"},
               {"0 1\n1 x\n", "not 'x'"},
               {"0 1\n0 2\n", "value 2, 2 at 0 eV"},
               {"0 nan\n", "not 'nan'"}};
  qt_curve c;

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(read(cases[i].text, &c), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), cases[i].said));
    assert_null(c.energy);
  }
  weir_check_write(path, "0 1\n\0 2\n", 8);
  assert_int_equal(qt_curve_read(path, &c), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "neither text nor NetCDF"));
  (void)snprintf(path, sizeof path, "%s/none", dir);
  assert_int_equal(qt_curve_read(path, &c), WEIR_ERR_DATA);
}

/* A file of the NetCDF library, with and without what is needed. */
static void files_of_a_run_are_read(void **state)
{
  const double energy[] = {0, 1, 2}, t[] = {3, 2, 1};
  const int64_t start = 0, n = 3;
  qt_curve c;

  (void)snprintf(path, sizeof path, "%s/transport.nc", dir);
  for (int complete = 0; complete < 2; complete++) {
    weir_netcdf *nc = NULL;
    int dim, var;

    if (!weir_netcdf_available()) {
      fprintf(stderr, "skipped: this build has no NetCDF\n");
      skip();
    }
    assert_ok(weir_netcdf_create(path, &nc));
    assert_ok(weir_netcdf_dim(nc, "energy", n, &dim));
    assert_ok(weir_netcdf_var(nc, "energy", WEIR_F64, 1, &dim, &var));
    assert_ok(weir_netcdf_write(nc, var, &start, &n, energy));
    if (complete) {
      assert_ok(weir_netcdf_var(nc, "mean_transmission", WEIR_F64, 1, &dim, &var));
      assert_ok(weir_netcdf_write(nc, var, &start, &n, t));
    }
    assert_ok(weir_netcdf_commit(&nc));
    assert_int_equal(qt_curve_read(path, &c), complete ? WEIR_OK : WEIR_ERR_DATA);
    assert_true(!complete || (c.n == 3 && c.transmission[2] == 1 && c.energy[1] == 1));
    qt_curve_fini(&c);
  }
}

static weir_status make(void *context)
{
  qt_curve c;
  const weir_status status = qt_curve_read(context, &c);

  qt_curve_fini(&c);
  return status;
}

static void put_list(weir_netcdf *nc, const char *name, int n_dims, const int *dims,
                     const int64_t *count, const double *values)
{
  const int64_t start[2] = {0, 0};
  int var;

  assert_ok(weir_netcdf_var(nc, name, WEIR_F64, n_dims, dims, &var));
  if (name[0] == 'E') {
    assert_ok(weir_netcdf_put_text(nc, var, "unit", "Ry"));
  }
  assert_ok(weir_netcdf_write(nc, var, start, count, values));
}

/* Two wave vectors and energies that descend, between electrodes A and B. */
static void files_of_tbtrans_are_read(void **state)
{
  const double energy[] = {1, 0, -1}, weight[] = {0.25, 0.75}, t[] = {1, 2, 3, 5, 6, 7};
  const int64_t lengths[] = {2, 3};
  weir_netcdf *nc = NULL, *group = NULL;
  qt_curve c;
  int dims[2];

  if (!weir_netcdf_available()) {
    fprintf(stderr, "skipped: this build has no NetCDF\n");
    skip();
  }
  (void)snprintf(path, sizeof path, "%s/x.TBT.nc", dir);
  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "nkpt", 2, &dims[0]));
  assert_ok(weir_netcdf_dim(nc, "ne", 3, &dims[1]));
  put_list(nc, "E", 1, &dims[1], &lengths[1], energy);
  put_list(nc, "wkpt", 1, dims, lengths, weight);
  assert_ok(weir_netcdf_group(nc, "A", &group));
  put_list(group, "B.T", 2, dims, lengths, t);
  assert_ok(weir_netcdf_group(nc, "B", &group));
  assert_ok(weir_netcdf_commit(&nc));
  assert_ok(qt_curve_read(path, &c));
  assert_int_equal(c.n, 3);
  for (int i = 0; i < 3; i++) {
    assert_near(c.energy[i], 13.605693122994 * (i - 1), 1e-9);
    assert_near(c.transmission[i], 6 - i, 1e-14);
  }
  qt_curve_fini(&c);
  assert_true(weir_check_faults(make, path) >= 8);
}

/* A variable over 2^33 x 2^33 values, 2^66, of which none is stored. */
static void variables_of_too_many_values_are_refused(void **state)
{
  const double energy[] = {0, 1}, weight = 1;
  const int64_t lengths[] = {1, 2}, chunks[] = {1, 1024};
  weir_netcdf *nc = NULL, *group = NULL;
  qt_curve c;
  int dims[2], huge[2], var;

  if (!weir_netcdf_available()) {
    fprintf(stderr, "skipped: this build has no NetCDF\n");
    skip();
  }
  (void)snprintf(path, sizeof path, "%s/huge.TBT.nc", dir);
  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "nkpt", 1, &dims[0]));
  assert_ok(weir_netcdf_dim(nc, "ne", 2, &dims[1]));
  assert_ok(weir_netcdf_dim(nc, "rows", (int64_t)1 << 33, &huge[0]));
  assert_ok(weir_netcdf_dim(nc, "columns", (int64_t)1 << 33, &huge[1]));
  put_list(nc, "E", 1, &dims[1], &lengths[1], energy);
  put_list(nc, "wkpt", 1, dims, lengths, &weight);
  assert_ok(weir_netcdf_group(nc, "A", &group));
  assert_ok(weir_netcdf_var(group, "B.T", WEIR_F64, 2, huge, &var));
  assert_ok(weir_netcdf_chunk(group, var, chunks, 0));
  assert_ok(weir_netcdf_group(nc, "B", &group));
  assert_ok(weir_netcdf_commit(&nc));
  assert_int_equal(qt_curve_read(path, &c), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "huge.TBT.nc"));
  assert_non_null(strstr(weir_last_message(), "variable B.T has"));
}

/* A file that begins as NetCDF and is larger than it has blocks. */
static void large_files_are_not_read_as_a_whole(void **state)
{
  FILE *const file = fopen(path, "wb");
  const int64_t before = weir_alloc_peak();
  qt_curve c;

  assert_non_null(file);
  assert_int_equal(fwrite("\x89HDF\r\n\x1a\n", 1, 8, file), 8);
  assert_int_equal(fseek(file, 1 << 28, SEEK_SET), 0);
  assert_int_equal(fputc(0, file), 0);
  assert_int_equal(fclose(file), 0);
  assert_int_not_equal(qt_curve_read(path, &c), WEIR_OK);
  assert_true(weir_alloc_peak() - before < 1 << 20);
}

static void memory_that_is_refused_is_reported(void **state)
{
  qt_curve c;

  assert_ok(read("0 1\n1 2\n", &c));
  qt_curve_fini(&c);
  assert_true(weir_check_faults(make, path) >= 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_of_every_program_are_understood),
      cmocka_unit_test(values_between_are_interpolated),
      cmocka_unit_test(wrong_files_are_refused_with_their_line),
      cmocka_unit_test(files_of_a_run_are_read),
      cmocka_unit_test(files_of_tbtrans_are_read),
      cmocka_unit_test(variables_of_too_many_values_are_refused),
      cmocka_unit_test(large_files_are_not_read_as_a_whole),
      cmocka_unit_test(memory_that_is_refused_is_reported),
  };

  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
