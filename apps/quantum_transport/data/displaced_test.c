/* displaced_test.c - nabla H of Hamiltonians of Wannier90: of runs with displaced functions, and
 * from an exponent. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_log.h"
#include "data/wannier.h"
#include "model/device.h"
#include "model/gradient.h"

enum { FUNCTIONS = 3 };
static const double length = 5, exponent = 2; /* Angstrom; H goes as r^-2 */
static char dir[256];

/* Writes what Wannier90 would of three functions in a cell of a chain, one of them displaced, and
 * builds a device of three cells of it. */
static void build(int moved, int axis, double by, qt_system *s)
{
  static const double usual[FUNCTIONS][3] = {{0.2, 0.5, 1}, {1.9, 1.4, 0.3}, {3.3, 0, 2}};
  double at[FUNCTIONS][3];
  char path[3][300], seed[280];
  qt_wannier_opts o;

  memcpy(at, usual, sizeof at);
  at[moved][axis] += by;
  snprintf(seed, sizeof seed, "%s/chain", dir);
  snprintf(path[0], sizeof path[0], "%s_hr.dat", seed);
  snprintf(path[1], sizeof path[1], "%s_centres.xyz", seed);
  snprintf(path[2], sizeof path[2], "%s.win", seed);
  FILE *hr = fopen(path[0], "w"), *centres = fopen(path[1], "w"), *win = fopen(path[2], "w");

  assert_true(hr != NULL && centres != NULL && win != NULL);
  fprintf(win, "begin unit_cell_cart\n%g 0 0\n0 20 0\n0 0 20\nend unit_cell_cart\n", length);
  fprintf(centres, "%d\nwritten by a test\n", FUNCTIONS);
  fprintf(hr, "written by a test\n%d\n3\n1 1 1\n", FUNCTIONS);
  for (int i = 0; i < FUNCTIONS; i++) {
    fprintf(centres, "X %.15f %.15f %.15f\n", at[i][0], at[i][1], at[i][2]);
  }
  for (int e = 0; e < 3 * FUNCTIONS * FUNCTIONS; e++) {
    const int cell = e / (FUNCTIONS * FUNCTIONS) - 1, n = e / FUNCTIONS % FUNCTIONS;
    const int m = e % FUNCTIONS;
    const double r[3] = {at[n][0] - at[m][0] + cell * length, at[n][1] - at[m][1],
                         at[n][2] - at[m][2]};
    const double r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];

    /* of one function and its copies nothing is known from displaced ones */
    fprintf(hr, "%d 0 0 %d %d %.17g 0\n", cell, m + 1, n + 1,
            m != n      ? (1 + 0.3 * (m + n)) * pow(r2, -exponent / 2)
            : cell == 0 ? 0.1 * n
                        : 0);
  }
  assert_true(fclose(hr) == 0 && fclose(centres) == 0 && fclose(win) == 0);
  weir_opts_default(qt_wannier_options, sizeof o, &o);
  o.seed = seed;
  o.cells = 3;
  o.cutoff = 0;
  *s = (qt_system){.n = 0};
  assert_ok(qt_device_find("wannier")->build(&o, 1, s));
}

static void displaced_runs_and_exponents_agree(void **state)
{
  const double step = 1e-4;
  double mismatch = 0;
  qt_gradient scaled, differences;
  qt_system s, plus, minus;

  build(0, 0, 0, &s);
  assert_ok(qt_gradient_create(&s, 0.1, &scaled));
  assert_ok(qt_gradient_create(&s, 0.1, &differences));
  qt_gradient_scale(&s, exponent, &scaled);
  for (int i = 0; i < 3 * FUNCTIONS; i++) {
    build(i / 3, i % 3, step, &plus);
    build(i / 3, i % 3, -step, &minus);
    assert_ok(qt_gradient_difference(&plus, &minus, &differences, &mismatch));
    qt_system_fini(&plus);
    qt_system_fini(&minus);
  }
  assert_ok(qt_gradient_complete(&differences));
  assert_true(mismatch < 1e-9);
  assert_int_equal(scaled.n_pairs, 3 * 6 + 2 * 12);
  for (int64_t i = 0; i < scaled.count; i++) {
    assert_true(fabs(scaled.value[i].re - differences.value[i].re) < 1e-7);
  }
  qt_gradient_fini(&scaled);
  qt_gradient_fini(&differences);
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(displaced_runs_and_exponents_agree),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
