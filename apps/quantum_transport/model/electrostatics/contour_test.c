/* contour_test.c - occupations of poles on the real axis against Fermi's function. */
#include "model/electrostatics/contour.h"

#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"

static uint64_t draws;
static double draw(double lo, double hi)
{
  return lo + (hi - lo) * weir_random_uniform(21, 0, 0, draws++);
}

/* n - p of one state: G = 1 / (z - e). */
static void count_state(double reference, double e, const qt_reservoir r[2], int64_t order,
                        double n[2])
{
  qt_contour_point *point = NULL;
  int64_t count = 0;

  assert_ok(qt_contour_create(reference, r, order, &point, &count));
  n[0] = n[1] = 0;
  for (int64_t i = 0; i < count; i++) {
    const double x = point[i].energy.re - e, y = point[i].energy.im, size = x * x + y * y;

    for (int c = 0; c < 2; c++) {
      const weir_c128 w = point[i].weight[c];

      n[c] -= (w.im * x - w.re * y) / size / M_PI;
    }
  }
  weir_free(&point);
}

static void states_are_occupied_as_fermi_says(void **state)
{
  for (int round = 0; round < 40; round++) {
    const double kelvin = draw(40, 700), mu = draw(-1, 1);
    const double bias = round % 4 == 0 ? 0 : round % 4 == 1 ? draw(0, 0.05) : draw(0, 1);
    const qt_reservoir r[2] = {{mu, kelvin}, {mu - bias, kelvin}};
    const double reference = draw(-3, 3);
    double n[2];

    for (int side = 0; side < 2; side++) {
      const double e = reference + (side ? 1 : -1) * draw(0.3, 2);

      count_state(reference, e, r, 12, n);
      for (int c = 0; c < 2; c++) {
        const double f = qt_fermi(e, r[c].mu, kelvin);

        assert_near(n[c], side ? f : f - 1, 2e-5);
      }
    }
  }
}

static void more_points_make_it_exact(void **state)
{
  const qt_reservoir r[2] = {{0.13, 300}, {-0.21, 300}};
  double n[2];

  count_state(-0.9, 0.1, r, 40, n);
  assert_near(n[0], qt_fermi(0.1, r[0].mu, 300), 1e-8);
  assert_near(n[1], qt_fermi(0.1, r[1].mu, 300), 1e-8);
}

static void unlike_temperatures_are_refused(void **state)
{
  const qt_reservoir r[2] = {{0, 300}, {0, 290}}, cold[2] = {{0, 0}, {0, 0}};
  qt_contour_point *point = NULL;
  int64_t count = 0;

  assert_int_equal(qt_contour_create(0, r, 8, &point, &count), WEIR_ERR_CONFIG);
  assert_int_equal(qt_contour_create(0, cold, 8, &point, &count), WEIR_ERR_CONFIG);
  weir_clear_failure();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(states_are_occupied_as_fermi_says),
      cmocka_unit_test(more_points_make_it_exact),
      cmocka_unit_test(unlike_temperatures_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
