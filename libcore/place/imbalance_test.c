/* imbalance_test.c - how many ranks are late, which, for how long, and when. */
#include "place/weir_imbalance.h"

#include <math.h>

#include "base/weir_check.h"

enum { RANKS = 12, STEPS = 4000 };

static weir_imbalance usual(weir_imbalance_family family, int64_t ranks)
{
  weir_imbalance m;

  weir_opts_default(weir_imbalance_opts, sizeof m, &m);
  m.family = (int)family;
  m.ranks = ranks;
  m.delay_s = 2;
  return m;
}

/* How often each rank is late. */
static void count_late(const weir_imbalance *m, int64_t run, int ranks, int each_step, int *late)
{
  for (int64_t step = 0; step < STEPS; step++) {
    int n = 0;

    for (int r = 0; r < ranks; r++) {
      const double delay = weir_imbalance_delay(m, run, 0.5, r, ranks, step);

      assert_true(delay == 0 || delay == 2);
      late[r] += delay > 0;
      n += delay > 0;
    }
    assert_int_equal(n, each_step);
  }
}

static void as_many_ranks_as_asked_are_drawn(void **state)
{
  (void)state;
  for (int k = 0; k <= RANKS + 1; k++) {
    const weir_imbalance m = usual(WEIR_IMBALANCE_RANDOM, k);
    const int each_step = k < RANKS ? k : RANKS;
    const double p = (double)each_step / RANKS;
    int late[RANKS] = {0};

    count_late(&m, 0, RANKS, each_step, late);
    for (int r = 0; r < RANKS; r++) { /* 5 sigma of a binomial distribution */
      assert_true(fabs(late[r] - STEPS * p) <= 5 * sqrt(STEPS * p * (1 - p)) + 1e-9);
    }
  }
}

static void the_first_ranks_are_always_late(void **state)
{
  const weir_imbalance fixed = usual(WEIR_IMBALANCE_FIXED, 3);
  weir_imbalance slow = usual(WEIR_IMBALANCE_SLOW, 2);

  (void)state;
  slow.factor = 1.25;
  for (int r = 0; r < RANKS; r++) {
    for (int64_t step = 0; step < 20; step++) {
      assert_true(weir_imbalance_delay(&fixed, 0, 0.5, r, RANKS, step) == (r < 3 ? 2 : 0));
      assert_true(weir_imbalance_delay(&slow, 0, 0.5, r, RANKS, step) == (r < 2 ? 0.125 : 0));
    }
  }
}

/* Neighbours, on a ring, for some steps; then others. */
static void bursts_hit_neighbours(void **state)
{
  weir_imbalance m = usual(WEIR_IMBALANCE_BURSTS, 3);
  int late[RANKS] = {0};
  int64_t changes = 0;

  (void)state;
  m.length = 5;
  count_late(&m, 0, RANKS, 3, late);
  for (int64_t step = 0; step < STEPS; step++) {
    int edges = 0;

    for (int r = 0; r < RANKS; r++) {
      const double one = weir_imbalance_delay(&m, 0, 1, r, RANKS, step);
      const double next = weir_imbalance_delay(&m, 0, 1, (r + 1) % RANKS, RANKS, step);

      edges += one != next;
      if (one != weir_imbalance_delay(&m, 0, 1, r, RANKS, step + 1)) {
        assert_int_equal((step + 1) % m.length, 0);
        changes++;
      }
    }
    assert_int_equal(edges, 2);
  }
  assert_true(changes > STEPS / m.length);
}

static void the_tail_is_log_normal(void **state)
{
  weir_imbalance m = usual(WEIR_IMBALANCE_TAIL, 0);
  double sum = 0, squares = 0, longest = 0;
  const double n = (double)RANKS * STEPS;

  (void)state;
  m.max_s = 1e9;
  for (int i = 0; i < RANKS * STEPS; i++) {
    const double x = log(weir_imbalance_delay(&m, 0, 1, i % RANKS, RANKS, i / RANKS));

    sum += x;
    squares += x * x;
  }
  assert_true(fabs(sum / n - m.mu) < 5 * m.sigma / sqrt(n));
  assert_true(fabs(sqrt(squares / n - sum / n * sum / n) - m.sigma) < 5 * m.sigma / sqrt(2 * n));
  m.max_s = 0.5;
  for (int i = 0; i < RANKS * STEPS; i++) {
    longest = fmax(longest, weir_imbalance_delay(&m, 0, 1, i % RANKS, RANKS, i / RANKS));
  }
  assert_true(longest == 0.5);
}

/* The same arguments, the same delay; another run or seed, others. */
static void runs_differ(void **state)
{
  const weir_imbalance_family families[] = {WEIR_IMBALANCE_RANDOM, WEIR_IMBALANCE_TAIL,
                                            WEIR_IMBALANCE_BURSTS};

  (void)state;
  for (int f = 0; f < 3; f++) {
    const weir_imbalance m = usual(families[f], 2);
    weir_imbalance other = m;
    int by_run = 0, by_seed = 0;

    other.seed = 2;
    for (int64_t step = 0; step < 200; step++) {
      for (int r = 0; r < RANKS; r++) {
        const double delay = weir_imbalance_delay(&m, 0, 1, r, RANKS, step);

        assert_true(delay == weir_imbalance_delay(&m, 0, 1, r, RANKS, step));
        by_run += delay != weir_imbalance_delay(&m, 1, 1, r, RANKS, step);
        by_seed += delay != weir_imbalance_delay(&other, 0, 1, r, RANKS, step);
      }
    }
    assert_true(by_run > 100 && by_seed > 100);
  }
}

static void without_imbalance_nobody_is_late(void **state)
{
  const weir_imbalance m = usual(WEIR_IMBALANCE_NONE, 3);
  int late[RANKS] = {0};

  (void)state;
  count_late(&m, 0, RANKS, 0, late);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_many_ranks_as_asked_are_drawn),
      cmocka_unit_test(the_first_ranks_are_always_late),
      cmocka_unit_test(bursts_hit_neighbours),
      cmocka_unit_test(the_tail_is_log_normal),
      cmocka_unit_test(runs_differ),
      cmocka_unit_test(without_imbalance_nobody_is_late),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
