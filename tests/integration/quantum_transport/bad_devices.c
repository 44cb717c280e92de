/* bad_devices.c - devices that cannot be right, as files of a user: each is refused with the exit
 * status of its kind, and the message names file, matrix, block and element. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "program.h"

enum { SITES = 9, BAD_CONFIG = 2, BAD_DATA = 3 };

/* A chain as dense [SITES, SITES], hopping -1, or an overlap with `next` between neighbours. */
static void chain(double at, double next, double m[SITES][SITES])
{
  memset(m, 0, sizeof(double[SITES][SITES]));
  for (int i = 0; i < SITES; i++) {
    m[i][i] = at;
    if (i > 0) {
      m[i][i - 1] = m[i - 1][i] = next;
    }
  }
}

/* Writes SCRATCH/name as Matrix Market and returns its path. */
static const char *put(const char *name, double m[SITES][SITES])
{
  const char *const path = in_scratch("%s", name);
  FILE *const file = fopen(path, "w");

  assert_non_null(file);
  (void)fprintf(file, "%%%%MatrixMarket matrix array real general\n%d %d\n", SITES, SITES);
  for (int i = 0; i < SITES * SITES; i++) {
    (void)fprintf(file, "%.17g\n", m[i % SITES][i / SITES]);
  }
  assert_int_equal(fclose(file), 0);
  return path;
}

static void expect(int status, const char *device, const char *said)
{
  static int run;
  const int got = program("run --set 'device={%s}' --set energy.points=3 --set 'lead.method=modes' "
                          "--set 'energy={min: -0.5, max: 0.7}' --out %s",
                          device, in_scratch("run%d", run++));

  if (got != status || strstr(printed(), said) == NULL) {
    (void)fprintf(stderr, "exit status %d\n%s\n", got, printed());
    fail();
  }
}

static void expect_matrices(int status, const char *h, const char *more, const char *said)
{
  char device[4096];

  (void)snprintf(device, sizeof device, "matrices: {h: %s%s}", h, more);
  expect(status, device, said);
}

static const char *const layers = ", left: {layer: 1}, right: {layer: 1}";

static void bad_hamiltonians_are_refused_by_element(void **state)
{
  double m[SITES][SITES];

  (void)state;
  chain(0, -1, m);
  expect_matrices(0, put("good.mtx", m), layers, "report:");
  m[4][3] = -0.5;
  expect_matrices(
      BAD_DATA, put("h.mtx", m), layers,
      "the Hamiltonian is not Hermitian: element (3, 4) of block (3, 4) of image (0, 0)");
  m[4][3] = m[3][4] = 0;
  expect_matrices(BAD_DATA, put("h.mtx", m), layers,
                  "the Hamiltonian does not couple blocks 3 and 4 of the device");
  chain(0, -1, m);
  m[2][0] = m[0][2] = 0.1;
  expect_matrices(BAD_CONFIG, put("h.mtx", m), layers,
                  "device.matrices.left.layer: 1: the layer is too thin: it couples to orbital 3 "
                  "from the left end");
}

static void bad_numbers_are_refused_by_line(void **state)
{
  const char *const path = in_scratch("nan.mtx");
  static const char *const numbers[] = {"nan", "inf", "1e999", "-"};
  char text[256];

  (void)state;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    (void)snprintf(text, sizeof text,
                   "%%%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 0.5\n2 1 %s\n",
                   numbers[i]);
    weir_check_write(path, text, strlen(text));
    (void)snprintf(text, sizeof text, "nan.mtx:4: the element is '%s'", numbers[i]);
    expect_matrices(BAD_DATA, path, layers, text);
  }
}

static void bad_overlaps_are_refused_by_orbital(void **state)
{
  double m[SITES][SITES];
  char more[2048];

  (void)state;
  chain(0, -1, m);
  const char *const h = put("h.mtx", m);

  chain(1, 0.1, m);
  (void)snprintf(more, sizeof more, ", s: %s%s", put("s.mtx", m), layers);
  expect_matrices(0, h, more, "report:");
  m[5][5] = 0.01;
  (void)put("s.mtx", m);
  expect_matrices(
      BAD_DATA, h, more,
      "block 5 of the overlap matrix is not positive definite: orbital 0 of it depends");
  chain(1, 0.6, m); /* each block and cell is 1 */
  (void)put("s.mtx", m);
  expect_matrices(BAD_DATA, h, more, "of the overlap matrix is not positive definite: orbital 0");
}

static void bad_counts_of_wannier90_are_refused_by_line(void **state)
{
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"c\n1\n3\n1 1 1\n-1 0 0 1 1 -1 0\n0 0 0 1 1 0 0\n",
       "x_hr.dat:6: the file ends here, before the last element"},
      {"c\n1\n3\n1 1\n-1 0 0 1 1 -1 0\n0 0 0 1 1 0 0\n1 0 0 1 1 -1 0\n",
       "x_hr.dat:5: a degeneracy is '-1'"},
      {"c\n1\n1\n1\n0 0 0 1 1 0 0\n1 0 0 1 1 -1 0\n", "x_hr.dat:6: more lines than"},
      {"c\n1\n3\n1 1 1\n-1 0 0 1 1 -1 0\n0 0 0 1 1 0 0\n1 0 0 1 1 nan 0\n",
       "x_hr.dat:7: the real part is 'nan'"},
      {"c\n1\n3\n1 1 1\n-1 0 0 1 1 -1 0\n0 0 0 1 1 0 0\n1 0 0 1 1 -2 0\n",
       "element (1, 1) of lattice vector (-1, 0, 0) and its adjoint differ by 1 eV"},
      {"c\n1\n1\n1\n0 0 0 1 1 0.3 0\n", "no hopping"},
  };
  char device[2048];

  (void)state;
  (void)snprintf(device, sizeof device, "wannier: {seed: %s}", in_scratch("x"));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    weir_check_write(in_scratch("x_hr.dat"), cases[i].text, strlen(cases[i].text));
    expect(BAD_DATA, device, cases[i].said);
  }
}

/* A Wigner-Seitz file of another Hamiltonian, one that ends early, one that counts wrongly. */
static void bad_shifts_of_wannier90_are_refused_by_line(void **state)
{
  static const char hr[] = "c\n1\n3\n1 1 1\n-1 0 0 1 1 -1 0\n0 0 0 1 1 0 0\n1 0 0 1 1 -1 0\n";
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"c\n-1 0 0 1 1\n1\n0 0 0\n", "x_wsvec.dat:4: the file ends here"},
      {"c\n-1 0 0 1 1\n2\n0 0 0\n0 0 0 1 1\n1\n0 0 0\n1 0 0 1 1\n1\n0 0 0\n", "x_wsvec.dat:5: "},
      {"c\n-7 0 0 1 1\n1\n0 0 0\n", "the Hamiltonian has no lattice vector (-7, 0, 0)"},
  };
  char device[2048];

  (void)state;
  weir_check_write(in_scratch("x_hr.dat"), hr, strlen(hr));
  (void)snprintf(device, sizeof device, "wannier: {seed: %s}", in_scratch("x"));
  expect(0, device, "report:");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    weir_check_write(in_scratch("x_wsvec.dat"), cases[i].text, strlen(cases[i].text));
    expect(BAD_DATA, device, cases[i].said);
  }
}

/* Damaged files of the binary formats: not a number, and cut short. */
static void bad_binary_matrices_are_refused_by_file(void **state)
{
  const double omen[][4] = {{1, 1, 0.5, 0}, {1, 2, NAN, 0}, {2, 1, -1, 0}, {2, 2, 0.5, 0}};
  const double head[] = {2, 4, 1};
  char bytes[sizeof head + sizeof omen];

  (void)state;
  memcpy(bytes, head, sizeof head);
  memcpy(bytes + sizeof head, omen, sizeof omen);
  weir_check_write(in_scratch("H_4.bin"), bytes, sizeof bytes);
  expect_matrices(BAD_DATA, in_scratch("H_4.bin"), layers,
                  "H_4.bin: element 2 at byte 56, row 1, column 2, value nan");
  weir_check_write(in_scratch("H_4.bin"), bytes, sizeof bytes - 40);
  expect_matrices(BAD_DATA, in_scratch("H_4.bin"), layers, "H_4.bin: declares 4 elements");
}

/* Above the band nothing propagates: said for each lead, T is 0. */
static void energies_outside_the_bands_are_told(void **state)
{
  (void)state;
  for (int method = 0; method < 2; method++) {
    assert_int_equal(program("run --set device=chain --set 'energy={min: 2.5, max: 3, points: 3}' "
                             "--set lead.method=%s --out %s",
                             method == 0 ? "modes" : "decimation", in_scratch("above%d", method)),
                     0);
    assert_non_null(strstr(printed(),
                           "no mode of the left lead propagates at any of the 3 energies "
                           "from 2.5 to 3 eV"));
    assert_non_null(strstr(printed(), "no mode of the right lead propagates"));
  }
  assert_int_equal(
      program("run --set 'device={square: {width: 1, drop: 5}}' --set 'energy={min: -1, max: 1, "
              "points: 3}' --set lead.method=modes --out %s",
              in_scratch("drop")),
      0);
  assert_null(strstr(printed(), "no mode of the left lead"));
  assert_non_null(strstr(printed(), "no mode of the right lead propagates"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(bad_hamiltonians_are_refused_by_element),
      TEST(bad_numbers_are_refused_by_line),
      TEST(bad_overlaps_are_refused_by_orbital),
      TEST(bad_counts_of_wannier90_are_refused_by_line),
      TEST(bad_shifts_of_wannier90_are_refused_by_line),
      TEST(bad_binary_matrices_are_refused_by_file),
      TEST(energies_outside_the_bands_are_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
