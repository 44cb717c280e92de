/* tracers_test.c - the fit of the baryonic correction model, Poisson numbers and their spectrum,
 * and universes with both. */
#include <string.h>
#include "data/simulation/universe.h"
#include "data/volume/volume_info.h"
#include "device/weir_parallel.h"
#include "support/cosmoflow/mesh_check.h"

/* BaryonsSchneider15.boost_factor of pyccl 3.3.6, of k in h/Mpc times h. */
static void the_fit_is_that_of_pyccl(void **state)
{
  static const struct {
    double mass, ejection, k, z, expected;
  } cases[] = {
      {1.2e14, 0.5, 0.1, 0, 0.99964430335563},  {1.2e14, 0.5, 0.7, 0, 0.922674839819054},
      {1.2e14, 0.5, 3, 0.5, 0.803134460970308}, {1.2e14, 0.5, 20, 3, 1.05212975502348},
      {3e13, 0.7, 0.5, 1, 0.96697818177785},    {1e15, 0.3, 1.5, 0, 0.785416137498065},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const cf_feedback_opts o = {cases[i].mass, cases[i].ejection};

    assert_near(cf_feedback_boost(&o, cases[i].k, cases[i].z) / cases[i].expected, 1, 1e-12);
  }
}

/* The spectrum becomes S times that of the density, in each bin as its waves have it; the mean and
 * the phases remain. */
static void feedback_scales_the_spectrum(void **state)
{
  enum { N = 32 };
  const cf_feedback_opts o = {1.2e14, 0.5};

  NEEDS_FFTW();
  check_box b = check_open(N, 100);
  double before[N / 2], mean = 0, least = 1, most = 0;

  assert_ok(cf_field_draw(b.m, &b.l, b.box, 3, false, b.delta));
  cf_mesh_backward(b.m, b.delta);
  for (int64_t i = 0; i < N * N * b.pitch; i++) {
    b.field[5][i] = 1 + 0.02F * b.delta[i]; /* far from 0 */
    b.field[6][i] = b.field[5][i];
  }
  cf_mesh_forward(b.m, b.field[5]);
  cf_power_measure(&b.power, b.m, b.field[5], 1, 0);
  memcpy(before, b.power.p, sizeof before);
  cf_feedback_apply(&o, b.m, b.box, 0.5, b.field[6]);
  cf_mesh_forward(b.m, b.field[6]);
  mean = (double)b.field[6][0];
  cf_power_measure(&b.power, b.m, b.field[6], 1, 0);
  for (int64_t i = 0; i < N / 2; i++) {
    const double width = 2 * PI / b.box / 2, ratio = b.power.p[i] / before[i];
    const double upper = cf_feedback_boost(&o, fmax(b.power.k[i] - 1.2 * width, 1e-3), 0.5);

    assert_true(ratio < upper + 1e-5);
    assert_true(ratio > cf_feedback_boost(&o, b.power.k[i] + 1.2 * width, 0.5) - 1e-5);
    least = fmin(least, ratio);
    most = fmax(most, ratio);
  }
  assert_near(mean, 1, 1e-6);
  assert_true(most > 0.999 && least < 0.9);
  check_close(&b);
}

/* Mean, variance and the share of each number, five sigma. */
static void numbers_are_of_poisson(void **state)
{
  static const double means[] = {0.05, 0.7, 4, 29.9, 30, 150, 4000};
  enum { DRAWS = 20000, NUMBERS = 64 };

  for (size_t m = 0; m < sizeof means / sizeof means[0]; m++) {
    const double mean = means[m];
    const int64_t first = (int64_t)fmax(0, mean - NUMBERS / 2);
    double sum = 0, square = 0, count[NUMBERS] = {0};

    for (uint64_t i = 0; i < DRAWS; i++) {
      const double n = cf_poisson(mean, m, i);

      assert_true(n >= 0 && n == floor(n));
      sum += n;
      square += (n - mean) * (n - mean);
      if (n >= (double)first && n < (double)(first + NUMBERS)) {
        count[(int64_t)n - first]++;
      }
    }
    assert_near(sum / DRAWS, mean, 5 * sqrt(mean / DRAWS));
    assert_near(square / DRAWS, mean, 5 * sqrt((mean + 2 * mean * mean) / DRAWS));
    for (int64_t k = 0; k < NUMBERS; k++) {
      const double n = (double)(first + k);
      const double expected = DRAWS * exp(n * log(mean) - mean - lgamma(n + 1));

      assert_true(fabs(count[k] - expected) < 5 * sqrt(expected) + 1);
    }
  }
  assert_true(cf_poisson(0, 1, 1) == 0 && cf_poisson(NAN, 1, 1) == 0);
}

/* Of a uniform density the spectrum is the shot noise, V over the number of tracers. */
static void tracers_have_shot_noise(void **state)
{
  enum { N = 32 };
  const double per_cell = 0.6;

  NEEDS_FFTW();
  check_box b = check_open(N, 64);
  double sum = 0, chi2 = 0;

  for (int64_t i = 0; i < N * N * b.pitch; i++) {
    b.field[5][i] = i / b.pitch % 2 == 0 ? 0 : 7; /* half of the lines are empty */
    b.field[6][i] = 7;
  }
  cf_tracers_draw(b.m, per_cell, 5, b.field[5]);
  cf_tracers_draw(b.m, per_cell, 5, b.field[6]);
  for (int64_t row = 0; row < N * N; row++) {
    for (int64_t z = 0; z < N; z++) {
      sum += (double)b.field[5][row * b.pitch + z];
      assert_true(row % 2 != 0 || b.field[5][row * b.pitch + z] == 0);
    }
  }
  const double cells = (double)N * N * N, volume = b.box * b.box * b.box;

  assert_near(sum / (per_cell * cells), 1, 5 / sqrt(per_cell * cells));
  cf_mesh_forward(b.m, b.field[6]);
  cf_power_measure(&b.power, b.m, b.field[6], per_cell, 0);
  for (int64_t i = 0; i < b.power.n_bins; i++) {
    const double shot = volume / (per_cell * cells), ratio = b.power.p[i] / shot;

    assert_near(ratio, 1, 5 * sqrt(2 / b.power.modes[i]));
    chi2 += (ratio - 1) * (ratio - 1) * b.power.modes[i] / 2;
  }
  assert_near(chi2 / (double)b.power.n_bins, 1, 5 * sqrt(2 / (double)b.power.n_bins));
  check_close(&b);
}

/* ---- universes ---- */

enum { SIDE = 12, CELLS = SIDE * SIDE * SIDE };
static double two_redshifts[] = {0, 1};

static cf_universe_opts small(void)
{
  cf_universe_opts o;

  weir_opts_default(cf_universe_options, sizeof o, &o);
  o.side = SIDE;
  o.box = 60;
  o.redshifts = (weir_real_list){two_redshifts, 2};
  o.values = CF_VALUES_F32;
  return o;
}

static void make(const cf_universe_opts *o, int64_t universe, float out[CELLS * 2])
{
  cf_generator *g = NULL;
  cf_generator_workspace *r = NULL;

  assert_ok(cf_generator_create(o, 1, &g));
  assert_ok(cf_generator_workspace_create(g, &r));
  assert_ok(cf_generator_make(g, r, universe, out));
  cf_generator_workspace_destroy(&r);
  cf_generator_destroy(&g);
}

static void universes_have_tracers(void **state)
{
  static float matter[CELLS * 2], one[CELLS * 2], again[CELLS * 2], other[CELLS * 2];
  cf_universe_opts o = small();
  double sum[2] = {0}, cross = 0, square = 0;

  NEEDS_FFTW();
  make(&o, 3, matter);
  o.tracers = 0.08; /* 10 in a cell of 5 Mpc/h */
  weir_threads_set(1);
  make(&o, 3, one);
  weir_threads_set(3);
  make(&o, 3, again);
  make(&o, 4, other);
  weir_threads_set(0);
  assert_memory_equal(one, again, sizeof one);
  assert_true(memcmp(one, other, sizeof one) != 0);
  for (int64_t i = 0; i < CELLS * 2; i++) {
    sum[i % 2] += (double)one[i];
    cross += ((double)one[i] / 10 - 1) * ((double)matter[i] - 1);
    square += ((double)matter[i] - 1) * ((double)matter[i] - 1);
  }
  assert_near(sum[0] / CELLS, 10, 5 * sqrt(10.0 / CELLS));
  assert_near(sum[1] / CELLS, 10, 5 * sqrt(10.0 / CELLS));
  assert_near(cross / square, 1, 0.05); /* they follow the matter */
}

static void options_are_told_apart(void **state)
{
  char text[5][CF_TEXT];
  cf_universe_opts o[5] = {small(), small(), small(), small(), small()};
  cf_universe_facts f;

  o[1].feedback.mass = 1e14;
  o[2].feedback.mass = 1e14;
  o[2].feedback.ejection = 0.6;
  o[3].tracers = 0.1;
  o[4].tracers = 0.1;
  o[4].feedback.mass = 1e14;
  for (int i = 0; i < 5; i++) {
    assert_ok(cf_universe_check(&o[i], &f));
    cf_universe_text(&o[i], &f, 0, text[i], sizeof text[i]);
    assert_int_equal(cf_universe_counts_whole(&o[i]), i == 0 || i > 2);
    for (int k = 0; k < i; k++) {
      assert_string_not_equal(text[i], text[k]);
    }
  }
  assert_true(strstr(text[0], "feedback") == NULL && strstr(text[0], "tracers") == NULL);
  o[1].values = CF_VALUES_I16;
  assert_int_equal(cf_universe_check(&o[1], &f), WEIR_ERR_CONFIG);
  o[4].values = CF_VALUES_I16;
  assert_ok(cf_universe_check(&o[4], &f));
  o[4].feedback.mass = 1e12;
  assert_int_equal(cf_universe_check(&o[4], &f), WEIR_ERR_CONFIG);
}

/* Samples and weights keep the whole line, whose end says what is observed. */
static void the_longest_line_is_kept(void **state)
{
  double z[CF_MAX_CHANNELS], range[] = {0.60123456789012345, 0.70123456789012345};
  char text[CF_TEXT];
  cf_universe_opts o = small();
  cf_universe_facts f;

  for (int i = 0; i < CF_MAX_CHANNELS; i++) {
    z[i] = 1.1234567890123456 + i * 0.01;
  }
  o.redshifts = (weir_real_list){z, CF_MAX_CHANNELS};
  o.method = CF_METHOD_PM;
  o.preset = CF_PRESET_CUSTOM;
  o.range.omega_m = o.range.sigma_8 = (weir_real_list){range, 2};
  o.range.n_s = o.range.h = (weir_real_list){range, 2};
  o.line_of_sight = CF_SIGHT_NONE + 1;
  o.feedback = (cf_feedback_opts){1.2345678901234567e14, 0.51234567890123456};
  o.tracers = 0.012345678901234567;
  assert_ok(cf_universe_check(&o, &f));
  cf_universe_text(&o, &f, UINT64_MAX, text, sizeof text);
  assert_true(strlen(text) > 1400 && strlen(text) < CF_MAX_SIMULATION);
  assert_true(strstr(text, " tracers in a (Mpc/h)^3") != NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_fit_is_that_of_pyccl), cmocka_unit_test(feedback_scales_the_spectrum),
      cmocka_unit_test(numbers_are_of_poisson),   cmocka_unit_test(tracers_have_shot_noise),
      cmocka_unit_test(universes_have_tracers),   cmocka_unit_test(options_are_told_apart),
      cmocka_unit_test(the_longest_line_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
