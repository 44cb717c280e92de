/* born_silicon_test.c - scattering in a thin silicon wire: sp3d5s* electrons, the vibrations of a
 * valence force field, the derivatives of the two-centre integrals. */
#include "model/scattering/born_test.h"
#include "model/silicon/silicon.h"
#include "pass/weir_pass.h"

static void silicon(const char *const *sets, int n_sets, int particle, qt_system *s, qt_gradient *g)
{
  const qt_device *d = qt_device_find("silicon_wire");
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

static const char *const thin[] = {"length=2", "height=1", "width=1"};

/* Energies about the highest valence band, which ends at -1.856 eV; phonons up to 66 meV. */
static void wire_init(int64_t energies, chain *c)
{
  chain_init(3, energies, 0.1, c);
  chain_fini(c);
  silicon(thin, 3, QT_ELECTRONS, &c->electrons, &c->gradient);
  silicon(thin, 3, QT_PHONONS, &c->phonons, NULL);
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
  silicon(wide, 3, QT_PHONONS, &c.phonons, NULL);
  refuse(&c, "give the same device as phonons");
  qt_system_fini(&c.phonons);
  silicon(stretched, 4, QT_PHONONS, &c.phonons, NULL);
  refuse(&c, "Angstrom from that of the device along x");
  chain_fini(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(split_sums_give_the_same),
      cmocka_unit_test(sizes_are_those_of_the_wire),
      cmocka_unit_test(other_atoms_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
