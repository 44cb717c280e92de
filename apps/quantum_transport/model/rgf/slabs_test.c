/* slabs_test.c - slabs against dense inverses, the recursion and a reference file. */
#include "model/rgf/slabs.h"

#include "device/weir_parallel.h"
#include "support/quantum_transport/rgf_reference_test.h"

enum { MAX_BLOCKS = 12 };

static rgf_case c;
static weir_c128 g[2 * RGF_DENSE], lesser[2 * RGF_DENSE], greater[2 * RGF_DENSE];
static weir_c128 corner[RGF_DENSE];
static weir_c128 known_g[RGF_DENSE], known_lesser[RGF_DENSE], known_greater[RGF_DENSE];
static weir_c128 known_corner[RGF_DENSE], expected[RGF_DENSE];
static int64_t step = 1; /* from a number of a bank to the next */
static char scratch[1 << 21];

static int64_t draw(uint64_t seed, uint32_t which, int64_t i, int64_t from, int64_t to)
{
  return from + (int64_t)(weir_random_uniform(seed, which, 2, (uint64_t)i) * (double)(to - from));
}

static qt_slabs *slabs_of(int64_t n_slabs, const int64_t *first, bool with_lesser, int threads)
{
  const qt_slabs_spec spec = {.layout = &c.layout,
                              .n_slabs = n_slabs,
                              .first = first,
                              .lesser = with_lesser,
                              .threads = threads};
  qt_slabs *s;

  assert_ok(qt_slabs_create(&spec, &s));
  return s;
}

/* Solves case c in slabs into g, lesser, greater and corner, which hold NaN before. */
static weir_status solve(qt_slabs *s, bool with_lesser, bool tridiagonal)
{
  const rgf_reader a = {&c.layout, c.a}, sigma = {&c.layout, c.sigma};
  const qt_rgf_job job = {.layout = &c.layout,
                          .a = {rgf_read, &a},
                          .sigma = {with_lesser ? rgf_read : NULL, &sigma},
                          .tridiagonal = tridiagonal,
                          .g = {g, step},
                          .lesser = {with_lesser ? lesser : NULL, step},
                          .greater = {with_lesser ? greater : NULL, step},
                          .corner = corner};

  memset(g, 0xff, sizeof g);
  memset(lesser, 0xff, sizeof lesser);
  memset(greater, 0xff, sizeof greater);
  memset(corner, 0xff, sizeof corner);
  return qt_slabs_solve(s, &job);
}

/* The recursion and the dense inverse: the known results. */
static void know(bool tridiagonal)
{
  const rgf_reader a = {&c.layout, c.a}, sigma = {&c.layout, c.sigma};
  const qt_rgf_job job = {.layout = &c.layout,
                          .a = {rgf_read, &a},
                          .sigma = {rgf_read, &sigma},
                          .tridiagonal = tridiagonal,
                          .g = {known_g, 1},
                          .lesser = {known_lesser, 1},
                          .greater = {known_greater, 1},
                          .corner = known_corner};

  assert_true(qt_rgf_scratch(c.layout.max, true) <= (int64_t)sizeof scratch);
  assert_true(qt_rgf_solve(&job, scratch));
}

static void check(int64_t count, const weir_c128 *x, const weir_c128 *y)
{
  assert_true(rgf_distance(count, x, y) <= 1e-12 * rgf_size(count, y));
}

/* Results of slabs against known ones. */
static void check_slabs(int64_t n_slabs, const int64_t *first, bool tridiagonal)
{
  const qt_layout *l = &c.layout;
  const int64_t ends = l->block[1] * qt_layout_rows(l, l->n_blocks - 1);
  const rgf_reader a = {l, c.a};
  qt_slabs *s = slabs_of(n_slabs, first, true, 2), *without = slabs_of(n_slabs, first, false, 1);

  assert_ok(solve(s, true, tridiagonal));
  check(l->count, g, known_g);
  check(l->count, lesser, known_lesser);
  check(l->count, greater, known_greater);
  check(ends, corner, known_corner);
  assert_ok(solve(s, false, false));
  check(l->count, g, known_g);
  assert_ok(solve(without, false, false));
  check(l->count, g, known_g);
  check(ends, corner, known_corner);
  memset(corner, 0xff, sizeof corner);
  assert_ok(
      qt_slabs_solve(without, &(qt_rgf_job){.layout = l, .a = {rgf_read, &a}, .corner = corner}));
  check(ends, corner, known_corner);
  assert_int_equal(qt_slabs_in_order(s) + qt_slabs_in_order(without), 0);
  qt_slabs_destroy(&s);
  qt_slabs_destroy(&without);
}

/* Blocks of 1 to 6 rows, slabs anywhere. */
static void random_slabs_give_what_the_recursion_gives(void **state)
{
  for (uint64_t seed = 0; seed < 200; seed++) {
    const bool tridiagonal = seed & 1, sparse = seed >> 1 & 1;
    const int64_t n_blocks = draw(seed, 20, 0, 1, MAX_BLOCKS + 1);
    const int64_t n_slabs = draw(seed, 20, 1, 1, n_blocks + 1);
    int64_t block[MAX_BLOCKS + 1] = {0}, first[MAX_BLOCKS + 1] = {0};

    for (int64_t b = 0; b < n_blocks; b++) {
      const int64_t left = RGF_ROWS - block[b] - (n_blocks - 1 - b);

      block[b + 1] = block[b] + draw(seed, 21, b, 1, left < 6 ? left + 1 : 7);
    }
    for (int64_t k = 0; k < n_slabs; k++) {
      first[k + 1] = draw(seed, 22, k, first[k] + 1, n_blocks - (n_slabs - 1 - k) + 1);
    }
    first[n_slabs] = n_blocks;
    rgf_case_create(&c, n_blocks, block, tridiagonal, sparse, seed);
    know(tridiagonal);
    rgf_copy(&c.layout, true, expected, c.g, false);
    check(c.layout.count, known_g, expected);
    check_slabs(n_slabs, first, tridiagonal);
    rgf_copy(&c.layout, true, expected, c.lesser, false);
    check(c.layout.count, known_lesser, expected);
    qt_layout_fini(&c.layout);
  }
}

static const int64_t ragged[] = {0, 3, 4, 9, 11, 19, 23};

/* All 32 ways to make slabs of six blocks. */
static void every_division_into_slabs_gives_the_same(void **state)
{
  enum { N = 6 };

  rgf_case_create(&c, N, ragged, true, false, 7);
  know(true);
  for (int bits = 0; bits < 1 << (N - 1); bits++) {
    int64_t first[N + 1] = {0}, n_slabs = 0;

    for (int64_t b = 1; b < N; b++) {
      if (bits >> (b - 1) & 1) {
        first[++n_slabs] = b;
      }
    }
    first[++n_slabs] = N;
    check_slabs(n_slabs, first, true);
  }
  for (int64_t n_slabs = 1; n_slabs <= N; n_slabs++) {
    check_slabs(n_slabs, NULL, true);
  }
  qt_layout_fini(&c.layout);
}

static void threads_and_gaps_do_not_change_bits(void **state)
{
  static weir_c128 *const banks[] = {g, lesser, greater};
  static weir_c128 kept[3][RGF_DENSE];

  rgf_case_create(&c, 6, ragged, true, false, 2);
  for (int threads = 1; threads <= 3; threads++) {
    qt_slabs *s = slabs_of(4, NULL, true, threads);

    step = threads == 1 ? 1 : 2;
    assert_ok(solve(s, true, true));
    for (int64_t i = 0; i < 3 * c.layout.count; i++) {
      const int64_t b = i % 3;

      if (threads == 1) {
        kept[b][i / 3] = banks[b][i / 3];
      }
      assert_memory_equal(&kept[b][i / 3], &banks[b][step * (i / 3)], sizeof(weir_c128));
    }
    step = 1;
    assert_int_equal(qt_slabs_in_order(s), 0);
    qt_slabs_destroy(&s);
  }
  qt_layout_fini(&c.layout);
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
    for (int64_t n_slabs = 1; n_slabs <= 5; n_slabs++) {
      qt_slabs *s = slabs_of(n_slabs, NULL, true, 2);

      assert_ok(solve(s, true, true));
      assert_int_equal(qt_slabs_in_order(s), 0);
      rgf_reference_read(nc, &c.layout, "GR", true, expected);
      check(c.layout.count, g, expected);
      rgf_reference_read(nc, &c.layout, results[k], true, expected);
      check(c.layout.count, lesser, expected);
      qt_slabs_destroy(&s);
    }
  }
  weir_netcdf_close(&nc);
  qt_layout_fini(&c.layout);
}

static const int64_t even[] = {0, 8, 16, 24, 32}, three_slabs[] = {0, 1, 3, 4};

/* Block `block` is `diagonal` times 1: block 1 is the only one that the slab between two others
 * eliminates. */
static void cut_off(int64_t block, double diagonal)
{
  rgf_case_create(&c, 4, even, true, false, 11);
  for (int64_t i = 0; i < 64; i++) {
    c.a[c.layout.offset[block] + i] = (weir_c128){i % 9 == 0 ? diagonal : 0, 0};
  }
  know(true);
}

/* Such slabs are left to the recursion, with its bits. */
static void singular_slabs_go_in_order(void **state)
{
  const int64_t ends = 64;

  cut_off(1, 0);
  const rgf_reader a = {&c.layout, c.a};
  qt_slabs *s = slabs_of(3, three_slabs, true, 2);

  assert_ok(solve(s, true, true));
  assert_int_equal(qt_slabs_in_order(s), 1);
  assert_memory_equal(g, known_g, (size_t)c.layout.count * sizeof *g);
  assert_memory_equal(lesser, known_lesser, (size_t)c.layout.count * sizeof *g);
  assert_memory_equal(greater, known_greater, (size_t)c.layout.count * sizeof *g);
  assert_memory_equal(corner, known_corner, (size_t)ends * sizeof *g);
  memset(corner, 0xff, sizeof corner);
  assert_ok(
      qt_slabs_solve(s, &(qt_rgf_job){.layout = &c.layout, .a = {rgf_read, &a}, .corner = corner}));
  assert_int_equal(qt_slabs_in_order(s), 2);
  check(ends, corner, known_corner);
  qt_slabs_destroy(&s);
  qt_layout_fini(&c.layout);
}

/* However near to singular a slab is, results are accurate. Its G^R loses as many digits as the
 * inverse of `diagonal` has, G^< with a Sigma^< of its own twice as many. */
static void nearly_singular_slabs_lose_no_digits(void **state)
{
  int64_t in_order[2] = {0, 0};

  for (int power = 0; power <= 15; power++) {
    cut_off(1, pow(10, -power));
    const rgf_reader a = {&c.layout, c.a};
    qt_slabs *s = slabs_of(3, three_slabs, true, 1);

    assert_ok(solve(s, true, true));
    assert_true(rgf_distance(c.layout.count, g, known_g) <
                1e-12 * rgf_size(c.layout.count, known_g));
    assert_true(rgf_distance(c.layout.count, lesser, known_lesser) <
                1e-11 * rgf_size(c.layout.count, known_lesser));
    assert_ok(qt_slabs_solve(
        s, &(qt_rgf_job){.layout = &c.layout, .a = {rgf_read, &a}, .corner = corner}));
    assert_true(rgf_distance(64, corner, known_corner) < 1e-12 * rgf_size(64, known_corner));
    in_order[power > 4] += qt_slabs_in_order(s);
    assert_true(power > 0 || qt_slabs_in_order(s) == 0);
    qt_slabs_destroy(&s);
    qt_layout_fini(&c.layout);
  }
  assert_int_equal(in_order[1], 2 * 11);
}

/* The last slab is eliminated from the right, where the device ends in a block that is nearly
 * singular, as a lead with a surface state of that energy is. The recursion from the left is not
 * hurt. */
static void nearly_singular_ends_lose_no_digits(void **state)
{
  int64_t in_order[2] = {0, 0};

  for (int power = 0; power <= 12; power++) {
    for (int64_t n_slabs = 2; n_slabs <= 3; n_slabs++) {
      cut_off(3, pow(10, -power));
      qt_slabs *s = slabs_of(n_slabs, n_slabs == 3 ? three_slabs : NULL, true, 1);

      assert_ok(solve(s, true, true));
      check(c.layout.count, g, known_g);
      check(c.layout.count, lesser, known_lesser);
      check(c.layout.count, greater, known_greater);
      in_order[power > 2] += qt_slabs_in_order(s);
      assert_true(power > 0 || qt_slabs_in_order(s) == 0);
      qt_slabs_destroy(&s);
      qt_layout_fini(&c.layout);
    }
  }
  assert_int_equal(in_order[1], 2 * 10);
}

static void singular_devices_give_nan(void **state)
{
  for (int64_t n_slabs = 1; n_slabs <= 4; n_slabs++) {
    rgf_case_create(&c, 4, even, true, false, 5);
    memset(c.a + c.layout.offset[0], 0, 64 * sizeof *c.a);
    qt_slabs *s = slabs_of(n_slabs, NULL, true, 2);

    assert_int_equal(solve(s, true, false), WEIR_ERR_NUMERIC);
    assert_non_null(strstr(weir_last_message(), "singular at block 0"));
    for (int64_t i = 0; i < c.layout.count; i++) {
      assert_true(isnan(g[i].re) && isnan(lesser[i].im) && isnan(greater[i].re));
    }
    assert_true(isnan(corner[0].re));
    qt_slabs_destroy(&s);
    qt_layout_fini(&c.layout);
  }
}

/* Eight blocks of 10 rows in three slabs, of which two have two blocks to eliminate each, the one
 * between them two, and two separators. A third for factors, 1 for each product and each 10 right
 * sides. */
static void flops_are_those_of_the_steps(void **state)
{
  const int64_t block[] = {0, 10, 20, 30, 40, 50, 60, 70, 80}, first[] = {0, 3, 6, 8};
  const double third = 1. / 3, thousand = 8e3;
  qt_layout l, separators;
  qt_slabs_spec spec = {.layout = &l, .n_slabs = 3, .first = first};

  assert_ok(qt_layout_create(8, block, &l));
  assert_ok(qt_layout_create(2, block, &separators));
  assert_near(qt_slab_flops(&spec, 0), thousand * 2 * (third + 7), 1e-6);
  assert_near(qt_slab_flops(&spec, 2), thousand * 2 * (third + 7), 1e-6);
  assert_near(qt_slab_flops(&spec, 1), thousand * (2 * (2 * third + 13) + third + 6), 1e-6);
  assert_near(qt_slabs_flops(&spec),
              thousand * (6 * (third + 7) + 2 * (third + 6) + third + 6) +
                  qt_rgf_flops(&separators, false, false),
              1e-6);
  spec.lesser = true;
  assert_near(qt_slab_flops(&spec, 0), thousand * 2 * (third + 15), 1e-6);
  assert_near(qt_slab_flops(&spec, 1), thousand * (2 * (2 * third + 31) + third + 12), 1e-6);
  spec.tridiagonal = true;
  assert_near(qt_slab_flops(&spec, 2), thousand * 2 * (third + 17), 1e-6);
  assert_near(qt_slab_flops(&spec, 1), thousand * (2 * (2 * third + 36) + third + 14), 1e-6);
  assert_near(qt_slabs_flops(&spec),
              qt_slab_flops(&spec, 0) + qt_slab_flops(&spec, 1) + qt_slab_flops(&spec, 2) +
                  qt_rgf_flops(&separators, true, true),
              1e-3);
  spec.lesser = spec.tridiagonal = false;
  spec.corner_only = true;
  assert_near(qt_slab_flops(&spec, 0), thousand * (2 * third + 5), 1e-6);
  assert_near(qt_slab_flops(&spec, 1), thousand * 2 * (third + 6), 1e-6);
  assert_near(qt_slab_flops(&spec, 2), thousand * (2 * third + 8), 1e-6);
  assert_near(qt_slabs_flops(&spec), thousand * (6 * third + 25) + qt_rgf_corner_flops(&separators),
              1e-6);
  spec.n_slabs = 1;
  spec.first = (const int64_t[]){0, 8};
  assert_near(qt_slabs_flops(&spec), qt_rgf_corner_flops(&l), 1e-6);
  spec.corner_only = false;
  assert_near(qt_slabs_flops(&spec), qt_rgf_flops(&l, false, false), 1e-6);
  assert_near(qt_slab_flops(&spec, 0), qt_rgf_flops(&l, false, false), 1e-6);
  qt_layout_fini(&l);
  qt_layout_fini(&separators);
}

static double max_flops(const qt_slabs_spec *spec)
{
  double max = 0;

  for (int64_t k = 0; k < spec->n_slabs; k++) {
    max = fmax(max, qt_slab_flops(spec, k));
  }
  return max;
}

/* Of all divisions of ten ragged blocks into slabs the one whose largest slab is the smallest. */
static void slabs_are_split_at_best(void **state)
{
  enum { N = 10 };
  const int64_t block[] = {0, 3, 4, 9, 16, 18, 25, 31, 32, 36, 40};
  qt_layout l;

  assert_ok(qt_layout_create(N, block, &l));
  for (int form = 0; form < 3; form++) {
    double best[N + 1];

    for (int64_t k = 0; k <= N; k++) {
      best[k] = INFINITY;
    }
    for (int bits = 0; bits < 1 << (N - 1); bits++) {
      int64_t first[N + 1] = {0}, n_slabs = 0;

      for (int64_t b = 1; b < N; b++) {
        if (bits >> (b - 1) & 1) {
          first[++n_slabs] = b;
        }
      }
      first[++n_slabs] = N;
      const qt_slabs_spec spec = {&l, n_slabs, first, form == 1, form == 1, form == 2,
                                  1,  NULL,    0,     0,         0};

      best[n_slabs] = fmin(best[n_slabs], max_flops(&spec));
    }
    for (int64_t n_slabs = 1; n_slabs <= N; n_slabs++) {
      int64_t first[N + 1];
      qt_slabs_spec spec = {&l, n_slabs, NULL, form == 1, form == 1, form == 2, 1, NULL, 0, 0, 0};

      qt_slabs_split(&spec, first);
      spec.first = first;
      assert_true(max_flops(&spec) <= best[n_slabs] * (1 + 1e-12));
    }
  }
  qt_layout_fini(&l);
}

static void memory_is_that_of_the_formula(void **state)
{
  qt_layout l;

  assert_ok(qt_layout_create(6, ragged, &l));
  for (int64_t form = 0; form < 4 * 6; form++) {
    int64_t first[7];
    qt_slabs_spec spec = {
        .layout = &l, .n_slabs = 1 + form / 4, .lesser = form & 1, .threads = form & 2 ? 1 : 3};
    const int64_t before = weir_alloc_bytes();
    qt_slabs *s;

    assert_ok(qt_slabs_create(&spec, &s));
    qt_slabs_split(&spec, first);
    spec.first = first;
    assert_int_equal(weir_alloc_bytes() - before, qt_slabs_bytes(&spec));
    qt_slabs_destroy(&s);
    assert_int_equal(weir_alloc_bytes(), before);
  }
  qt_layout_fini(&l);
}

static weir_status make_slabs(void *context)
{
  const qt_slabs_spec spec = {.layout = context, .n_slabs = 3, .lesser = true, .threads = 2};
  qt_slabs *s;

  WEIR_TRY(qt_slabs_create(&spec, &s));
  qt_slabs_destroy(&s);
  return WEIR_OK;
}

static void wrong_slabs_are_refused(void **state)
{
  const int64_t empty[] = {0, 2, 2, 6}, short_of[] = {0, 2, 4, 5};
  qt_layout l;
  qt_slabs *s;

  assert_ok(qt_layout_create(6, ragged, &l));
  qt_slabs_spec spec = {.layout = &l, .n_slabs = 7};

  assert_int_equal(qt_slabs_create(&spec, &s), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "7 slabs of 6 blocks"));
  assert_null(s);
  spec.n_slabs = 0;
  assert_int_equal(qt_slabs_create(&spec, &s), WEIR_ERR_SHAPE);
  spec = (qt_slabs_spec){.layout = &l, .n_slabs = 3, .first = empty};
  assert_int_equal(qt_slabs_create(&spec, &s), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "slab 1 has blocks 2 to 1"));
  spec.first = short_of;
  assert_int_equal(qt_slabs_create(&spec, &s), WEIR_ERR_SHAPE);
  spec.first = NULL;
  assert_ok(qt_slabs_create(&spec, &s));
  assert_int_equal(qt_slabs_solve(s, &(qt_rgf_job){.layout = &l, .sigma = {rgf_read, NULL}}),
                   WEIR_ERR_SHAPE);
  qt_slabs_destroy(&s);
  assert_int_equal(weir_check_faults(make_slabs, &l), 19);
  qt_layout_fini(&l);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_slabs_give_what_the_recursion_gives),
      cmocka_unit_test(every_division_into_slabs_gives_the_same),
      cmocka_unit_test(threads_and_gaps_do_not_change_bits),
      cmocka_unit_test(reference_file),
      cmocka_unit_test(singular_slabs_go_in_order),
      cmocka_unit_test(nearly_singular_slabs_lose_no_digits),
      cmocka_unit_test(nearly_singular_ends_lose_no_digits),
      cmocka_unit_test(singular_devices_give_nan),
      cmocka_unit_test(flops_are_those_of_the_steps),
      cmocka_unit_test(slabs_are_split_at_best),
      cmocka_unit_test(memory_is_that_of_the_formula),
      cmocka_unit_test(wrong_slabs_are_refused),
  };

  weir_linear_start();
  weir_threads_set(3);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
