/* matrices_test.c - the same device from files of every form; layers found; what is refused. */
#include "data/matrices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "data/layers.h"
#include "data/wannier.h"
#include "model/device.h"

/* Layers of L orbitals: three of the left lead, some in between, three of the right lead. */
enum { L = 3, MIDDLE = 5, N = 6 * L + MIDDLE };

static char dir[256];

static double draw(uint32_t which, int64_t i)
{
  return weir_random_uniform(3, which, 0, (uint64_t)i) - 0.5;
}

/* Element of a Hermitian random device (or its overlap): the left lead repeats orbitals of [0, L),
 * the right one those of [N - L, N). Elements couple up to L places. */
static weir_c128 element(int64_t i, int64_t j, bool overlap)
{
  if (i < j) {
    const weir_c128 x = element(j, i, overlap);

    return (weir_c128){x.re, -x.im};
  }
  const bool left = i < 3 * L, right = j >= N - 3 * L;
  const int64_t row = left ? i % L : right ? (i - N + 3 * L) % L : i, apart = i - j;
  const uint32_t which = left ? 1 : right ? 2 : 3;

  if (apart > L) {
    return (weir_c128){0, 0};
  }
  const weir_c128 x = {draw(which, row * 100 + apart),
                       apart > 0 ? draw(which + 4, row * 100 + apart) : 0};

  return overlap ? (weir_c128){apart > 0 ? 0.05 * x.re : 1, apart > 0 ? 0.05 * x.im : 0} : x;
}

static const char *path_of(const char *name)
{
  static char text[8][512];
  static int turn;

  turn = (turn + 1) % 8;
  snprintf(text[turn], sizeof text[turn], "%s/%s", dir, name);
  return text[turn];
}

/* Rows [row, row + rows) and columns [column, column + columns) as Matrix Market. */
static const char *put(const char *name, int64_t row, int64_t rows, int64_t column, int64_t columns,
                       bool overlap)
{
  const char *const path = path_of(name);
  FILE *const f = fopen(path, "w");

  assert_non_null(f);
  fprintf(f, "%%%%MatrixMarket matrix coordinate complex general\n%lld %lld %lld\n",
          (long long)rows, (long long)columns, (long long)(rows * columns));
  for (int64_t i = 0; i < rows * columns; i++) {
    const weir_c128 x = element(row + i / columns, column + i % columns, overlap);

    fprintf(f, "%lld %lld %.17g %.17g\n", (long long)(i / columns) + 1,
            (long long)(i % columns) + 1, x.re, x.im);
  }
  assert_int_equal(fclose(f), 0);
  return path;
}

static qt_matrices_opts defaults(const char *h)
{
  qt_matrices_opts o;

  weir_opts_default(qt_matrices_options, sizeof o, &o);
  o.h = h;
  return o;
}

static weir_status build(const qt_matrices_opts *o, qt_system *out)
{
  *out = (qt_system){.n = 0};
  return qt_device_find("matrices")->build(o, 1, out);
}

static void assert_element(const qt_bloch *m, int64_t i, int64_t j, weir_c128 expected)
{
  const weir_c128 x = qt_sparse_get(&m->matrix[0], i, j);

  if (x.re != expected.re || x.im != expected.im) {
    fprintf(stderr, "element (%lld, %lld): %g + %g i, expected %g + %g i\n", (long long)i,
            (long long)j, x.re, x.im, expected.re, expected.im);
    fail();
  }
}

/* All of the random device and its leads. */
static void assert_device(const qt_system *s, bool overlap)
{
  assert_ok(qt_system_check(s, 1e-14));
  assert_int_equal(s->n, N);
  for (int64_t i = 0; i < N * N; i++) {
    assert_element(&s->h, i / N, i % N, element(i / N, i % N, false));
    if (overlap) {
      assert_element(&s->s, i / N, i % N, element(i / N, i % N, true));
    }
  }
  for (int c = 0; c < QT_LEADS; c++) {
    const qt_lead *const lead = &s->lead[c];
    const int64_t at = c == QT_LEFT ? 0 : N - 2 * L;

    assert_int_equal(lead->n, L);
    for (int64_t i = 0; i < L * L; i++) {
      const int64_t row = at + i / L, column = at + i % L;

      assert_element(&lead->cell, i / L, i % L, element(row, column, false));
      assert_element(&lead->next, i / L, i % L, element(row, column + L, false));
      if (overlap) {
        assert_element(&lead->overlap, i / L, i % L, element(row, column, true));
        assert_element(&lead->next_overlap, i / L, i % L, element(row, column + L, true));
      }
    }
  }
}

static void layers_of_a_whole_device_are_found(void **state)
{
  for (int overlap = 0; overlap < 2; overlap++) {
    qt_matrices_opts o = defaults(put("h.mtx", 0, N, 0, N, false));
    qt_system s;

    o.s = overlap ? put("s.mtx", 0, N, 0, N, true) : "";
    assert_ok(build(&o, &s));
    assert_device(&s, overlap == 1);
    assert_int_equal(s.s.count, overlap);
    assert_int_equal(s.block[1], L);
    assert_int_equal(s.block[s.n_blocks - 1], N - L);
    assert_true(s.n_blocks >= 5);
    qt_system_fini(&s);
    o.left.layer = o.right.layer = L;
    assert_ok(build(&o, &s));
    assert_device(&s, overlap == 1);
    qt_system_fini(&s);
  }
}

/* The lead's matrix of two cells. */
static void put_leads(qt_matrices_opts *o)
{
  o->left.h = put("left.mtx", 0, 2 * L, 0, 2 * L, false);
  o->left.s = put("left_s.mtx", 0, 2 * L, 0, 2 * L, true);
  o->right.h = put("right.mtx", N - 2 * L, 2 * L, N - 2 * L, 2 * L, false);
  o->right.s = put("right_s.mtx", N - 2 * L, 2 * L, N - 2 * L, 2 * L, true);
}

static void leads_come_from_files(void **state)
{
  qt_matrices_opts o = defaults(put("h.mtx", 0, N, 0, N, false));
  qt_system s;

  o.s = put("s.mtx", 0, N, 0, N, true);
  put_leads(&o);
  assert_ok(build(&o, &s));
  assert_device(&s, true);
  qt_system_fini(&s);
}

static void cells_of_leads_join_the_device(void **state)
{
  qt_matrices_opts o = defaults(put("c.mtx", L, N - 2 * L, L, N - 2 * L, false));
  qt_system s;

  put_leads(&o);
  o.left.s = o.right.s = "";
  o.left.coupling = put("lc.mtx", 0, L, L, N - 2 * L, false);
  o.right.coupling = put("cr.mtx", L, N - 2 * L, N - L, L, false);
  assert_ok(build(&o, &s));
  assert_device(&s, false);
  qt_system_fini(&s);
}

static void repeated_cells_are_those_of_wannier(void **state)
{
  static const char *const names[] = {"sq5", "agnr7"};

  for (int i = 0; i < 2; i++) {
    char seed[1024], path[1024];
    qt_wannier_opts w;
    qt_system a, b = {.n = 0};

    weir_check_shared(path, sizeof path, "quantum/wannier90_transport/%s_htB.dat", names[i]);
    weir_check_shared(seed, sizeof seed, "quantum/wannier90_transport/%s", names[i]);
    qt_matrices_opts o = defaults(path);

    weir_opts_default(qt_wannier_options, sizeof w, &w);
    w.seed = seed;
    w.direction = 3;
    w.cells = o.cells = 5;
    assert_ok(build(&o, &a));
    assert_ok(qt_system_check(&a, 1e-14));
    assert_ok(qt_device_find("wannier")->build(&w, 1, &b));
    assert_int_equal(a.n, b.n);
    assert_int_equal(a.n_blocks, 5);
    for (int64_t k = 0; k < a.n * a.n; k++) {
      const weir_c128 x = qt_sparse_get(&a.h.matrix[0], k / a.n, k % a.n);
      const weir_c128 y = qt_sparse_get(&b.h.matrix[0], k / a.n, k % a.n);

      assert_true(hypot(x.re - y.re, x.im - y.im) < 4.01e-6); /* energies that htB.dat leaves out */
    }
    qt_system_fini(&a);
    qt_system_fini(&b);
  }
}

/* Bytes of a .TSHS. */
static uint8_t tshs[1 << 16];
static size_t tshs_size;

static void put_int(int64_t x)
{
  const int32_t word = (int32_t)x;

  memcpy(tshs + tshs_size, &word, sizeof word);
  tshs_size += sizeof word;
}

static void put_reals(int64_t n, const double *x)
{
  put_int(8 * n);
  for (int64_t i = 0; i < n; i++) {
    memcpy(tshs + tshs_size, &x[i], sizeof *x);
    tshs_size += sizeof *x;
  }
  put_int(8 * n);
}

static void put_ints(int64_t n, const int64_t *x)
{
  put_int(4 * n);
  for (int64_t i = 0; i < n; i++) {
    put_int(x[i]);
  }
  put_int(4 * n);
}

/* Hopping of atoms whose places along the current differ by `along`, and by one cell across it
 * where `across`, in Ry. Both stand in a chain of two kinds of atoms. */
static double hopping(int64_t kind, int64_t along, int64_t across)
{
  if (across != 0) {
    return along == 0 ? -0.05 - 0.01 * (double)kind : 0;
  }
  return along == 0 ? 0.1 * (double)kind : along == 1 ? -0.2 : 0;
}

/* Columns (what 0), overlap (1) or Hamiltonian (2) of each atom. */
static void put_rows(int what, int64_t n, int64_t images, const int64_t *isc, const int64_t *order)
{
  for (int64_t a = 0; a < n; a++) {
    int64_t column[16 * 9];
    double value[16 * 9];

    for (int64_t j = 0; j < n * images; j++) {
      const int64_t b = j % n, *const r = isc + 3 * (j / n);
      const int64_t apart = llabs(order[b] + r[1] * n - order[a]);

      column[j] = j + 1;
      value[j] = what == 2 ? hopping((order[a] + order[b] - (apart == 1)) / 2 % 2, apart, r[0])
                           : apart == 0 && r[0] == 0;
    }
    if (what == 0) {
      put_ints(n * images, column);
    } else {
      put_reals(n * images, value);
    }
  }
}

/* Atoms [0, n) of a chain along vector 2, a Bohr apart, with three images along x (vector 1,
 * across) and `along` (1 or 3) of y; order: the place of each. The Fermi energy is 0.5 Ry. Both
 * spins, where there are two, have the same matrices. */
static const char *put_spins(const char *name, int64_t n, int64_t along, const int64_t *order,
                             int64_t spins)
{
  const char *const path = path_of(name);
  const int64_t images = 3 * along, all = n * images;
  const double cell[9] = {3, 0, 0, 0, (double)n, 0, 0, 0, 9};
  double xa[9 + 3 * 16];
  int64_t isc[27], list[16 + 1];

  assert_true(n <= 16);
  memcpy(xa, cell, sizeof cell);
  for (int64_t a = 0; a < n; a++) {
    xa[9 + 3 * a] = xa[9 + 3 * a + 2] = 0;
    xa[9 + 3 * a + 1] = (double)order[a];
  }
  for (int64_t i = 0; i < images; i++) {
    isc[3 * i] = i % 3 == 2 ? -1 : i % 3;
    isc[3 * i + 1] = i / 3 == 2 ? -1 : i / 3;
    isc[3 * i + 2] = 0;
  }
  tshs_size = 0;
  put_ints(1, (const int64_t[]){1});
  put_ints(5, (const int64_t[]){n, n, all, spins, n * all});
  put_ints(3, (const int64_t[]){3, along, 1});
  put_reals(9 + 3 * n, xa);
  put_ints(3, (const int64_t[]){0, 0, 0});
  put_int(60);
  tshs_size += 60;
  put_int(60);
  put_reals(3, (const double[]){0.5, 0, 0});
  put_ints(2, (const int64_t[]){0, 0});
  for (int64_t a = 0; a <= n; a++) {
    list[a] = a;
  }
  put_ints(n + 1, list);
  for (int64_t a = 0; a < n; a++) {
    list[a] = all;
  }
  put_ints(n, list);
  for (int what = 0; what < 2 + spins; what++) {
    put_rows(what < 2 ? what : 2, n, images, isc, order);
  }
  put_ints(3 * images, isc);
  weir_check_write(path, tshs, tshs_size);
  return path;
}

static const char *put_tshs(const char *name, int64_t n, int64_t along, const int64_t *order)
{
  return put_spins(name, n, along, order, 1);
}

#define RY 13.605693122994

/* A chain of n atoms with leads of two. */
static void assert_chain(const qt_system *s, int64_t n)
{
  const double k[2] = {0, 0.3};

  assert_ok(qt_system_check(s, 1e-14));
  assert_int_equal(s->n, n);
  assert_int_equal(s->n_atoms, n);
  assert_true(s->periodic[2] && !s->periodic[1]);
  for (int64_t b = 0; b < s->n_blocks; b++) {
    const int64_t size = s->block[b + 1] - s->block[b];
    weir_c128 h[256] = {{0, 0}};

    qt_system_add_block(s, &s->h, k, b, b, (weir_c128){1, 0}, h);
    for (int64_t i = 0; i < size; i++) {
      const int64_t kind = (s->block[b] + i) % 2;
      const double wanted =
          hopping(kind, 0, 0) - 0.5 + 2 * cos(2 * M_PI * 0.3) * hopping(kind, 0, 1);

      assert_near(h[i * size + i].re, RY * wanted, 1e-13);
      assert_near(s->atom[s->block[b] + i].position[0], 0.529177210903 * (double)(s->block[b] + i),
                  1e-12);
    }
  }
  for (int c = 0; c < QT_LEADS; c++) {
    weir_c128 next[4] = {{0, 0}};

    assert_int_equal(s->lead[c].n, 2);
    qt_bloch_add(&s->lead[c].next, k, (weir_c128){1, 0}, next);
    assert_true(next[0].re == 0 && next[1].re == 0 && next[3].re == 0);
    assert_near(next[2].re, -0.2 * RY, 1e-13);
    assert_near(s->lead[c].length, 2 * 0.529177210903, 1e-12);
    assert_true(s->lead[c].overlap.count > 0);
  }
}

static void chains_of_siesta_are_read(void **state)
{
  static const int64_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  static const int64_t mixed[] = {5, 1, 9, 0, 4, 2, 8, 7, 3, 6};
  qt_matrices_opts o = defaults(put_tshs("device.TSHS", 10, 3, order));
  qt_system s;

  o.direction = 2;
  assert_ok(build(&o, &s)); /* layers found */
  assert_chain(&s, 10);
  qt_system_fini(&s);
  o.left.h = o.right.h = put_tshs("lead.TSHS", 2, 3, order);
  o.h = put_tshs("closed.TSHS", 10, 1, order); /* no images along the current */
  assert_ok(build(&o, &s));
  assert_chain(&s, 10);
  qt_system_fini(&s);
  o.h = put_tshs("mixed.TSHS", 10, 3, mixed);
  o.sort = true;
  assert_ok(build(&o, &s));
  assert_chain(&s, 10);
  qt_system_fini(&s);
  o = defaults(path_of("lead.TSHS"));
  o.direction = 2;
  o.cells = 4;
  assert_ok(build(&o, &s));
  assert_chain(&s, 8);
  assert_near(s.cell[0][0], 8 * 0.529177210903, 1e-12);
  qt_system_fini(&s);
}

static void assert_refused(const qt_matrices_opts *o, weir_status status, const char *said)
{
  qt_system s;

  assert_int_equal(build(o, &s), status);
  if (!strstr(weir_last_message(), said)) {
    fprintf(stderr, "%s\n", weir_last_message());
    fail();
  }
  qt_system_fini(&s);
}

static void currents_of_a_spin_are_told_from_those_of_both(void **state)
{
  static const int64_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  qt_matrices_opts o = defaults(put("h.mtx", 0, N, 0, N, false));
  qt_system s;

  for (int both = 0; both < 2; both++) {
    o.spin_in_basis = both;
    assert_ok(build(&o, &s));
    assert_true(s.has_spin == both && !s.one_spin && qt_system_spin(&s) == 2 - both);
    qt_system_fini(&s);
  }
  for (int64_t spin = 0; spin < 2; spin++) {
    o = defaults(put_spins("spins.TSHS", 10, 3, order, 2));
    o.direction = 2;
    o.spin = spin;
    assert_ok(build(&o, &s));
    assert_chain(&s, 10);
    assert_true(s.one_spin && !s.has_spin && qt_system_spin(&s) == 1);
    qt_system_fini(&s);
  }
  o.spin_in_basis = true;
  assert_refused(&o, WEIR_ERR_CONFIG, "device.matrices.spin_in_basis: ");
  o = defaults(put_tshs("paired.TSHS", 10, 3, order));
  o.direction = 2;
  assert_ok(build(&o, &s));
  assert_true(!s.one_spin && qt_system_spin(&s) == 2);
  qt_system_fini(&s);
  o.left.h = put_spins("lead.TSHS", 2, 3, order, 2); /* a lead of one spin makes it so */
  assert_ok(build(&o, &s));
  assert_true(s.one_spin);
  qt_system_fini(&s);
}

static void wrong_wishes_are_refused(void **state)
{
  static const int64_t order[] = {0, 1, 2};
  const qt_matrices_opts whole = defaults(put("h.mtx", 0, N, 0, N, false));
  qt_matrices_opts o = defaults("");

  assert_int_equal(weir_opts_incomplete(qt_matrices_options), 0);
  assert_refused(&o, WEIR_ERR_CONFIG, "device.matrices.h is empty");
  o = whole;
  o.left.layer = 2;
  assert_refused(&o, WEIR_ERR_CONFIG,
                 "device.matrices.left.layer: 2: the layer is too thin: it "
                 "couples to orbital 5 from the left end");
  o.left.layer = N;
  assert_refused(&o, WEIR_ERR_CONFIG, "fewer than two such layers");
  o = whole;
  o.right.layer = 11;
  o.left.layer = 11;
  assert_refused(&o, WEIR_ERR_CONFIG, "couple to one another");
  o = whole;
  o.s = put("small.mtx", 0, 3, 0, 3, true);
  assert_refused(&o, WEIR_ERR_SHAPE, "small.mtx: a matrix of 3 x 3, expected 23 x 23");
  o = defaults(put("wide.mtx", 0, 3, 0, 4, false));
  assert_refused(&o, WEIR_ERR_SHAPE, "wide.mtx: a matrix of 3 x 4, expected 3 x 3");
  o = defaults(put("middle.mtx", 3 * L, MIDDLE, 3 * L, MIDDLE, false));
  assert_refused(&o, WEIR_ERR_DATA, "the left end of the device does not repeat a layer");
  o = whole;
  o.left.coupling = o.h;
  assert_refused(&o, WEIR_ERR_CONFIG, "device.matrices.left.coupling needs a file of the lead");
  o.left.h = put("left.mtx", 0, 2 * L, 0, 2 * L, false);
  assert_refused(&o, WEIR_ERR_SHAPE, "h.mtx: a coupling of 23 x 23, expected 3 x 23");
  o.left.h = put("odd.mtx", 0, L, 0, L, false);
  assert_refused(&o, WEIR_ERR_SHAPE, "odd.mtx: 3 orbitals: a lead's matrix has two cells");
  o = whole;
  o.cells = 2;
  o.left.h = o.right.h = put("left.mtx", 0, 2 * L, 0, 2 * L, false);
  assert_refused(&o, WEIR_ERR_CONFIG, "leave left.h and left.coupling out");
  o = defaults(put_tshs("three.TSHS", 3, 3, order));
  o.s = whole.h;
  assert_refused(&o, WEIR_ERR_CONFIG, "has an overlap of its own");
  o.s = "";
  o.spin = 1;
  assert_refused(&o, WEIR_ERR_CONFIG, "spin 1 is asked for");
  for (int i = 0; i < 4; i++) {
    static const char *const keys[] = {"spin", "fermi", "sort", "direction"};
    char text[64];

    o = whole;
    o.spin = i == 0;
    o.fermi = i != 1;
    o.sort = i == 2;
    o.direction = i == 3 ? 2 : 1;
    snprintf(text, sizeof text, "device.matrices.%s is for .TSHS alone", keys[i]);
    assert_refused(&o, WEIR_ERR_CONFIG, text);
  }
}

static char said[4096];

static void listen(void *context, weir_log_level level, const char *room, const char *text)
{
  (void)snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

/* Builds while messages are collected in `said`. */
static void build_and_listen(const qt_matrices_opts *o, qt_system *s)
{
  said[0] = 0;
  weir_log_set_level(WEIR_LOG_INFO);
  weir_log_set_sink(listen, NULL);
  assert_ok(build(o, s));
  weir_log_set_sink(NULL, NULL);
  weir_log_set_level(WEIR_LOG_ERROR);
}

static void overlaps_of_leads_are_compared(void **state)
{
  qt_matrices_opts o = defaults(put("h.mtx", 0, N, 0, N, false));
  qt_system s;

  o.s = put("s.mtx", 0, N, 0, N, true);
  put_leads(&o);
  build_and_listen(&o, &s);
  assert_null(strstr(said, "differs from a cell of its lead"));
  qt_system_fini(&s);
  o.left.s = o.right.s; /* of another lead */
  build_and_listen(&o, &s);
  assert_non_null(strstr(said,
                         "the left end of the device differs from a cell of its lead by 0 eV, "
                         "its overlap by 0.0"));
  assert_null(strstr(said, "the right end"));
  qt_system_fini(&s);
  o.left.s = "";
  assert_ok(build(&o, &s));
  assert_int_equal(qt_system_check(&s, 1e-14), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "the device has an overlap matrix, the lead none, at "
                                              "the left end"));
  qt_system_fini(&s);
}

static const char *put_text(const char *name, const char *text)
{
  const char *const path = path_of(name);

  weir_check_write(path, text, strlen(text));
  return path;
}

static void what_is_left_out_or_made_up_is_told(void **state)
{
  static const int64_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  qt_matrices_opts o = defaults(put_tshs("device.TSHS", 10, 3, order));
  qt_system s;

  o.direction = 2;
  build_and_listen(&o, &s); /* the last atom couples to the first of the next image by 0.2 Ry */
  assert_non_null(strstr(said,
                         "device.TSHS: couplings of the device to its images along the current "
                         "are left out: 3.85 eV of norm; the largest, 2.72 eV, is of orbital "));
  assert_true(strstr(said, "of image (0, 1, 0)") || strstr(said, "of image (0, -1, 0)"));
  assert_false(s.is_schematic);
  qt_system_fini(&s);
  o.tolerance = 3;
  o.left.layer = o.right.layer = 2;
  build_and_listen(&o, &s);
  assert_null(strstr(said, "the largest"));
  assert_non_null(strstr(said, "are left out: 3.85 eV of norm\n"));
  qt_system_fini(&s);
  o = defaults(put("h.mtx", 0, N, 0, N, false));
  build_and_listen(&o, &s);
  assert_true(s.is_schematic && s.atom[N - 1].position[0] == (double)(s.n_blocks - 1));
  assert_non_null(strstr(said, "h.mtx: holds no atoms: orbitals stand 1 Angstrom apart"));
  qt_system_fini(&s);
}

/* Sizes that a small file claims take no memory; what was read before a refusal is freed. */
static void files_of_wrong_sizes_take_no_memory(void **state)
{
  static const char head[] = "%%MatrixMarket matrix coordinate real general\n";
  char text[128];
  qt_matrices_opts o = defaults("");
  const int64_t before = weir_alloc_bytes();

  snprintf(text, sizeof text, "%s%d %d 1\n1 1 1\n", head, INT32_MAX, INT32_MAX);
  o.h = put_text("empty.mtx", text);
  assert_refused(&o, WEIR_ERR_DATA, "empty.mtx: 2147483647 rows, but elements of no more than 1");
  o.h = put_text("bare_ht.dat", "a cell and its coupling\n2\n0 0 0 0\n2\n0 0 0 0\n");
  o.cells = 3;
  assert_refused(&o, WEIR_ERR_DATA, "bare_ht.dat: 2 rows, but elements of no more than 0");
  o.h = put_text("pair.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n2\n1\n");
  o.s = put_text("two_ht.dat", "a cell and its coupling\n2\n1 0 0 1\n2\n0 0 1 0\n");
  assert_refused(&o, WEIR_ERR_SHAPE, "two_ht.dat holds 2 matrices, ");
  assert_int_equal(weir_alloc_bytes(), before);
}

/* The closed device without what couples it to one of its blocks. */
static void blocks_grow_with_couplings(void **state)
{
  qt_bloch none = {.count = 0};
  const qt_pattern p = {.n = 12,
                        .last = (int64_t[]){3, 3, 4, 4, 7, 7, 7, 11, 11, 11, 11, 11},
                        .first = (int64_t[]){0, 0, 0, 0, 2, 4, 4, 4, 7, 7, 7, 7}};
  int64_t *block = NULL, count = 0;

  /* [0, 2) -> 4; [2, 4) -> 5; [4, 5) -> 8; [5, 8) reaches the end layer: it grows to 10 */
  assert_ok(qt_layers_divide(&p, 2, 2, NULL, &block, &count));
  assert_int_equal(count, 5);
  assert_int_equal(block[1], 2);
  assert_int_equal(block[2], 4);
  assert_int_equal(block[3], 5);
  assert_int_equal(block[4], 10);
  assert_int_equal(block[5], 12);
  weir_free(&block);
  assert_int_equal(qt_layers_divide(&p, 8, 5, NULL, &block, &count), WEIR_ERR_CONFIG);
  assert_true(qt_layer_difference(&none, &none, 12, QT_LEFT, 2, true) == 0);
}

static weir_status make(void *opts)
{
  qt_system s;
  const weir_status status = build(opts, &s);

  qt_system_fini(&s);
  return status;
}

static void missing_memory_is_reported(void **state)
{
  static const int64_t mixed[] = {2, 0, 1, 5, 4, 3};
  qt_matrices_opts o = defaults(put("c.mtx", L, N - 2 * L, L, N - 2 * L, false));

  put_leads(&o);
  o.left.s = o.right.s = "";
  o.left.coupling = put("lc.mtx", 0, L, L, N - 2 * L, false);
  assert_true(weir_check_faults(make, &o) > 20);
  o = defaults(put("h.mtx", 0, N, 0, N, false));
  o.s = put("s.mtx", 0, N, 0, N, true);
  assert_true(weir_check_faults(make, &o) > 20);
  o = defaults(put_tshs("mixed.TSHS", 6, 3, mixed));
  o.direction = 2;
  o.sort = true;
  assert_true(weir_check_faults(make, &o) > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layers_of_a_whole_device_are_found),
      cmocka_unit_test(leads_come_from_files),
      cmocka_unit_test(cells_of_leads_join_the_device),
      cmocka_unit_test(repeated_cells_are_those_of_wannier),
      cmocka_unit_test(chains_of_siesta_are_read),
      cmocka_unit_test(currents_of_a_spin_are_told_from_those_of_both),
      cmocka_unit_test(wrong_wishes_are_refused),
      cmocka_unit_test(overlaps_of_leads_are_compared),
      cmocka_unit_test(what_is_left_out_or_made_up_is_told),
      cmocka_unit_test(files_of_wrong_sizes_take_no_memory),
      cmocka_unit_test(blocks_grow_with_couplings),
      cmocka_unit_test(missing_memory_is_reported),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
