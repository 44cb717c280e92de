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

#endif
