/* born.c - the self-consistent Born approximation on ranks that share points and self-energies:
 * what one rank computes alone, within 1e-10. The argument is how many ranks were started. */
#include "all_ranks.h"
#include "base/weir_signal.h"
#include "model/ranks.h"
#include "support/quantum_transport/born_test.h"
#include "model/wire.h"

enum { MOST_RANKS = 4 };

/* ---- A strip of two atoms a cell, periodic along z, one orbital and one displacement each ---- */

enum { CELLS = 3, BONDS = 4, STRIP_ENERGIES = 40 };

static const struct bond {
  int64_t from, to, x, z;
  double hopping, spring;
} bonds[BONDS] = {{0, 1, 0, 0, -0.08, 0.012},
                  {1, 0, 1, 0, -0.07, 0.010},
                  {0, 0, 1, 0, 0.02, 0.003},
                  {0, 1, 0, 1, -0.03, 0.004}};
static const double mass[2] = {28, 20};

static void add(qt_wire *w, int64_t i, int64_t j, int64_t x, int64_t z, double value)
{
  qt_elements_add(&w->elements, i, j, (const int64_t[]){x, 0, z}, (weir_c128){value, 0});
}

static void make_strip(qt_particle particle, qt_system *out)
{
  qt_wire w = {.particle = particle,
               .n = 2,
               .n_atoms = 2,
               .cell = {{2.5}, {0, 10}, {0, 0, 2}},
               .periodic = {false, false, true}};

  assert_ok(weir_alloc(2, sizeof *w.atom, (void **)&w.atom));
  w.atom[0] = (qt_atom){.n_orbitals = 1, .symbol = "X", .mass = mass[0]};
  w.atom[1] = (qt_atom){
      .position = {1.2, 0.9, 0.3}, .first = 1, .n_orbitals = 1, .symbol = "X", .mass = mass[1]};
  for (const struct bond *b = bonds; b < bonds + BONDS; b++) {
    const double value =
        particle == QT_ELECTRONS ? b->hopping : -b->spring / sqrt(mass[b->from] * mass[b->to]);

    add(&w, b->from, b->to, b->x, b->z, value);
    add(&w, b->to, b->from, -b->x, -b->z, value);
    add(&w, b->from, b->from, 0, 0, particle == QT_PHONONS ? b->spring / mass[b->from] : 0);
    add(&w, b->to, b->to, 0, 0, particle == QT_PHONONS ? b->spring / mass[b->to] : 0.01);
  }
  assert_ok(qt_wire_create(&w, CELLS, NULL, (const double[]){0, 0}, out));
  qt_wire_fini(&w);
}

static const double momenta[3][2] = {{0, -1.0 / 3}, {0, 0}, {0, 1.0 / 3}};

static void strip_init(chain *c)
{
  chain_init(3, STRIP_ENERGIES, 0, c);
  chain_fini(c);
  make_strip(QT_ELECTRONS, &c->electrons);
  make_strip(QT_PHONONS, &c->phonons);
  assert_ok(qt_gradient_create(&c->electrons, 0, &c->gradient));
  qt_gradient_scale(&c->electrons, 3, &c->gradient);
  for (int e = 0; e < STRIP_ENERGIES; e++) {
    c->energy[e] = -0.1523 + 0.01 * e;
  }
  c->opts.phonons.frequencies = 5;
  c->opts.tolerance = 1e-6;
  c->reservoir[QT_LEFT] = (qt_reservoir){0.06, 300};
  c->reservoir[QT_RIGHT] = (qt_reservoir){-0.02, 300};
  c->spec.n_k = 3;
  c->spec.k = momenta;
}

/* ---- Comparison ---- */

/* Within 1e-10 of the largest of them. */
static void assert_same(const char *what, int64_t n, const double *x, const double *y)
{
  double worst = 0, most = 0;

  for (int64_t i = 0; i < n; i++) {
    worst = fmax(worst, fabs(x[i] - y[i]));
    most = fmax(most, fabs(y[i]));
    assert_true(isnan(x[i]) == isnan(y[i]));
  }
  if (!(worst <= 1e-10 * most)) {
    fail_msg("%s: %g apart, of %g", what, worst, most);
  }
}

static void compare_steps(const qt_born *x, const qt_born *y)
{
  assert_int_equal(x->n_steps, y->n_steps);
  for (int64_t i = 0; i < x->n_steps; i++) {
    const qt_born_step *a = &x->step[i], *b = &y->step[i];

    assert_same("current", QT_LEADS, a->current, b->current);
    assert_same("energy", QT_LEADS, a->energy, b->energy);
    assert_same("heat", QT_LEADS, a->heat, b->heat);
    assert_same("gain of electrons", i > 0, &a->gain_of_electrons, &b->gain_of_electrons);
    assert_same("gain of phonons", i > 0, &a->gain_of_phonons, &b->gain_of_phonons);
    assert_true(fabs(a->change - b->change) <= 1e-10);
    assert_true(fabs(a->current_error - b->current_error) <= 1e-10);
    assert_true(fabs(a->energy_error - b->energy_error) <= 1e-8); /* of a difference */
    assert_true(a->identity_error <= 1e-9 && b->identity_error <= 1e-9);
  }
}

static void compare(const qt_born *x, const qt_born *y)
{
  compare_steps(x, y);
  assert_true(x->truncated == y->truncated && x->n_shifted == y->n_shifted);
  for (int c = 0; c < QT_LEADS; c++) {
    assert_same("spectrum", y->n_energies, x->flow[c], y->flow[c]);
  }
  assert_same("spectrum of cuts", y->n_energies * y->n_cuts, x->cut, y->cut);
  assert_same("elastic", y->n_cuts, x->elastic, y->elastic);
  assert_same("hops", y->n_cuts, x->hop, y->hop);
  assert_same("power", y->n_atoms, x->gain_of_electrons, y->gain_of_electrons);
  assert_same("power of phonons", y->n_atoms, x->gain_of_phonons, y->gain_of_phonons);
  assert_same("temperature", y->n_atoms, x->temperature, y->temperature);
}

/* All ranks, and the last one alone. */
static void check(chain *c)
{
  static const weir_string_list none = {.count = 0};
  qt_born shared, alone;

  if (qt_born_start(&c->opts, &none) == WEIR_ERR_UNSUPPORTED) {
    weir_clear_failure(); /* this build has no PETSc */
    c->opts.method = QT_BORN_SIMPLE;
  }
  c->spec.comm = comm;
  assert_ok(qt_born_create(&c->spec, &shared));
  assert_int_equal(shared.tiles.ranks, ranks);
  assert_true(shared.sent_bytes == qt_volume_total(&shared.volume));
  c->spec.comm = NULL;
  c->opts.tiles.atoms = 0;
  if (rank == ranks - 1) {
    assert_ok(qt_born_create(&c->spec, &alone));
    compare(&shared, &alone);
    qt_born_fini(&alone);
  }
  qt_born_fini(&shared);
}

static void chain_of_20_atoms(void **state)
{
  (void)state;
  for (int method = QT_BORN_SIMPLE; method <= QT_BORN_ANDERSON; method++) {
    chain c;

    chain_init(20, 121, 0.15, &c);
    c.opts.method = method;
    c.opts.retarded = method == QT_BORN_SIMPLE ? QT_RETARDED_FULL : QT_RETARDED_HALF;
    c.opts.tolerance = 1e-6;
    c.opts.tiles.atoms = method == QT_BORN_SIMPLE ? 0 : ranks % 2 == 0 ? 2 : 1;
    check(&c);
    chain_fini(&c);
  }
}

/* More ranks than frequencies, and few atoms at once; at points, by frequency. */
static void bath_and_few_frequencies(void **state)
{
  for (int way = 0; way < 3; way++) {
    chain c;

    chain_init(5, 30, 0.2, &c);
    c.opts.tiles.scheme = way < 2 ? QT_SCHEME_TILES : QT_SCHEME_POINTS;
    c.opts.phonons.frequencies = way == 0 ? 2 : 12;
    c.opts.phonons.state = way == 0 ? QT_PHONONS_COUPLED : QT_PHONONS_BATH;
    c.opts.memory = 0.01;
    c.opts.tolerance = 1e-4;
    check(&c);
    chain_fini(&c);
  }
  (void)state;
}

static void strip_of_three_momenta(void **state)
{
  (void)state;
  for (int method = QT_BORN_SIMPLE; method <= QT_BORN_ANDERSON; method++) {
    chain c;

    strip_init(&c);
    c.opts.method = method;
    c.opts.retarded = method == QT_BORN_SIMPLE ? QT_RETARDED_FULL : QT_RETARDED_HALF;
    c.opts.tiles.atoms = method == QT_BORN_SIMPLE ? ranks : 0;
    c.opts.tiles.scheme = method == QT_BORN_SIMPLE ? QT_SCHEME_TILES : QT_SCHEME_POINTS;
    check(&c);
    chain_fini(&c);
  }
}

/* Iterates twice more and stops, on all ranks (comm) or, NULL, on rank 0. */
static void stop_twice(chain *c, weir_comm *of)
{
  qt_born b;

  c->spec.comm = of;
  weir_stop_request(rank == 0 ? 15 : 0);
  for (int i = 0; i < 2 && (of != NULL || rank == 0); i++) {
    assert_int_equal(qt_born_create(&c->spec, &b), WEIR_ERR_STOPPED);
    weir_clear_failure();
  }
  weir_stop_request(0);
  assert_ok(qt_ranks_agree(comm, WEIR_OK));
}

/* Stopped on all ranks, on one, on all again, and finished there: what one rank iterates by itself,
 * steps and results. */
static void restarts_on_other_ranks(void **state)
{
  static const weir_string_list none = {.count = 0};

  (void)state;
  for (int method = QT_BORN_SIMPLE; method <= QT_BORN_ANDERSON; method++) {
    qt_born_save save = {.dir = "/nowhere", .keep = 2, .resume = true};
    qt_born whole, resumed;
    char dir[256];
    chain c;

    strip_init(&c);
    c.opts.method = method;
    c.opts.mixing = 0.7;
    if (qt_born_start(&c.opts, &none) == WEIR_ERR_UNSUPPORTED) {
      weir_clear_failure(); /* this build has no PETSc */
      c.opts.method = QT_BORN_SIMPLE;
    }
    if (rank == 0) {
      assert_ok(qt_born_create(&c.spec, &whole));
      weir_check_mkdir(dir, sizeof dir);
      save.dir = dir;
    }
    c.spec.save = &save;
    stop_twice(&c, comm);
    stop_twice(&c, NULL);
    stop_twice(&c, comm);
    c.spec.comm = comm;
    assert_ok(qt_born_create(&c.spec, &resumed));
    if (rank == 0) {
      compare(&resumed, &whole);
      qt_born_fini(&whole);
      weir_check_rmdir(dir);
    }
    qt_born_fini(&resumed);
    chain_fini(&c);
  }
}

/* All ranks fail alike: where iterations do not suffice, and where one rank has a point that cannot
 * be solved. */
static void failures_are_alike(void **state)
{
  chain c;
  qt_born b;

  (void)state;
  chain_init(5, 30, 0.3, &c);
  c.opts.max_iterations = 1;
  c.spec.comm = comm;
  assert_int_equal(qt_born_create(&c.spec, &b), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "after 1 iterations"));
  weir_clear_failure();
  c.opts.tiles.atoms = ranks + 1;
  assert_int_equal(qt_born_create(&c.spec, &b), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "scattering.tiles.atoms"));
  weir_clear_failure();
  c.opts.tiles.atoms = ranks;
  c.opts.tiles.scheme = QT_SCHEME_POINTS;
  assert_int_equal(ranks == 1 ? WEIR_ERR_CONFIG : qt_born_create(&c.spec, &b), WEIR_ERR_CONFIG);
  weir_clear_failure();
  c.opts.tiles.atoms = 0;
  c.opts.tiles.scheme = QT_SCHEME_TILES;
  for (int e = 0; e < 30; e++) { /* the last one is 0.4 eV, the edge of the band */
    c.energy[e] = 0.255 + 0.005 * e;
  }
  c.lead.method = QT_LEAD_MODES;
  assert_int_equal(qt_born_create(&c.spec, &b), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "0.4 eV"));
  chain_fini(&c);
}

int main(int argc, char **argv)
{
  const weir_comm_cfg usual = {.max_message_bytes = 1 << 20, .tree_max_bytes = 256, .timeout = 60};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chain_of_20_atoms),      cmocka_unit_test(bath_and_few_frequencies),
      cmocka_unit_test(strip_of_three_momenta), cmocka_unit_test(restarts_on_other_ranks),
      cmocka_unit_test(failures_are_alike),
  };

  open_all_ranks(argc, argv, MOST_RANKS, &usual);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
