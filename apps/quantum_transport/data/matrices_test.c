/* matrices_test.c - the same device from files of every form; layers found; spins; missing memory.
 */
#include "support/quantum_transport/matrices_test.h"

#include "base/weir_alloc.h"
#include "data/layers.h"
#include "data/wannier.h"
#include "model/system_check.h"

char dir[256];
matrices_paths paths;

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

/* The chain of files of non-collinear spins and spin-orbit coupling, once for each spin. */
static void spinors_of_siesta_hold_one_electron_a_state(void **state)
{
  static const int64_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

  for (int64_t spins = 4; spins <= 8; spins += 4) {
    qt_matrices_opts o = defaults(put_spins("spinors.TSHS", 10, 3, order, spins));
    qt_system s, plain;

    o.direction = 2;
    assert_ok(build(&o, &s));
    assert_ok(qt_system_check(&s, 1e-14));
    assert_true(s.has_spin && !s.one_spin && qt_system_spin(&s) == 1);
    assert_int_equal(s.n, 20);
    assert_true(s.lead[0].n == 4 && s.atom[3].first == 6 && s.atom[3].n_orbitals == 2);
    o.h = put_spins("plain.TSHS", 10, 3, order, 1);
    assert_ok(build(&o, &plain));
    for (int64_t i = 0; i < 400; i++) {
      const int64_t row = i / 20, column = i % 20;
      const weir_c128 x = qt_sparse_get(&plain.h.matrix[0], row / 2, column / 2);

      assert_element(&s.h, row, column, row % 2 == column % 2 ? x : (weir_c128){0, 0});
    }
    qt_system_fini(&plain);
    qt_system_fini(&s);
    o.left.h = put_spins("lead.TSHS", 2, 3, order, spins);
    assert_refused(&o, WEIR_ERR_CONFIG,
                   "spin components, "); /* of the lead, unlike those of the device */
    o.spin = 1;
    o.h = put_spins("spinors.TSHS", 10, 3, order, spins);
    assert_refused(&o, WEIR_ERR_CONFIG, "components include both spins");
  }
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
      cmocka_unit_test(spinors_of_siesta_hold_one_electron_a_state),
      cmocka_unit_test(blocks_grow_with_couplings),
      cmocka_unit_test(missing_memory_is_reported),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
