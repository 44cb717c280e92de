/* heating_slow.c - current-voltage characteristics of a gated chain whose electrons scatter: charge
 * and potential with scattering, columns of the table, resumption, refusals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "io/weir_npy.h"
#include "program.h"

#define HEATING                                                               \
  "--config " WEIR_SOURCE_DIR "/configs/quantum_transport/self_heating.yaml " \
  "--set 'sweep.drain=[0.1]' --threads 1 "
#define ONE HEATING "--set 'sweep.gate=[-0.2]' "
#define EXACT                                                                         \
  "--set electrostatics.tolerance=1e-7 --set electrostatics.integral_tolerance=1e-7 " \
  "--set scattering.tolerance=1e-9 --set scattering.current_tolerance=1e-9 "

enum { COLUMNS = 12, CURRENT = 2, ELECTRONS, SCATTERED = 8, POWER, TEMPERATURE, ITERATIONS };

/* Skips where the program says that its build has no PETSc. */
static void need_petsc(void)
{
  const int status = program("run " ONE "--set scattering.kind=none --out %s", in_scratch("try"));

  if (status == 7) {
    assert_non_null(strstr(printed(), "this build has no PETSc"));
    print_message("this build has no PETSc\n");
    skip();
  }
  assert_int_equal(status, 0);
}

/* The first row of DIR/iv.csv; returns its columns. */
static int read_row(const char *dir, double row[COLUMNS])
{
  FILE *file = fopen(in_scratch("%s/iv.csv", dir), "r");
  char line[1024], *at = line;
  int columns = 0;

  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  assert_non_null(fgets(line, sizeof line, file));
  (void)fclose(file);
  while (columns < COLUMNS && *at != '\0' && *at != '\n') {
    row[columns++] = strtod(at, &at);
    at += *at == ',';
  }
  return columns;
}

/* Numbers of the file of the first bias point, which begins with its head and the potential. */
static double *read_point(const char *dir, int64_t *count)
{
  weir_npy *file = NULL;
  double *value = NULL;

  assert_ok(weir_npy_open(in_scratch("%s/bias/0000.npy", dir), &file));
  *count = weir_npy_get(file)->lengths[0];
  assert_ok(weir_alloc(*count, sizeof *value, (void **)&value));
  assert_ok(weir_npy_read(file, 0, *count, value));
  weir_npy_close(&file);
  return value;
}

static void check_close(const double *a, const double *b, int from, int to, double tolerance)
{
  for (int i = from; i < to; i++) {
    assert_near(a[i] / b[i], 1, tolerance);
  }
}

static void both_orders_find_the_same_potential(void **state)
{
  enum { HEAD = 24, NODES = 20 };
  double row[2][COLUMNS], *point[2];
  int64_t count;

  (void)state;
  need_petsc();
  for (int i = 0; i < 2; i++) {
    const char *order = i == 0 ? "outside" : "inside";

    assert_int_equal(program("run " ONE EXACT "--set scattering.poisson=%s --out %s", order,
                             in_scratch("%s", order)),
                     0);
    assert_int_equal(read_row(order, row[i]), COLUMNS);
    point[i] = read_point(order, &count);
    assert_near(event_number(in_scratch("%s", order), "bias_scattering", "current_A") /
                    row[i][SCATTERED],
                1, 1e-12);
    /* the loop that follows in the last potential */
    assert_near(event_number(in_scratch("%s", order), "scattering", "current_A") /
                    row[i][SCATTERED],
                1, 1e-4);
  }
  check_close(row[0], row[1], CURRENT, ELECTRONS + 1, 1e-5);
  check_close(row[0], row[1], SCATTERED, ITERATIONS, 1e-5);
  assert_true(row[0][ITERATIONS] > 3 && row[1][ITERATIONS] > 3);
  assert_true(row[0][POWER] > 0 && row[0][TEMPERATURE] > 300);
  assert_true(row[0][SCATTERED] != row[0][CURRENT]);
  const int64_t nodes = (int64_t)point[0][NODES];

  assert_true(nodes > 1000 && count > HEAD + nodes);
  for (int64_t i = HEAD; i < HEAD + nodes; i++) {
    assert_near(point[0][i], point[1][i], 1e-5); /* eV */
  }
  weir_free(&point[0]);
  weir_free(&point[1]);
}

/* Without coupling charge, potential and current are those of coherent transport. */
static void without_coupling_all_is_coherent(void **state)
{
  double with[COLUMNS], without[COLUMNS];

  (void)state;
  need_petsc();
  assert_int_equal(program("run " ONE "--set scattering.kind=none --out %s", in_scratch("none")),
                   0);
  assert_int_equal(read_row("none", without), 8);
  for (int i = 0; i < 2; i++) {
    const char *order = i == 0 ? "outside" : "inside";

    assert_int_equal(program("run " ONE "--set scattering.gradient.exponent=1e-5 "
                             "--set scattering.poisson=%s --out %s",
                             order, in_scratch("weak%d", i)),
                     0);
    assert_int_equal(read_row(i == 0 ? "weak0" : "weak1", with), COLUMNS);
    check_close(with, without, CURRENT, ELECTRONS + 1, 1e-8);
    assert_near(with[SCATTERED] / with[CURRENT], 1, 1e-2); /* a coarser sum over energies */
    assert_near(with[TEMPERATURE], 300, 1e-3);
  }
}

static void a_sweep_is_resumed_and_reported(void **state)
{
  (void)state;
  need_petsc();
  assert_int_equal(
      program("run " HEATING "--set 'sweep.gate=[-0.2, -0.15]' --out %s", in_scratch("whole")), 0);
  char *page = contents(in_scratch("whole/report.html"));

  assert_non_null(strstr(page, "current with scattering (A)"));
  assert_non_null(strstr(page, "highest temperature (K)"));
  free(page);
  char *kept = contents(in_scratch("whole/iv.csv"));

  assert_int_equal(unlink(in_scratch("whole/report.html")), 0); /* as of a run that was killed */
  assert_int_equal(unlink(in_scratch("whole/bias/0001.npy")), 0);
  assert_int_equal(
      program("run " HEATING "--set 'sweep.gate=[-0.2, -0.15]' --out %s", in_scratch("whole")), 0);
  assert_non_null(strstr(printed(), " 1 of an earlier run"));
  char *again = contents(in_scratch("whole/iv.csv"));

  assert_string_equal(kept, again);
  free(kept);
  free(again);
}

static void what_cannot_be_is_refused(void **state)
{
  (void)state;
  need_petsc();
  assert_int_equal(program("run " ONE "--set scattering.method=anderson --out %s", in_scratch("a")),
                   2);
  assert_non_null(strstr(printed(), "only simple goes together with scattering.poisson: inside"));
  assert_int_equal(access(in_scratch("a"), F_OK), -1);
  assert_int_equal(
      program("run " ONE "--set electrostatics.max_iterations=4 --out %s", in_scratch("b")), 6);
  assert_non_null(strstr(printed(), "scattering is not self-consistent yet"));
  assert_int_equal(program("run " ONE "--set scattering.poisson=outside "
                           "--set scattering.method=anderson --out %s",
                           in_scratch("c")),
                   0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(both_orders_find_the_same_potential),
      TEST(without_coupling_all_is_coherent),
      TEST(a_sweep_is_resumed_and_reported),
      TEST(what_cannot_be_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
