/* slabs.c - recursive Green's functions of one device in slabs that ranks share, against the
 * recursion over the whole device. */
#include "all_ranks.h"
#include "device/weir_parallel.h"
#include "support/quantum_transport/rgf_test.h"
#include "model/rgf/slabs.h"

enum { MOST_RANKS = 4, MOST_BLOCKS = 12, GUARD = 8 };

static rgf_case c;
static weir_c128 known[3][RGF_DENSE], known_corner[RGF_DENSE], corner[RGF_DENSE];
static weir_c128 bank[3][RGF_DENSE + GUARD]; /* G, G^<, G^> of this rank's blocks, and NaN */
static char scratch[1 << 21];

/* A matrix of which this rank may read its own blocks alone. */
typedef struct own_blocks {
  rgf_reader reader;
  qt_slabs_range range;
} own_blocks;

static void read_own(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const own_blocks *o = context;
  const int64_t at = qt_layout_at(o->reader.layout, row, column);

  assert_true(at >= o->range.first_element && at < o->range.first_element + o->range.n_elements);
  rgf_read(&o->reader, row, column, out);
}

static qt_slabs *slabs_of(int64_t n_slabs, const int64_t *first)
{
  const qt_slabs_spec spec = {.layout = &c.layout,
                              .n_slabs = n_slabs,
                              .first = first,
                              .lesser = true,
                              .threads = 2,
                              .comm = comm};
  qt_slabs *s;

  assert_ok(qt_slabs_create(&spec, &s));
  return s;
}

/* What every rank has of the whole device, by itself. */
static bool know(bool tridiagonal)
{
  const rgf_reader a = {&c.layout, c.a}, sigma = {&c.layout, c.sigma};
  const qt_rgf_job job = {.layout = &c.layout,
                          .a = {rgf_read, &a},
                          .sigma = {rgf_read, &sigma},
                          .tridiagonal = tridiagonal,
                          .g = {known[0], 1},
                          .lesser = {known[1], 1},
                          .greater = {known[2], 1},
                          .corner = known_corner};

  assert_true(qt_rgf_scratch(c.layout.max, true) <= (int64_t)sizeof scratch);
  return qt_rgf_solve(&job, scratch);
}

static weir_status solve(qt_slabs *s, bool tridiagonal, bool blocks)
{
  const qt_slabs_range range = qt_slabs_own(s);
  const own_blocks a = {{&c.layout, c.a}, range}, sigma = {{&c.layout, c.sigma}, range};
  const qt_rgf_job job = {.layout = &c.layout,
                          .a = {read_own, &a},
                          .sigma = {blocks ? read_own : NULL, &sigma},
                          .tridiagonal = tridiagonal,
                          .g = {blocks ? bank[0] : NULL, 1},
                          .lesser = {blocks ? bank[1] : NULL, 1},
                          .greater = {blocks ? bank[2] : NULL, 1},
                          .corner = corner};

  memset(bank, 0xff, sizeof bank);
  memset(corner, 0xff, sizeof corner);
  return qt_slabs_solve(s, &job);
}

static int64_t corner_count(void)
{
  return c.layout.block[1] * qt_layout_rows(&c.layout, c.layout.n_blocks - 1);
}

/* Results of this rank, and nothing after them. */
static void check(const qt_slabs *s)
{
  const qt_slabs_range range = qt_slabs_own(s);

  for (int b = 0; b < 3; b++) {
    const weir_c128 *from = known[b] + range.first_element;

    assert_true(rgf_distance(range.n_elements, bank[b], from) <=
                1e-12 * rgf_size(c.layout.count, known[b]));
    for (int64_t i = 0; i < GUARD; i++) {
      assert_true(isnan(bank[b][range.n_elements + i].re));
    }
  }
  assert_true(rgf_distance(corner_count(), corner, known_corner) <=
              1e-12 * rgf_size(corner_count(), known_corner));
}

static void check_corner(qt_slabs *s)
{
  assert_ok(solve(s, false, false));
  assert_true(rgf_distance(corner_count(), corner, known_corner) <=
              1e-12 * rgf_size(corner_count(), known_corner));
}

static int64_t draw(uint64_t seed, uint32_t which, int64_t i, int64_t from, int64_t to)
{
  return from + (int64_t)(weir_random_uniform(seed, which, 2, (uint64_t)i) * (double)(to - from));
}

static void ranks_give_what_one_gives(void **state)
{
  for (uint64_t seed = 0; seed < 40; seed++) {
    const bool tridiagonal = seed & 1, sparse = seed >> 1 & 1;
    const int64_t n_blocks = draw(seed, 20, 0, ranks, MOST_BLOCKS + 1);
    const int64_t n_slabs = draw(seed, 20, 1, ranks, n_blocks + 1);
    int64_t block[MOST_BLOCKS + 1] = {0}, first[MOST_BLOCKS + 1] = {0};

    for (int64_t b = 0; b < n_blocks; b++) {
      const int64_t left = RGF_ROWS - block[b] - (n_blocks - 1 - b);

      block[b + 1] = block[b] + draw(seed, 21, b, 1, left < 6 ? left + 1 : 7);
    }
    for (int64_t k = 0; k < n_slabs; k++) {
      first[k + 1] = draw(seed, 22, k, first[k] + 1, n_blocks - (n_slabs - 1 - k) + 1);
    }
    first[n_slabs] = n_blocks;
    rgf_case_create(&c, n_blocks, block, tridiagonal, sparse, seed);
    assert_true(know(tridiagonal));
    qt_slabs *s = slabs_of(n_slabs, seed % 3 == 0 ? NULL : first);

    for (int again = 0; again < 2; again++) { /* the same requests, started again */
      assert_ok(solve(s, tridiagonal, true));
      check(s);
    }
    check_corner(s);
    assert_int_equal(qt_slabs_in_order(s), 0);
    qt_slabs_destroy(&s);
    qt_layout_fini(&c.layout);
  }
}

static const int64_t even[] = {0, 4, 8, 12, 16, 20, 24, 28, 32}, by_two[] = {0, 2, 4, 6, 8};

/* The block that slab 1 eliminates is singular alone: all go in order, whatever the ranks. */
static void singular_slabs_go_from_rank_to_rank(void **state)
{
  rgf_case_create(&c, 8, even, true, false, 3);
  memset(c.a + c.layout.offset[2], 0, 16 * sizeof *c.a);
  assert_true(know(true));
  qt_slabs *s = slabs_of(4, by_two);

  assert_ok(solve(s, true, true));
  check(s);
  check_corner(s);
  assert_int_equal(qt_slabs_in_order(s), 2);
  qt_slabs_destroy(&s);
  qt_layout_fini(&c.layout);
}

/* A block without an inverse on one rank, or with NaN: all fail, with the words of that rank. */
static void all_ranks_fail_alike(void **state)
{
  for (int64_t bad = 0; bad < 8; bad += 3) {
    char text[40];

    rgf_case_create(&c, 8, even, true, false, 4);
    memset(c.a + c.layout.offset[bad], bad == 0 ? 0 : 0xff, 16 * sizeof *c.a);
    assert_false(know(true));
    qt_slabs *s = slabs_of(4, by_two);

    (void)snprintf(text, sizeof text, "singular at block %d", (int)bad);
    for (int blocks = 0; blocks < 2; blocks++) {
      assert_int_equal(solve(s, true, blocks), WEIR_ERR_NUMERIC);
      assert_non_null(strstr(weir_last_message(), text));
      assert_true(isnan(corner[0].re));
    }
    for (int64_t i = 0; i < qt_slabs_own(s).n_elements; i++) {
      assert_true(isnan(bank[0][i].re) && isnan(bank[1][i].im) && isnan(bank[2][i].re));
    }
    qt_slabs_destroy(&s);
    qt_layout_fini(&c.layout);
  }
}

static void fewer_slabs_than_ranks_are_refused(void **state)
{
  qt_layout l;
  qt_slabs *s;

  assert_ok(qt_layout_create(8, even, &l));
  const qt_slabs_spec spec = {.layout = &l, .n_slabs = ranks - 1, .comm = comm};

  assert_int_equal(qt_slabs_create(&spec, &s), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "as many slabs as ranks"));
  qt_layout_fini(&l);
}

int main(int argc, char **argv)
{
  const weir_comm_cfg usual = {.max_message_bytes = 1 << 20, .tree_max_bytes = 256, .timeout = 60};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_give_what_one_gives),
      cmocka_unit_test(singular_slabs_go_from_rank_to_rank),
      cmocka_unit_test(all_ranks_fail_alike),
      cmocka_unit_test(fewer_slabs_than_ranks_are_refused),
  };

  open_all_ranks(argc, argv, MOST_RANKS, &usual);
  weir_linear_start();
  weir_threads_set(2);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
