/* device_slow.c - quantum_transport on the emulated device: leads and recursions are the host's, so
 * spectra are those of the cpu; sums of self-energies run there as generated loops. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "program.h"

#define CONFIGS "--config " WEIR_SOURCE_DIR "/configs/quantum_transport/"
/* As chain20.yaml, smaller: every launch there runs twice. */
#define SMALL                                                                                   \
  CONFIGS "chain20.yaml --set 'device={chain: {sites: 6, onsite: 0.2, hopping: -0.1}}' "        \
          "--set 'scattering.phonons.device={harmonic_chain: {sites: 6, spring: 104.41705927, " \
          "mass: 28.0855}}' --set scattering.phonons.frequencies=3 --set energy.points=31 "     \
          "--set scattering.tolerance=1e-2 "

static const char *const device[] = {"cpu", "emulated"};

static void run_on_both(const char *flags)
{
  for (int d = 0; d < 2; d++) {
    assert_int_equal(program("run %s --device %s --threads 1 --out %s", flags, device[d],
                             in_scratch("%s", device[d])),
                     0);
  }
}

static void spectra_are_those_of_the_cpu(void **state)
{
  (void)state;
  run_on_both(CONFIGS "tiny.yaml");
  assert_true(same_contents(in_scratch("cpu/spectra.csv"), in_scratch("emulated/spectra.csv")));
}

enum {
  COLUMNS = 13,
  FIRST = 2,
  LAST = 9
}; /* currents, powers: the last three are rounding errors */

/* The next row of a table; false at its end. */
static bool read_row(FILE *file, double row[COLUMNS])
{
  char line[1024], *at = line;

  if (fgets(line, sizeof line, file) == NULL) {
    return false;
  }
  for (int c = 0; c < COLUMNS; c++) {
    row[c] = strtod(at, &at);
    at += *at == ',';
  }
  return true;
}

/* Currents and powers of every iteration are those of the cpu, up to a share of the largest. */
static void check_scattering(const char *flags, double tolerance)
{
  double x[COLUMNS], y[COLUMNS], largest[COLUMNS] = {0};
  FILE *file[2];
  char line[1024];
  int rows = 0;

  run_on_both(flags);
  for (int d = 0; d < 2; d++) {
    file[d] = fopen(in_scratch("%s/scattering.csv", device[d]), "r");
    assert_non_null(file[d]);
    assert_non_null(fgets(line, sizeof line, file[d]));
  }
  for (; read_row(file[0], x); rows++) {
    assert_true(read_row(file[1], y));
    for (int c = FIRST; c <= LAST; c++) {
      largest[c] = fmax(largest[c], fabs(x[c]));
      assert_true(fabs(x[c] - y[c]) <= tolerance * largest[c]);
    }
  }
  assert_false(read_row(file[1], y));
  assert_true(rows > 2 && largest[FIRST] > 1e-6); /* A */
  (void)fclose(file[0]);
  (void)fclose(file[1]);
}

/* The order of sums in matrix products of the cpu differs. */
static void scattering_gives_what_it_gives_on_the_cpu(void **state)
{
  (void)state;
  check_scattering(SMALL, 1e-12);
}

/* Hilbert transforms by the device's library. */
static void so_do_shifts_of_energies(void **state)
{
  (void)state;
  check_scattering(SMALL "--set scattering.retarded=full ", 1e-9);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(spectra_are_those_of_the_cpu),
      TEST(scattering_gives_what_it_gives_on_the_cpu),
      TEST(so_do_shifts_of_energies),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
