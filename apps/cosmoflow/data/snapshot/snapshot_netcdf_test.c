/* snapshot_netcdf_test.c - snapshots are read as written, units become Mpc/h and Msun/h, and files
 * that lie are refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "data/snapshot/snapshot.h"
#include "io/weir_netcdf.h"

enum { N = 40 };

static char dir[256], path[512];

/* What a file says; the attributes of a unit where they are not NaN. */
typedef struct made {
  double here, total, files, box, mass; /* of type 1; mass of MassTable */
  double cm, g, h;                      /* Header */
  bool swift;
  double h_exponent; /* of Coordinates */
} made;

static made usual(void)
{
  return (made){N, N, 1, 1000, 2, NAN, NAN, NAN, false, NAN};
}

static void put(weir_netcdf *nc, int var, const char *name, double value)
{
  if (!isnan(value)) {
    assert_ok(weir_netcdf_put_numbers(nc, var, name, WEIR_F64, &value, 1));
  }
}

static void put_header(weir_netcdf *header, const made *m)
{
  const double here[6] = {0, m->here}, total[6] = {0, m->total}, mass[6] = {0, m->mass};
  const int f = WEIR_NETCDF_FILE;

  assert_ok(weir_netcdf_put_numbers(header, f, "NumPart_ThisFile", WEIR_F64, here, 6));
  assert_ok(weir_netcdf_put_numbers(header, f, "NumPart_Total", WEIR_F64, total, 6));
  assert_ok(weir_netcdf_put_numbers(header, f, "MassTable", WEIR_F64, mass, 6));
  put(header, f, "NumFilesPerSnapshot", m->files);
  put(header, f, "BoxSize", m->box);
  put(header, f, "Redshift", 1e-16);
  if (!m->swift) {
    put(header, f, "UnitLength_in_cm", m->cm);
    put(header, f, "UnitMass_in_g", m->g);
    put(header, f, "HubbleParam", m->h);
  }
}

/* Particle i stands at (i + 1/4, 2 i + 1/4, 3 i + 1/4) in sides of the box / 4 N. */
static void make(const char *name, const made *m)
{
  weir_netcdf *nc = NULL, *header = NULL, *particles = NULL, *other = NULL;
  const int64_t zero[2] = {0, 0}, count[2] = {N, 3};
  double position[3 * N];
  int dims[2], var = 0;

  (void)snprintf(path, sizeof path, "%s/%s", dir, name);
  for (int i = 0; i < 3 * N; i++) {
    position[i] = (i % 3 * (i / 3) + i / 3 + 0.25) * m->box / (4 * N);
  }
  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_group(nc, "Header", &header));
  put_header(header, m);
  if (m->swift) {
    assert_ok(weir_netcdf_group(nc, "Units", &other));
    put(other, WEIR_NETCDF_FILE, "Unit length in cgs (U_L)", m->cm);
    put(other, WEIR_NETCDF_FILE, "Unit mass in cgs (U_M)", m->g);
    assert_ok(weir_netcdf_group(nc, "Cosmology", &other));
    put(other, WEIR_NETCDF_FILE, "h", m->h);
  }
  assert_ok(weir_netcdf_group(nc, "PartType1", &particles));
  assert_ok(weir_netcdf_dim(particles, "n", N, &dims[0]));
  assert_ok(weir_netcdf_dim(particles, "axis", 3, &dims[1]));
  assert_ok(weir_netcdf_var(particles, "Coordinates", WEIR_F64, 2, dims, &var));
  put(particles, var, m->swift ? "h-scale exponent" : "h_scaling", m->h_exponent);
  assert_ok(weir_netcdf_write(particles, var, zero, count, position));
  assert_ok(weir_netcdf_commit(&nc));
}

typedef struct seen {
  int64_t n;
  double mass, at[3];
} seen;

static weir_status see(void *context, int64_t n, const double *position, const double *mass)
{
  seen *const s = context;

  for (int64_t i = 0; i < n; i++) {
    s->mass += mass[i];
    memcpy(s->at, position + 3 * i, sizeof s->at);
  }
  s->n += n;
  return WEIR_OK;
}

static void several_files_are_one_snapshot(void **state)
{
  const cf_snapshot_opts o = {.length_unit = CF_LENGTH_KPC_H};
  made m = usual();
  cf_snapshot *s = NULL;
  seen all = {0};
  char first[512];

  (void)state;
  m.files = 2;
  m.total = 2 * N;
  make("snap_004.0.hdf5", &m);
  (void)strcpy(first, path);
  make("snap_004.1.hdf5", &m);
  assert_ok(cf_snapshot_open(path, &o, &s));
  assert_int_equal(cf_snapshot_get(s)->count[1], 2 * N);
  assert_near(cf_snapshot_get(s)->box, 1, 1e-15);
  assert_true(cf_snapshot_get(s)->redshift == 0 && isnan(cf_snapshot_get(s)->mass));
  assert_ok(cf_snapshot_read(s, 1, see, &all));
  assert_true(all.n == 2 * N && all.mass == 4 * N);
  assert_near(all.at[2], (3 * N - 2.75) / (4 * N), 1e-12);
  all = (seen){0};
  assert_ok(cf_snapshot_read(s, 0, see, &all));
  assert_int_equal(all.n, 0);
  assert_int_equal(cf_snapshot_read(s, 6, see, &all), WEIR_ERR_DATA);
  cf_snapshot_close(&s);
  m.total++;
  make("snap_004.1.hdf5", &m);
  assert_int_equal(cf_snapshot_open(first, &o, &s), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "is of another snapshot"));
  assert_int_equal(remove(path), 0);
  assert_int_equal(cf_snapshot_open(first, &o, &s), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "is missing"));
}

/* Numbers of snapshots, a file each, are not numbers of files. */
static void a_number_may_be_that_of_the_snapshot(void **state)
{
  const weir_string_list input = {(const char *[]){dir}, 1};
  const made m = usual();
  char **paths = NULL;
  int64_t n = 0;

  (void)state;
  make("snap.0.hdf5", &m);
  make("snap.1.hdf5", &m);
  (void)snprintf(path, sizeof path, "%s/snap_004.0.hdf5", dir);
  assert_int_equal(remove(path), 0);
  assert_ok(cf_snapshot_list(&input, &paths, &n));
  assert_int_equal(n, 2);
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(remove(paths[i]), 0);
    weir_free(&paths[i]);
  }
  weir_free(&paths);
}

static void units_become_those_of_the_application(void **state)
{
  const double mpc = 3.0856775814913673e24, sun = 1.98848e33;
  static const struct {
    double cm, g, h, exponent; /* cm in Mpc, g in solar masses */
    bool swift;
    cf_snapshot_opts o;
    double box, mass; /* expected, of a box of 1000 */
  } cases[] = {
      {NAN, NAN, NAN, NAN, false, {CF_LENGTH_MPC_H, CF_MASS_1E10_H}, 1000, 1e10},
      {NAN, NAN, 0.5, NAN, false, {CF_LENGTH_KPC, CF_MASS_SUN}, 0.5, 0.5},
      {1e-3, 1e10, 0.7, NAN, false, {CF_LENGTH_AUTO, CF_MASS_AUTO}, 1, 1e10},
      {1e-3, 1e10, 0.7, -1, false, {CF_LENGTH_KPC_H, CF_MASS_1E10_H}, 1, 1e10},
      {1e-3, 1e10, 0.7, 0, false, {CF_LENGTH_AUTO, CF_MASS_AUTO}, 0.7, 1e10},
      {1, 1e10, 0.7, NAN, true, {CF_LENGTH_AUTO, CF_MASS_AUTO}, 700, 0.7e10},
      {1, 1e10, 0.7, -1, true, {CF_LENGTH_AUTO, CF_MASS_AUTO}, 1000, 0.7e10},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    made m = usual();
    cf_snapshot *s = NULL;

    m.cm = cases[i].cm * mpc;
    m.g = cases[i].g * sun;
    m.h = cases[i].h;
    m.h_exponent = cases[i].exponent;
    m.swift = cases[i].swift;
    make("units.hdf5", &m);
    assert_ok(cf_snapshot_open(path, &cases[i].o, &s));
    assert_near(cf_snapshot_get(s)->box / cases[i].box, 1, 1e-12);
    assert_near(cf_snapshot_get(s)->mass / cases[i].mass, 1, 1e-12);
    cf_snapshot_close(&s);
  }
}

static void what_is_wrong_is_named(void **state)
{
  static const struct {
    made m;
    const char *message;
  } cases[] = {
      {{N, N, 1, 1000, 2, NAN, NAN, NAN, false, NAN}, "does not state its unit of length"},
      {{N, N, 1, 1000, 2, 3e24, NAN, NAN, true, NAN}, "does not state h"},
      {{N, N, 1, 1000, 2, -3e24, NAN, NAN, false, NAN}, "states units of -3e+24 cm"},
      {{N, N, 1, 0, 2, 3e24, NAN, NAN, false, NAN}, "the box is no cube"},
      {{N, N, 1, INFINITY, 2, 3e24, NAN, NAN, false, NAN}, "the box is no cube"},
      {{N, N + 1, 1, 1000, 2, 3e24, NAN, NAN, false, NAN}, "NumPart_Total states 41"},
      {{1e300, N, 1, 1000, 2, 3e24, NAN, NAN, false, NAN}, "of type 1 is 1e+300"},
      {{N + 0.5, N, 1, 1000, 2, 3e24, NAN, NAN, false, NAN}, "of type 1 is 40.5"},
      {{N, N, 1e9, 1000, 2, 3e24, NAN, NAN, false, NAN}, "NumFilesPerSnapshot is 1e+09"},
      {{N, N, 1, 1000, -2, 3e24, NAN, NAN, false, NAN}, "MassTable of type 1 is -2"},
      {{N, N, 1, 1000, 2, 3e24, NAN, -0.7, false, NAN}, "h = -0.7"},
      {{N + 5, N + 5, 1, 1000, 2, 3e24, NAN, NAN, false, NAN}, "each of the 45 particles"},
      {{N, N, 1, 1000, 0, 3e24, NAN, NAN, false, NAN}, "has no masses of type 1"},
  };
  const cf_snapshot_opts o = {.length_unit = CF_LENGTH_AUTO};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cf_snapshot *s = NULL;
    seen all = {0};

    make("wrong.hdf5", &cases[i].m);
    weir_status status = cf_snapshot_open(path, &o, &s);

    status = status == WEIR_OK ? cf_snapshot_read(s, 1, see, &all) : status;
    assert_true(status == WEIR_ERR_DATA || status == WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), cases[i].message));
    cf_snapshot_close(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(several_files_are_one_snapshot),
      cmocka_unit_test(a_number_may_be_that_of_the_snapshot),
      cmocka_unit_test(units_become_those_of_the_application),
      cmocka_unit_test(what_is_wrong_is_named),
  };

  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
