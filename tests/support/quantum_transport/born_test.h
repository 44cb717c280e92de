/* born_test.h - a chain whose electrons scatter. Tests only. */
#ifndef QT_BORN_TEST_H
#define QT_BORN_TEST_H
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "model/device.h"
#include "model/scattering/born.h"
#include "model/scattering/self_energy.h"
#include "model/units.h"

/* ---- A chain of atoms, one orbital and one displacement each ---- */

enum { MAX_ENERGIES = 121, SETS = 4, TEXT = 64 };

typedef struct chain {
  qt_system electrons, phonons;
  qt_gradient gradient;
  double energy[MAX_ENERGIES], k[1][2];
  qt_reservoir reservoir[QT_LEADS];
  qt_scattering_opts opts;
  qt_lead_opts lead;
  qt_born_spec spec;
} chain;

static inline void build(const char *kind, const char *const *sets, int n_sets, qt_system *out)
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
static inline void chain_init(int64_t atoms, int64_t energies, double coupling, chain *c)
{
  const double spring = 9.7e-4 * 28.0855 / (QT_VIBRATION * QT_NEWTON);
  char text[SETS][TEXT];
  const char *const sets[] = {text[0], text[1], text[2], text[3]};

  memset(c, 0, sizeof *c);
  assert_true(energies <= MAX_ENERGIES);
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

static inline void chain_fini(chain *c)
{
  qt_gradient_fini(&c->gradient);
  qt_system_fini(&c->electrons);
  qt_system_fini(&c->phonons);
}

static inline void assert_relative(const char *what, double x, double expected, double tolerance)
{
  if (!(fabs(x - expected) <= tolerance * fabs(expected))) {
    fail_msg("%s: %.10g, expected %.10g", what, x, expected);
  }
}

/* ---- The table of reference values: currents in uA, powers in uW ---- */

typedef struct born_row {
  double coupling;
  int retarded, state;
  double current, elastic[2], power, heat[2], tolerance;
  int64_t iterations; /* of simple mixing */
} born_row;

enum { ROWS = 5 };

static inline const born_row *born_table(void)
{
  static const born_row table[ROWS] = {
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

  return table;
}

/* A chain of 20 atoms as a row says. */
static inline void row_init(const born_row *r, chain *c)
{
  chain_init(20, 121, r->coupling, c);
  c->opts.retarded = r->retarded;
  c->opts.phonons.state = r->state;
  c->opts.tolerance = 1e-8;
}

/* The printed powers have six digits. */
static inline void check_row(const born_row *r, const qt_born *b)
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
}

#endif
