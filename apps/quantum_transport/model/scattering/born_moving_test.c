/* born_moving_test.c - charges and currents of electrons that scatter, in potentials that change.
 */
#include "model/electrostatics/potential.h"
#include "support/quantum_transport/born_test.h"

enum { SITES = 8 };

/* A potential energy that rises along the chain. */
static void shift_chain(const chain *c, double by, qt_system *out)
{
  double u[SITES];

  for (int a = 0; a < SITES; a++) {
    u[a] = by * sin(0.4 * a);
  }
  *out = (qt_system){.n = 0};
  assert_ok(qt_system_shift(&c->electrons, u, out));
}

static void count(qt_born_moving *m, const chain *c, const qt_system *s, bool once, double *out,
                  bool *settled)
{
  memset(out, 0, SITES * sizeof *out);
  assert_ok(qt_born_moving_count(m, s, c->reservoir, -0.5, once, out, settled));
}

/* One iteration a call, or all in one: the same charges, in the last of two potentials; and what
 * all give is what an iteration without a potential before gives. */
static void both_orders_find_the_same_charge(void **state)
{
  double change[3][SITES];
  qt_born_moving *m = NULL;
  const qt_born *found;
  qt_system moved[2];
  bool settled = false;
  qt_born whole;
  chain c;

  (void)state;
  chain_init(SITES, 60, 0.3, &c);
  c.opts.tolerance = 1e-9;
  for (int i = 0; i < 2; i++) {
    shift_chain(&c, 0.02 * (i + 1), &moved[i]);
  }
  assert_ok(qt_born_moving_create(&c.spec, &m));
  qt_born_moving_begin(m);
  count(m, &c, &moved[0], true, change[0], &settled);
  assert_false(settled);
  for (int a = 0; a < SITES; a++) {
    assert_near(change[0][a], 0, 0); /* nothing scatters yet */
  }
  count(m, &c, &moved[1], true, change[0], &settled);
  for (int i = 0; i < 200 && !settled; i++) {
    count(m, &c, NULL, true, change[0], &settled);
  }
  assert_true(settled);
  assert_ok(qt_born_moving_finish(m, &found));
  const double current = found->step[found->n_steps - 1].current[QT_LEFT];
  const double hot = found->temperature[SITES / 2];

  count(m, &c, &moved[0], false, change[1], &settled);
  count(m, &c, &moved[1], false, change[2], &settled);
  assert_true(settled);
  for (int a = 0; a < SITES; a++) {
    assert_true(fabs(change[0][a]) > 1e-4);
    assert_near(change[0][a], change[2][a], 1e-7);
    assert_true(fabs(change[1][a] - change[2][a]) > 1e-6);
  }
  c.spec.electrons = &moved[1];
  assert_ok(qt_born_create(&c.spec, &whole));
  assert_ok(qt_born_moving_finish(m, &found));
  assert_int_equal(found->n_steps, whole.n_steps);
  assert_memory_equal(found->hop, whole.hop, (SITES - 1) * sizeof(double));
  assert_memory_equal(found->temperature, whole.temperature, SITES * sizeof(double));
  assert_relative("current", current, whole.step[whole.n_steps - 1].current[QT_LEFT], 1e-7);
  assert_relative("temperature", hot, whole.temperature[SITES / 2], 1e-7);
  qt_born_fini(&whole);
  qt_born_moving_destroy(&m);
  for (int i = 0; i < 2; i++) {
    qt_system_fini(&moved[i]);
  }
  chain_fini(&c);
}

/* The change of the charge goes as the square of the coupling, and to 0 with it. Filled and empty
 * states are as many as without scattering where all states are counted. */
static void weak_coupling_changes_little(void **state)
{
  const double coupling[] = {1e-3, 2e-3};
  double max[2] = {0, 0};

  (void)state;
  for (int i = 0; i < 2; i++) {
    double change[SITES];
    qt_born_moving *m = NULL;
    bool settled;
    chain c;

    chain_init(SITES, 60, coupling[i], &c);
    c.opts.tolerance = 1e-9;
    assert_ok(qt_born_moving_create(&c.spec, &m));
    count(m, &c, &c.electrons, false, change, &settled);
    for (int a = 0; a < SITES; a++) {
      max[i] = fmax(max[i], fabs(change[a]));
    }
    qt_born_moving_destroy(&m);
    chain_fini(&c);
  }
  assert_true(max[0] < 1e-5);
  assert_relative("change of charge", max[1], 4 * max[0], 1e-2);
}

/* With the retarded self-energy's Hilbert transform scattering moves states but keeps their number,
 * 2 of an atom, but for the sum over energies, which meets peaks at the edges of the coherent band:
 * electrons and holes of all energies change alike. */
static void states_stay_as_many(void **state)
{
  double electrons[SITES], holes[SITES];
  qt_born_moving *m = NULL;
  bool settled;
  chain c;

  (void)state;
  chain_init(SITES, 120, 0.1, &c);
  c.opts.retarded = QT_RETARDED_FULL;
  assert_ok(qt_born_moving_create(&c.spec, &m));
  count(m, &c, &c.electrons, false, electrons, &settled);
  memset(holes, 0, sizeof holes);
  assert_ok(qt_born_moving_count(m, &c.electrons, c.reservoir, 10, false, holes, &settled));
  for (int a = 0; a < SITES; a++) { /* holes count negatively */
    assert_true(fabs(electrons[a]) > 1e-3);
    assert_near(electrons[a], holes[a], 0.01);
  }
  qt_born_moving_destroy(&m);
  chain_fini(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_orders_find_the_same_charge),
      cmocka_unit_test(weak_coupling_changes_little),
      cmocka_unit_test(states_stay_as_many),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
