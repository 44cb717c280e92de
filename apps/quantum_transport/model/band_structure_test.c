/* band_structure_test.c - closed forms, the general eigenproblem, and modes counted at an energy.
 */
#include "model/band_structure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "base/weir_sort.h"
#include "ops/linear/weir_linear.h"

enum { CAPACITY = 110, SQUARE = CAPACITY * CAPACITY };
static weir_c128 h0[SQUARE], h1[SQUARE], s0[SQUARE], s1[SQUARE];

static double draw(uint32_t which, int64_t i)
{
  return weir_random_uniform(11, which, 0, (uint64_t)i) - 0.5;
}

/* A random Hermitian cell with a small overlap, coupled to its neighbours. */
static qt_cell make_cell(int64_t n, bool overlap)
{
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      const int64_t low = i < j ? i : j, high = i < j ? j : i, at = low * n + high;
      const double sign = i == j ? 0 : i < j ? 1 : -1, small = 0.4 / (double)n;

      h0[i * n + j] = (weir_c128){2 * draw(1, at), sign * draw(2, at)};
      s0[i * n + j] = (weir_c128){(i == j) + small * draw(3, at), small * sign * draw(4, at)};
      h1[i * n + j] = (weir_c128){draw(5, i * n + j), draw(6, i * n + j)};
      s1[i * n + j] = (weir_c128){small * draw(7, i * n + j), small * draw(8, i * n + j)};
    }
  }
  return (qt_cell){n, h0, h1, overlap ? s0 : NULL, overlap ? s1 : NULL};
}

static void chains_have_their_bands(void **state)
{
  const double e0 = 0.3, t = -1.2, s = 0.1;
  qt_band_structure b;

  for (int overlap = 0; overlap < 2; overlap++) {
    for (int64_t points = 2; points < 40; points += 17) {
      h0[0] = (weir_c128){e0, 0};
      h1[0] = (weir_c128){t, 0};
      s1[0] = (weir_c128){s, 0};
      const qt_cell c = {1, h0, h1, NULL, overlap ? s1 : NULL};

      assert_ok(qt_band_structure_create(&c, QT_ELECTRONS, points, 0, &b));
      assert_true(b.wave_vector[0] == -1 && b.wave_vector[points - 1] == 1);
      for (int64_t i = 0; i < points; i++) {
        const double two_cos = 2 * cos(M_PI * b.wave_vector[i]);

        assert_true(fabs(b.energy[i] - (e0 + t * two_cos) / (1 + overlap * s * two_cos)) < 1e-14);
      }
      qt_band_structure_fini(&b);
    }
  }
}

static void phonons_are_given_as_energies(void **state)
{
  const double k = 4e-4;
  qt_band_structure b;

  h0[0] = (weir_c128){2 * k, 0};
  h1[0] = (weir_c128){-k, 0};
  const qt_cell c = {1, h0, h1, NULL, NULL};

  assert_ok(qt_band_structure_create(&c, QT_PHONONS, 21, 1, &b));
  for (int64_t i = 0; i < 21; i++) {
    assert_true(fabs(b.energy[i] - 2 * sqrt(k) * fabs(sin(M_PI / 2 * b.wave_vector[i]))) < 1e-9);
  }
  qt_band_structure_fini(&b);
  h0[0].re = k; /* unstable: (hbar omega)^2 = -k at k_x = 0 */
  assert_ok(qt_band_structure_create(&c, QT_PHONONS, 3, 1, &b));
  assert_true(fabs(b.energy[1] + sqrt(k)) < 1e-12);
  qt_band_structure_fini(&b);
}

/* Against eigenvalues of H u = E S u by the QZ iteration, of cells of one and of several stripes.
 */
static void overlaps_count(void **state)
{
  static weir_c128 h[SQUARE], s[SQUARE], alpha[CAPACITY], beta[CAPACITY], vector[SQUARE];
  static double value[CAPACITY];
  void *work = NULL;
  qt_band_structure b;

  assert_ok(weir_alloc(weir_linear_pair_work(CAPACITY), 1, &work));
  for (int64_t n = 1; n <= CAPACITY; n = n < 3                  ? n + 1
                                         : 2 * n + 1 < CAPACITY ? 2 * n + 1
                                                                : n + CAPACITY) {
    const qt_cell c = make_cell(n, true);

    assert_ok(qt_band_structure_create(&c, QT_ELECTRONS, 6, 2, &b));
    for (int64_t p = 0; p < 6; p++) {
      const double re = cos(M_PI * b.wave_vector[p]), im = sin(M_PI * b.wave_vector[p]);

      for (int64_t i = 0; i < n * n; i++) {
        const int64_t turned = i % n * n + i / n;
        const weir_c128 x = h1[i], y = h1[turned], u = s1[i], v = s1[turned];

        h[i] = (weir_c128){h0[i].re + re * (x.re + y.re) - im * (x.im + y.im),
                           h0[i].im + re * (x.im - y.im) + im * (x.re - y.re)};
        s[i] = (weir_c128){s0[i].re + re * (u.re + v.re) - im * (u.im + v.im),
                           s0[i].im + re * (u.im - v.im) + im * (u.re - v.re)};
      }
      assert_true(weir_linear_pair(n, h, s, alpha, beta, vector, work));
      for (int64_t i = 0; i < n; i++) {
        const double square = beta[i].re * beta[i].re + beta[i].im * beta[i].im;

        value[i] = (alpha[i].re * beta[i].re + alpha[i].im * beta[i].im) / square;
      }
      qsort(value, (size_t)n, sizeof *value, weir_compare_f64);
      for (int64_t i = 0; i < n; i++) {
        assert_true(fabs(value[i] - b.energy[p * n + i]) < 1e-10);
      }
    }
    qt_band_structure_fini(&b);
  }
  weir_free(&work);
}

/* A band crosses an energy twice for each mode that propagates to one side there. */
static void crossings_are_modes(void **state)
{
  enum { N = 5, POINTS = 2001 };
  static weir_c128 sigma[2][N * N];
  qt_lead_opts opts;
  qt_band_structure b;

  weir_opts_default(qt_lead_options, sizeof opts, &opts);
  opts.method = QT_LEAD_MODES;
  for (int overlap = 0; overlap < 2; overlap++) {
    const qt_cell c = make_cell(N, overlap);

    assert_ok(qt_band_structure_create(&c, QT_ELECTRONS, POINTS, 0, &b));
    for (int e = 0; e < 40; e++) {
      const double energy = 5 * draw(20, e);
      qt_lead_result got = {.sigma = {sigma[0], sigma[1]}};
      int64_t crossings = 0;

      for (int64_t i = 0; i < (POINTS - 1) * N; i++) {
        crossings += (b.energy[i] < energy) != (b.energy[i + N] < energy);
      }
      assert_ok(qt_lead_solve(&opts, &c, energy, 0, &got));
      assert_int_equal(crossings, 2 * got.n_modes);
    }
    qt_band_structure_fini(&b);
  }
}

static void an_overlap_that_is_not_definite_is_named(void **state)
{
  qt_band_structure b;

  h0[0] = h1[0] = (weir_c128){1, 0};
  s1[0] = (weir_c128){0.8, 0};
  const qt_cell c = {1, h0, h1, NULL, s1};

  assert_int_equal(qt_band_structure_create(&c, QT_ELECTRONS, 5, 0, &b), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "k_x a = -1 pi"));
  assert_null(b.energy);
}

static weir_status make(void *context)
{
  qt_band_structure b;
  const weir_status status = qt_band_structure_create(context, QT_ELECTRONS, 3, 2, &b);

  qt_band_structure_fini(&b);
  return status;
}

static void memory_that_is_refused_is_reported(void **state)
{
  qt_cell c = make_cell(3, true);

  assert_true(weir_check_faults(make, &c) > 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_have_their_bands),
      cmocka_unit_test(phonons_are_given_as_energies),
      cmocka_unit_test(overlaps_count),
      cmocka_unit_test(crossings_are_modes),
      cmocka_unit_test(an_overlap_that_is_not_definite_is_named),
      cmocka_unit_test(memory_that_is_refused_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
