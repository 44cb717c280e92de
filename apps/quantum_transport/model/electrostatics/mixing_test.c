/* mixing_test.c - linear fixed points at random. */
#include "model/electrostatics/mixing.h"

#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"

enum { N = 5 };

static double draw(uint64_t i)
{
  return weir_random_uniform(24, 0, 0, i) - 0.5;
}

/* Steps until u = m u + b holds to 1e-9; m is no contraction where it is large. */
static int count_steps(int64_t depth, double damping, double size)
{
  double m[N][N], b[N], u[N] = {0}, g[N];
  qt_mixing mixing;
  int steps = 0;

  for (uint64_t i = 0; i < N * N; i++) {
    m[i / N][i % N] = size * draw(i);
    b[i % N] = draw(100 + i);
  }
  assert_ok(qt_mixing_create(N, depth, damping, &mixing));
  for (double error = 1; error > 1e-9 && steps < 500; steps++) {
    error = 0;
    for (int i = 0; i < N; i++) {
      g[i] = b[i];
      for (int j = 0; j < N; j++) {
        g[i] += m[i][j] * u[j];
      }
      error = fmax(error, fabs(g[i] - u[i]));
    }
    qt_mixing_next(&mixing, g, u);
    if (!isfinite(error)) {
      steps = 500;
    }
  }
  qt_mixing_fini(&mixing);
  return steps < 500 ? steps : 500;
}

static void damping_alone_converges_where_the_map_contracts(void **state)
{
  assert_true(count_steps(0, 1, 0.6) < 60);
  assert_true(count_steps(0, 0.5, 0.6) > count_steps(0, 1, 0.6));
  assert_int_equal(count_steps(0, 1, 8), 500);
}

/* With as many pairs as dimensions a linear map is solved. */
static void anderson_solves_linear_maps(void **state)
{
  assert_true(count_steps(N, 1, 0.6) <= N + 3);
  assert_true(count_steps(N, 0.3, 8) <= N + 6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(damping_alone_converges_where_the_map_contracts),
      cmocka_unit_test(anderson_solves_linear_maps),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
