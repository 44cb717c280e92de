/* adpsgd_test.c - averages of pairs: what they conserve, that nobody waits for long or for ever,
 * and how fast replicas come together. */
#include "optim/exchange/adpsgd/adpsgd_priv.h"
#include <math.h>
#include "support/optim/replicas_check.h"

extern const weir_exchange_desc weir_exchange_adpsgd;

/* Weights that no rank changes: multiples of a power of two for so many halvings. */
static int64_t keep(const replicas *r, int rank, int step, int i, int64_t was)
{
  return step >= 0
             ? was
             : (int64_t)(weir_random_bits(r->seed, 4, (uint32_t)rank, (uint64_t)i) >> 50) << 46;
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

static replicas prepare(const struct adpsgd_opts *opts, int ranks, int steps)
{
  return (replicas){.policy = &weir_exchange_adpsgd,
                    .opts = opts,
                    .ranks = ranks,
                    .steps = steps,
                    .count = 5,
                    .computes_s = alike,
                    .element = keep};
}

/* Multiples of 2^44 and of all numbers of ranks, of which 8 steps have few halves. */
static int64_t add_own(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)r;
  return (step < 0 ? 0 : was) + ((int64_t)105 << 44) * (rank + step * (i + 1) % 5 + 1);
}

/* By hand: rank 0 sends in step k what rank 1 has averaged by the end of that computation. */
static void two_ranks_have_their_mean_in_the_next_step(void **state)
{
  static replicas r;
  const struct adpsgd_opts opts = {.partners = 2, .staleness = 1, .seed = 1};

  (void)state;
  r = prepare(&opts, 2, 4);
  r.element = add_own;
  replicas_run(&r);
  for (int rank = 0; rank < 2; rank++) {
    for (int i = 0; i < r.count; i++) {
      assert_int_equal(r.after[rank][0][i], r.before[rank][0][i]);
      for (int step = 1; step < r.steps; step++) {
        const int64_t mean = (r.after[0][step - 1][i] + r.after[1][step - 1][i]) / 2;
        const int64_t update = r.before[rank][step][i] - r.after[rank][step - 1][i];

        assert_int_equal(r.after[rank][step][i], mean + update);
      }
    }
    assert_int_equal(r.counts[rank][r.steps].versions, r.steps);
  }
}

/* All have the mean of what all have added. */
static void assert_conserved(const replicas *r)
{
  for (int i = 0; i < r->count; i++) {
    int64_t sum = 0;

    for (int rank = 0; rank < r->ranks; rank++) {
      for (int step = -1; step < r->steps; step++) {
        sum += add_own(r, rank, step, i, 0);
      }
    }
    for (int rank = 0; rank < r->ranks; rank++) {
      assert_int_equal(r->after[rank][r->steps][i], sum / r->ranks);
    }
  }
}

/* Any number of ranks, also odd ones, any partners, any delays: it ends, nothing is lost, and an
 * active rank waits once an answer is late by more than the bound. */
static void updates_are_conserved_on_any_number_of_ranks(void **state)
{
  static replicas r;
  const weir_inproc_fault slow = {
      .event = WEIR_INPROC_DELAY, .from = -1, .to = -1, .share = 0.3, .min_s = 0, .max_s = 6};
  int64_t oldest = 0;

  (void)state;
  for (uint64_t seed = 0; seed < 80; seed++) {
    const struct adpsgd_opts opts = {.partners = (int64_t)(seed % 3),
                                     .staleness = 1 + (int64_t)(seed % 4),
                                     .seed = (int64_t)seed};

    r = prepare(&opts, 1 + (int)(seed % REPLICAS_MAX), 8);
    r.seed = seed;
    r.computes_s = uneven;
    r.element = add_own;
    r.faults = &slow;
    r.n_faults = 1;
    replicas_run(&r);
    assert_conserved(&r);
    for (int rank = 0; rank < r.ranks; rank++) {
      const int64_t age = r.counts[rank][r.steps].max_age;

      assert_true(age <= opts.staleness);
      oldest = age > oldest ? age : oldest;
    }
  }
  assert_true(oldest >= 4); /* the bound was reached */
}

static double one_sleeps(const replicas *r, int rank, int step)
{
  (void)r;
  return rank == 0 && step == 2 ? 50 : 1;
}

/* Passive ranks answer while they compute. */
static void nobody_waits_for_a_slow_rank(void **state)
{
  static replicas r;

  (void)state;
  for (int ranks = 4; ranks <= 5; ranks++) {
    const struct adpsgd_opts opts = {.partners = 2, .staleness = 2, .seed = 3};

    r = prepare(&opts, ranks, 6);
    r.computes_s = one_sleeps;
    replicas_run(&r);
    for (int rank = 0; rank < ranks; rank++) {
      for (int step = 0; step < r.steps; step++) {
        assert_true(r.done_s[rank][step] == r.posted_s[rank][step]);
      }
    }
  }
}

static double distance(const int64_t x[], int ranks)
{
  double mean = 0, sum = 0;

  for (int rank = 0; rank < ranks; rank++) {
    mean += (double)x[rank] / ranks;
  }
  for (int rank = 0; rank < ranks; rank++) {
    sum += ((double)x[rank] - mean) * ((double)x[rank] - mean);
  }
  return sum;
}

enum { RATE_STEPS = 4, RATE_RUNS = 60 };

/* Fraction of the squared distance from the mean that is left after so many steps in which every
 * active rank averages with one that is drawn, one after the other: what independent draws give. */
static double expected_fraction(int ranks)
{
  const int draws = 4000;
  double sum = 0;

  for (int k = 0; k < draws; k++) {
    int64_t x[REPLICAS_MAX];
    uint64_t at = 0;

    for (int rank = 0; rank < ranks; rank++) {
      x[rank] = (int64_t)(weir_random_bits((uint64_t)k, 6, 0, (uint64_t)rank) >> 50) << 46;
    }
    const double before = distance(x, ranks);

    for (int step = 0; step < RATE_STEPS; step++) {
      const int first = (int)(weir_random_uniform((uint64_t)k, 7, 0, at++) * ranks / 2);

      for (int a = 0; a < ranks / 2; a++) {
        const int from = 2 * ((first + a) % (ranks / 2));
        const int to = 1 + 2 * (int)(weir_random_uniform((uint64_t)k, 7, 0, at++) * ranks / 2);

        x[from] = x[to] = (x[from] + x[to]) / 2;
      }
    }
    sum += distance(x, ranks) / before;
  }
  return sum / draws;
}

/* Eight ranks, each active one with all passive ones as partners. Answers of one step may cross in
 * time, which changes no pair. */
static void replicas_come_together_at_the_rate_of_random_pairs(void **state)
{
  static replicas r;
  double sum = 0, squares = 0;

  (void)state;
  for (uint64_t seed = 0; seed < RATE_RUNS; seed++) {
    const struct adpsgd_opts opts = {.partners = 0, .staleness = 1, .seed = (int64_t)seed};

    r = prepare(&opts, 8, RATE_STEPS + 1);
    r.seed = seed;
    replicas_run(&r);
    double left = 0; /* elements of a run have the same pairs */

    for (int i = 0; i < r.count; i++) {
      int64_t before[8], after[8];

      for (int rank = 0; rank < 8; rank++) {
        before[rank] = r.before[rank][0][i];
        after[rank] = r.after[rank][RATE_STEPS][i];
      }
      left += distance(after, 8) / distance(before, 8) / r.count;
    }
    sum += left;
    squares += left * left;
  }
  const int n = RATE_RUNS;
  const double mean = sum / n, deviation = sqrt((squares / n - mean * mean) / n);
  const double expected = expected_fraction(8);

  print_message("left of the distance: %.4f +- %.4f, of random pairs %.4f\n", mean, deviation,
                expected);
  assert_true(fabs(mean - expected) < 3 * deviation);
}

static double a_few_ms(const replicas *r, int rank, int step)
{
  return 0.004 * uneven(r, rank, step);
}

static void threads_at_once_conserve_updates(void **state)
{
  static replicas r;
  const struct adpsgd_opts opts = {.partners = 0, .staleness = 2, .seed = 5};

  (void)state;
  r = prepare(&opts, 5, 8);
  r.concurrent = true;
  r.computes_s = a_few_ms;
  r.element = add_own;
  replicas_run(&r);
  assert_conserved(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_ranks_have_their_mean_in_the_next_step),
      cmocka_unit_test(updates_are_conserved_on_any_number_of_ranks),
      cmocka_unit_test(nobody_waits_for_a_slow_rank),
      cmocka_unit_test(replicas_come_together_at_the_rate_of_random_pairs),
      cmocka_unit_test(threads_at_once_conserve_updates),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
