/* sgp_test.c - push-sum along the exponential graph: shares, conservation, when all have the mean,
 * and how late messages may be. */
#include "optim/exchange/sgp/sgp_priv.h"
#include "support/optim/replicas_check.h"

extern const weir_exchange_desc weir_exchange_sgp;

/* Weights that no rank changes: multiples of all shares of a few steps. */
static int64_t keep(const replicas *r, int rank, int step, int i, int64_t was)
{
  const int64_t unit = 13060694016; /* 6^13 */

  (void)r;
  return step >= 0 ? was : 16 * unit * (rank * rank + 3 * i + 1);
}

static double alike(const replicas *r, int rank, int step)
{
  (void)r;
  (void)rank;
  (void)step;
  return 1;
}

static double uneven(const replicas *r, int rank, int step)
{
  const uint64_t at = (uint64_t)(rank * REPLICAS_STEPS + step);

  return weir_random_uniform(r->seed, 1, 0, at) *
         (weir_random_uniform(r->seed, 2, 0, at) < 0.1 ? 10 : 1);
}

static replicas prepare(const struct sgp_opts *opts, int ranks, int steps)
{
  return (replicas){.policy = &weir_exchange_sgp,
                    .opts = opts,
                    .ranks = ranks,
                    .steps = steps,
                    .count = 5,
                    .computes_s = alike,
                    .element = keep};
}

static int phases_of(int ranks)
{
  int phases = 0;

  while (1 << phases < ranks) {
    phases++;
  }
  return phases;
}

/* The share of a rank and of those that send to it. */
static int64_t pushed(const replicas *r, int peers, int rank, int step, int i)
{
  const int phases = phases_of(r->ranks), n = peers < phases ? peers : phases;
  int64_t sum = r->before[rank][step][i];

  for (int q = 0; q < n; q++) {
    sum += r->before[(rank + r->ranks - (1 << (step + q) % phases)) % r->ranks][step][i];
  }
  return sum / (n + 1);
}

static int64_t total(const replicas *r,
                     const int64_t at[REPLICAS_MAX][REPLICAS_STEPS + 1][REPLICAS_COUNT], int step,
                     int i)
{
  int64_t sum = 0;

  for (int rank = 0; rank < r->ranks; rank++) {
    sum += at[rank][step][i];
  }
  return sum;
}

/* On any number of ranks, also odd ones; the sum over all ranks stays. */
static void shares_go_to_ranks_at_powers_of_two(void **state)
{
  static replicas r;

  (void)state;
  for (int ranks = 1; ranks <= REPLICAS_MAX; ranks++) {
    for (int peers = 1; peers <= 2; peers++) {
      const struct sgp_opts opts = {.peers = peers};

      r = prepare(&opts, ranks, 4);
      replicas_run(&r);
      for (int i = 0; i < r.count; i++) {
        for (int rank = 0; rank < ranks; rank++) {
          for (int step = 0; step < r.steps; step++) {
            assert_int_equal(r.after[rank][step][i], ranks == 1 ? r.before[rank][step][i]
                                                                : pushed(&r, peers, rank, step, i));
          }
          assert_int_equal(r.after[rank][r.steps][i], total(&r, r.before, 0, i) / ranks);
        }
        assert_int_equal(total(&r, r.after, r.steps - 1, i), total(&r, r.before, 0, i));
      }
    }
  }
}

/* One peer on 2^p ranks: the mean of all after p steps, and not before. */
static void a_power_of_two_of_ranks_has_the_mean_after_its_logarithm(void **state)
{
  static replicas r;
  const struct sgp_opts opts = {.peers = 1};

  (void)state;
  for (int ranks = 2; ranks <= REPLICAS_MAX; ranks *= 2) {
    const int p = phases_of(ranks);

    r = prepare(&opts, ranks, 4);
    replicas_run(&r);
    for (int rank = 0; rank < ranks; rank++) {
      for (int i = 0; i < r.count; i++) {
        assert_int_equal(r.after[rank][p - 1][i], total(&r, r.before, 0, i) / ranks);
        assert_true(p < 2 || r.after[rank][p - 2][i] != r.after[rank][p - 1][i]);
      }
    }
  }
}

/* Multiples of 2^36 and of all numbers of ranks, of which 20 versions have whole shares. */
static int64_t add_own(const replicas *r, int rank, int step, int i, int64_t was)
{
  const int64_t unit = (int64_t)840 << 36;

  (void)r;
  return (step < 0 ? 0 : was) + unit * (rank * rank + step * (i + 1) + 2);
}

/* What any rank has added is in the mean of all in the end, once, however late messages are. */
static void updates_are_conserved_by_late_messages(void **state)
{
  static replicas r;

  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    const struct sgp_opts opts = {.peers = 1, .overlap = (int64_t)(seed % 4)};

    r = prepare(&opts, 1 + (int)(seed % REPLICAS_MAX), 14);
    r.seed = seed;
    r.computes_s = uneven;
    r.element = add_own;
    replicas_run(&r);
    for (int i = 0; i < r.count; i++) {
      int64_t sum = 0;

      for (int rank = 0; rank < r.ranks; rank++) {
        for (int step = -1; step < r.steps; step++) {
          sum += add_own(&r, rank, step, i, 0);
        }
      }
      for (int rank = 0; rank < r.ranks; rank++) {
        assert_int_equal(r.after[rank][r.steps][i], sum / r.ranks);
        assert_true(r.counts[rank][r.steps].max_age <= opts.overlap);
      }
    }
  }
}

/* With an overlap of 1, messages of a step are merged in the next one, after its update: own
 * updates count in full until then. */
static void messages_of_a_step_are_merged_in_the_next_one(void **state)
{
  static replicas r;
  const struct sgp_opts opts = {.peers = 1, .overlap = 1};

  (void)state;
  for (int ranks = 2; ranks <= REPLICAS_MAX; ranks++) {
    r = prepare(&opts, ranks, 10);
    r.computes_s = uneven;
    r.element = add_own;
    replicas_run(&r);
    for (int rank = 0; rank < ranks; rank++) {
      assert_memory_equal(r.after[rank][0], r.before[rank][0],
                          (size_t)r.count * sizeof r.after[0][0][0]);
      for (int step = 1; step < r.steps; step++) {
        const int from = (rank + ranks - (1 << (step - 1) % phases_of(ranks))) % ranks;

        for (int i = 0; i < r.count; i++) {
          const int64_t own = r.after[rank][step - 1][i], other = r.after[from][step - 1][i];

          assert_int_equal(r.after[rank][step][i],
                           own / 2 + other / 2 + r.before[rank][step][i] - own);
        }
      }
      assert_int_equal(r.counts[rank][r.steps].max_age, 1);
    }
  }
}

static int64_t one_number(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)r;
  (void)rank;
  return step >= 0 ? was : (int64_t)(i + 1) << 40;
}

/* While half of the weights are under way, so is half of the push-sum weight: z stays. */
static void equal_weights_stay_while_messages_are_under_way(void **state)
{
  static replicas r;
  const struct sgp_opts opts = {.peers = 1, .overlap = 3};

  (void)state;
  for (uint64_t seed = 0; seed < 10; seed++) {
    r = prepare(&opts, 2 + (int)(seed % 7), 14);
    r.seed = seed;
    r.computes_s = uneven;
    r.element = one_number;
    replicas_run(&r);
    for (int rank = 0; rank < r.ranks; rank++) {
      for (int step = 0; step <= r.steps; step++) {
        for (int i = 0; i < r.count; i++) {
          assert_int_equal(r.after[rank][step][i], (int64_t)(i + 1) << 40);
        }
      }
    }
  }
}

static double one_sleeps(const replicas *r, int rank, int step)
{
  (void)r;
  return rank == 0 && step == 2 ? 3.5 : 1;
}

/* Rank 0 is late by 2.5 s. Without overlap its neighbour of the step waits for it; with two steps,
 * nobody but who has waited for as long. */
static void ranks_wait_once_messages_are_late_by_more_than_the_overlap(void **state)
{
  static replicas r;

  (void)state;
  for (int overlap = 0; overlap <= 3; overlap += 3) {
    const struct sgp_opts opts = {.peers = 1, .overlap = overlap};
    bool waited = false;
    int64_t oldest = 0;

    r = prepare(&opts, 4, 6);
    r.computes_s = one_sleeps;
    r.element = one_number;
    replicas_run(&r);
    for (int rank = 1; rank < r.ranks; rank++) {
      for (int step = 0; step < r.steps; step++) {
        waited = waited || r.done_s[rank][step] > r.posted_s[rank][step];
      }
      const int64_t age = r.counts[rank][r.steps].max_age;

      oldest = age > oldest ? age : oldest;
    }
    assert_int_equal(waited, overlap == 0);
    assert_true(overlap == 0 ? oldest == 0 : oldest > 1 && oldest <= overlap);
  }
}

static double a_few_ms(const replicas *r, int rank, int step)
{
  return 0.004 * uneven(r, rank, step);
}

static void threads_at_once_conserve_updates(void **state)
{
  static replicas r;
  const struct sgp_opts opts = {.peers = 1, .overlap = 2};

  (void)state;
  r = prepare(&opts, 5, 14);
  r.concurrent = true;
  r.computes_s = a_few_ms;
  r.element = add_own;
  replicas_run(&r);
  for (int i = 0; i < r.count; i++) {
    int64_t sum = 0;

    for (int rank = 0; rank < r.ranks; rank++) {
      for (int step = -1; step < r.steps; step++) {
        sum += add_own(&r, rank, step, i, 0);
      }
    }
    for (int rank = 0; rank < r.ranks; rank++) {
      assert_int_equal(r.after[rank][r.steps][i], sum / r.ranks);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_go_to_ranks_at_powers_of_two),
      cmocka_unit_test(a_power_of_two_of_ranks_has_the_mean_after_its_logarithm),
      cmocka_unit_test(updates_are_conserved_by_late_messages),
      cmocka_unit_test(messages_of_a_step_are_merged_in_the_next_one),
      cmocka_unit_test(equal_weights_stay_while_messages_are_under_way),
      cmocka_unit_test(ranks_wait_once_messages_are_late_by_more_than_the_overlap),
      cmocka_unit_test(threads_at_once_conserve_updates),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
