/* born_test.c - scattering in a chain against a table that another program computed, and what
 * must hold: equilibrium, conservation, the limit without coupling, refusals. */
#include "model/scattering/born.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "model/device.h"
#include "model/scattering/self_energy.h"
#include "model/units.h"

/* ---- A chain of atoms, one orbital and one displacement each ---- */

enum { MOST_ENERGIES = 121, SETS = 4, TEXT = 64 };

typedef struct chain {
  qt_system electrons, phonons;
  qt_gradient gradient;
  double energy[MOST_ENERGIES], k[1][2];
  qt_reservoir reservoir[QT_LEADS];
  qt_scattering_opts opts;
  qt_lead_opts lead;
  qt_born_spec spec;
} chain;

static void build(const char *kind, const char *const *sets, int n_sets, qt_system *out)
{
  const qt_device *d = qt_device_find(kind);
  weir_config *config = NULL;
  void *opts = NULL;

  assert_ok(weir_alloc(1, d->opts_size, &opts));
  assert_ok(weir_config_load(d->opts, d->opts_size, NULL, 0, sets, n_sets, opts, &config));
  assert_ok(d->build(opts, 1, out));
  weir_config_destroy(&config);
  weir_free(&opts);
}

/* e0 = 0.2 eV, t = -0.1 eV, hbar^2 K / M = 9.7e-4 eV^2; nabla H = +-coupling eV / Angstrom;
 * energies from -0.0987 eV by 5 meV. */
static void chain_init(int64_t atoms, int64_t energies, double coupling, chain *c)
{
  const double spring = 9.7e-4 * 28.0855 / (QT_VIBRATION * QT_NEWTON);
  char text[SETS][TEXT];
  const char *const sets[] = {text[0], text[1], text[2], text[3]};

  memset(c, 0, sizeof *c);
  assert_true(energies <= MOST_ENERGIES);
  (void)snprintf(text[0], TEXT, "sites=%lld", (long long)atoms);
  (void)snprintf(text[1], TEXT, "onsite=0.2");
  (void)snprintf(text[2], TEXT, "hopping=-0.1");
  build("chain", sets, 3, &c->electrons);
  (void)snprintf(text[1], TEXT, "spring=%.17g", spring);
  (void)snprintf(text[2], TEXT, "mass=28.0855");
  build("harmonic_chain", sets, 3, &c->phonons);
  assert_ok(qt_gradient_create(&c->electrons, 0, &c->gradient));
  qt_gradient_scale(&c->electrons, coupling / 0.1, &c->gradient);
  for (int e = 0; e < energies; e++) {
    c->energy[e] = -0.1 + 0.0013 + 0.005 * e;
  }
  weir_opts_default(qt_scattering_options, sizeof c->opts, &c->opts);
  weir_opts_default(qt_lead_options, sizeof c->lead, &c->lead);
  c->opts.phonons.frequencies = 12;
  c->reservoir[QT_LEFT] = (qt_reservoir){0.12, 300};
  c->reservoir[QT_RIGHT] = (qt_reservoir){0.02, 300};
  c->spec = (qt_born_spec){.electrons = &c->electrons,
                           .phonons = &c->phonons,
                           .gradient = &c->gradient,
                           .opts = &c->opts,
                           .lead = &c->lead,
                           .n_k = 1,
                           .k = (const double(*)[2])c->k,
                           .n_energies = energies,
                           .energy = c->energy,
                           .reservoir = c->reservoir,
                           .threads = 1,
                           .quiet = true};
}

static void chain_fini(chain *c)
{
  qt_gradient_fini(&c->gradient);
  qt_system_fini(&c->electrons);
  qt_system_fini(&c->phonons);
}

static void assert_relative(const char *what, double x, double expected, double tolerance)
{
  if (!(fabs(x - expected) <= tolerance * fabs(expected))) {
    fail_msg("%s: %.10g, expected %.10g", what, x, expected);
  }
}

/* ---- The table: currents in uA, powers in uW ---- */

typedef struct row {
  double coupling;
  int retarded, state;
  double current, elastic[2], power, heat[2], tolerance;
  int64_t iterations;
} row;

static const row table[] = {
    {0.15,
     QT_RETARDED_FULL,
     QT_PHONONS_COUPLED,
     6.0721418,
     {6.0714747, 6.0712981},
     0.0119027,
     {-0.0058062, -0.0060966},
     1e-6,
     12},
    {0.3,
     QT_RETARDED_HALF,
     QT_PHONONS_BATH,
     4.5872219,
     {4.5818977, 4.5786910},
     0.0454963,
     {0, 0},
     1e-6,
     23},
    {0.3,
     QT_RETARDED_HALF,
     QT_PHONONS_COUPLED,
     4.2894523,
     {4.2825494, 4.2797616},
     0.0228548,
     {-0.0104096, -0.0124452},
     1e-6,
     30},
    {0.3,
     QT_RETARDED_FULL,
     QT_PHONONS_COUPLED,
     4.3270900,
     {4.3206004, 4.3190601},
     0.0227185,
     {-0.0105353, -0.0121832},
     1e-6,
     30},
    {0.6,
     QT_RETARDED_HALF,
     QT_PHONONS_COUPLED,
     2.1674138,
     {2.1315161, 2.1099271},
     0.0253421,
     {-0.0109929, -0.0143492},
     5e-6,
     98},
};

/* The printed powers have six digits. */
static void check_row(const row *r, const qt_born *b)
{
  const qt_born_step *last = &b->step[b->n_steps - 1];
  const double micro = 1e-6, digits = 5e-8 * micro;
  const double power = last->energy[QT_LEFT] + last->energy[QT_RIGHT];

  assert_relative("current", last->current[QT_LEFT], r->current * micro, r->tolerance);
  assert_relative("first cut", b->elastic[0], r->elastic[0] * micro, r->tolerance);
  assert_relative("last cut", b->elastic[b->n_cuts - 1], r->elastic[1] * micro, r->tolerance);
  assert_true(fabs(power - r->power * micro) <= r->tolerance * power + digits);
  for (int c = 0; c < QT_LEADS && r->state == QT_PHONONS_COUPLED; c++) {
    assert_true(fabs(last->heat[c] - r->heat[c] * micro) <= r->tolerance * power + digits);
  }
  assert_int_equal(b->n_steps - 1, r->iterations);
}

/* Contacts, cuts with hops, and powers. */
static void check_conservation(const row *r, const qt_born *b)
{
  const qt_born_step *last = &b->step[b->n_steps - 1];
  const double current = last->current[QT_LEFT];
  double gain[2] = {0, 0};

  assert_true(last->current_error <= 1e-6);
  assert_true(last->energy_error <= 1e-6);
  assert_true(last->identity_error <= 1e-8);
  for (int64_t n = 0; n < b->n_cuts; n++) {
    assert_relative("cut with hops", b->elastic[n] + b->hop[n], current, 1e-6);
  }
  for (int64_t a = 0; a < b->n_atoms; a++) {
    gain[0] += b->gain_of_electrons[a];
    gain[1] += b->gain_of_phonons[a];
  }
  assert_relative("power of phonons", gain[1], -gain[0], 1e-11);
  assert_relative("power of contacts", last->energy[QT_LEFT] + last->energy[QT_RIGHT], gain[1],
                  1e-6);
  for (int64_t i = 1; i < b->n_steps && r->state == QT_PHONONS_COUPLED; i++) {
    assert_relative("power at any time", b->step[i].gain_of_phonons, -b->step[i].gain_of_electrons,
                    1e-10);
  }
}

static void table_is_reproduced(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    chain c;
    qt_born b;

    chain_init(20, 121, table[i].coupling, &c);
    c.opts.retarded = table[i].retarded;
    c.opts.phonons.state = table[i].state;
    c.opts.tolerance = 1e-8;
    assert_ok(qt_born_create(&c.spec, &b));
    check_row(&table[i], &b);
    check_conservation(&table[i], &b);
    assert_relative("without scattering", b.step[0].current[QT_LEFT], 7.0360739e-6, 1e-8);
    assert_true(b.step[b.n_steps - 1].current[QT_LEFT] < b.step[0].current[QT_LEFT]);
    qt_born_fini(&b);
    chain_fini(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_is_reproduced),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
