/* born_test.c - scattering in a chain against a table that another program computed, and what
 * must hold: equilibrium, conservation, the limit without coupling, refusals. */
#include "support/quantum_transport/born_test.h"

#include "base/weir_signal.h"
#include "model/scattering/open_points.h"
#include "model/system_check.h"
#include "model/wire.h"

/* Contacts, cuts with hops, and powers. */
static void check_conservation(const born_row *r, const qt_born *b)
{
  const qt_born_step *last = &b->step[b->n_steps - 1];
  const double current = last->current[QT_LEFT];
  double gain[2] = {0, 0};

  assert_true(last->current_error <= 1e-6);
  assert_true(last->energy_error <= fmax(1e-6, r->tolerance));
  assert_true(last->identity_error <= 1e-8);
  for (int64_t n = 0; n < b->n_cuts; n++) {
    assert_relative("cut with hops", b->elastic[n] + b->hop[n], current, 1e-6);
  }
  for (int64_t a = 0; a < b->n_atoms; a++) {
    gain[0] += b->gain_of_electrons[a];
    gain[1] += b->gain_of_phonons[a];
  }
  assert_relative("power of phonons", gain[1], -gain[0], 1e-12);
  assert_relative("power of contacts", last->energy[QT_LEFT] + last->energy[QT_RIGHT], gain[1],
                  1e-6);
  for (int64_t i = 1; i < b->n_steps && r->state == QT_PHONONS_COUPLED; i++) {
    assert_relative("power at any time", b->step[i].gain_of_phonons, -b->step[i].gain_of_electrons,
                    1e-12);
  }
}

static void table_is_reproduced(void **state)
{
  (void)state;
  for (int i = 0; i < ROWS; i++) {
    const born_row *r = &born_table()[i];
    chain c;
    qt_born b;

    row_init(r, &c);
    assert_ok(qt_born_create(&c.spec, &b));
    check_row(r, &b);
    assert_int_equal(b.n_steps - 1, r->iterations);
    check_conservation(r, &b);
    assert_relative("without scattering", b.step[0].current[QT_LEFT], 7.0360739e-6, 1e-8);
    assert_true(b.step[b.n_steps - 1].current[QT_LEFT] < b.step[0].current[QT_LEFT]);
    qt_born_fini(&b);
    chain_fini(&c);
  }
}

/* ---- Equilibrium ---- */

static double largest(int64_t n, const double *x)
{
  double max = 0;

  for (int64_t i = 0; i < n; i++) {
    max = fmax(max, fabs(x[i]));
  }
  return max;
}

/* Leads equally full and warm: no energy and no bond carries a current, nothing is exchanged, and
 * vibrations have the temperature of the leads. */
static void equilibrium_carries_nothing(void **state)
{
  (void)state;
  for (int r = 0; r < 2; r++) {
    chain c;
    qt_born b;

    chain_init(8, 60, 0.3, &c);
    c.opts.retarded = r;
    c.reservoir[QT_LEFT] = c.reservoir[QT_RIGHT] = (qt_reservoir){0.07, 350};
    assert_ok(qt_born_create(&c.spec, &b));
    const double scale = 2 * QT_CONDUCTANCE; /* A / eV that an open channel carries */

    for (int l = 0; l < QT_LEADS; l++) {
      assert_true(largest(b.n_energies, b.flow[l]) <= 1e-8 * scale);
    }
    assert_true(largest(b.n_energies * b.n_cuts, b.cut) <= 1e-8 * scale);
    assert_true(largest(b.n_cuts, b.hop) <= 1e-8 * scale * 0.1);
    assert_true(largest(b.n_atoms, b.gain_of_electrons) <= 1e-8 * scale * 0.01);
    assert_true(largest(b.n_atoms, b.gain_of_phonons) <= 1e-8 * scale * 0.01);
    for (int64_t a = 0; a < b.n_atoms; a++) {
      assert_relative("temperature", b.temperature[a], 350, 1e-8);
    }
    qt_born_fini(&b);
    chain_fini(&c);
  }
}

/* Where energies have to balance the iteration goes on until they do; where there are none but for
 * rounding, as in equilibrium, it ends. */
static void energies_balance_where_asked(void **state)
{
  qt_born b[2];
  chain c;

  (void)state;
  chain_init(8, 60, 0.3, &c);
  c.opts.tolerance = c.opts.current_tolerance = 1e-2;
  for (int i = 0; i < 2; i++) {
    c.opts.energy_tolerance = i == 0 ? 0 : 1e-7;
    assert_ok(qt_born_create(&c.spec, &b[i]));
  }
  assert_true(b[0].step[b[0].n_steps - 1].energy_error > 1e-7);
  assert_true(b[1].step[b[1].n_steps - 1].energy_error <= 1e-7);
  assert_true(b[1].step[b[1].n_steps - 2].energy_error > 1e-7);
  qt_born_fini(&b[0]);
  qt_born_fini(&b[1]);
  c.reservoir[QT_LEFT] = c.reservoir[QT_RIGHT] = (qt_reservoir){0.07, 350};
  assert_ok(qt_born_create(&c.spec, &b[0]));
  qt_born_fini(&b[0]);
  chain_fini(&c);
}

/* H, energies and chemical potentials by 5 eV: the balance of an iteration that has not converged
 * is the same. */
static void the_zero_of_energy_does_not_count(void **state)
{
  static const char *const shifted[] = {"sites=8", "onsite=5.2", "hopping=-0.1"};
  qt_born b[2];
  chain c;

  (void)state;
  chain_init(8, 60, 0.3, &c);
  c.opts.tolerance = c.opts.current_tolerance = 1e-2;
  assert_ok(qt_born_create(&c.spec, &b[0]));
  qt_system_fini(&c.electrons);
  build("chain", shifted, 3, &c.electrons);
  for (int e = 0; e < 60; e++) {
    c.energy[e] += 5;
  }
  c.reservoir[QT_LEFT].mu += 5;
  c.reservoir[QT_RIGHT].mu += 5;
  assert_ok(qt_born_create(&c.spec, &b[1]));
  const qt_born_step *one = &b[0].step[b[0].n_steps - 1], *other = &b[1].step[b[1].n_steps - 1];

  assert_true(one->current_error > 1e-7 && one->energy_error > 1e-7);
  assert_relative("balance", other->energy_error, one->energy_error, 1e-6);
  qt_born_fini(&b[0]);
  qt_born_fini(&b[1]);
  chain_fini(&c);
}

/* ---- Limits ---- */

static void without_coupling_nothing_changes(void **state)
{
  chain c;
  qt_born b;

  (void)state;
  chain_init(5, 40, 0, &c);
  assert_ok(qt_born_create(&c.spec, &b));
  assert_int_equal(b.n_steps, 2);
  assert_near(b.step[1].current[QT_LEFT] / b.step[0].current[QT_LEFT], 1, 1e-15);
  assert_true(b.step[0].current[QT_LEFT] > 0);
  qt_born_fini(&b);
  chain_fini(&c);
}

/* The chain's phonons reach to 62.3 meV: twelve frequencies 5 meV apart do not. */
static void phonons_above_the_last_frequency_are_noticed(void **state)
{
  (void)state;
  for (int frequencies = 12; frequencies <= 13; frequencies++) {
    chain c;
    qt_born b;

    chain_init(5, 30, 0.1, &c);
    c.opts.phonons.frequencies = frequencies;
    assert_ok(qt_born_create(&c.spec, &b));
    assert_int_equal(b.truncated, frequencies == 12);
    qt_born_fini(&b);
    chain_fini(&c);
  }
}

/* The fixed point does not depend on the way to it. */
static void mixing_finds_the_same_point(void **state)
{
  double current[2];

  (void)state;
  for (int i = 0; i < 2; i++) {
    chain c;
    qt_born b;

    chain_init(6, 60, 0.3, &c);
    c.opts.mixing = i == 0 ? 1 : 0.6;
    c.opts.tolerance = 1e-10;
    assert_ok(qt_born_create(&c.spec, &b));
    current[i] = b.step[b.n_steps - 1].current[QT_LEFT];
    qt_born_fini(&b);
    chain_fini(&c);
  }
  assert_relative("current", current[1], current[0], 1e-9);
}

/* ---- A wire of two kinds of atoms with 2 and 1 orbitals and three displacements each; or a strip
 * of such atoms, periodic along z, with 1 orbital and 1 displacement ---- */

enum { CELLS = 3, BONDS = 4, OF_WIRE = 3, WIRE_ENERGIES = 18, STRIP_ENERGIES = 40 };

/* From atom to atom, the latter so many cells further along x and z; the last ones cross the
 * period. */
static const struct bond {
  int64_t from, to, x, z;
  double hopping[2], spring; /* eV of the orbitals of `from` (of `to`, where it has 2); eV^2 amu */
} bonds[BONDS] = {{0, 1, 0, 0, {-0.08, 0.05}, 0.012},
                  {1, 0, 1, 0, {-0.07, -0.04}, 0.010},
                  {0, 0, 1, 0, {0.02, 0.01}, 0.003},
                  {0, 1, 0, 1, {-0.03, 0}, 0.004}};
static const double mass[2] = {28, 20};

/* Which of the two; where the second atom is counted from: so many periods along z. */
typedef struct kind {
  bool strip;
  int64_t shift;
} kind;

static void start_wire(qt_particle particle, const kind *k, qt_wire *w)
{
  const int64_t displacements = k->strip ? 1 : 3, period = 2;
  const int64_t orbitals[2] = {k->strip ? 1 : 2, 1};
  const bool electrons = particle == QT_ELECTRONS;
  const int64_t n[2] = {electrons ? orbitals[0] : displacements,
                        electrons ? orbitals[1] : displacements};

  *w = (qt_wire){.particle = particle,
                 .n = n[0] + n[1],
                 .n_atoms = 2,
                 .cell = {{2.5}, {0, 10}, {0, 0, (double)period}},
                 .periodic = {false, false, k->strip}};
  assert_ok(weir_alloc(2, sizeof *w->atom, (void **)&w->atom));
  w->atom[0] = (qt_atom){.n_orbitals = n[0], .symbol = "X", .mass = mass[0]};
  w->atom[1] = (qt_atom){.position = {1.2, 0.9, 0.3 + (double)(k->shift * period)},
                         .first = n[0],
                         .n_orbitals = n[1],
                         .symbol = "X",
                         .mass = mass[1]};
}

/* Element (i, j) of a bond, and its adjoint. */
static void add_both(qt_wire *w, const struct bond *b, const kind *k, int64_t i, int64_t j,
                     double value)
{
  const int64_t z = b->z + k->shift * ((b->from == 1) - (b->to == 1));

  qt_elements_add(&w->elements, i, j, (const int64_t[]){b->x, 0, z}, (weir_c128){value, 0});
  qt_elements_add(&w->elements, j, i, (const int64_t[]){-b->x, 0, -z}, (weir_c128){value, 0});
}

static void add_diagonal(qt_wire *w, int64_t i, double value)
{
  qt_elements_add(&w->elements, i, i, (const int64_t[]){0, 0, 0}, (weir_c128){value, 0});
}

/* Elements of electrons and phonons; atom 1 begins with orbital w->atom[1].first. */
static void add_bond(const struct bond *b, const kind *k, qt_wire *e, qt_wire *p)
{
  const int64_t second = e->atom[1].first, displacements = p->atom[0].n_orbitals;

  for (int64_t o = 0; o < second; o++) {
    const int64_t from = b->from == 0 ? o : second;
    const int64_t to = b->to == 1 ? second : b->from == 0 ? second - 1 - o : o;

    add_both(e, b, k, from, to, b->hopping[o]);
  }
  for (int64_t d = 0; d < displacements; d++) {
    const double spring = b->spring * (1 - 0.2 * (double)d);
    const int64_t at[] = {displacements * b->from + d, displacements * b->to + d};

    add_both(p, b, k, at[0], at[1], -spring / sqrt(mass[b->from] * mass[b->to]));
    add_diagonal(p, at[0], spring / mass[b->from]);
    add_diagonal(p, at[1], spring / mass[b->to]);
  }
}

static void wire_init(const kind *k, chain *c)
{
  qt_wire e, p;

  start_wire(QT_ELECTRONS, k, &e);
  start_wire(QT_PHONONS, k, &p);
  for (int64_t i = 0; i < e.n; i++) {
    add_diagonal(&e, i, 0.03 * (double)i);
  }
  for (int i = 0; i < (k->strip ? BONDS : OF_WIRE); i++) {
    add_bond(&bonds[i], k, &e, &p);
  }
  assert_ok(qt_wire_create(&e, CELLS, NULL, (const double[]){0, 0}, &c->electrons));
  assert_ok(qt_wire_create(&p, CELLS, NULL, (const double[]){0, 0}, &c->phonons));
  assert_ok(qt_system_check(&c->electrons, 1e-12));
  assert_ok(qt_system_check(&c->phonons, 1e-12));
  qt_wire_fini(&e);
  qt_wire_fini(&p);
}

/* Leads of the chain, another device. */
static void wire_case(const kind *k, chain *c)
{
  const int64_t energies = k->strip ? STRIP_ENERGIES : WIRE_ENERGIES;
  const double step = k->strip ? 0.01 : 0.02;

  chain_init(3, energies, 0, c);
  qt_gradient_fini(&c->gradient);
  qt_system_fini(&c->electrons);
  qt_system_fini(&c->phonons);
  wire_init(k, c);
  assert_ok(qt_gradient_create(&c->electrons, 0, &c->gradient));
  qt_gradient_scale(&c->electrons, 3, &c->gradient);
  for (int e = 0; e < energies; e++) {
    c->energy[e] = -0.1523 + step * e;
  }
  c->opts.phonons.frequencies = k->strip ? 5 : 2;
  c->opts.tolerance = 1e-8;
  c->reservoir[QT_LEFT] = (qt_reservoir){0.06, 300};
  c->reservoir[QT_RIGHT] = (qt_reservoir){-0.02, 300};
}

static const born_row coupled = {.state = QT_PHONONS_COUPLED}, bath = {.state = QT_PHONONS_BATH};

static void wire_of_unlike_atoms_conserves(void **state)
{
  const kind wire = {.strip = false};

  (void)state;
  for (int i = 0; i < 2; i++) {
    chain c;
    qt_born b;

    wire_case(&wire, &c);
    c.opts.phonons.state = i == 0 ? QT_PHONONS_COUPLED : QT_PHONONS_BATH;
    assert_ok(qt_born_create(&c.spec, &b));
    check_conservation(i == 0 ? &coupled : &bath, &b);
    const double effect = b.step[b.n_steps - 1].current[QT_LEFT] / b.step[0].current[QT_LEFT];

    assert_true(fabs(effect - 1) > 0.01);
    qt_born_fini(&b);
    chain_fini(&c);
  }
}

static void threads_change_no_bit(void **state)
{
  const kind wire = {.strip = false};
  double current[2];

  (void)state;
  for (int i = 0; i < 2; i++) {
    chain c;
    qt_born b;

    wire_case(&wire, &c);
    c.spec.threads = 1 + 2 * i;
    c.opts.tolerance = 0.05;
    assert_ok(qt_born_create(&c.spec, &b));
    current[i] = b.step[b.n_steps - 1].current[QT_LEFT];
    qt_born_fini(&b);
    chain_fini(&c);
  }
  assert_true(current[1] == current[0]);
}

/* A strip with three wave vectors conserves, and does not change when its second atom is counted
 * from another period, which changes the phases of H, D and Pi, nor when wave vectors are in
 * another order, another period or of opposite sign: momenta are differences of them. */
static void periods_may_be_counted_from_anywhere(void **state)
{
  static const double thirds[6][3] = {{-1, 0, 1}, {-1, 0, 1}, {-1, 0, 1},
                                      {1, 0, -1}, {0, 1, 2},  {3, 2, 1}};
  double current[6], heat[6];

  (void)state;
  for (int i = 0; i < 6; i++) {
    const double *n = thirds[i], k[3][2] = {{0, n[0] / 3}, {0, n[1] / 3}, {0, n[2] / 3}};
    const kind strip = {.strip = true, .shift = i < 3 ? i - 1 : 0};
    chain c;
    qt_born b;

    wire_case(&strip, &c);
    c.spec.n_k = 3;
    c.spec.k = k;
    assert_ok(qt_born_create(&c.spec, &b));
    check_conservation(&coupled, &b);
    current[i] = b.step[b.n_steps - 1].current[QT_LEFT];
    heat[i] = b.step[b.n_steps - 1].heat[QT_RIGHT];
    assert_true(fabs(current[i] / b.step[0].current[QT_LEFT] - 1) > 0.01);
    qt_born_fini(&b);
    chain_fini(&c);
    assert_relative("current", current[i], current[0], 1e-9);
    assert_relative("heat", heat[i], heat[0], 1e-8);
  }
}

/* ---- Refusals ---- */

static void assert_refused(const chain *c, weir_status expected, const char *text)
{
  qt_born b;

  assert_int_equal(qt_born_create(&c->spec, &b), expected);
  if (strstr(weir_last_message(), text) == NULL) {
    fail_msg("\"%s\" is not in \"%s\"", text, weir_last_message());
  }
  assert_null(b.step);
}

static void what_cannot_be_is_refused(void **state)
{
  const double k[4][2] = {{-0.25, -0.25}, {-0.25, 0.25}, {0.25, -0.25}, {0.25, 0.25}};
  chain c;

  (void)state;
  chain_init(5, 30, 0.3, &c);
  c.energy[7] += 1e-4;
  assert_refused(&c, WEIR_ERR_CONFIG, "energies are not at equal distances");
  c.energy[7] = NAN;
  assert_refused(&c, WEIR_ERR_CONFIG, "energies are not at equal distances");
  c.energy[7] = c.energy[6] + 0.005;
  c.spec.n_energies = 1;
  assert_refused(&c, WEIR_ERR_CONFIG, "at least 2 energies");
  c.spec.n_energies = 30;
  c.opts.max_iterations = 2;
  assert_refused(&c, WEIR_ERR_NUMERIC, "after 2 iterations the self-energy changes by");
  c.spec.n_k = 4;
  c.spec.k = k;
  assert_refused(&c, WEIR_ERR_UNSUPPORTED, "wave vectors along one direction alone");
  c.spec.n_k = 2;
  c.electrons.h.image[0][0] = 1;
  assert_refused(&c, WEIR_ERR_UNSUPPORTED, "H couples atom 0 to its own image (1, 0)");
  c.electrons.h.image[0][0] = 0;
  c.spec.n_k = 1;
  c.phonons.periodic[2] = true;
  assert_refused(&c, WEIR_ERR_CONFIG, "its period along z is not that of the device");
  c.phonons.periodic[2] = false;
  c.phonons.atom[3].position[0] += 0.1;
  assert_refused(&c, WEIR_ERR_CONFIG, "atom 3 is 0.1 Angstrom from that of the device along x");
  c.phonons.atom[2].mass = 0;
  assert_refused(&c, WEIR_ERR_CONFIG, "atom 2 has 1 displacements and mass 0 amu");
  c.phonons.n_atoms--;
  assert_refused(&c, WEIR_ERR_CONFIG, "has 4 atoms, the device 5");
  c.phonons.n_atoms++;
  c.spec.phonons = &c.electrons;
  assert_refused(&c, WEIR_ERR_CONFIG, "needs electrons");
  chain_fini(&c);
}

static void a_signal_ends_the_iteration(void **state)
{
  chain c;

  (void)state;
  chain_init(5, 30, 0.3, &c);
  weir_stop_request(15);
  assert_refused(&c, WEIR_ERR_STOPPED, "stopped after iteration 0 of scattering");
  weir_stop_request(0);
  chain_fini(&c);
}

static weir_status open_points(void *context)
{
  const chain *c = context;
  const qt_open_points_spec s = {.system = &c->electrons,
                                 .lead = &c->lead,
                                 .n_k = 1,
                                 .n_energies = 2,
                                 .k = c->spec.k,
                                 .energy = c->energy,
                                 .reservoir = c->reservoir,
                                 .threads = 1};
  qt_open_points o;

  WEIR_TRY(qt_open_points_create(&s, &o));
  qt_open_points_fini(&o);
  return WEIR_OK;
}

static weir_status list_neighbours(void *context)
{
  const chain *c = context;
  qt_neighbours n;

  WEIR_TRY(qt_neighbours_create(&c->electrons, &c->gradient, 1, &n));
  qt_neighbours_fini(&n);
  return WEIR_OK;
}

static void faults_leave_nothing(void **state)
{
  chain c;

  (void)state;
  chain_init(3, 4, 0.3, &c);
  assert_true(weir_check_faults(list_neighbours, &c) > 0);
  assert_true(weir_check_faults(open_points, &c) > 0);
  chain_fini(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_is_reproduced),
      cmocka_unit_test(equilibrium_carries_nothing),
      cmocka_unit_test(energies_balance_where_asked),
      cmocka_unit_test(the_zero_of_energy_does_not_count),
      cmocka_unit_test(without_coupling_nothing_changes),
      cmocka_unit_test(phonons_above_the_last_frequency_are_noticed),
      cmocka_unit_test(mixing_finds_the_same_point),
      cmocka_unit_test(wire_of_unlike_atoms_conserves),
      cmocka_unit_test(threads_change_no_bit),
      cmocka_unit_test(periods_may_be_counted_from_anywhere),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(a_signal_ends_the_iteration),
      cmocka_unit_test(faults_leave_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
