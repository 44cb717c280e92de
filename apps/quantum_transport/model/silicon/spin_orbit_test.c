/* spin_orbit_test.c - transmission of silicon wires and slabs with spin-orbit coupling: without its
 * strength twice that of a basis without spin; channels in Kramers pairs; time reversal. */
#include <math.h>
#include <string.h>

#include "base/weir_log.h"
#include "model/device.h"
#include "model/silicon/silicon.h"
#include "model/system_check.h"
#include "support/quantum_transport/transmission_test.h"

static void build(const char *kind, bool spin_orbit, double strength, qt_system *s)
{
  const qt_device *d = qt_device_find(kind);
  qt_silicon_opts o;

  weir_opts_default(d->opts, sizeof o, &o);
  o.length = 3;
  o.height = o.width = 1;
  o.electrons.spin_orbit = spin_orbit;
  o.electrons.energy.spin_orbit = strength;
  *s = (qt_system){.n = 0};
  assert_ok(d->build(&o, 0, s));
  assert_ok(qt_system_check(s, 1e-14));
  assert_true(qt_system_spin(s) == (spin_orbit ? 1 : 2));
}

/* Raises all orbitals of one atom of the middle cell. */
static void add_impurity(qt_system *s, double energy)
{
  const qt_atom *atom = &s->atom[s->n_atoms / 2];
  qt_sparse *h = &s->h.matrix[0];

  for (int64_t i = atom->first; i < atom->first + atom->n_orbitals; i++) {
    for (int64_t at = h->start[i]; at < h->start[i + 1]; at++) {
      h->value[at].re += h->column[at] == i ? energy : 0;
    }
  }
}

enum { ENERGIES = 3 };
static const double valence_and_conduction[ENERGIES] = {-3.61, 5.37, 9.71};

static void transmit(const qt_system *s, const double k[2], double t[ENERGIES])
{
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, ENERGIES, valence_and_conduction);
  qt_transport out;

  spec.k = (const double(*)[2])k;
  assert_ok(qt_transport_create(s, &spec, &out));
  assert_int_equal(out.n_shifted, 0);
  memcpy(t, out.transmission, ENERGIES * sizeof *t);
  qt_transport_fini(&out);
}

static void spin_without_coupling_doubles_the_transmission(void **state)
{
  static const double k[2] = {0, 0.21};
  static const char *const kinds[] = {"silicon_wire", "silicon_fin"};

  for (int kind = 0; kind < 2; kind++) {
    double one[ENERGIES], both[ENERGIES], rest = 0;
    qt_system s;

    for (int spin = 0; spin < 2; spin++) {
      build(kinds[kind], spin == 1, 0, &s);
      add_impurity(&s, 0.7);
      transmit(&s, k, spin ? both : one);
      qt_system_fini(&s);
    }
    for (int i = 0; i < ENERGIES; i++) {
      assert_near(both[i], 2 * one[i], 1e-10);
      rest = fmax(rest, fabs(one[i] - round(one[i])));
    }
    assert_true(rest > 0.01); /* the impurity reflects */
  }
}

/* A wire's channels come in pairs that time reversal makes of one another. */
static void channels_of_wires_come_in_pairs(void **state)
{
  static const double none[2] = {0, 0};
  double t[ENERGIES], plain[ENERGIES], open = 0;
  qt_system s;

  build("silicon_wire", false, 0, &s);
  transmit(&s, none, plain);
  qt_system_fini(&s);
  for (double strength = 0.02; strength < 1; strength *= 20) {
    build("silicon_wire", true, strength, &s);
    transmit(&s, none, t);
    for (int i = 0; i < ENERGIES; i++) {
      assert_near(t[i] / 2, round(t[i] / 2), 1e-10);
      open += t[i];
      assert_true(strength > 0.1 || fabs(t[i] - 2 * plain[i]) < 1e-9);
    }
    qt_system_fini(&s);
  }
  assert_true(open > 8);
}

/* T(E, k) = T(E, -k): the Hamiltonian at -k is the time reversed one at k. */
static void time_reversal_turns_the_wave_vector(void **state)
{
  static const double k[2][2] = {{0, 0.21}, {0, -0.21}};
  double t[2][ENERGIES], none[ENERGIES], change = 0;
  qt_system s;

  build("silicon_fin", true, 0, &s);
  add_impurity(&s, 0.7);
  transmit(&s, k[0], none);
  qt_system_fini(&s);
  build("silicon_fin", true, 0.3, &s);
  add_impurity(&s, 0.7);
  transmit(&s, k[0], t[0]);
  transmit(&s, k[1], t[1]);
  for (int i = 0; i < ENERGIES; i++) {
    assert_near(t[0][i], t[1][i], 1e-12);
    change = fmax(change, fabs(t[0][i] - none[i]));
  }
  assert_true(change > 0.01);
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spin_without_coupling_doubles_the_transmission),
      cmocka_unit_test(channels_of_wires_come_in_pairs),
      cmocka_unit_test(time_reversal_turns_the_wave_vector),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
