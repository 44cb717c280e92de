/* device_test.c - devices of their default options, and the harmonic chain in closed form. */
#include "model/device.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "model/system_check.h"
#include "model/units.h"

enum { SITES = 9, SITE = 4 };

static weir_status build(const char *kind, const char *const *sets, int n_sets, qt_system *out)
{
  const qt_device *d = qt_device_find(kind);
  weir_config *config = NULL;
  void *opts = NULL;
  weir_status status = WEIR_OK;

  *out = (qt_system){.n = 0};
  WEIR_TRY_GOTO(weir_alloc(1, d->opts_size, &opts), done);
  WEIR_TRY_GOTO(weir_config_load(d->opts, d->opts_size, NULL, 0, sets, n_sets, opts, &config),
                done);
  status = d->build(opts, 1, out);
done:
  weir_config_destroy(&config);
  weir_free(&opts);
  return status;
}

static void devices_of_default_options_are_sound(void **state)
{
  const char *const kinds[] = {"agnr",   "chain", "harmonic_chain", "silicon_fin", "silicon_wire",
                               "square", "zgnr"};

  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    qt_system s;

    assert_int_equal(weir_opts_incomplete(qt_device_find(kinds[i])->opts), 0);
    assert_ok(build(kinds[i], NULL, 0, &s));
    assert_ok(qt_system_check(&s, 1e-14));
    qt_system_fini(&s);
  }
}

/* What is refused before it is built is not smaller than what is built. */
static void rows_of_a_block_are_known_before_it_is_built(void **state)
{
  static const struct {
    const char *kind, *set[3];
  } cases[] = {
      {"square", {"width=7"}},
      {"agnr", {"width=4"}},
      {"zgnr", {"width=3"}},
      {"silicon_wire", {"height=1", "width=1"}},
      {"silicon_wire", {"height=2", "width=3", "electrons.spin_orbit=true"}},
      {"silicon_wire", {"height=3", "width=2", "particle=phonons"}},
      {"silicon_fin", {"height=1"}},
      {"silicon_fin", {"height=3", "electrons.passivation=hydrogen"}},
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const qt_device *d = qt_device_find(cases[i].kind);
    weir_config *config = NULL;
    void *opts = NULL;
    int sets = 0;
    qt_system s = {.n = 0};

    while (sets < 3 && cases[i].set[sets] != NULL) {
      sets++;
    }
    assert_ok(weir_alloc(1, d->opts_size, &opts));
    assert_ok(weir_config_load(d->opts, d->opts_size, NULL, 0, cases[i].set, sets, opts, &config));
    assert_ok(d->build(opts, 1, &s));
    const double rows = (double)s.block[1];

    assert_true((double)d->rows(opts) <= rows && (double)d->rows(opts) > 0.7 * rows);
    qt_system_fini(&s);
    weir_config_destroy(&config);
    weir_free(&opts);
  }
}

/* The plane wave that comes from the left: exp(i k n) + (t - 1) exp(-i k n) before the defect,
 * t exp(i k n) after it. */
static weir_c128 wave(double k, weir_c128 t, int64_t n)
{
  const double c = cos(k * (double)n), s = sin(k * (double)n);

  if (n < 0) {
    return (weir_c128){c + (t.re - 1) * c + t.im * s, s - (t.re - 1) * s + t.im * c};
  }
  return (weir_c128){t.re * c - t.im * s, t.re * s + t.im * c};
}

/* K = M = 1, defect r: T(omega) = 1 / (1 + (r - 1)^2 omega^2 / (4 - omega^2)) of the wave that
 * solves the equations of motion. */
static void waves_pass_a_mass_defect_as_in_closed_form(void **state)
{
  const char *const sets[] = {"sites=9", "defect_site=4", "spring=1", "mass=1", "defect_mass=1.5"};
  const double unit = QT_VIBRATION * QT_NEWTON, mass[2] = {1, 1.5};
  qt_system s;

  assert_ok(build("harmonic_chain", sets, 5, &s));
  assert_int_equal(s.n, SITES);
  assert_true(s.atom[SITE].mass == 1.5 && s.atom[SITE + 1].mass == 1);
  for (double omega = 0.2; omega < 2; omega += 0.4) {
    const double k = 2 * asin(omega / 2), x = 0.5 * omega * omega / (2 * sin(k));
    const weir_c128 t = {1 / (1 + x * x), x / (1 + x * x)}; /* 1 / (1 - i x) */

    assert_near(t.re * t.re + t.im * t.im, 1 / (1 + 0.25 * omega * omega / (4 - omega * omega)),
                1e-14);
    for (int64_t r = 1; r < SITES - 1; r++) {
      weir_c128 rest = {0, 0};

      for (int64_t c = r - 1; c <= r + 1; c++) {
        const weir_c128 u = wave(k, t, c - SITE);
        const double h = qt_sparse_get(&s.h.matrix[0], r, c).re / unit - (c == r) * omega * omega;

        rest.re += h * sqrt(mass[c == SITE]) * u.re;
        rest.im += h * sqrt(mass[c == SITE]) * u.im;
      }
      assert_true(hypot(rest.re, rest.im) < 1e-13);
    }
  }
  qt_system_fini(&s);
}

static void defects_at_a_lead_are_refused(void **state)
{
  const char *const sets[] = {"sites=9", "defect_site=8"};
  qt_system s;

  assert_int_equal(build("harmonic_chain", sets, 2, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "harmonic_chain.defect_site: 8 of 9 sites"));
  qt_system_fini(&s);
}

static weir_status make(void *context)
{
  const qt_device *d = qt_device_find(context);
  double opts[16]; /* of either chain */
  qt_system s = {.n = 0};

  assert_true(d->opts_size <= sizeof opts);
  weir_opts_default(d->opts, d->opts_size, opts);
  const weir_status status = d->build(opts, 1, &s);

  qt_system_fini(&s);
  return status;
}

static void missing_memory_is_reported(void **state)
{
  char kinds[2][16] = {"chain", "harmonic_chain"};

  assert_true(weir_check_faults(make, kinds[0]) > 10);
  assert_true(weir_check_faults(make, kinds[1]) > 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_of_default_options_are_sound),
      cmocka_unit_test(rows_of_a_block_are_known_before_it_is_built),
      cmocka_unit_test(waves_pass_a_mass_defect_as_in_closed_form),
      cmocka_unit_test(defects_at_a_lead_are_refused),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
