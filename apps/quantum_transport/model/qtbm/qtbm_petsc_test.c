/* qtbm_petsc_test.c - wave functions against recursive Green's functions, leads by modes: spectra
 * of every kind of device to 1e-8 where energies are not on a band edge. */
#include "model/qtbm/qtbm.h"

#include <stdio.h>

#include "model/device.h"
#include "model/system_check.h"
#include "support/quantum_transport/transmission_test.h"

enum { MAX_ENERGIES = 40, MAX_K = 3 };

/* Wave vectors and energies of a comparison. */
typedef struct comparison {
  int64_t n_k, n_energies;
  double k[MAX_K][2], energy[MAX_ENERGIES];
  bool real_overlap;  /* densities of the right lead agree orbital by orbital */
  double max_channel; /* result: largest eigenvalue of the transmission       */
  double t;           /* result: sum of T over points                         */
} comparison;

static void draw_energies(comparison *c, int64_t n, double low, double high, uint64_t seed)
{
  c->n_energies = n;
  for (int64_t i = 0; i < n; i++) {
    c->energy[i] = low + (high - low) * weir_random_uniform(seed, 7, 0, (uint64_t)i);
  }
}

/* Largest difference, relative to the largest number or 1. */
static double difference(int64_t count, const double *a, const double *b)
{
  double max = 1, worst = 0;

  for (int64_t i = 0; i < count; i++) {
    max = fmax(max, fabs(a[i]));
    worst = isnan(a[i] - b[i]) ? INFINITY : fmax(worst, fabs(a[i] - b[i]));
  }
  return worst / max;
}

/* Of each point sums over orbitals. */
static double difference_of_sums(int64_t points, int64_t n, const double *a, const double *b)
{
  double worst = 0;

  for (int64_t i = 0; i < points; i++) {
    double x = 0, y = 0;

    for (int64_t o = 0; o < n; o++) {
      x += a[i * n + o];
      y += b[i * n + o];
    }
    worst = fmax(worst, fabs(x - y) / fmax(1, fabs(x)));
  }
  return worst;
}

/* Eigenvalues lie in [0, 1], descend and sum to T. */
static void check_channels(const qt_transport *t, int64_t points, comparison *c)
{
  for (int64_t i = 0; i < points; i++) {
    const double *channel = t->channel + i * t->n_channels;
    double sum = 0;

    for (int64_t k = 0; k < t->n_channels; k++) {
      assert_true(channel[k] > -1e-9 && channel[k] < 1 + 1e-9);
      assert_true(k == 0 || channel[k] <= channel[k - 1] + 1e-12);
      sum += channel[k];
    }
    c->max_channel = fmax(c->max_channel, channel[0]);
    c->t += t->transmission[i];
    assert_near(sum, t->transmission[i], 1e-9 * fmax(1, sum));
  }
}

static void compare_results(const qt_transport *a, const qt_transport *b, comparison *c)
{
  const int64_t points = c->n_k * c->n_energies, bonds = qt_sparse_count(&a->bonds);

  assert_int_equal(a->n_shifted, 0);
  assert_int_equal(b->n_shifted, 0);
  assert_true(difference(points, a->transmission, b->transmission) < 1e-8);
  assert_true(bonds == qt_sparse_count(&b->bonds));
  for (int side = 0; side < QT_LEADS; side++) {
    assert_memory_equal(a->n_modes[side], b->n_modes[side],
                        (size_t)points * sizeof *a->n_modes[side]);
    assert_true(difference(points * bonds, a->bond_current[side], b->bond_current[side]) < 1e-8);
    assert_true(side == QT_RIGHT && !c->real_overlap
                    ? difference_of_sums(points, a->n, a->lead_dos[side], b->lead_dos[side]) < 1e-8
                    : difference(points * a->n, a->lead_dos[side], b->lead_dos[side]) < 1e-8);
  }
  assert_true(!c->real_overlap ? difference_of_sums(points, a->n, a->dos, b->dos) < 1e-8
                               : difference(points * a->n, a->dos, b->dos) < 1e-8);
  check_channels(b, points, c);
}

static void compare(const qt_system *s, comparison *c)
{
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, c->n_energies, c->energy);
  qt_transport a, b;

  c->n_k = c->n_k > 0 ? c->n_k : 1;
  spec.n_k = c->n_k;
  spec.k = (const double(*)[2])c->k;
  spec.dos = spec.lead_dos = spec.bond_currents = true;
  assert_ok(qt_transport_create(s, &spec, &a));
  spec.method = QT_TRANSPORT_QTBM;
  spec.channels = true;
  spec.threads = 2;
  assert_ok(qt_transport_create(s, &spec, &b));
  compare_results(&a, &b, c);
  qt_transport_fini(&b);
  spec.dos = spec.lead_dos = spec.bond_currents = spec.channels = false;
  assert_ok(qt_transport_create(s, &spec, &b)); /* states of the left lead alone */
  assert_true(difference(c->n_k * c->n_energies, a.transmission, b.transmission) < 1e-8);
  qt_transport_fini(&b);
  qt_transport_fini(&a);
}

/* A device of the registry, by its options in YAML. */
static void build(const char *name, const char *yaml, qt_system *s)
{
  const qt_device *d = qt_device_find(name);
  weir_config *config = NULL;
  void *opts = NULL;

  assert_non_null(d);
  *s = (qt_system){.n = 0};
  assert_ok(weir_alloc(1, d->opts_size, &opts));
  assert_ok(weir_opts_parse(d->opts, d->opts_size, yaml, opts, &config));
  assert_ok(d->build(opts, 5, s));
  assert_ok(qt_system_check(s, 1e-6));
  weir_config_destroy(&config);
  weir_free(&opts);
}

/* Returns the sum of T over the energies. */
static double compare_device(const char *name, const char *yaml, int64_t n, double low, double high)
{
  comparison c = {.real_overlap = true};
  qt_system s;

  build(name, yaml, &s);
  draw_energies(&c, n, low, high, 3);
  compare(&s, &c);
  qt_system_fini(&s);
  return c.t;
}

static void chains(void **state)
{
  const double t = compare_device("chain", "{sites: 1}", 20, -1.9, 1.9);

  assert_near(t, 20, 1e-9);
  assert_true(compare_device("chain", "{sites: 30}", 20, -3, 3) > 1);
}

/* A perfect ribbon transmits its modes; a disordered one less; flux and steps of the leads. */
static void square_ribbons(void **state)
{
  const double energy[] = {-3.7, -3.4, -2.9, -1.9, -0.9, 0.1, 1.2, 2.6};
  const double modes[] = {1, 1, 2, 3, 4, 5, 3, 2};
  comparison c = {.real_overlap = true, .n_energies = 8};
  qt_system s;

  build("square", "{width: 5, length: 12}", &s);
  memcpy(c.energy, energy, sizeof energy);
  compare(&s, &c);
  assert_near(c.t, 21, 1e-9);
  assert_near(c.max_channel, 1, 1e-9);
  assert_true(modes[0] > 0);
  qt_system_fini(&s);
  assert_true(
      compare_device("square", "{width: 6, length: 15, disorder: 1.5, drop: 0.7}", 20, -4, 4) > 1);
  assert_true(
      compare_device("square", "{width: 6, length: 9, disorder: 0.5, flux: 0.1}", 20, -4, 4) > 1);
}

static void graphene_ribbons(void **state)
{
  assert_true(compare_device("agnr", "{width: 7, length: 8, disorder: 1}", 20, -6, 6) > 1);
  assert_true(compare_device("zgnr", "{width: 4, length: 9, disorder: 1, flux: 0.03}", 20, -6, 6) >
              1);
}

static void phonons(void **state)
{
  assert_near(compare_device("harmonic_chain", "{sites: 12}", 10, 0.003, 0.03), 10, 1e-9);
  assert_true(compare_device("harmonic_chain", "{sites: 12, defect_mass: 42, defect_site: 4}", 20,
                             0.003, 0.1) > 1);
  assert_true(compare_device("silicon_wire", "{particle: phonons, length: 3, height: 2, width: 2}",
                             3, 0.005, 0.06) > 0);
}

static void silicon_wires(void **state)
{
  assert_true(compare_device("silicon_wire", "{length: 2, height: 2, width: 2}", 1, 2.6, 3.2) > 0);
}

/* Overlap of neighbours, images across, different leads. */
static void overlap_and_wave_vectors(void **state)
{
  const ribbon shapes[] = {
      {.width = 3, .length = 8, .hopping = -1, .overlap = 0.1, .disorder = 1},
      {.width = 3, .length = 8, .hopping = -1, .periodic = -0.7, .disorder = 1},
      {.width = 3,
       .length = 7,
       .hopping = -1,
       .overlap = 0.1,
       .periodic = -0.7,
       .disorder = 1,
       .lead_onsite = {0.2, -0.3}},
      {.width = 4, .length = 3, .hopping = -1, .merge = 3},
      {.width = 2, .length = 1, .hopping = -1, .disorder = 1},
  };

  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    comparison c = {.n_k = shapes[i].periodic != 0 ? 3 : 1,
                    .k = {{0, 0}, {0, 0.21}, {0, 0.5}},
                    .real_overlap = shapes[i].overlap == 0 || shapes[i].periodic == 0};
    qt_system s;

    ribbon_create(&shapes[i], &s);
    draw_energies(&c, 12, -3, 3, i);
    compare(&s, &c);
    assert_true(c.t > 1);
    qt_system_fini(&s);
  }
}

/* Random Hermitian elements of one block, or of one block and the next, of H and S. */
static void add_block(int64_t row, int64_t column, int64_t n, uint64_t seed, qt_entries e[2])
{
  for (int64_t i = 0; i < n * n; i++) {
    const int64_t a = row + i / n, b = column + i % n, index = a * 1000 + b;
    const double re = weir_random_uniform(seed, 0, 0, (uint64_t)index) - 0.5;
    const double im = weir_random_uniform(seed, 1, 0, (uint64_t)index) - 0.5;

    if (a < b) {
      qt_entries_add(&e[0], a, b, (weir_c128){re, im});
      qt_entries_add(&e[0], b, a, (weir_c128){re, -im});
      qt_entries_add(&e[1], a, b, (weir_c128){0.03 * im, 0.03 * re});
      qt_entries_add(&e[1], b, a, (weir_c128){0.03 * im, -0.03 * re});
    } else if (a == b) {
      qt_entries_add(&e[0], a, a, (weir_c128){re, 0});
      qt_entries_add(&e[1], a, a, (weir_c128){1, 0});
    }
  }
}

static void make_image(int64_t n, qt_entries *e, qt_bloch *out)
{
  out->count = 1;
  assert_ok(weir_alloc(1, sizeof *out->image, (void **)&out->image));
  assert_ok(weir_alloc(1, sizeof *out->matrix, (void **)&out->matrix));
  assert_ok(qt_sparse_create(n, n, e, &out->matrix[0]));
  qt_entries_fini(e);
}

/* Blocks of 3 orbitals without any symmetry between two different leads, complex overlap. */
static void make_random(int64_t blocks, uint64_t seed, qt_system *s)
{
  enum { N = 3 };
  qt_entries device[2] = {{.count = 0}, {.count = 0}};

  *s = (qt_system){.n = blocks * N, .n_blocks = blocks};
  assert_ok(weir_alloc(blocks + 1, sizeof *s->block, (void **)&s->block));
  for (int64_t b = 0; b <= blocks; b++) {
    s->block[b] = b * N;
  }
  for (int64_t b = 0; b < blocks; b++) {
    add_block(b * N, b * N, N, seed, device);
    if (b + 1 < blocks) {
      add_block(b * N, (b + 1) * N, N, seed, device);
    }
  }
  make_image(s->n, &device[0], &s->h);
  make_image(s->n, &device[1], &s->s);
  for (int c = 0; c < QT_LEADS; c++) {
    qt_entries cell[2] = {{.count = 0}, {.count = 0}}, next[2] = {{.count = 0}, {.count = 0}};

    add_block(0, 0, N, seed + 100 + (uint64_t)c, cell);
    for (int64_t i = 0; i < N * N; i++) {
      const double x = weir_random_uniform(seed, 2, (uint32_t)c, (uint64_t)i) - 0.5;

      qt_entries_add(&next[0], i / N, i % N, (weir_c128){2 * x, x * x});
      qt_entries_add(&next[1], i / N, i % N, (weir_c128){0.02 * x, 0.02 * x * x});
    }
    s->lead[c].n = N;
    s->lead[c].length = 1;
    make_image(N, &cell[0], &s->lead[c].cell);
    make_image(N, &cell[1], &s->lead[c].overlap);
    make_image(N, &next[0], &s->lead[c].next);
    make_image(N, &next[1], &s->lead[c].next_overlap);
  }
  assert_ok(qt_system_check(s, 1e-12));
}

static void random_systems(void **state)
{
  double t = 0;

  for (uint64_t seed = 0; seed < 10; seed++) {
    comparison c = {.n_k = 1};
    qt_system s;

    make_random(1 + (int64_t)(seed % 4) * 3, seed, &s);
    draw_energies(&c, 10, -1.5, 1.5, seed);
    compare(&s, &c);
    t += c.t;
    qt_system_fini(&s);
  }
  assert_true(t > 1);
}

static void wannier_hamiltonians(void **state)
{
  static const struct {
    const char *seed, *options;
    double low, high;
  } data[] = {{"silicon", "direction: 1, cells: 6, cutoff: 0.02", -5, 10},
              {"graphene", "direction: 1, cells: 6, cutoff: 0.02", -8, 4}};

  for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
    char path[512], yaml[700];
    comparison c = {.n_k = 2, .k = {{0, 0}, {0.25, 0.1}}, .real_overlap = true};
    qt_system s;

    weir_check_shared(path, sizeof path, "quantum/%s_w90/%s", data[i].seed, data[i].seed);
    (void)snprintf(yaml, sizeof yaml, "{seed: %s, %s}", path, data[i].options);
    build("wannier", yaml, &s);
    draw_energies(&c, 6, data[i].low, data[i].high, i);
    compare(&s, &c);
    assert_true(c.t > 1);
    qt_system_fini(&s);
  }
}

/* Waves that contour integrals find are as good. */
static void leads_by_contour_integrals(void **state)
{
  const ribbon r = {.width = 5, .length = 6, .hopping = -1, .overlap = 0.05, .disorder = 1};
  qt_transport out[2];
  comparison c;
  qt_system s;

  ribbon_create(&r, &s);
  draw_energies(&c, 12, -3, 3, 2);
  for (int i = 0; i < 2; i++) {
    qt_transport_spec spec = ribbon_spec(i == 0 ? QT_LEAD_MODES : QT_LEAD_CONTOUR, 12, c.energy);

    spec.method = QT_TRANSPORT_QTBM;
    spec.lead_dos = true;
    assert_ok(qt_transport_create(&s, &spec, &out[i]));
  }
  assert_true(difference(12, out[0].transmission, out[1].transmission) < 1e-8);
  assert_true(difference(12 * 30, out[0].lead_dos[QT_LEFT], out[1].lead_dos[QT_LEFT]) < 1e-8);
  qt_transport_fini(&out[0]);
  qt_transport_fini(&out[1]);
  qt_system_fini(&s);
}

/* Where no lead has a wave nothing is solved; where one has, its states alone. */
static void closed_leads(void **state)
{
  const ribbon r = {.width = 2, .length = 4, .hopping = -1, .lead_onsite = {0, 9}};
  comparison c = {.n_energies = 3, .energy = {0.3, 9.2, 20}, .real_overlap = true};
  qt_system s;

  ribbon_create(&r, &s);
  compare(&s, &c);
  assert_true(c.t == 0);
  qt_system_fini(&s);
}

/* A device of many points gives the same bits with any number of threads. */
static void threads_change_nothing(void **state)
{
  const ribbon r = {.width = 4, .length = 9, .hopping = -1, .disorder = 1};
  qt_transport out[2];
  comparison c;
  qt_system s;

  ribbon_create(&r, &s);
  draw_energies(&c, 13, -3, 3, 1);
  for (int i = 0; i < 2; i++) {
    qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 13, c.energy);

    spec.method = QT_TRANSPORT_QTBM;
    spec.threads = i == 0 ? 1 : 3;
    spec.dos = true;
    assert_ok(qt_transport_create(&s, &spec, &out[i]));
  }
  assert_memory_equal(out[0].transmission, out[1].transmission, 13 * sizeof(double));
  assert_memory_equal(out[0].dos, out[1].dos, 13 * 36 * sizeof(double));
  qt_transport_fini(&out[0]);
  qt_transport_fini(&out[1]);
  qt_system_fini(&s);
}

/* A band edge is refused, or shifted. */
static void band_edges_are_shifted_or_refused(void **state)
{
  const ribbon r = {.width = 1, .length = 5, .hopping = -1};
  const double energy[] = {0.5, -2};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 2, energy);
  qt_transport out;

  spec.method = QT_TRANSPORT_QTBM;
  assert_int_equal(ribbon_transport(&r, &spec, &out), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "energy -2 eV: lead: "));
  assert_null(out.transmission);
  spec.shift = 1e-3;
  assert_ok(ribbon_transport(&r, &spec, &out));
  assert_int_equal(out.n_shifted, 1);
  assert_near(out.transmission[1], 1, 1e-8);
  qt_transport_fini(&out);
}

/* A site that nothing couples to has its state at 0.25: no wave function can be computed there. */
static double lonely(int64_t x, int64_t y)
{
  return x == 2 && y == 1 ? 0.25 : 0;
}

static double no_bond(int64_t x, int64_t y)
{
  return y == 1 && (x == 1 || x == 2) ? 0 : 1;
}

static void a_state_that_no_wave_reaches(void **state)
{
  const double energy[] = {0.25};
  ribbon r = {.width = 2, .length = 5, .hopping = -1, .site = lonely, .bond = no_bond};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 1, energy);
  qt_transport out;
  qt_system s;

  ribbon_create(&r, &s);
  for (int64_t i = s.h.matrix[0].start[4]; i < s.h.matrix[0].start[6]; i++) {
    qt_sparse *h = &s.h.matrix[0];
    const int64_t row = i < h->start[5] ? 4 : 5;

    if (row + h->column[i] == 9) { /* the bond between its sites across */
      h->value[i].re = 0;
    }
  }
  spec.method = QT_TRANSPORT_QTBM;
  spec.dos = true;
  assert_int_equal(qt_transport_create(&s, &spec, &out), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "shift"));
  spec.shift = 1e-4;
  assert_ok(qt_transport_create(&s, &spec, &out));
  assert_int_equal(out.n_shifted, 1);
  assert_near(out.dos[5], 0, 1e-12);
  qt_transport_fini(&out);
  qt_system_fini(&s);
}

static weir_status run_all(void *context)
{
  const double energy[] = {0.3};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 1, energy);
  qt_transport out;

  spec.method = QT_TRANSPORT_QTBM;
  spec.dos = spec.lead_dos = spec.bond_currents = spec.channels = true;
  WEIR_TRY(qt_transport_create(context, &spec, &out));
  qt_transport_fini(&out);
  return WEIR_OK;
}

static void missing_memory_is_reported(void **state)
{
  const ribbon r = {.width = 2, .length = 3, .hopping = -1, .overlap = 0.1};
  qt_system s;

  ribbon_create(&r, &s);
  assert_true(weir_check_faults(run_all, &s) > 40);
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains),
      cmocka_unit_test(square_ribbons),
      cmocka_unit_test(graphene_ribbons),
      cmocka_unit_test(phonons),
      cmocka_unit_test(silicon_wires),
      cmocka_unit_test(overlap_and_wave_vectors),
      cmocka_unit_test(random_systems),
      cmocka_unit_test(wannier_hamiltonians),
      cmocka_unit_test(leads_by_contour_integrals),
      cmocka_unit_test(closed_leads),
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(band_edges_are_shifted_or_refused),
      cmocka_unit_test(a_state_that_no_wave_reaches),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
