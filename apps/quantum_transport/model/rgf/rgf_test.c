/* rgf_test.c - the recursion against dense inverses and a reference file; identities of Green's
 * functions that hold without scattering. */
#include "support/quantum_transport/rgf_reference_test.h"

static rgf_case c;
static weir_c128 g[2 * RGF_DENSE], lesser[2 * RGF_DENSE], greater[2 * RGF_DENSE];
static weir_c128 corner[RGF_DENSE];
static int64_t step = 1; /* from a number of these banks to the next */
static weir_c128 expected[RGF_DENSE];
static char scratch[1 << 21];

/* Solves case c into g, lesser, greater and corner. */
static bool solve(bool with_lesser, bool tridiagonal)
{
  const rgf_reader a = {&c.layout, c.a}, sigma = {&c.layout, c.sigma};
  const qt_rgf_job job = {.layout = &c.layout,
                          .a = {rgf_read, &a},
                          .sigma = {with_lesser ? rgf_read : NULL, &sigma},
                          .tridiagonal = tridiagonal,
                          .g = {g, step},
                          .lesser = {lesser, step},
                          .greater = {with_lesser ? greater : NULL, step},
                          .corner = corner};

  weir_linear_start();
  assert_true(qt_rgf_scratch(c.layout.max, with_lesser) <= (int64_t)sizeof scratch);
  memset(scratch, 0xff, sizeof scratch); /* NaN: what was not written is not read */
  return qt_rgf_solve(&job, scratch);
}

static void reference_file(void **state)
{
  static const char *const names[] = {"Sl", "Sg"}, *const results[] = {"Gl", "Gg"};
  const int64_t block[] = {0, 6, 12, 18, 24, 30};
  weir_netcdf *nc = rgf_reference_open();

  memset(&c, 0, sizeof c);
  assert_ok(qt_layout_create(5, block, &c.layout));
  rgf_reference_read(nc, &c.layout, "A", true, c.a);
  for (int k = 0; k < 2; k++) {
    rgf_reference_read(nc, &c.layout, names[k], false, c.sigma);
    assert_true(solve(true, true));
    rgf_reference_read(nc, &c.layout, "GR", true, expected);
    assert_true(rgf_distance(c.layout.count, g, expected) <
                1e-13 * rgf_size(c.layout.count, expected));
    rgf_reference_read(nc, &c.layout, results[k], true, expected);
    assert_true(rgf_distance(c.layout.count, lesser, expected) <
                1e-13 * rgf_size(c.layout.count, expected));
  }
  weir_netcdf_close(&nc);
  qt_layout_fini(&c.layout);
}

static const int64_t ragged[] = {0, 3, 4, 9, 11, 19, 23};
static const int64_t even[] = {0, 8, 16, 24, 32};
static const int64_t one_block[] = {0, 7};
static const int64_t chain[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
static const struct {
  int64_t n_blocks;
  const int64_t *block;
} partitions[] = {{6, ragged}, {4, even}, {1, one_block}, {8, chain}};

static void random_blocks_have_the_dense_inverse(void **state)
{
  for (uint64_t form = 0; form < 16; form++) {
    const bool tridiagonal = form & 1, sparse = form >> 1 & 1;
    const int64_t n_blocks = partitions[form >> 2].n_blocks;

    rgf_case_create(&c, n_blocks, partitions[form >> 2].block, tridiagonal, sparse, form);
    const qt_layout *l = &c.layout;
    const int64_t n = l->n, last = l->block[n_blocks - 1], columns = n - last;

    assert_true(solve(true, tridiagonal));
    rgf_copy(l, true, expected, c.g, false);
    assert_true(rgf_distance(l->count, g, expected) < 1e-13 * rgf_size(l->count, expected));
    rgf_copy(l, true, expected, c.lesser, false);
    assert_true(rgf_distance(l->count, lesser, expected) < 1e-13 * rgf_size(l->count, expected));
    for (int64_t i = 0; i < n * n; i++) { /* G^< + G^R - G^A */
      const weir_c128 x = c.g[i], y = c.g[i % n * n + i / n];

      c.lesser[i].re += x.re - y.re;
      c.lesser[i].im += x.im + y.im;
    }
    rgf_copy(l, true, expected, c.lesser, false);
    assert_true(rgf_distance(l->count, greater, expected) < 1e-13 * rgf_size(l->count, expected));
    for (int64_t i = 0; i < l->block[1] * columns; i++) {
      expected[i] = c.g[i / columns * n + last + i % columns];
    }
    assert_true(rgf_distance(l->block[1] * columns, corner, expected) < 1e-14);
    /* Alone, and without G^<: the same. */
    const rgf_reader a = {l, c.a};
    const qt_blocks blocks = {rgf_read, &a};

    memset(scratch, 0xff, sizeof scratch);
    assert_true(qt_rgf_corner(l, &blocks, corner, scratch));
    assert_true(rgf_distance(l->block[1] * columns, corner, expected) < 1e-14);
    assert_true(solve(false, false));
    rgf_copy(l, true, expected, c.g, false);
    assert_true(rgf_distance(l->count, g, expected) < 1e-13 * rgf_size(l->count, expected));
    qt_layout_fini(&c.layout);
  }
}

static void banks_may_have_gaps(void **state)
{
  static weir_c128 *const banks[] = {g, lesser, greater};
  static weir_c128 kept[3][RGF_DENSE];

  rgf_case_create(&c, 6, ragged, true, false, 2);
  assert_true(solve(true, true));
  for (int b = 0; b < 3; b++) {
    memcpy(kept[b], banks[b], sizeof kept[b]);
  }
  step = 2;
  assert_true(solve(true, true));
  step = 1;
  for (int64_t i = 0; i < 3 * c.layout.count; i++) {
    const int64_t b = i % 3;

    assert_memory_equal(&kept[b][i / 3], &banks[b][2 * (i / 3)], sizeof(weir_c128));
  }
  qt_layout_fini(&c.layout);
}

/* One matrix in blocks of 4, of 8 and of other sizes. */
static void partitions_do_not_matter(void **state)
{
  const int64_t fine[] = {0, 4, 8, 12, 16, 20, 24, 28, 32};
  const int64_t coarse[] = {0, 8, 16, 24, 32}, mixed[] = {0, 4, 12, 28, 32}, whole[] = {0, 32};
  const int64_t *const block[] = {fine, coarse, mixed, whole}, counts[] = {8, 4, 4, 1};
  static weir_c128 dense[RGF_DENSE], first[2][RGF_ROWS], sigma[RGF_DENSE];

  rgf_case_create(&c, 8, fine, false, false, 3);
  memcpy(dense, c.dense_a, sizeof dense);
  memcpy(sigma, c.dense_sigma, sizeof sigma);
  qt_layout_fini(&c.layout);
  for (int p = 0; p < 4; p++) {
    assert_ok(qt_layout_create(counts[p], block[p], &c.layout));
    rgf_copy(&c.layout, true, c.a, dense, false);
    rgf_copy(&c.layout, true, c.sigma, sigma, false);
    assert_true(solve(true, true));
    for (int64_t b = 0; b < counts[p]; b++) {
      const int64_t rows = qt_layout_rows(&c.layout, b);

      for (int64_t i = 0; i < rows; i++) {
        const int64_t at = c.layout.offset[b] + i * (rows + 1), row = c.layout.block[b] + i;

        if (p == 0) {
          first[0][row] = g[at];
          first[1][row] = lesser[at];
        }
        assert_true(rgf_distance(1, &g[at], &first[0][row]) < 1e-12);
        assert_true(rgf_distance(1, &lesser[at], &first[1][row]) < 1e-12);
      }
    }
    qt_layout_fini(&c.layout);
  }
}

/* A Hermitian matrix minus self-energies of two ends, Gamma >= 0: then A = G (Gamma_L + Gamma_R)
 * G^H is i (G - G^H); Sigma^< = i f Gamma gives i f A and no current; T_LR = T_RL. */
static void identities_of_equilibrium(void **state)
{
  static weir_c128 gamma[2][RGF_DENSE], back[RGF_DENSE], memory[RGF_DENSE];
  const double f = 0.37;

  for (uint64_t seed = 0; seed < 8; seed++) {
    rgf_case_create(&c, 6, ragged, false, seed % 2, seed);
    const qt_layout *l = &c.layout;
    const int64_t n = l->n, ends[] = {l->block[1], n - l->block[5]}, from[] = {0, l->block[5]};

    for (int64_t i = 0; i < n * n; i++) {
      const weir_c128 x = c.dense_a[i], y = c.dense_a[i % n * n + i / n];

      expected[i] = (weir_c128){(x.re + y.re) / 2, (x.im - y.im) / 2};
    }
    memcpy(c.dense_a, expected, sizeof expected);
    memset(c.dense_sigma, 0, sizeof c.dense_sigma);
    for (int e = 0; e < 2; e++) {
      const int64_t rows = ends[e];

      for (int64_t i = 0; i < rows * rows; i++) {
        memory[i] = rgf_draw(seed, (uint32_t)(7 + e), i);
      }
      weir_linear_multiply(rows, rows, rows, 1, rgf_factor(memory, rows, false),
                           rgf_factor(memory, rows, true), 0, gamma[e], rows);
      for (int64_t i = 0; i < rows * rows; i++) {
        const int64_t at = (from[e] + i / rows) * n + from[e] + i % rows;
        const weir_c128 x = gamma[e][i];

        c.dense_a[at].re -= x.im / 2; /* A - Sigma, Sigma = -i Gamma / 2 */
        c.dense_a[at].im += x.re / 2;
        c.dense_sigma[at] = (weir_c128){-f * x.im, f * x.re};
      }
    }
    rgf_copy(l, true, c.a, c.dense_a, false);
    rgf_copy(l, true, c.sigma, c.dense_sigma, false);
    rgf_answer(&c);
    assert_true(solve(true, false));
    for (int64_t i = 0; i < n * n; i++) { /* i f A = -f (G - G^H) */
      const weir_c128 x = c.g[i], y = c.g[i % n * n + i / n];

      c.lesser[i] = (weir_c128){-f * (x.re - y.re), -f * (x.im + y.im)};
    }
    rgf_copy(l, true, expected, c.lesser, false);
    assert_true(rgf_distance(l->count, lesser, expected) < 1e-12);
    for (int64_t b = 0; b + 1 < l->n_blocks; b++) { /* current: Re Tr[A[n,m] G<[m,n]] */
      const int64_t rows = qt_layout_rows(l, b), columns = qt_layout_rows(l, b + 1);
      double current = 0;

      for (int64_t i = 0; i < rows * columns; i++) {
        const weir_c128 x = c.a[qt_layout_at(l, b, b + 1) + i];
        const weir_c128 y = lesser[qt_layout_at(l, b + 1, b) + i % columns * rows + i / columns];

        current += x.re * y.re - x.im * y.im;
      }
      assert_true(fabs(current) < 1e-8);
    }
    const double t = qt_rgf_trace(ends[0], ends[1], gamma[0], corner, gamma[1], memory);

    for (int64_t i = 0; i < ends[0] * ends[1]; i++) { /* G[last, first] */
      back[i] = c.g[(from[1] + i / ends[0]) * n + i % ends[0]];
    }
    const double reverse = qt_rgf_trace(ends[1], ends[0], gamma[1], back, gamma[0], memory);

    assert_true((t > 0 || seed % 2 == 1) && fabs(t - reverse) < 1e-12);
    qt_layout_fini(&c.layout);
  }
}

static void singular_blocks_give_nan(void **state)
{
  rgf_case_create(&c, 6, ragged, false, false, 5);
  memset(c.a + c.layout.offset[0], 0, 9 * sizeof *c.a);
  assert_false(solve(true, false));
  for (int64_t i = 0; i < c.layout.count; i++) {
    assert_true(isnan(g[i].re) && isnan(lesser[i].im) && isnan(greater[i].re));
  }
  assert_true(isnan(corner[0].re));
  qt_layout_fini(&c.layout);
}

/* Equal blocks: a third for factors, 1 for each product and each n right sides. */
static void flops_are_those_of_the_steps(void **state)
{
  const int64_t block[] = {0, 10, 20, 30, 40};
  qt_layout l;

  assert_ok(qt_layout_create(4, block, &l));
  assert_near(qt_rgf_flops(&l, false, false), 8e3 * (4 * 4. / 3 + 3 * 6), 1e-6);
  assert_near(qt_rgf_flops(&l, true, false), 8e3 * (4 * (4. / 3 + 2) + 3 * 12), 1e-6);
  assert_near(qt_rgf_flops(&l, true, true), 8e3 * (4 * (4. / 3 + 2) + 3 * 14), 1e-6);
  assert_near(qt_rgf_corner_flops(&l), 8e3 * (4 * 4. / 3 + 3 + 3), 1e-6);
  qt_layout_fini(&l);
}

static weir_status make_layout(void *context)
{
  qt_layout l;

  WEIR_TRY(qt_layout_create(6, context, &l));
  qt_layout_fini(&l);
  return WEIR_OK;
}

static void wrong_layouts_are_refused(void **state)
{
  const int64_t empty[] = {0, 3, 3, 5}, shifted[] = {1, 2}, large[] = {0, 32768};
  qt_layout l;

  assert_int_equal(qt_layout_create(3, empty, &l), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "block 1 has no rows"));
  assert_int_equal(qt_layout_create(1, shifted, &l), WEIR_ERR_SHAPE);
  assert_int_equal(qt_layout_create(0, empty, &l), WEIR_ERR_SHAPE);
  assert_int_equal(qt_layout_create(1, large, &l), WEIR_ERR_SHAPE);
  assert_null(l.block);
  assert_int_equal(weir_check_faults(make_layout, (void *)(uintptr_t)ragged), 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reference_file),
      cmocka_unit_test(random_blocks_have_the_dense_inverse),
      cmocka_unit_test(banks_may_have_gaps),
      cmocka_unit_test(partitions_do_not_matter),
      cmocka_unit_test(identities_of_equilibrium),
      cmocka_unit_test(singular_blocks_give_nan),
      cmocka_unit_test(flops_are_those_of_the_steps),
      cmocka_unit_test(wrong_layouts_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
