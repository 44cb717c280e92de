/* field_test.c - noise is normal and the same wherever it is drawn; fields have their spectrum. */
#include <string.h>
#include "support/cosmoflow/mesh_check.h"
#include "device/weir_parallel.h"

static void noise_is_normal_and_white(void **state)
{
  enum { N = 64, PITCH = 68, SITES = N * N * N };
  double moment[5] = {0}, neighbour = 0, far = 0, past = 0;
  float *f = NULL;

  assert_ok(weir_alloc(N * N * PITCH, sizeof *f, (void **)&f));
  cf_noise(20, N, PITCH, 0, N, f);
  for (int64_t row = 0; row < N * N; row++) {
    const float *const a = f + row * PITCH, *const next = f + (row + 1) % (N * N) * PITCH;

    for (int64_t z = 0; z < N; z++) {
      const double v = (double)a[z];

      for (int k = 1; k < 5; k++) {
        moment[k] += pow(v, k) / SITES;
      }
      neighbour += v * (double)a[(z + 1) % N] / SITES;
      far += v * (double)next[z] / SITES;
      past += fabs(v) > 2;
    }
  }
  const double sigma = 1 / sqrt(SITES); /* five of each, for a fixed seed */

  assert_near(moment[1], 0, 5 * sigma);
  assert_near(moment[2] - 1, 0, 5 * sqrt(2) * sigma);
  assert_near(moment[3], 0, 5 * sqrt(15) * sigma);
  assert_near(moment[4] - 3, 0, 5 * sqrt(96) * sigma);
  assert_near(neighbour, 0, 5 * sigma);
  assert_near(far, 0, 5 * sigma);
  assert_near(past / SITES - 0.0455003, 0, 5 * 0.2084 * sigma);
  weir_free(&f);
}

/* Slices of any size on any number of threads, as ranks would draw them. */
static void noise_of_a_part_is_that_of_the_whole(void **state)
{
  enum { MAX_SIDE = 15 };
  static const int64_t sides[] = {1, 2, 5, 8, MAX_SIDE};
  float whole[MAX_SIDE * MAX_SIDE * MAX_SIDE], slice[MAX_SIDE * MAX_SIDE * MAX_SIDE];

  for (size_t s = 0; s < sizeof sides / sizeof sides[0]; s++) {
    const int64_t n = sides[s];

    weir_threads_set(1);
    cf_noise(7, n, n, 0, n, whole);
    for (int threads = 1; threads <= 4; threads *= 2) {
      weir_threads_set(threads);
      for (int64_t first = 0, now = 1; first < n; first += now, now = first + 2 < n ? 2 : 1) {
        cf_noise(7, n, n, first, now, slice);
        assert_memory_equal(slice, whole + first * n * n, (size_t)(now * n * n) * sizeof *slice);
      }
    }
    cf_noise(8, n, n, 0, n, slice);
    assert_true(memcmp(slice, whole, (size_t)(n * n * n) * sizeof *slice) != 0);
  }
  weir_threads_set(0);
}

/* With fixed moduli every bin has the mean of P over its waves, to the rounding of f32. */
static void a_fixed_field_has_the_linear_spectrum(void **state)
{
  static const int64_t sides[] = {16, 27, 64};

  NEEDS_FFTW();
  for (size_t s = 0; s < sizeof sides / sizeof sides[0]; s++) {
    check_box b = check_open(sides[s], 200);
    double expected[64];

    assert_ok(cf_field_draw(b.m, &b.l, b.box, s, true, b.delta));
    cf_power_measure(&b.power, b.m, b.delta, 1, 0);
    cf_power_expected(&b.power, b.m, &b.l, expected);
    for (int64_t i = 0; i < b.power.n_bins; i++) {
      assert_near(b.power.p[i] / expected[i], 1, 1e-4);
      /* The mean over a bin is near the value at its mean wave number. */
      assert_near(cf_linear_power(&b.l, b.power.k[i]) / expected[i], 1, 0.05);
    }
    check_close(&b);
  }
}

/* Moduli of their own: chi^2 over the bins, sigma = P sqrt(2 / modes). */
static void a_free_field_scatters_around_it(void **state)
{
  enum { SEEDS = 4 };
  double chi2 = 0, degrees = 0, expected[32];

  NEEDS_FFTW();
  check_box b = check_open(64, 200);

  cf_power_expected(&b.power, b.m, &b.l, expected);
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    assert_ok(cf_field_draw(b.m, &b.l, b.box, seed, false, b.delta));
    cf_power_measure(&b.power, b.m, b.delta, 1, 0);
    for (int64_t i = 0; i < b.power.n_bins; i++) {
      chi2 += pow(b.power.p[i] / expected[i] - 1, 2) * b.power.modes[i] / 2;
      degrees++;
    }
  }
  assert_near((chi2 - degrees) / sqrt(2 * degrees), 0, 4);
  check_close(&b);
}

/* A field of any seed is real: back and forth it stays what it is, and has no mean. */
static void fields_are_real_and_without_mean(void **state)
{
  NEEDS_FFTW();
  check_box b = check_open(20, 100);
  const int64_t floats = b.n * b.n * b.pitch;

  assert_ok(cf_field_draw(b.m, &b.l, b.box, 3, false, b.delta));
  memcpy(b.field[1], b.delta, (size_t)floats * sizeof(float));
  cf_mesh_backward(b.m, b.field[1]);
  cf_mesh_forward(b.m, b.field[1]);
  for (int64_t row = 0; row < b.n * b.n; row++) {
    for (int64_t i = 0; i < b.n + 2; i++) {
      assert_near((double)b.field[1][row * b.pitch + i], (double)b.delta[row * b.pitch + i], 1e-6);
    }
  }
  assert_true(b.delta[0] == 0 && b.delta[1] == 0);
  check_close(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(noise_is_normal_and_white),
      cmocka_unit_test(noise_of_a_part_is_that_of_the_whole),
      cmocka_unit_test(a_fixed_field_has_the_linear_spectrum),
      cmocka_unit_test(a_free_field_scatters_around_it),
      cmocka_unit_test(fields_are_real_and_without_mean),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
