/* bispectrum_test.c - the estimator against sums over all triangles and Pylians, waves whose
 * bispectrum is known, Gaussian fields, and refusals. */
#include "eval/summary/bispectrum.h"
#include <complex.h>
#include <string.h>
#include "support/cosmoflow/mesh_check.h"
#include "base/weir_random.h"

enum { MAX = 16, CELLS = MAX * MAX * MAX, WAVES = 4096 };
static double rho[CELLS];

static void random_field(int64_t n, uint64_t seed, double skewness)
{
  for (int64_t i = 0; i < n * n * n; i++) {
    const double u = weir_random_normal(seed, 1, 0, (uint64_t)i);

    rho[i] = 1 + 0.3 * u + skewness * (u * u - 1);
  }
}

typedef struct wave {
  int64_t w[3], shell;
  double complex c;
} wave;

/* All waves of the shells, +w and -w both, with coefficients by direct sums. */
static int64_t list_waves(const cf_bispectrum *s, wave *out)
{
  const int64_t n = s->n, reach = n / 3;
  int64_t count = 0;

  for (int64_t x = -reach; x <= reach; x++) {
    for (int64_t y = -reach; y <= reach; y++) {
      for (int64_t z = -reach; z <= reach; z++) {
        const double size = sqrt((double)(x * x + y * y + z * z));
        const double edge = 0.5 + (double)(s->shells * s->width);
        double complex sum = 0;

        if (size < 0.5 || size >= edge) {
          continue;
        }
        for (int64_t i = 0; i < n * n * n; i++) {
          const int64_t turns = (x * (i / (n * n)) + y * (i / n % n) + z * (i % n)) % n;

          sum += (rho[i] - 1) * cexp(-2 * PI * I * (double)turns / (double)n);
        }
        assert_true(count < WAVES);
        out[count++] = (wave){
            {x, y, z}, (int64_t)floor((size - 0.5) / (double)s->width), sum / (double)(n * n * n)};
      }
    }
  }
  return count;
}

/* B, P and the number of triangles by the definition: all pairs of waves, and the third one. */
static void check_definition(const cf_bispectrum_opts *o, int64_t n)
{
  static wave waves[WAVES];
  static double complex at[2 * MAX + 1][2 * MAX + 1][2 * MAX + 1];
  static int64_t shell[2 * MAX + 1][2 * MAX + 1][2 * MAX + 1];
  const double volume = (double)(n * n * n);
  cf_bispectrum s;
  cf_bispectrum_slot r;

  assert_ok(cf_bispectrum_init(o, n, &s));
  assert_ok(cf_bispectrum_slot_init(&s, &r));
  cf_bispectrum_measure(&s, &r, rho);
  const int64_t count = list_waves(&s, waves);

  memset(shell, -1, sizeof shell);
  for (int64_t i = 0; i < count; i++) {
    const int64_t *const w = waves[i].w;

    at[w[0] + MAX][w[1] + MAX][w[2] + MAX] = waves[i].c;
    shell[w[0] + MAX][w[1] + MAX][w[2] + MAX] = waves[i].shell;
  }
  for (int64_t t = 0; t < s.n_triangles; t++) {
    double closed = 0, sum = 0, power[2] = {0, 0}, modes[2] = {0, 0};

    for (int64_t i = 0; i < count; i++) {
      const int64_t of[] = {s.triangle[t].first, s.triangle[t].other};

      for (int k = 0; k < 2; k++) {
        modes[k] += waves[i].shell == of[k];
        power[k] += waves[i].shell == of[k] ? pow(cabs(waves[i].c), 2) * volume : 0;
      }
      for (int64_t j = 0; j < count && waves[i].shell == of[0]; j++) {
        const int64_t *const a = waves[i].w, *const b = waves[j].w;
        const int64_t x = MAX - a[0] - b[0], y = MAX - a[1] - b[1], z = MAX - a[2] - b[2];

        if (waves[j].shell == of[1] && shell[x][y][z] == of[1]) {
          closed += 1;
          sum += creal(waves[i].c * waves[j].c * at[x][y][z]);
        }
      }
    }
    const double a = power[0] / modes[0], b = power[1] / modes[1];

    assert_near(s.closed[t], closed, 0);
    assert_near(s.modes[s.triangle[t].first], modes[0], 0);
    if (closed > 0) {
      assert_near(r.b[t], volume * volume * sum / closed, 2e-5 * r.sigma[t]);
      assert_near(r.q[t], volume * volume * sum / closed / (2 * a * b + b * b),
                  2e-5 * r.sigma[t] / (2 * a * b + b * b));
      assert_near(
          r.sigma[t],
          sqrt((s.triangle[t].first == s.triangle[t].other ? 6 : 2) * volume * a * b * b / closed),
          1e-5 * r.sigma[t]);
    } else {
      assert_true(isnan(r.b[t]));
    }
  }
  cf_bispectrum_slot_fini(&s, &r);
  cf_bispectrum_fini(&s);
}

static void estimates_are_sums_over_triangles(void **state)
{
  NEEDS_FFTW();
  for (int64_t n = 5; n <= 13; n += n < 8 ? 1 : 2) {
    const cf_bispectrum_opts o = {1, 0.6667, 2, 1.5}, wide = {2, 0.6667, 1, 1};

    random_field(n, (uint64_t)n, 0.1);
    check_definition(&o, n);
    if (n >= 8) {
      check_definition(&wide, n);
    }
  }
}

static cf_bispectrum open_shells(int64_t n, cf_bispectrum_slot *r)
{
  const cf_bispectrum_opts o = {1, 0.6667, 1, 3};
  cf_bispectrum s;

  assert_ok(cf_bispectrum_init(&o, n, &s));
  assert_ok(cf_bispectrum_slot_init(&s, r));
  return s;
}

/* Waves (1, 0, 0), (0, 3, 1) and their sum, of amplitudes a, b, c and a difference f of phases: one
 * closed triangle, in the shells 0, 2 and 2 (of |w| 1, 3.16 and 3.32), in 2 orders and with 2
 * signs, whose product of coefficients is a b c / 8 cos(f). */
static void waves_have_a_known_bispectrum(void **state)
{
  const double a = 0.2, b = 0.3, c = 0.15, f = 0.7, volume = (double)CELLS;
  cf_bispectrum_slot r;

  NEEDS_FFTW();
  cf_bispectrum s = open_shells(MAX, &r);

  for (int64_t i = 0; i < CELLS; i++) {
    const double x = 2 * PI * (double)(i / (MAX * MAX)) / MAX;
    const double y = 2 * PI * (double)(i / MAX % MAX) / MAX, z = 2 * PI * (double)(i % MAX) / MAX;

    rho[i] = 1 + a * cos(x) + b * cos(3 * y + z) + c * cos(x + 3 * y + z + f);
  }
  cf_bispectrum_measure(&s, &r, rho);
  for (int64_t t = 0; t < s.n_triangles; t++) {
    const bool known = s.triangle[t].first == 0 && s.triangle[t].other == 2;
    const double expected = known ? volume * volume * 4 * a * b * c / 8 * cos(f) / s.closed[t] : 0;

    assert_near(r.b[t], expected, 1e-5 * volume * volume * a * b * c / s.closed[t]);
  }
  cf_bispectrum_slot_fini(&s, &r);
  cf_bispectrum_fini(&s);
}

/* Of Gaussian fields B is 0 within its scatter, and the scatter is the one that is stated. */
static void gaussian_fields_have_none(void **state)
{
  enum { FIELDS = 200 };
  double mean[64] = {0}, square = 0, worst = 0;
  cf_bispectrum_slot r;

  NEEDS_FFTW();
  cf_bispectrum s = open_shells(12, &r);

  assert_true(s.n_triangles <= 64);
  for (int i = 0; i < FIELDS; i++) {
    random_field(12, 100 + (uint64_t)i, 0);
    cf_bispectrum_measure(&s, &r, rho);
    for (int64_t t = 0; t < s.n_triangles; t++) {
      const double orders = s.triangle[t].first == s.triangle[t].other ? 6 : 2;
      const double sigma = sqrt(orders * 1728 * pow(0.09, 3) / s.closed[t]); /* P = 0.09 */

      mean[t] += r.b[t] / sigma / sqrt(FIELDS);
      square += pow(r.b[t] / sigma, 2) / FIELDS / (double)s.n_triangles;
    }
  }
  for (int64_t t = 0; t < s.n_triangles; t++) {
    worst = fmax(worst, fabs(mean[t]));
  }
  printf("B / sigma of %d Gaussian fields: largest mean %.2f of its deviation, variance %.3f\n",
         FIELDS, worst, square);
  assert_true(worst < 4);
  assert_true(square > 0.8 && square < 1.2);
  cf_bispectrum_slot_fini(&s, &r);
  cf_bispectrum_fini(&s);
}

/* Independent voxels of third moment m have B = m, in voxels, of every triangle. */
static void white_noise_has_its_third_moment(void **state)
{
  enum { FIELDS = 1000 };
  double sum = 0, weight = 0, moment = 0;
  cf_bispectrum_slot r;

  NEEDS_FFTW();
  cf_bispectrum s = open_shells(15, &r);

  for (int i = 0; i < FIELDS; i++) {
    random_field(15, 700 + (uint64_t)i, 0.2);
    cf_bispectrum_measure(&s, &r, rho);
    for (int64_t t = 0; t < s.n_triangles; t++) {
      sum += r.b[t] * s.closed[t]; /* weights that do not depend on the field */
      weight += s.closed[t];
    }
  }
  moment = 6 * 0.3 * 0.3 * 0.2 + 8 * 0.2 * 0.2 * 0.2; /* of a u + b (u^2 - 1) */
  printf("B of white noise: %.4f, third moment %.4f\n", sum / weight, moment);
  assert_near(sum / weight, moment, 0.05 * moment);
  cf_bispectrum_slot_fini(&s, &r);
  cf_bispectrum_fini(&s);
}

static void a_constant_field_has_none(void **state)
{
  cf_bispectrum_slot r;

  NEEDS_FFTW();
  cf_bispectrum s = open_shells(9, &r);

  for (int64_t i = 0; i < CELLS; i++) {
    rho[i] = 1;
  }
  cf_bispectrum_measure(&s, &r, rho);
  for (int64_t t = 0; t < s.n_triangles; t++) {
    assert_true(r.b[t] == 0 && r.sigma[t] == 0);
    assert_true(isnan(r.q[t])); /* 0 / 0 */
  }
  cf_bispectrum_slot_fini(&s, &r);
  cf_bispectrum_fini(&s);
}

static void samples_without_shells_are_refused(void **state)
{
  const cf_bispectrum_opts o = {1, 0.6667, 1, 3}, wide = {9, 0.6667, 1, 3},
                           short_one = {1, 0.1, 1, 3};
  cf_bispectrum s;

  NEEDS_FFTW();
  for (int64_t n = 1; n <= 4; n++) {
    assert_int_equal(cf_bispectrum_init(&o, n, &s), WEIR_ERR_CONFIG);
  }
  assert_non_null(strstr(weir_last_message(), "samples of 4^3 voxels have no shell 1 fundamental"));
  assert_int_equal(cf_bispectrum_init(&wide, 16, &s), WEIR_ERR_CONFIG);
  assert_int_equal(cf_bispectrum_init(&short_one, 16, &s), WEIR_ERR_CONFIG);
}

static weir_status make(void *context)
{
  const cf_bispectrum_opts o = {1, 0.6667, 1, 2};
  cf_bispectrum_slot r;
  cf_bispectrum s;

  (void)context;
  WEIR_TRY(cf_bispectrum_init(&o, 8, &s));
  const weir_status status = cf_bispectrum_slot_init(&s, &r);

  if (status == WEIR_OK) {
    cf_bispectrum_slot_fini(&s, &r);
  }
  cf_bispectrum_fini(&s);
  return status;
}

static void memory_that_is_missing_is_no_leak(void **state)
{
  NEEDS_FFTW();
  assert_true(weir_check_faults(make, NULL) >= 16);
}

/* Pk_library.Bk of Pylians 0.12 (single precision, NumPy 2.4.6; tests/bench/cosmo_pylians.py): P of
 * the first side and of the other two, B and Q of shells of two fundamental waves. */
static void pylians_has_the_same(void **state)
{
  enum { SIDE = 16, TRIANGLES = 3 };
  static const double pylians[TRIANGLES][4] = {
      {0.0810215512, 0.0810215512, -0.0980657049, -4.97960383},
      {0.0749705959, 0.0749705959, 0.00222905953, 0.132196052},
      {0.0810215512, 0.0749705959, -0.0194445133, -1.0942906},
  };
  cf_bispectrum_opts o;
  cf_bispectrum_slot r;
  cf_bispectrum s;

  NEEDS_FFTW();
  weir_opts_default(cf_bispectrum_options, sizeof o, &o);
  o.width = 2;
  o.ratio = 2;
  golden_density(SIDE, rho);
  assert_ok(cf_bispectrum_init(&o, SIDE, &s));
  assert_ok(cf_bispectrum_slot_init(&s, &r));
  cf_bispectrum_measure(&s, &r, rho);
  assert_int_equal(s.n_triangles, TRIANGLES);
  for (int t = 0; t < TRIANGLES; t++) {
    const double one = 2e-5 * r.sigma[t];

    assert_near(r.power[s.triangle[t].first], pylians[t][0], 1e-7);
    assert_near(r.power[s.triangle[t].other], pylians[t][1], 1e-7);
    assert_near(r.b[t], pylians[t][2], one);
    assert_near(r.q[t], pylians[t][3], one * fabs(r.q[t] / r.b[t]) + 1e-6);
  }
  cf_bispectrum_slot_fini(&s, &r);
  cf_bispectrum_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(estimates_are_sums_over_triangles),
      cmocka_unit_test(pylians_has_the_same),
      cmocka_unit_test(waves_have_a_known_bispectrum),
      cmocka_unit_test(gaussian_fields_have_none),
      cmocka_unit_test(white_noise_has_its_third_moment),
      cmocka_unit_test(a_constant_field_has_none),
      cmocka_unit_test(samples_without_shells_are_refused),
      cmocka_unit_test(memory_that_is_missing_is_no_leak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
