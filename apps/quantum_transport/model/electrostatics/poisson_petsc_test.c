/* poisson_petsc_test.c - potentials against closed forms, order of convergence, conservation. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/electrostatics/poisson.h"

static uint64_t draws;
static double draw(double lo, double hi)
{
  return lo + (hi - lo) * weir_random_uniform(20, 0, 0, draws++);
}

static const weir_string_list no_options = {NULL, 0};

/* Charges that do not depend on the potential. */
static void fixed(const void *context, int64_t atom, double u, double *n, double *slope)
{
  (void)context, (void)atom, (void)u;
  *n = *slope = 0;
}
static const qt_response none = {fixed, NULL};

static void make_box(const double size[3], const bool periodic[3], double spacing, qt_grid *g)
{
  const double at[3][2] = {{0, size[0]}, {0, size[1]}, {0, size[2]}};
  const int two[3] = {2, 2, 2};

  assert_ok(
      qt_grid_create((const double *const[3]){at[0], at[1], at[2]}, two, periodic, spacing, g));
}

/* Holds the nodes of all faces of axes that are asked for, and sets their values. */
static void hold(qt_grid *g, const bool axis[3], double (*value)(const double at[3]), double *u)
{
  for (int64_t node = 0; node < qt_grid_nodes(g); node++) {
    const int64_t i[3] = {node % g->n[0], node / g->n[0] % g->n[1], node / g->n[0] / g->n[1]};
    const double at[3] = {g->x[0][i[0]], g->x[1][i[1]], g->x[2][i[2]]};

    for (int d = 0; d < 3; d++) {
      if (axis[d] && (i[d] == 0 || i[d] == g->n[d] - 1)) {
        g->gate[node] = 0;
        u[node] = value(at);
      }
    }
  }
}

static double *new_potential(const qt_grid *g)
{
  double *u = NULL;

  assert_ok(weir_alloc(qt_grid_nodes(g), sizeof *u, (void **)&u));
  return u;
}

static qt_poisson_result solve(const qt_grid *g, const double *charge, qt_response r, double *u)
{
  qt_poisson *p = NULL;
  qt_poisson_result out;

  assert_ok(qt_poisson_create(g, &no_options, NULL, 1, &p));
  assert_ok(qt_poisson_solve(p, charge, r, u, &out));
  qt_poisson_destroy(&p);
  return out;
}

static double thickness, voltage;
static double plates(const double at[3])
{
  return at[2] > thickness / 2 ? voltage : 0;
}

/* Two layers between plates: the field jumps by the ratio of the permittivities. */
static void layers_between_plates_divide_the_voltage(void **state)
{
  const double first = draw(3, 9), epsilon[] = {draw(1, 20), draw(1, 20)};
  const double x[] = {0, 3}, y[] = {0, 2};
  qt_grid g;

  thickness = first + draw(3, 9);
  voltage = draw(-2, 2);
  const double z[] = {0, first, thickness};

  assert_ok(qt_grid_create((const double *const[3]){x, y, z}, (const int[3]){2, 2, 3},
                           (const bool[3]){false, true, false}, 0.7, &g));
  for (int64_t k = 0; k < g.cells[2]; k++) {
    for (int64_t i = 0; i < g.cells[0] * g.cells[1]; i++) {
      g.permittivity[k * g.cells[0] * g.cells[1] + i] = epsilon[g.x[2][k] >= first - 1e-9];
    }
  }
  double *u = new_potential(&g);

  hold(&g, (const bool[3]){false, false, true}, plates, u);
  const qt_poisson_result r = solve(&g, NULL, none, u);
  const double field = voltage / (first / epsilon[0] + (thickness - first) / epsilon[1]);

  for (int64_t node = 0; node < qt_grid_nodes(&g); node++) {
    const double at = g.x[2][node / g.n[0] / g.n[1]];
    const double expected =
        field * (fmin(at, first) / epsilon[0] + fmax(at - first, 0) / epsilon[1]);

    assert_near(u[node], expected, 1e-7);
  }
  assert_near(r.gate_charge, 0, 1e-9); /* of both plates */
  weir_free(&u);
  qt_grid_fini(&g);
}

/* Nodes farther than `far` from a point: largest error against the closed form. */
static double error_of(const qt_grid *g, const double *u, double (*exact)(const double at[3]),
                       const double from[3], double far)
{
  double worst = 0;

  for (int64_t node = 0; node < qt_grid_nodes(g); node++) {
    const double at[3] = {g->x[0][node % g->n[0]], g->x[1][node / g->n[0] % g->n[1]],
                          g->x[2][node / g->n[0] / g->n[1]]};
    const double distance = hypot(hypot(at[0] - from[0], at[1] - from[1]), at[2] - from[2]);

    if (distance > far) {
      worst = fmax(worst, fabs(u[node] - exact(at)));
    }
  }
  return worst;
}

static double axis_y, axis_z;
static double of_cylinder(const double at[3])
{
  return log(hypot(at[1] - axis_y, at[2] - axis_z));
}

static void field_of_a_cylinder_converges_at_second_order(void **state)
{
  const double nowhere[3] = {1e9, 0, 0};
  double error[3];

  axis_y = draw(-3, -1);
  axis_z = draw(-3, -1);
  for (int level = 0; level < 3; level++) {
    qt_grid g;

    make_box((const double[3]){4, 4, 4}, (const bool[3]){true, false, false}, 1.0 / (1 << level),
             &g);
    double *u = new_potential(&g);

    hold(&g, (const bool[3]){false, true, true}, of_cylinder, u);
    (void)solve(&g, NULL, none, u);
    error[level] = error_of(&g, u, of_cylinder, nowhere, 0);
    weir_free(&u);
    qt_grid_fini(&g);
  }
  assert_true(log2(error[0] / error[1]) > 1.7 && log2(error[1] / error[2]) > 1.8);
}

static double center[3], charge_there, permittivity;
static double of_point(const double at[3])
{
  const double r = hypot(hypot(at[0] - center[0], at[1] - center[1]), at[2] - center[2]);

  return -charge_there / (4 * M_PI * QT_EPSILON_0 * permittivity * r);
}

static void field_of_a_point_charge_converges_at_second_order(void **state)
{
  double error[3];

  charge_there = draw(0.5, 2);
  permittivity = draw(1, 12);
  for (int d = 0; d < 3; d++) {
    center[d] = draw(3.5, 4.5);
  }
  for (int level = 0; level < 3; level++) {
    qt_grid g;

    make_box((const double[3]){8, 8, 8}, (const bool[3]){false, false, false}, 1.0 / (1 << level),
             &g);
    for (int64_t c = 0; c < g.cells[0] * g.cells[1] * g.cells[2]; c++) {
      g.permittivity[c] = permittivity;
    }
    double *u = new_potential(&g);

    hold(&g, (const bool[3]){true, true, true}, of_point, u);
    assert_ok(qt_grid_assign(&g, 1, (const double(*)[3]) & center));
    const qt_poisson_result r = solve(&g, &charge_there, none, u);

    assert_near(r.gate_charge, -charge_there, 1e-7); /* Gauss */
    error[level] = error_of(&g, u, of_point, center, 2.5);
    weir_free(&u);
    qt_grid_fini(&g);
  }
  /* where the charge lies in its cell is felt at second order, with a factor that varies */
  assert_true(log2(error[0] / error[2]) > 3);
}

/* A box with a gate on two faces, dielectrics at random, and atoms at random. */
enum { ATOMS = 5 };
static double grounded(const double at[3])
{
  (void)at;
  return 0;
}
static double *make_random(qt_grid *g)
{
  double at[ATOMS][3];

  make_box((const double[3]){9, 7, 8}, (const bool[3]){false, true, false}, 0.9, g);
  for (int64_t c = 0; c < g->cells[0] * g->cells[1] * g->cells[2]; c++) {
    g->permittivity[c] = draw(1, 12);
  }
  for (int a = 0; a < ATOMS; a++) {
    at[a][0] = draw(0, 9);
    at[a][1] = draw(-20, 20);
    at[a][2] = draw(2, 6);
  }
  assert_ok(qt_grid_assign(g, ATOMS, (const double(*)[3])at));
  double *u = new_potential(g);

  hold(g, (const bool[3]){false, false, true}, grounded, u);
  return u;
}

static void the_operator_is_symmetric_and_positive(void **state)
{
  double at[ATOMS][ATOMS];
  qt_grid g;
  double *u = make_random(&g);

  for (int a = 0; a < ATOMS; a++) {
    double charge[ATOMS] = {0};

    charge[a] = 1;
    memset(u, 0, (size_t)qt_grid_nodes(&g) * sizeof *u);
    (void)solve(&g, charge, none, u);
    for (int b = 0; b < ATOMS; b++) {
      at[a][b] = -qt_grid_read(&g, u, b);
    }
  }
  for (int a = 0; a < ATOMS; a++) {
    for (int b = 0; b < ATOMS; b++) {
      assert_near(at[a][b], at[b][a], 1e-7);
      assert_true(at[a][a] > 0 && at[a][a] * at[b][b] >= at[a][b] * at[a][b] * (1 - 1e-7));
    }
  }
  weir_free(&u);
  qt_grid_fini(&g);
}

/* Boltzmann electrons of one atom. */
static void boltzmann(const void *context, int64_t atom, double u, double *n, double *slope)
{
  const double kt = 0.0259;

  (void)context;
  *n = atom == 0 ? 0.4 * exp(-u / kt) : 0;
  *slope = -*n / kt;
}

static void newton_finds_the_balance_of_a_charge_and_its_potential(void **state)
{
  double probe[ATOMS] = {1}, donors[ATOMS] = {draw(0.2, 1)};
  qt_grid g;
  double *u = make_random(&g);

  (void)solve(&g, probe, none, u);
  const double response = -qt_grid_read(&g, u, 0); /* V / e: U = response (n - donors) */

  memset(u, 0, (size_t)qt_grid_nodes(&g) * sizeof *u);
  const qt_poisson_result r = solve(&g, donors, (qt_response){boltzmann, NULL}, u);
  const double got = qt_grid_read(&g, u, 0), n = 0.4 * exp(-got / 0.0259);

  assert_near(got, response * (n - donors[0]), 1e-7);
  assert_near(r.gate_charge, n - donors[0], 1e-8);
  assert_true(r.newton > 1 && r.residual < 1e-8);
  weir_free(&u);
  qt_grid_fini(&g);
}

static void without_a_number(const void *context, int64_t atom, double u, double *n, double *slope)
{
  (void)context, (void)atom, (void)u;
  *n = NAN;
  *slope = 0;
}

static void what_does_not_converge_is_an_error(void **state)
{
  const double donors[ATOMS] = {0};
  qt_poisson *p = NULL;
  qt_poisson_result r;
  qt_grid g;
  double *u = make_random(&g);

  assert_ok(qt_poisson_create(&g, &no_options, NULL, 1, &p));
  assert_int_not_equal(qt_poisson_solve(p, donors, (qt_response){without_a_number, NULL}, u, &r),
                       WEIR_OK);
  weir_clear_failure();
  qt_poisson_destroy(&p);
  weir_free(&u);
  qt_grid_fini(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layers_between_plates_divide_the_voltage),
      cmocka_unit_test(field_of_a_cylinder_converges_at_second_order),
      cmocka_unit_test(field_of_a_point_charge_converges_at_second_order),
      cmocka_unit_test(the_operator_is_symmetric_and_positive),
      cmocka_unit_test(newton_finds_the_balance_of_a_charge_and_its_potential),
      cmocka_unit_test(what_does_not_converge_is_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
