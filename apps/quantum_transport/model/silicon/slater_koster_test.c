/* slater_koster_test.c - blocks against Slater and Koster's table, and their derivatives. */
#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/silicon/sp3d5s.h"

enum { N = QT_ORBITALS, REPEATS = 20 };

static qt_sp3d5s_opts defaults(int exponents)
{
  qt_sp3d5s_opts o;

  weir_opts_default(qt_sp3d5s_options, sizeof o, &o);
  o.exponents = exponents;
  return o;
}

/* Bonds of 1.5 to 3.5 Angstrom in any direction. */
static void draw(uint32_t repeat, double r[3])
{
  double u[3], length = 0;

  for (uint64_t i = 0; i < 3; i++) {
    u[i] = weir_random_normal(5, repeat, 0, i);
    length += u[i] * u[i];
  }
  for (int i = 0; i < 3; i++) {
    r[i] = u[i] / sqrt(length) * (1.5 + 2 * weir_random_uniform(5, repeat, 0, 3));
  }
}

/* Slater and Koster, table I, at the bond length of the integrals. */
static void elements_are_those_of_the_table(void **state)
{
  const qt_sp3d5s_opts o = defaults(0);
  double h[N * N], r[3];

  for (uint32_t repeat = 0; repeat < REPEATS; repeat++) {
    draw(repeat, r);
    const double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    const double l = r[0] / length, m = r[1] / length, n = r[2] / length, root = sqrt(3);

    for (int i = 0; i < 3; i++) {
      r[i] *= o.bond / length;
    }
    qt_sp3d5s_block(&o, r, h);
    const struct {
      int row, column;
      double expected;
    } cases[] = {
        {0, 0, o.v.ss_sigma},
        {0, 9, o.v.s_sstar_sigma},
        {9, 9, o.v.sstar_sstar_sigma},
        {0, 1, l * o.v.sp_sigma},
        {9, 3, n * o.v.sstar_p_sigma},
        {0, 4, root * l * m * o.v.sd_sigma},
        {9, 7, root / 2 * (l * l - m * m) * o.v.sstar_d_sigma},
        {0, 8, (n * n - (l * l + m * m) / 2) * o.v.sd_sigma},
        {1, 1, l * l * o.v.pp_sigma + (1 - l * l) * o.v.pp_pi},
        {1, 3, l * n * (o.v.pp_sigma - o.v.pp_pi)},
        {1, 4, root * l * l * m * o.v.pd_sigma + m * (1 - 2 * l * l) * o.v.pd_pi},
        {1, 5, l * m * n * (root * o.v.pd_sigma - 2 * o.v.pd_pi)},
        {2, 7, root / 2 * m * (l * l - m * m) * o.v.pd_sigma - m * (1 + l * l - m * m) * o.v.pd_pi},
        {3, 8,
         n * (n * n - (l * l + m * m) / 2) * o.v.pd_sigma + root * n * (l * l + m * m) * o.v.pd_pi},
        {4, 4,
         3 * l * l * m * m * o.v.dd_sigma + (l * l + m * m - 4 * l * l * m * m) * o.v.dd_pi +
             (n * n + l * l * m * m) * o.v.dd_delta},
        {4, 5,
         3 * l * m * m * n * o.v.dd_sigma + l * n * (1 - 4 * m * m) * o.v.dd_pi +
             l * n * (m * m - 1) * o.v.dd_delta},
        {8, 8,
         pow(n * n - (l * l + m * m) / 2, 2) * o.v.dd_sigma +
             3 * n * n * (l * l + m * m) * o.v.dd_pi + 0.75 * pow(l * l + m * m, 2) * o.v.dd_delta},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      assert_near(h[cases[i].row * N + cases[i].column], cases[i].expected, 1e-13);
    }
  }
}

static void reversed_bonds_have_the_transposed_block(void **state)
{
  const qt_sp3d5s_opts o = defaults(1);
  double h[N * N], back[N * N], r[3];

  for (uint32_t repeat = 0; repeat < REPEATS; repeat++) {
    draw(repeat, r);
    qt_sp3d5s_block(&o, r, h);
    qt_sp3d5s_block(&o, (const double[3]){-r[0], -r[1], -r[2]}, back);
    for (int i = 0; i < N * N; i++) {
      assert_true(h[i] == back[i % N * N + i / N]);
    }
  }
}

static void check_gradient(const qt_sp3d5s_opts *o, const double at[3], double step)
{
  double gradient[3][N * N], more[N * N], less[N * N];

  qt_sp3d5s_gradient(o, at, gradient);
  for (int axis = 0; axis < 3; axis++) {
    double r[3] = {at[0], at[1], at[2]};

    r[axis] = at[axis] + step;
    qt_sp3d5s_block(o, r, more);
    r[axis] = at[axis] - step;
    qt_sp3d5s_block(o, r, less);
    for (int i = 0; i < N * N; i++) {
      assert_true(fabs((more[i] - less[i]) / (2 * step) - gradient[axis][i]) < 1e-7);
    }
  }
}

/* Bonds of the crystal with the usual step; any bond with a smaller one, for a difference over 1e-4
 * Angstrom is itself wrong by some 1e-7 there. */
static void gradients_are_those_of_differences(void **state)
{
  for (int exponents = 0; exponents < 2; exponents++) {
    const qt_sp3d5s_opts o = defaults(exponents);
    const double d = o.bond / sqrt(3);
    double r[3];

    for (int k = 0; k < 4; k++) {
      check_gradient(&o, (const double[3]){d, k % 2 ? d : -d, k / 2 ? d : -d}, 1e-4);
    }
    for (uint32_t repeat = 0; repeat < REPEATS; repeat++) {
      draw(repeat, r);
      check_gradient(&o, r, 1e-5);
    }
  }
}

/* d H_la / d(R_a - R_l) = -(d H_al / d(R_l - R_a))^T */
static void gradients_of_reversed_bonds_are_antisymmetric(void **state)
{
  const qt_sp3d5s_opts o = defaults(0);
  double gradient[3][N * N], back[3][N * N], r[3];

  for (uint32_t repeat = 0; repeat < REPEATS; repeat++) {
    draw(repeat, r);
    qt_sp3d5s_gradient(&o, r, gradient);
    qt_sp3d5s_gradient(&o, (const double[3]){-r[0], -r[1], -r[2]}, back);
    for (int i = 0; i < 3 * N * N; i++) {
      const int axis = i / (N * N), row = i / N % N, column = i % N;

      assert_true(back[axis][row * N + column] == -gradient[axis][column * N + row]);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elements_are_those_of_the_table),
      cmocka_unit_test(reversed_bonds_have_the_transposed_block),
      cmocka_unit_test(gradients_are_those_of_differences),
      cmocka_unit_test(gradients_of_reversed_bonds_are_antisymmetric),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
