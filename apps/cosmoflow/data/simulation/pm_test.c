/* pm_test.c - one dimension against Zel'dovich, growth of large waves with few and many steps,
 * momentum, threads. */
#include "data/simulation/pm.h"
#include <string.h>
#include "support/cosmoflow/mesh_check.h"
#include "device/weir_parallel.h"

enum { START = 10 /* a = 1 / START */ };

static void go(check_box *b, double to, int64_t steps)
{
  float *const momentum[3] = {b->field[5], b->field[6], b->field[7]};
  float *const scratch[3] = {b->field[8], b->field[9], b->field[10]};

  cf_pm_begin(b->m, &b->l, b->delta, b->source, 1.0 / START, &b->p, momentum);
  cf_pm_go(b->m, &b->l, 1.0 / START, to, steps, &b->p, momentum, scratch);
}

/* Until shells cross a plane wave's displacement is D psi1. The mesh softens the wave by less than
 * 1 %; particles that hardly left their points feel the lattice, by less than a quarter of a cell.
 */
static void a_plane_wave_follows_zeldovich(void **state)
{
  NEEDS_FFTW();
  check_box b = check_open(32, 64);
  double worst = 0, along = 0, square = 0;

  for (int64_t row = 0; row < b.n * b.n; row++) {
    for (int64_t z = 0; z < b.n; z++) {
      b.delta[row * b.pitch + z] = (float)(0.6 * cos(2 * PI * (double)(row / b.n) / 32));
    }
  }
  cf_mesh_forward(b.m, b.delta);
  cf_lpt_source(b.m, b.delta, b.source, b.p.d);
  go(&b, 1, 5);
  for (int64_t row = 0; row < b.n * b.n; row++) {
    const double exact = -0.6 * sin(2 * PI * (double)(row / b.n) / 32) * 32 / (2 * PI);

    for (int64_t z = 0; z < b.n; z++) {
      const double d = (double)b.p.d[0][row * b.pitch + z];

      worst = fmax(worst, fabs(d - exact));
      along += d * exact;
      square += exact * exact;
    }
  }
  printf("the wave %.4f of Zel'dovich's, worst particle %.3f cells off\n", along / square, worst);
  assert_near(along / square, 1, 0.01);
  assert_true(worst < 0.25);
  check_close(&b);
}

static void large_waves_do_not_depend_on_steps(void **state)
{
  static const int64_t steps[3] = {5, 10, 20};
  double p[3], linear;

  NEEDS_FFTW();
  check_box b = check_open(24, 192);

  assert_ok(cf_field_draw(b.m, &b.l, b.box, 2, true, b.delta));
  cf_power_measure(&b.power, b.m, b.delta, 1, 0);
  linear = b.power.p[0];
  cf_lpt_source(b.m, b.delta, b.source, b.p.d);
  for (int i = 0; i < 3; i++) {
    go(&b, 1, steps[i]);
    check_power(&b);
    p[i] = b.power.p[0] / linear;
  }
  printf("P(k_min) / linear after 5, 10, 20 steps: %.4f %.4f %.4f\n", p[0], p[1], p[2]);
  assert_near(p[0] / p[2], 1, 0.005);
  assert_near(p[1] / p[2], 1, 0.002);
  assert_near(p[2], 1, 0.1); /* coupling of waves in a small box */
  check_close(&b);
}

/* sqrt(P(a1) / P(a2)) of the largest waves is the ratio of growth. */
static void growth_is_that_of_linear_theory(void **state)
{
  enum { SEEDS = 4 };
  double growth = 0;

  NEEDS_FFTW();
  check_box b = check_open(24, 240);

  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    double p[2];

    assert_ok(cf_field_draw(b.m, &b.l, b.box, seed, true, b.delta));
    cf_lpt_source(b.m, b.delta, b.source, b.p.d);
    for (int i = 0; i < 2; i++) {
      go(&b, i == 0 ? 1 : 0.4, i == 0 ? 5 : 2);
      check_power(&b);
      p[i] = b.power.p[0];
    }
    growth += sqrt(p[1] / p[0]) / cf_linear_growth(&b.l, 0.4) / SEEDS;
  }
  printf("growth from z = 1.5 to 0: %.4f of linear theory's\n", growth);
  assert_near(growth, 1, 0.01);
  check_close(&b);
}

static void momentum_stays(void **state)
{
  NEEDS_FFTW();
  check_box b = check_open(24, 48);

  assert_ok(cf_field_draw(b.m, &b.l, b.box, 3, false, b.delta));
  cf_lpt_source(b.m, b.delta, b.source, b.p.d);
  go(&b, 1, 5);
  for (int a = 0; a < 3; a++) {
    double sum = 0, square = 0;

    for (int64_t row = 0; row < b.n * b.n; row++) {
      for (int64_t z = 0; z < b.n; z++) {
        const double p = (double)b.field[5 + a][row * b.pitch + z];

        sum += p / pow((double)b.n, 3);
        square += p * p / pow((double)b.n, 3);
      }
    }
    assert_true(square > 0.01);
    assert_true(fabs(sum) < 1e-4 * sqrt(square));
  }
  check_close(&b);
}

static void threads_make_no_difference(void **state)
{
  NEEDS_FFTW();
  check_box b = check_open(15, 64);
  const size_t bytes = (size_t)(b.n * b.n * b.pitch) * sizeof(float);

  for (int threads = 1; threads <= 4; threads *= 2) {
    weir_threads_set(threads);
    assert_ok(cf_field_draw(b.m, &b.l, b.box, 3, false, b.delta));
    cf_lpt_source(b.m, b.delta, b.source, b.p.d);
    go(&b, 0.5, 3);
    if (threads == 1) {
      memcpy(b.field[11], b.p.d[1], bytes);
    }
    assert_memory_equal(b.p.d[1], b.field[11], bytes);
  }
  weir_threads_set(0);
  check_close(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plane_wave_follows_zeldovich),
      cmocka_unit_test(large_waves_do_not_depend_on_steps),
      cmocka_unit_test(growth_is_that_of_linear_theory),
      cmocka_unit_test(momentum_stays),
      cmocka_unit_test(threads_make_no_difference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
