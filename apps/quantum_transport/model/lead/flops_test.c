/* flops_test.c - flops of leads against closed forms of how often each method repeats its steps. */
#include <complex.h>
#include <math.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/lead/lead.h"

enum { CAPACITY = 7 };

/* Random cells of n orbitals, whose coupling has full rank. */
static weir_c128 h0[CAPACITY * CAPACITY], h1[CAPACITY * CAPACITY],
    sigma[QT_LEADS][CAPACITY * CAPACITY];

static void make_cell(int64_t n, uint64_t seed)
{
  for (int64_t i = 0; i < n * n; i++) {
    const uint64_t lower = (uint64_t)(i / n > i % n ? i : i % n * n + i / n);

    h0[i] = (weir_c128){weir_random_uniform(seed, 0, 0, lower) - 0.5, 0};
    h1[i] = (weir_c128){weir_random_uniform(seed, 1, 0, (uint64_t)i) - 0.5, 0};
  }
}

static qt_lead_opts options_of(int method)
{
  qt_lead_opts o;

  weir_opts_default(qt_lead_options, sizeof o, &o);
  o.method = method;
  return o;
}

static qt_lead_result solve(const qt_lead_opts *o, int64_t n, double energy, double eta)
{
  const qt_cell cell = {.n = n, .h0 = h0, .h1 = h1};
  qt_lead_result r = {.sigma = {sigma[QT_LEFT], sigma[QT_RIGHT]}};

  assert_ok(qt_lead_solve(o, &cell, energy, eta, &r));
  return r;
}

/* Multiplications of complex numbers: an inverse, a step of decimation, the test of Sigma without a
 * step of the fixed point, and such a step. */
static double inverse(double n)
{
  return 4.0 / 3 * n * n * n;
}

static double decimation(double n)
{
  return (1.0 / 3 + 2 + 4) * n * n * n;
}

static double test(double n)
{
  return 2 * inverse(n) + inverse(n) + 2 * n * n * n;
}

static double fixed_point(double n)
{
  return 2 * n * n * n + inverse(n);
}

/* Flops are `known` and those of 2 to 6 steps of the fixed point. */
static void assert_flops(double flops, double known, double n)
{
  const double steps = (flops / 8 - known) / fixed_point(n);

  assert_near(steps, round(steps), 1e-9 * known);
  assert_true(steps > 1.5 && steps < 6.5);
}

/* With E = 2 t cos q sites 2^s apart are coupled by t sin q / sin(2^s q) after s steps. */
static void decimation_of_a_chain_takes_the_steps_of_the_formula(void **state)
{
  const double t = -0.8, etas[] = {1e-3, 1e-5, 1e-7};
  qt_lead_opts o = options_of(QT_LEAD_DECIMATION);

  (void)state;
  h0[0] = (weir_c128){0.1, 0};
  h1[0] = (weir_c128){t, 0};
  for (int i = 0; i < 3; i++) {
    for (double x = -1.37; x < 1.4; x += 0.53) {
      const double complex z = x + I * etas[i], q = cacos(z / (2 * t));
      int steps = 1;

      while (!(cabs(csin(q) / csin(ldexp(1, steps) * q)) <= o.tolerance)) {
        steps++;
      }
      assert_flops(solve(&o, 1, x + 0.1, etas[i]).flops, steps * decimation(1) + test(1), 1);
    }
  }
}

/* Also where decimation has failed before. */
static void modes_take_the_flops_of_the_formula(void **state)
{
  (void)state;
  for (int64_t n = 1; n <= CAPACITY; n += 3) {
    qt_lead_opts o = options_of(QT_LEAD_MODES);
    const double size = (double)n, cube = size * size * size;
    const double factors = cube, pencil = 2 * cube + (1.0 / 3 + 2) * cube + 4 * cube;
    const double modes = factors + pencil + 25 * 8 * cube + 2 * (4.0 / 3 + 2) * cube;

    make_cell(n, (uint64_t)n);
    const qt_lead_result r = solve(&o, n, 0.2, 0);

    assert_int_equal(r.method, QT_LEAD_MODES);
    assert_flops(r.flops, modes + test(size), size);
    o.method = QT_LEAD_DECIMATION;
    o.max_steps = 1;
    const qt_lead_result late = solve(&o, n, 0.2, 1e-9);

    assert_int_equal(late.method, QT_LEAD_MODES);
    assert_near(late.flops - r.flops, 8 * decimation(size), 1e-9 * r.flops);
  }
}

/* Of all points of both circles at least systems of all orbitals; of twice the points twice as
 * many.
 */
static void contours_count_their_points(void **state)
{
  const int64_t n = 5;
  qt_lead_opts o = options_of(QT_LEAD_CONTOUR);
  const double cube = 5 * 5 * 5;
  double flops[2];

  (void)state;
  o.contour.max_cells = 1;
  make_cell(n, 11);
  for (int i = 0; i < 2; i++) {
    o.contour.points = 64 << i;
    const qt_lead_result r = solve(&o, n, 0.2, 0);

    assert_int_equal(r.method, QT_LEAD_CONTOUR);
    flops[i] = r.flops;
  }
  /* T of 3 powers, a system of n right sides, 4 moments, at 2 * 64 points more; steps of the fixed
   * point may differ */
  const double more = 8 * 2 * 64 * (3 * 5 * 5 + 4.0 / 3 * cube + 4 * 5 * 5);

  assert_near(flops[1] - flops[0], more, 8 * 24 * fixed_point(5));
  assert_true(flops[0] > more);
}

/* What is known before, with the steps that it took. */
static void flops_are_predicted(void **state)
{
  static const int methods[] = {QT_LEAD_DECIMATION, QT_LEAD_MODES, QT_LEAD_CONTOUR, QT_LEAD_SLEPC};
  const double n = 4, cube = n * n * n;
  int64_t image[1][2] = {{0, 0}};
  qt_entries e = {.count = 0};
  qt_sparse m;

  (void)state;
  make_cell(4, 3);
  for (int64_t i = 0; i < 16; i++) {
    qt_entries_add(&e, i / 4, i % 4, h1[i]);
  }
  assert_ok(qt_sparse_create(4, 4, &e, &m));
  const qt_bloch one = {.count = 1, .image = image, .matrix = &m};
  const qt_lead lead = {.n = 4, .cell = one, .next = one};

  for (int i = 0; i < 4; i++) {
    const qt_lead_opts o = options_of(methods[i]);
    const qt_lead_work work = qt_lead_flops(&o, &lead, 2), half = qt_lead_flops(&o, &lead, 1);

    if (i > 1) {
      assert_true(isnan(work.fixed));
      continue;
    }
    assert_near(work.fixed - half.fixed, 8 * (inverse(n) + fixed_point(n)), 1e-9 * cube);
    assert_near(work.step, i == 0 ? 8 * decimation(n) : 0, 1e-9 * cube);
    if (i == 0) {
      assert_flops(work.fixed, test(n), n);
    } else { /* that and further steps of the fixed point */
      assert_flops(solve(&o, 4, 0.2, 0).flops + 16 * fixed_point(n), work.fixed / 8, n);
    }
  }
  qt_sparse_fini(&m);
  qt_entries_fini(&e);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decimation_of_a_chain_takes_the_steps_of_the_formula),
      cmocka_unit_test(modes_take_the_flops_of_the_formula),
      cmocka_unit_test(contours_count_their_points),
      cmocka_unit_test(flops_are_predicted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
