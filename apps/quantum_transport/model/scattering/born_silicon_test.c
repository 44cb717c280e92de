/* born_silicon_test.c - scattering in a thin silicon wire and in a slab of silicon with a period:
 * sp3d5s* electrons, the vibrations of a valence force field, the derivatives of the two-centre
 * integrals. */
#include "support/quantum_transport/born_test.h"
#include "model/silicon/silicon.h"
#include "pass/weir_pass.h"

static void silicon(const char *device, const char *const *sets, int n_sets, int particle,
                    qt_system *s, qt_gradient *g)
{
  const qt_device *d = qt_device_find(device);
  weir_config *config = NULL;
  qt_silicon_opts o;

  assert_ok(weir_config_load(d->opts, d->opts_size, NULL, 0, sets, n_sets, &o, &config));
  o.particle = particle;
  assert_ok(d->build(&o, 1, s));
  if (g != NULL) {
    assert_ok(d->gradient(&o, s, g));
  }
  weir_config_destroy(&config);
}

enum { FIN_ENERGIES = 10 };

static const char *const thin[] = {"length=2", "height=1", "width=1"};

/* Energies about the highest valence band, which ends at -1.856 eV; phonons up to 66 meV. */
static void wire_init(int64_t energies, chain *c)
{
  chain_init(3, energies, 0.1, c);
  chain_fini(c);
  silicon("silicon_wire", thin, 3, QT_ELECTRONS, &c->electrons, &c->gradient);
  silicon("silicon_wire", thin, 3, QT_PHONONS, &c->phonons, NULL);
  for (int e = 0; e < energies; e++) {
    c->energy[e] = -1.9283 + 0.0055 * e;
  }
  c->opts.retarded = QT_RETARDED_HALF;
  c->opts.tolerance = c->opts.current_tolerance = 1; /* one iteration */
  c->reservoir[QT_LEFT].mu = -1.87;
  c->reservoir[QT_RIGHT].mu = -1.92;
}

/* What one gains the other loses, at all times; nothing depends on how the sums are split, nor on
 * the atoms at once. */
static void split_sums_give_the_same(void **state)
{
  const double all = 0, few = 0.5;
  qt_born first = {.n_steps = 0};
  chain c;

  (void)state;
  wire_init(18, &c);
  for (int way = 0; way < 3; way++) {
    qt_born b;

    c.opts.memory = way == 1 ? few : all;
    c.opts.fission = way == 2 ? WEIR_FISSION_REASSOCIATE : WEIR_FISSION_HOIST;
    assert_ok(qt_born_create(&c.spec, &b));
    const qt_born_step *last = &b.step[b.n_steps - 1];

    assert_true(last->gain_of_phonons != 0);
    assert_relative("power", last->gain_of_phonons, -last->gain_of_electrons, 1e-12);
    if (way == 0) {
      first = b;
      continue;
    }
    const qt_born_step *other = &first.step[first.n_steps - 1];

    assert_relative("current", last->current[QT_LEFT], other->current[QT_LEFT], 1e-10);
    assert_relative("power", last->gain_of_phonons, other->gain_of_phonons, 1e-9);
    for (int64_t n = 0; n < b.n_cuts; n++) {
      assert_relative("hops", b.hop[n], first.hop[n], 1e-9);
    }
    qt_born_fini(&b);
  }
  qt_born_fini(&first);
  chain_fini(&c);
}

/* As many as describe tells, and a run in less memory. */
static void sizes_are_those_of_the_wire(void **state)
{
  qt_born_size all, few;
  chain c;

  (void)state;
  wire_init(18, &c);
  c.opts.memory = 0;
  assert_ok(qt_born_size_of(&c.spec, &all));
  assert_int_equal(all.self_energy.n_atoms, c.electrons.n_atoms);
  assert_true(all.n_pairs > 0 && all.n_pairs <= 4 * c.electrons.n_atoms);
  assert_true(all.electron_flops > all.phonon_flops && all.phonon_flops > 0);
  assert_true(all.bytes > all.self_energy.memory && all.petsc_bytes == 0);
  c.opts.memory = 0.5;
  c.opts.method = QT_BORN_ANDERSON;
  assert_ok(qt_born_size_of(&c.spec, &few));
  assert_true(few.self_energy.n_atoms < all.self_energy.n_atoms);
  assert_true(few.bytes < all.bytes && few.petsc_bytes > 0);
  chain_fini(&c);
}

/* A slab one cubic cell high, of three wave vectors and three momenta of phonons: what must hold
 * does at each k as at one. Energies about its lowest subbands, from 2.21 eV at k = 0. */
static void slab_with_a_period_conserves(void **state)
{
  static const char *const sets[] = {"length=2", "height=1"};
  static const double k[3][2] = {{0, -1.0 / 3}, {0, 0}, {0, 1.0 / 3}};
  chain c;
  qt_born b;

  (void)state;
  chain_init(3, FIN_ENERGIES, 0.1, &c);
  chain_fini(&c);
  silicon("silicon_fin", sets, 2, QT_ELECTRONS, &c.electrons, &c.gradient);
  silicon("silicon_fin", sets, 2, QT_PHONONS, &c.phonons, NULL);
  for (int e = 0; e < FIN_ENERGIES; e++) {
    c.energy[e] = 2.2043 + 0.0165 * e;
  }
  c.spec.n_k = 3;
  c.spec.k = k;
  c.opts.phonons.frequencies = 4;
  c.opts.tolerance = 1e-8;
  c.opts.retarded = QT_RETARDED_HALF;
  c.reservoir[QT_LEFT].mu = 2.26;
  c.reservoir[QT_RIGHT].mu = 2.22;
  assert_ok(qt_born_create(&c.spec, &b));
  const qt_born_step *last = &b.step[b.n_steps - 1];
  const double current = last->current[QT_LEFT];

  assert_true(current < 0.9 * b.step[0].current[QT_LEFT]);
  assert_true(last->current_error <= 1e-6 && last->energy_error <= 1e-6);
  assert_true(last->identity_error <= 1e-8);
  for (int64_t n = 0; n < b.n_cuts; n++) {
    assert_relative("cut with hops", b.elastic[n] + b.hop[n], current, 1e-6);
    assert_true(fabs(b.hop[n]) > 1e-4 * current);
  }
  for (int64_t i = 1; i < b.n_steps; i++) {
    assert_relative("power at any time", b.step[i].gain_of_phonons, -b.step[i].gain_of_electrons,
                    1e-12);
  }
  assert_true(last->heat[QT_LEFT] < 0 && last->heat[QT_RIGHT] < 0);
  qt_born_fini(&b);
  chain_fini(&c);
}

static void refuse(chain *c, const char *message)
{
  qt_born b;

  assert_int_equal(qt_born_create(&c->spec, &b), WEIR_ERR_CONFIG);
  if (strstr(weir_last_message(), message) == NULL) {
    fail_msg("\"%s\" lacks \"%s\"", weir_last_message(), message);
  }
}

static void other_atoms_are_refused(void **state)
{
  static const char *const wide[] = {"length=2", "height=2", "width=1"};
  static const char *const stretched[] = {"length=2", "height=1", "width=1", "strain.x=0.01"};
  chain c;

  (void)state;
  wire_init(18, &c);
  qt_atom *atom = c.phonons.atom;
  const qt_atom third = atom[2];

  atom[2] = atom[3]; /* the same atoms in another order */
  atom[3] = third;
  refuse(&c, "atom 2 is ");
  qt_system_fini(&c.phonons);
  silicon("silicon_wire", wide, 3, QT_PHONONS, &c.phonons, NULL);
  refuse(&c, "give the same device as phonons");
  qt_system_fini(&c.phonons);
  silicon("silicon_wire", stretched, 4, QT_PHONONS, &c.phonons, NULL);
  refuse(&c, "Angstrom from that of the device along x");
  chain_fini(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(split_sums_give_the_same),
      cmocka_unit_test(sizes_are_those_of_the_wire),
      cmocka_unit_test(slab_with_a_period_conserves),
      cmocka_unit_test(other_atoms_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
