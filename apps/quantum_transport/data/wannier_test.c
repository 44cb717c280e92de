/* wannier_test.c - folded Hamiltonians against those of the lattice and of Wannier90's own
 * transport; what is refused. */
#include "data/wannier.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "io/weir_triplets.h"
#include "model/device.h"
#include "model/system_check.h"

enum { POWERS = 4 };

static char dir[256];

static qt_wannier_opts defaults(const char *seed)
{
  qt_wannier_opts o;

  weir_opts_default(qt_wannier_options, sizeof o, &o);
  o.seed = seed;
  return o;
}

static weir_status build(const qt_wannier_opts *o, qt_system *out)
{
  *out = (qt_system){.n = 0};
  return qt_device_find("wannier")->build(o, 1, out);
}

/* sums[p] += trace of h^(p + 1), real parts: h is Hermitian. */
static void add_moments(int64_t n, const weir_c128 *h, double sums[POWERS])
{
  weir_c128 *power, *next;

  assert_ok(weir_alloc(n * n, sizeof *power, (void **)&power));
  assert_ok(weir_alloc(n * n, sizeof *next, (void **)&next));
  memcpy(power, h, (size_t)(n * n) * sizeof *power);
  for (int p = 0; p < POWERS; p++) {
    for (int64_t i = 0; i < n; i++) {
      sums[p] += power[i * n + i].re;
    }
    memset(next, 0, (size_t)(n * n) * sizeof *next);
    for (int64_t i = 0; i < n * n * n; i++) {
      const weir_c128 a = power[i / n], b = h[i / n % n * n + i % n];
      weir_c128 *const to = &next[i / (n * n) * n + i % n];

      to->re += a.re * b.re - a.im * b.im;
      to->im += a.re * b.im + a.im * b.re;
    }
    memcpy(power, next, (size_t)(n * n) * sizeof *power);
  }
  weir_free(&power);
  weir_free(&next);
}

/* out [n, n] += factor times the adjoint of `of`. */
static void add_adjoint(int64_t n, const weir_c128 *of, weir_c128 factor, weir_c128 *out)
{
  for (int64_t i = 0; i < n * n; i++) {
    const weir_c128 x = of[i % n * n + i / n];

    out[i].re += factor.re * x.re + factor.im * x.im;
    out[i].im += factor.im * x.re - factor.re * x.im;
  }
}

/* Moments of the perfect wire of lead cells at Bloch phase 2 pi kx. */
static void folded_moments(const qt_lead *lead, double kx, const double k[2], double sums[POWERS])
{
  const int64_t n = lead->n;
  weir_c128 *h, *next;

  assert_ok(weir_alloc(n * n, sizeof *h, (void **)&h));
  assert_ok(weir_alloc(n * n, sizeof *next, (void **)&next));
  qt_bloch_add(&lead->cell, k, (weir_c128){1, 0}, h);
  qt_bloch_add(&lead->next, k, (weir_c128){1, 0}, next);
  add_adjoint(n, next, (weir_c128){cos(2 * M_PI * kx), -sin(2 * M_PI * kx)}, h);
  qt_bloch_add(&lead->next, k, (weir_c128){cos(2 * M_PI * kx), sin(2 * M_PI * kx)}, h);
  add_moments(n, h, sums);
  weir_free(&h);
  weir_free(&next);
}

/* Moments of H(k) of the lattice. */
static void lattice_moments(const weir_wannier *w, const double k[3], double sums[POWERS])
{
  weir_c128 *h;

  assert_ok(weir_alloc(w->n * w->n, sizeof *h, (void **)&h));
  for (int64_t i = 0; i < w->n_r; i++) {
    double angle = 0;

    for (int d = 0; d < 3; d++) {
      angle += 2 * M_PI * k[d] * (double)w->r[i][d];
    }
    for (int64_t e = 0; e < w->n * w->n; e++) {
      const weir_c128 x = w->h[i * w->n * w->n + e];

      h[e].re += cos(angle) * x.re - sin(angle) * x.im;
      h[e].im += cos(angle) * x.im + sin(angle) * x.re;
    }
  }
  add_moments(w->n, h, sums);
  weir_free(&h);
}

/* A layer of L cells has at K the bands of one cell at (K + j) / L, j = 0 .. L - 1. */
static void assert_same_bands(const qt_wannier_opts *o, const qt_system *s)
{
  const int along = (int)o->direction - 1;
  weir_wannier w;

  assert_ok(weir_wannier_read(o->seed, o->wsvec, &w));
  assert_ok(qt_wannier_truncate(o, &w));
  const int64_t cells = s->lead[QT_LEFT].n / w.n;

  for (uint64_t draw = 0; draw < 5; draw++) {
    double folded[POWERS] = {0}, lattice[POWERS] = {0}, k[3];

    for (uint32_t i = 0; i < 3; i++) {
      k[i] = weir_random_uniform(7, i, 0, draw);
    }
    const double transverse[2] = {k[(along + 1) % 3], k[(along + 2) % 3]}, kx = k[along];

    folded_moments(&s->lead[draw % 2], kx, transverse, folded);
    for (int64_t j = 0; j < cells; j++) {
      k[along] = (kx + (double)j) / (double)cells;
      lattice_moments(&w, k, lattice);
    }
    for (int p = 0; p < POWERS; p++) {
      assert_near(folded[p], lattice[p], 1e-12);
    }
  }
  weir_wannier_fini(&w);
}

static void bulk_hamiltonians_fold_to_sound_systems(void **state)
{
  static const struct {
    const char *name;
    int64_t direction, layer, cells;
    double cutoff;
  } cases[] = {{"silicon_w90/silicon", 1, 0, 9, 0.01},   {"silicon_w90/silicon", 3, 0, 1, 0.1},
               {"silicon_w90/silicon", 2, 5, 12, 0.05},  {"graphene_w90/graphene", 1, 0, 4, 1e-3},
               {"graphene_w90/graphene", 2, 3, 4, 1e-3}, {"bismuth_w90/bi", 3, 0, 4, 0.1}};

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char path[1024];
    qt_system s;

    weir_check_shared(path, sizeof path, "quantum/%s", cases[i].name);
    qt_wannier_opts o = defaults(path);

    o.direction = cases[i].direction;
    o.layer = cases[i].layer;
    o.cells = cases[i].cells;
    o.cutoff = cases[i].cutoff;
    assert_ok(build(&o, &s));
    assert_ok(qt_system_check(&s, 1e-14));
    assert_true(s.h.count > 1 && (s.periodic[1] || s.periodic[2]) && !s.periodic[0]);
    for (int64_t a = 1; a < s.lead[0].n; a++) {
      assert_true(s.atom[a].position[0] >= s.atom[a - 1].position[0]);
    }
    assert_near(s.cell[0][0], s.lead[0].length * (double)s.n_blocks, 1e-12);
    assert_same_bands(&o, &s);
    qt_system_fini(&s);
  }
}

/* Distance of planes of silicon normal to [1 0 0] of the primitive cell: volume over area. */
static void axes_follow_the_cell(void **state)
{
  char path[1024];
  qt_system s;

  weir_check_shared(path, sizeof path, "quantum/silicon_w90/silicon");
  qt_wannier_opts o = defaults(path);

  assert_ok(build(&o, &s));
  const double a = 2 * 2.6988, layer = s.lead[0].length / (double)(s.lead[0].n / 8);

  assert_near(layer, a / sqrt(3), 1e-9); /* primitive vectors lie in planes {111} */
  assert_near(s.cell[1][1], a / sqrt(2), 1e-9);
  assert_near(s.cell[1][0], 0, 1e-12);
  assert_near(hypot(s.cell[2][1], s.cell[2][2]), a / sqrt(2), 1e-9);
  qt_system_fini(&s);
}

static void assert_matrix(const qt_bloch *m, const weir_triplets *t)
{
  weir_c128 dense[14 * 14] = {{0, 0}};

  assert_int_equal(m->count, 1);
  assert_int_equal(m->matrix[0].rows, t->rows);
  for (int64_t i = 0; i < t->count; i++) {
    dense[t->item[i].row * t->rows + t->item[i].column] = t->item[i].value;
  }
  for (int64_t i = 0; i < t->rows * t->rows; i++) {
    const weir_c128 x = qt_sparse_get(&m->matrix[0], i / t->rows, i % t->rows);

    /* htB.dat leaves out what is small: the energies of sq5, up to 4e-6 eV */
    assert_true(hypot(x.re - dense[i].re, x.im - dense[i].im) < 4.01e-6);
  }
}

static void ribbons_are_those_of_wannier90(void **state)
{
  static const char *const names[] = {"sq5", "agnr7"};

  for (int i = 0; i < 2; i++) {
    char seed[1024], path[1024];
    weir_triplets t[2];
    qt_system s;
    int count = 0;

    weir_check_shared(path, sizeof path, "quantum/wannier90_transport/%s_htB.dat", names[i]);
    weir_check_shared(seed, sizeof seed, "quantum/wannier90_transport/%s", names[i]);
    qt_wannier_opts o = defaults(seed);

    o.direction = 3;
    assert_ok(build(&o, &s));
    assert_ok(qt_system_check(&s, 1e-14));
    assert_ok(weir_wannier_read_ht(path, t, &count));
    assert_int_equal(count, 2);
    for (int c = 0; c < QT_LEADS; c++) {
      assert_matrix(&s.lead[c].cell, &t[0]);
      assert_matrix(&s.lead[c].next, &t[1]);
    }
    assert_int_equal(s.n_blocks, 4);
    assert_false(s.periodic[1] || s.periodic[2]);
    weir_triplets_fini(&t[0]);
    weir_triplets_fini(&t[1]);
    qt_system_fini(&s);
  }
}

/* Two functions a cell, hoppings of one and of two cells along vector 2. */
static const char small[] = "by hand\n2\n5\n1 1 1 1 1\n"
                            "0 -2 0 1 1 0.01 0\n0 -2 0 2 1 0 0\n0 -2 0 1 2 0 0\n0 -2 0 2 2 0 0\n"
                            "0 -1 0 1 1 0 0\n0 -1 0 2 1 0 0\n0 -1 0 1 2 0.4 0.3\n0 -1 0 2 2 0 0\n"
                            "0 0 0 1 1 1 0\n0 0 0 2 1 -1 0\n0 0 0 1 2 -1 0\n0 0 0 2 2 2 0\n"
                            "0 1 0 1 1 0 0\n0 1 0 2 1 0.4 -0.3\n0 1 0 1 2 0 0\n0 1 0 2 2 0 0\n"
                            "0 2 0 1 1 0.01 0\n0 2 0 2 1 0 0\n0 2 0 1 2 0 0\n0 2 0 2 2 0 0\n";

static const char *put(const char *text)
{
  static char seed[512];
  char path[600];

  snprintf(seed, sizeof seed, "%s/small", dir);
  snprintf(path, sizeof path, "%s_hr.dat", seed);
  weir_check_write(path, text, strlen(text));
  return seed;
}

static char said[2048];

static void listen(void *context, weir_log_level level, const char *module, const char *text)
{
  (void)snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

static void discarded_hoppings_are_told(void **state)
{
  qt_wannier_opts o = defaults(put(small));
  qt_system s;

  o.direction = 2;
  o.cutoff = 0.02;
  o.cells = 3;
  weir_log_set_level(WEIR_LOG_INFO);
  weir_log_set_sink(listen, NULL);
  assert_ok(build(&o, &s));
  weir_log_set_sink(NULL, NULL);
  weir_log_set_level(WEIR_LOG_ERROR);
  assert_non_null(strstr(said,
                         "below 0.02 eV are left out: 0.0141 eV of norm, 0.0052 of the whole, "
                         "the largest 0.01 eV"));
  assert_non_null(strstr(said, "small_wsvec.dat is not there"));
  assert_int_equal(s.n, 6);
  assert_int_equal(s.lead[0].n, 2);
  const weir_c128 x = qt_sparse_get(&s.h.matrix[0], 1, 2), y = qt_sparse_get(&s.h.matrix[0], 2, 1);

  assert_true(x.re == 0.4 && x.im == -0.3 && y.im == 0.3);
  qt_system_fini(&s);
  o.cutoff = 0;
  assert_ok(build(&o, &s));
  assert_int_equal(s.n, 8); /* two layers of two cells */
  assert_ok(qt_system_check(&s, 1e-14));
  qt_system_fini(&s);
}

/* One cell and its neighbours along vector 2 carry both spins where .win or the option say so. */
static void spinors_hold_one_electron_a_state(void **state)
{
  static const struct {
    const char *win;
    bool option, has_spin;
  } cases[] = {{"spinors = .true.\n", false, true},
               {"", false, false},
               {"spinors = F\n", false, false},
               {"spinors = F\n", true, true}};
  char path[600], text[256];

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    qt_wannier_opts o = defaults(put(small));
    qt_system s;

    snprintf(path, sizeof path, "%s.win", o.seed);
    snprintf(text, sizeof text, "%sbegin unit_cell_cart\n1 0 0\n0 1 0\n0 0 1\nend unit_cell_cart\n",
             cases[i].win);
    weir_check_write(path, text, strlen(text));
    o.direction = 2;
    o.spin_in_basis = cases[i].option;
    assert_ok(build(&o, &s));
    assert_true(s.has_spin == cases[i].has_spin && !s.one_spin);
    assert_true(qt_system_spin(&s) == (cases[i].has_spin ? 1 : 2));
    qt_system_fini(&s);
    assert_int_equal(remove(path), 0);
  }
}

static void wrong_wishes_are_refused(void **state)
{
  static const struct {
    int64_t direction, layer;
    double cutoff;
    weir_status status;
    const char *text;
  } cases[] = {
      {2, 1, 1e-3, WEIR_ERR_CONFIG, "device.wannier.layer: 1: hoppings span 2 cells"},
      {1, 0, 1e-3, WEIR_ERR_DATA, "leads along lattice vector 1"},
      {2, 0, 5, WEIR_ERR_DATA, "no hopping of 5 eV or more"},
  };
  char bad[sizeof small];
  qt_system s;

  assert_int_equal(weir_opts_incomplete(qt_wannier_options), 0);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    qt_wannier_opts o = defaults(put(small));

    o.direction = cases[i].direction;
    o.layer = cases[i].layer;
    o.cutoff = cases[i].cutoff;
    assert_int_equal(build(&o, &s), cases[i].status);
    assert_non_null(strstr(weir_last_message(), cases[i].text));
    qt_system_fini(&s);
  }
  qt_wannier_opts o = defaults("");

  assert_int_equal(build(&o, &s), WEIR_ERR_CONFIG);
  memcpy(bad, small, sizeof small);
  memcpy(strstr(bad, "0.4 -0.3"), "0.4 -0.2", 8);
  o = defaults(put(bad));
  assert_int_equal(build(&o, &s), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "element (1, 2) of lattice vector (0, -1, 0) and its "
                                              "adjoint differ by 0.1 eV"));
  qt_system_fini(&s);
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
  qt_wannier_opts o = defaults(put(small));

  o.direction = 2;
  assert_true(weir_check_faults(make, &o) > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bulk_hamiltonians_fold_to_sound_systems),
      cmocka_unit_test(axes_follow_the_cell),
      cmocka_unit_test(ribbons_are_those_of_wannier90),
      cmocka_unit_test(discarded_hoppings_are_told),
      cmocka_unit_test(spinors_hold_one_electron_a_state),
      cmocka_unit_test(wrong_wishes_are_refused),
      cmocka_unit_test(missing_memory_is_reported),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
