/* report.c - what the report of a run shows: labels, files, figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "program.h"

static void labels_follow_particle_and_basis(void **state)
{
  const struct {
    const char *device, *row, *title;
  } cases[] = {
      {"chain: {}", "current (e times the electron flow from left to right), both spins",
       "Transmission per spin<"},
      {"silicon_fin: {length: 3, height: 1, electrons: {spin_orbit: true}}",
       "conductance at zero bias, per cell along z", "Transmission, per cell along z<"},
      {"harmonic_chain: {}", "heat current", "Transmission<"},
      {"silicon_wire: {particle: phonons, length: 3, height: 1, width: 1}",
       "vibrational degrees of freedom", "; valence force fields of Sui"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const run = in_scratch("labels%zu", i);

    assert_int_equal(program("run --set 'device={%s}' --set 'energy={min: 0.01, max: 0.02, points: "
                             "2}' --out %s",
                             cases[i].device, run),
                     0);
    assert_non_null(cell_after(run, "summary", cases[i].row));
    char *const page = contents(in_scratch("labels%zu/report.html", i));

    assert_non_null(strstr(page, cases[i].title));
    assert_true((strstr(page, " spin") != NULL) == (i == 0));
    assert_true((strstr(page, "PRB 69, 115201") != NULL) == (i == 1)); /* of silicon's electrons */
    free(page);
  }
}

/* The report names the files that a build writes, which a run without NetCDF says it does not. */
static void reports_name_the_files_that_exist(void **state)
{
  static const char *const names[] = {"spectra.csv", "transport.nc", "transport.TBT.nc"};

  (void)state;
  for (int tbt = 0; tbt < 2; tbt++) {
    const char *const run = in_scratch("files%d", tbt);

    assert_int_equal(program("run --set output.tbt=%s --out %s", tbt ? "true" : "false", run), 0);
    char *const page = contents(in_scratch("files%d/report.html", tbt));
    const bool netcdf = strstr(printed(), "this build has no NetCDF") == NULL;

    for (int i = 0; i < 3; i++) {
      const bool is_there = access(in_scratch("files%d/%s", tbt, names[i]), F_OK) == 0;

      assert_true(is_there == (i == 0 || (netcdf && i <= 1 + tbt)));
      assert_true((strstr(page, names[i]) != NULL) == is_there);
    }
    free(page);
  }
}

/* 2500 positions: columns of three of them, with a row of numbers for each of the map's rows. */
static void long_devices_are_drawn_in_few_columns(void **state)
{
  double x, y, value, last = -1;
  int n = 0;

  (void)state;
  assert_int_equal(program("run --set 'device={chain: {sites: 2500}}' --set energy.min=-1 --set "
                           "energy.max=1 --set energy.points=3 --set lead.method=modes --out %s",
                           in_scratch("long")),
                   0);
  FILE *const file = fopen(in_scratch("long/figures/ldos.csv"), "r");
  char line[256];

  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  while (fgets(line, sizeof line, file) != NULL) {
    assert_int_equal(sscanf(line, "%lf,%lf,%lf", &x, &y, &value), 3);
    assert_near(value, 1 / (M_PI * sqrt(4 - y * y)), 1e-9);
    assert_true(y != -1 || x > last);
    last = y == -1 ? x : last;
    n++;
  }
  (void)fclose(file);
  assert_true(n > 3 * 50 && n <= 3 * 180 && last > 2450);
}

/* Rows `series,x,y,..` of DIR/figures/NAME.csv of a series; how many. */
static int64_t read_series(const char *dir, const char *name, const char *series, double (*row)[2],
                           int64_t max_values)
{
  FILE *const file = fopen(in_scratch("%s/figures/%s.csv", dir, name), "r");
  const size_t length = strlen(series);
  char line[256];
  int64_t n = 0;

  assert_non_null(file);
  while (n < max_values && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, series, length) == 0 && line[length] == ',' &&
        sscanf(line + length, ",%lf,%lf", &row[n][0], &row[n][1]) == 2) {
      n++;
    }
  }
  (void)fclose(file);
  return n;
}

/* E = 2 t cos(k_x a) within the energies, of which [-1.5, 2] holds all but the top. */
static void bands_of_the_leads_are_drawn(void **state)
{
  double row[200][2];

  (void)state;
  assert_int_equal(program("run --set 'device={chain: {hopping: 1, sites: 3}}' --set "
                           "'energy={min: -1.5, max: 2, points: 8}' --set output.bands=41 --out %s",
                           in_scratch("bands")),
                   0);
  const int64_t n = read_series("bands", "bands", "E(k_x)", row, 200);

  assert_true(n > 25 && n < 41);
  for (int64_t i = 0; i < n; i++) {
    const double exact = 2 * cos(M_PI * row[i][0]);

    assert_true(row[i][1] >= -1.5 && row[i][1] <= 2);
    assert_near(row[i][1], exact, i == 0 || i == n - 1 ? 0.01 : 1e-12); /* ends are interpolated */
  }
  assert_near(row[0][1], -1.5, 1e-12);
  assert_int_equal(read_series("bands", "bands_transmission", "T(E)", row, 200), 8);
  assert_int_equal(
      program("run --set 'device={square: {drop: 0.3}}' --set energy.points=5 --out %s",
              in_scratch("drop")),
      0);
  assert_true(read_series("drop", "bands_left", "E(k_x)", row, 200) > 100);
  assert_true(read_series("drop", "bands_right", "E(k_x)", row, 200) > 100);
  assert_int_equal(program("run --set device=square --set energy.points=5 --set output.bands=0 "
                           "--out %s",
                           in_scratch("none")),
                   0);
  assert_int_not_equal(access(in_scratch("none/figures/bands.csv"), F_OK), 0);
  assert_int_equal(program("run --set device=square --set energy.points=5 --set "
                           "output.bands_orbitals=4 --out %s",
                           in_scratch("large")),
                   0);
  char *const page = contents(in_scratch("large/report.html"));

  assert_non_null(strstr(page, "5 and 5 orbitals, output.bands_orbitals is 4"));
  free(page);
}

/* Atoms by element, all of a small device; the ends of a long one. */
static void the_device_is_drawn(void **state)
{
  (void)state;
  assert_int_equal(program("run --set 'device={silicon_wire: {length: 2, height: 1, width: 1, "
                           "electrons: {passivation: hydrogen}}}' --set 'energy={min: 2, max: 3, "
                           "points: 2}' --out %s",
                           in_scratch("wire")),
                   0);
  char *text = contents(in_scratch("wire/figures/structure.csv"));
  int silicon = 0, hydrogen = 0;

  for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
    silicon += strncmp(at + 1, "Si,", 3) == 0;
    hydrogen += strncmp(at + 1, "H,", 2) == 0;
  }
  assert_true(silicon == 12 && hydrogen > silicon);
  free(text);
  text = contents(in_scratch("wire/figures/structure.svg"));
  assert_non_null(strstr(text, "x (Angstrom)"));
  assert_non_null(strstr(text, ">H</text>"));
  free(text);
  assert_int_equal(program("run --set 'device={chain: {sites: 3000}}' --set output.dos=false --set "
                           "energy.points=3 --out %s",
                           in_scratch("chain")),
                   0);
  text = contents(in_scratch("chain/figures/structure.svg"));
  assert_non_null(strstr(text, "of 3000 points are drawn, those of the ends"));
  assert_true(strlen(text) < 100000);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(labels_follow_particle_and_basis),
      TEST(reports_name_the_files_that_exist),
      TEST(long_devices_are_drawn_in_few_columns),
      TEST(bands_of_the_leads_are_drawn),
      TEST(the_device_is_drawn),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
