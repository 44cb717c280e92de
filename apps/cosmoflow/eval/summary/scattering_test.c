/* scattering_test.c - coefficients against kymatio, invariance under shifts and the symmetries of a
 * cube, known fields, and refusals. */
#include "eval/summary/scattering.h"
#include <string.h>
#include "support/cosmoflow/congruential.h"
#include "support/cosmoflow/mesh_check.h"
#include "base/weir_random.h"

enum { N = 16, CELLS = N * N * N, NUMBERS = 6 * 4 * 3 };
static double rho[CELLS], moved[CELLS];
static double some_powers[3] = {0.5, 1, 2};

static cf_scattering_opts options(double sigma, int64_t scales, int64_t orders)
{
  return (cf_scattering_opts){
      .sigma = sigma, .scales = scales, .orders = orders, .powers = {some_powers, 3}};
}

/* Measures x[n^3] and returns the number of coefficients. */
static int64_t measure(const cf_scattering_opts *o, int64_t n, const double *x, double *out)
{
  cf_scattering s;
  cf_scattering_slot r;

  assert_ok(cf_scattering_init(o, n, &s));
  assert_ok(cf_scattering_slot_init(&s, &r));
  assert_true(s.n_numbers <= NUMBERS);
  cf_scattering_measure(&s, &r, x);
  memcpy(out, r.s, (size_t)s.n_numbers * sizeof *out);
  const int64_t numbers = s.n_numbers;

  cf_scattering_slot_fini(&r);
  cf_scattering_fini(&s);
  return numbers;
}

/* Means by HarmonicScattering3D of kymatio 0.3.0, [paths, orders + 1, powers] of 16^3 voxels
 * (tests/bench/cosmo_summaries.py). */
static const double kymatio_2[] = {
    0.1336677,  0.02070512,   0.0006331509, 0.1360732,  0.01932222,   0.0004311667,
    0.1299727,  0.01733025,   0.0003296753, 0.1244969,  0.01578289,   0.0002662254,
    0.06849228, 0.005456446,  4.437718e-05, 0.07681089, 0.006069554,  4.051776e-05,
    0.07464815, 0.005698442,  3.517439e-05, 0.07128215, 0.00514173,   2.760561e-05,
    0.1438475,  0.02070511,   0.000429783,  0.02175742, 0.0004923905, 2.777436e-07,
    0.01829178, 0.0003403399, 1.232169e-07, 0.01514962, 0.0002327765, 5.701958e-08};
static const double kymatio_1[] = {
    0.2330266,  0.06435332,   0.006543577,  0.2386216,  0.05989294,   0.004255924,
    0.2285338,  0.05364493,   0.003169981,  0.2179391,  0.04835042,   0.002499585,
    0.1336677,  0.02070512,   0.0006331509, 0.1360732,  0.01932222,   0.0004311667,
    0.1299727,  0.01733025,   0.0003296753, 0.1244969,  0.01578289,   0.0002662254,
    0.06849228, 0.005456446,  4.437718e-05, 0.07681089, 0.006069554,  4.051776e-05,
    0.07464815, 0.005698442,  3.517439e-05, 0.07128215, 0.00514173,   2.760561e-05,
    0.2532742,  0.06435332,   0.004194463,  0.05682997, 0.003378559,  1.323672e-05,
    0.03921358, 0.00158605,   2.811451e-06, 0.02732655, 0.0007601526, 6.169485e-07,
    0.253664,   0.06435332,   0.004143382,  0.03123024, 0.001009495,  1.142667e-06,
    0.02488965, 0.0006346348, 4.388797e-07, 0.0212737,  0.0004608434, 2.268781e-07,
    0.1438475,  0.02070511,   0.000429783,  0.02175742, 0.0004923905, 2.777436e-07,
    0.01829178, 0.0003403399, 1.232169e-07, 0.01514962, 0.0002327765, 5.701958e-08};

/* Returns the largest relative difference from the stored values, of l = 0 and above. */
static double differ(double sigma, int64_t scales, const double *expected, int64_t n)
{
  const cf_scattering_opts o = options(sigma, scales, 3);
  double found[NUMBERS], worst = 0;
  uint32_t bits = 1;

  congruential(&bits, CELLS, 1, rho);
  for (int64_t i = 0; i < CELLS; i++) {
    rho[i] += 1;
  }
  assert_int_equal(measure(&o, N, rho, found), n);
  for (int64_t i = 0; i < n; i++) {
    worst = fmax(worst, fabs(found[i] / expected[i] - 1));
  }
  return worst;
}

/* At Nyquist's wave, where the two differ, wavelets of 2 voxels are below 1e-6, and those of 1
 * voxel are not: white noise is the worst case. */
static void coefficients_are_those_of_kymatio(void **state)
{
  NEEDS_FFTW();
  const double wide = differ(2, 2, kymatio_2, sizeof kymatio_2 / sizeof kymatio_2[0]);
  const double narrow = differ(1, 3, kymatio_1, sizeof kymatio_1 / sizeof kymatio_1[0]);

  printf("from kymatio: %.1e for 2 voxels, %.1e for 1 voxel\n", wide, narrow);
  assert_true(wide < 2e-5);
  assert_true(narrow < 5e-3);
}

static void random_density(int64_t n, uint64_t seed)
{
  for (int64_t i = 0; i < n * n * n; i++) {
    rho[i] = exp(0.7 * weir_random_normal(seed, 1, 0, (uint64_t)i));
  }
}

/* moved(x) = rho(x shifted, its axes permuted and reversed by `symmetry`, below 48). */
static void move(int64_t n, int symmetry, const int64_t shift[3])
{
  static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

  for (int64_t i = 0; i < n * n * n; i++) {
    const int64_t at[3] = {i / (n * n), i / n % n, i % n};
    int64_t to[3];

    for (int a = 0; a < 3; a++) {
      const int64_t x = at[order[symmetry / 8][a]];

      to[a] = (((symmetry >> a & 1) != 0 ? n - x : x) + shift[a]) % n;
    }
    moved[(to[0] * n + to[1]) * n + to[2]] = rho[i];
  }
}

static void neither_place_nor_orientation_matters(void **state)
{
  static const int64_t sides[] = {9, 12}, shift[3] = {2, 7, 5}, none[3] = {0, 0, 0};
  const cf_scattering_opts o = options(0.7, 2, 4);
  double before[NUMBERS], after[NUMBERS];

  NEEDS_FFTW();
  for (int k = 0; k < 2; k++) {
    const int64_t n = sides[k];

    random_density(n, 3);
    const int64_t numbers = measure(&o, n, rho, before);

    for (int symmetry = 0; symmetry < 48; symmetry += 5) {
      move(n, symmetry, symmetry % 2 == 0 ? shift : none);
      (void)measure(&o, n, moved, after);
      for (int64_t i = 0; i < numbers; i++) {
        assert_near(after[i] / before[i], 1, 2e-5);
      }
    }
  }
}

/* A plane wave of amplitude A: U1 of l is constant where the harmonics of one direction are, A
 * psi_l |cos| or |sin| else; the mean square is A^2 / 2 (2 l + 1) / (4 pi) c_l^2 x^2l exp(-x^2). */
static void a_wave_has_the_power_of_its_wavelets(void **state)
{
  const cf_scattering_opts o = options(1.3, 2, 2);
  const double amplitude = 0.3, k = 2 * PI / N * sqrt(1 + 4 + 4);
  double found[NUMBERS];

  NEEDS_FFTW();
  for (int64_t i = 0; i < CELLS; i++) {
    const int64_t turns = i / (N * N) + 2 * (i / N % N) + 2 * (i % N);

    rho[i] = 1 + amplitude * cos(2 * PI * (double)turns / N + 0.4);
  }
  (void)measure(&o, N, rho, found);
  for (int64_t j = 0; j < 2; j++) {
    for (int64_t l = 0; l <= 2; l++) {
      const double x = 1.3 * (double)(1 + j) * k, c2 = l == 1   ? pow(2 * PI, 3) / (48 * PI)
                                                       : l == 2 ? 2 * PI / (2.5 * 9)
                                                                : 4 * PI;
      const double expected = amplitude * amplitude / 2 * (double)(2 * l + 1) / (4 * PI) * c2 *
                              pow(x, 2 * (double)l) * exp(-x * x);

      assert_near(found[(j * 3 + l) * 3 + 2] / expected, 1, 1e-4);
    }
  }
}

static void scattering_is_of_the_degree_of_its_power(void **state)
{
  const cf_scattering_opts o = options(1, 2, 2);
  double once[NUMBERS], twice[NUMBERS];

  NEEDS_FFTW();
  random_density(N, 5);
  const int64_t numbers = measure(&o, N, rho, once);

  for (int64_t i = 0; i < CELLS; i++) {
    rho[i] = 1 + 2 * (rho[i] - 1);
  }
  (void)measure(&o, N, rho, twice);
  for (int64_t i = 0; i < numbers; i++) {
    assert_near(twice[i] / once[i], pow(2, some_powers[i % 3]), 1e-5);
  }
}

static void refused(const cf_scattering_opts *o, const char *text)
{
  cf_scattering s;

  assert_int_equal(cf_scattering_init(o, N, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), text));
}

static void what_cannot_be_is_refused(void **state)
{
  cf_scattering_opts o = options(1, 5, 2);

  refused(&o, "the widest of 5 scales is 16 voxels, above half a sample of 16^3");
  o = options(1, 3, 2);
  o.powers.count = 0;
  refused(&o, "summaries.scattering.powers is empty");
}

static weir_status make(void *context)
{
  cf_scattering s;
  cf_scattering_slot r;

  WEIR_TRY(cf_scattering_init(context, N, &s));
  const weir_status status = cf_scattering_slot_init(&s, &r);

  if (status == WEIR_OK) {
    cf_scattering_slot_fini(&r);
  }
  cf_scattering_fini(&s);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  cf_scattering_opts o = options(1, 1, 1);

  NEEDS_FFTW();
  assert_true(weir_check_faults(make, &o) > 6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coefficients_are_those_of_kymatio),
      cmocka_unit_test(neither_place_nor_orientation_matters),
      cmocka_unit_test(a_wave_has_the_power_of_its_wavelets),
      cmocka_unit_test(scattering_is_of_the_degree_of_its_power),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
