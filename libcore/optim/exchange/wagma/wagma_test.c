/* wagma_test.c - averages of weights in groups of ranks: which groups, what late ranks merge, and
 * when replicas are equal. */
#include "optim/exchange/wagma/wagma_priv.h"
#include "support/optim/replicas_check.h"

extern const weir_exchange_desc weir_exchange_wagma;

/* Weights that no rank changes in its steps: multiples of a power of 8, so that averages of groups
 * are whole. */
static int64_t keep(const replicas *r, int rank, int step, int i, int64_t was)
{
  return step >= 0
             ? was
             : (int64_t)(weir_random_bits(r->seed, 4, (uint32_t)rank, (uint64_t)i) >> 52) << 40;
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

static replicas prepare(const struct wagma_opts *opts, int ranks, int steps)
{
  return (replicas){.policy = &weir_exchange_wagma,
                    .opts = opts,
                    .ranks = ranks,
                    .steps = steps,
                    .count = 8,
                    .computes_s = alike,
                    .element = keep};
}

/* The mean over the ranks that differ from this one in these bits alone. */
static int64_t mean_over(const replicas *r, int rank, int bits, int step, int i)
{
  int64_t sum = 0;
  int n = 0;

  for (int q = 0; q < r->ranks; q++) {
    if (((q ^ rank) & ~bits) == 0) {
      sum += r->before[q][step][i];
      n++;
    }
  }
  return sum / n;
}

/* Groups of 2 and of 4 of 8 ranks by hand: bits 0, 1, 2, 0 ...; 0 and 1, 2 and 0, 1 and 2 ... */
static void groups_go_round_the_bits(void **state)
{
  static const int bits[2][6] = {{1, 2, 4, 1, 2, 4}, {3, 5, 6, 3, 5, 6}};
  static replicas r;

  (void)state;
  for (int k = 0; k < 2; k++) {
    const struct wagma_opts opts = {.group = 2 << k, .period = 1000};

    r = prepare(&opts, 8, 6);
    replicas_run(&r);
    for (int rank = 0; rank < 8; rank++) {
      for (int step = 0; step < r.steps; step++) {
        for (int i = 0; i < r.count; i++) {
          assert_int_equal(r.after[rank][step][i], mean_over(&r, rank, bits[k][step], step, i));
        }
      }
      /* All bits have been touched once: the mean of all. */
      for (int i = 0; i < r.count; i++) {
        assert_int_equal(r.after[rank][k == 0 ? 2 : 1][i], mean_over(&r, rank, 7, 0, i));
      }
      assert_int_equal(r.counts[rank][r.steps].fresh, r.steps);
    }
  }
}

/* Walsh-Hadamard coefficient of an element over 8 ranks: sum of (-1)^|rank & mask| of its values.
 */
static int64_t walsh(int64_t of[][REPLICAS_STEPS + 1][REPLICAS_COUNT], int step, int i, int mask)
{
  int64_t sum = 0;

  for (int rank = 0; rank < 8; rank++) {
    const int common = rank & mask, odd = (common ^ common >> 1 ^ common >> 2) & 1;

    sum += odd ? -of[rank][step][i] : of[rank][step][i];
  }
  return sum;
}

/* A step takes what differs along the bits of its groups out of the distance between replicas, and
 * leaves the rest: by Parseval, the distance is the sum of the squares of all but the first. */
static void a_step_removes_the_differences_along_its_bits(void **state)
{
  static const int bits[4] = {3, 5, 6, 3};
  const struct wagma_opts opts = {.group = 4, .period = 1000};
  static replicas r;

  (void)state;
  r = prepare(&opts, 8, 4);
  replicas_run(&r);
  for (int step = 0; step < r.steps; step++) {
    for (int mask = 0; mask < 8; mask++) {
      for (int i = 0; i < r.count; i++) {
        const int64_t before = walsh(r.before, step, i, mask);

        assert_true(step > 0 || before != 0);
        assert_int_equal(walsh(r.after, step, i, mask), (mask & bits[step]) != 0 ? 0 : before);
      }
    }
  }
}

static void averages_over_all_make_replicas_equal(void **state)
{
  static replicas r;

  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    const struct wagma_opts opts = {.group = seed % 2 == 0 ? 0 : 2, .period = 5};

    r = prepare(&opts, 1 << seed % 4, 20);
    r.seed = seed;
    r.computes_s = uneven;
    if (opts.group > r.ranks) {
      continue;
    }
    replicas_run(&r);
    for (int rank = 0; rank < r.ranks; rank++) {
      for (int step = 4; step < r.steps; step += 5) {
        assert_memory_equal(r.after[rank][step], r.after[0][step], 8 * sizeof r.after[0][0][0]);
        for (int i = 0; i < r.count; i++) {
          assert_int_equal(r.after[rank][step][i], mean_over(&r, rank, 7, step, i));
        }
      }
      assert_memory_equal(r.after[rank][r.steps], r.after[0][r.steps], 8 * sizeof r.after[0][0][0]);
    }
  }
}

enum { SLEEPER = 1 };

static double one_sleeps(const replicas *r, int rank, int step)
{
  (void)r;
  return rank == SLEEPER && step == 1 ? 3.5 : 1;
}

/* Numbers by which the merge of a late rank is seen. */
static int64_t number_steps(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)r;
  return step < 0 ? 0 : was + 46080 * (1000 * (int64_t)rank + 10 * step + i + 1);
}

/* Two ranks of one group: the sleeper's step 1 lasts until the other one has done steps 1 to 3 with
 * what it gave in step 0. It then merges the newest of their sums, once, in thirds; at the average
 * over all ranks both are equal. */
static void a_late_rank_merges_the_newest_average_once(void **state)
{
  static replicas r;
  const struct wagma_opts opts = {.group = 2, .period = 6};

  (void)state;
  r = prepare(&opts, 2, 6);
  r.computes_s = one_sleeps;
  r.element = number_steps;
  replicas_run(&r);
  for (int i = 0; i < r.count; i++) {
    const int64_t old = r.before[SLEEPER][0][i];

    assert_int_equal(r.after[0][0][i], (r.before[0][0][i] + old) / 2);
    for (int step = 1; step < 4; step++) {
      assert_int_equal(r.after[0][step][i], (r.before[0][step][i] + old) / 2);
    }
    assert_int_equal(r.after[SLEEPER][1][i],
                     (r.before[0][3][i] + old + r.before[SLEEPER][1][i]) / 3);
    /* Version 4 has been over since, with what step 1 gave; then there is none to merge. */
    assert_int_equal(r.after[SLEEPER][2][i],
                     (r.before[0][4][i] + r.before[SLEEPER][1][i] + r.before[SLEEPER][2][i]) / 3);
    assert_int_equal(r.after[SLEEPER][3][i], r.before[SLEEPER][3][i]);
    assert_int_equal(r.after[SLEEPER][4][i], r.before[SLEEPER][4][i]);
    assert_int_equal(r.after[SLEEPER][5][i], r.after[0][5][i]);
    assert_int_equal(r.after[0][5][i], (r.before[0][5][i] + r.before[SLEEPER][5][i]) / 2);
  }
  assert_true(r.done_s[0][3] < 4.5);
}

/* As the published program: the own weights a second time, except where all ranks are averaged. */
static void the_released_rule_counts_own_weights_twice(void **state)
{
  static replicas r;
  const struct wagma_opts opts = {.group = 2, .period = 3, .merge = WAGMA_RELEASED};

  (void)state;
  r = prepare(&opts, 4, 3);
  r.element = number_steps;
  replicas_run(&r);
  for (int rank = 0; rank < 4; rank++) {
    for (int i = 0; i < r.count; i++) {
      for (int step = 0; step < 2; step++) {
        const int64_t own = r.before[rank][step][i];
        const int64_t other = r.before[rank ^ (1 << step)][step][i];

        assert_int_equal(r.after[rank][step][i], (2 * own + other) / 3);
      }
      assert_int_equal(r.after[rank][2][i], mean_over(&r, rank, 3, 2, i));
    }
  }
}

/* 2 M (S - 1) / S bytes a step, whatever the number of ranks. */
static void bytes_are_those_of_the_group(void **state)
{
  static replicas r;
  const int64_t count = 16, bytes = 8 * count;

  (void)state;
  for (int ranks = 4; ranks <= 8; ranks *= 2) {
    for (int64_t group = 2; group <= 4; group *= 2) {
      const struct wagma_opts opts = {.group = group, .period = 1000};

      r = prepare(&opts, ranks, 5);
      r.count = (int)count;
      replicas_run(&r);
      int64_t sent = 0;

      for (int rank = 0; rank < ranks; rank++) {
        sent += r.sent[rank].sent_bytes;
      }
      assert_int_equal(sent, ranks * r.steps * 2 * bytes * (group - 1) / group);
    }
  }
}

static double a_few_ms(const replicas *r, int rank, int step)
{
  return 0.004 * uneven(r, rank, step);
}

/* All at once, with a thread for each rank's exchanges. */
static void threads_at_once_make_replicas_equal(void **state)
{
  static replicas r;
  const struct wagma_opts opts = {.group = 2, .period = 4};

  (void)state;
  r = prepare(&opts, 4, 20);
  r.concurrent = true;
  r.computes_s = a_few_ms;
  replicas_run(&r);
  for (int rank = 0; rank < 4; rank++) {
    for (int step = 3; step <= r.steps; step += step < 19 ? 4 : 1) {
      assert_memory_equal(r.after[rank][step], r.after[0][step], 8 * sizeof r.after[0][0][0]);
    }
  }
}

static void other_numbers_of_ranks_are_refused(void **state)
{
  static replicas r;
  const struct {
    int ranks;
    int64_t group;
    const char *says;
  } refused[] = {{6, 0, "6 replicas are no power of 2"},
                 {4, 3, "3 is no power of 2 from 2 to the number of replicas, 4"},
                 {4, 8, "8 is no power of 2 from 2 to the number of replicas, 4"}};

  (void)state;
  for (int k = 0; k < 3; k++) {
    const struct wagma_opts opts = {.group = refused[k].group, .period = 10};
    const weir_inproc run = {.ranks = refused[k].ranks};

    r = prepare(&opts, refused[k].ranks, 1);
    assert_int_equal(weir_inproc_run(&run, replicas_body, &r), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), refused[k].says));
    weir_clear_failure();
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_go_round_the_bits),
      cmocka_unit_test(a_step_removes_the_differences_along_its_bits),
      cmocka_unit_test(averages_over_all_make_replicas_equal),
      cmocka_unit_test(a_late_rank_merges_the_newest_average_once),
      cmocka_unit_test(the_released_rule_counts_own_weights_twice),
      cmocka_unit_test(bytes_are_those_of_the_group),
      cmocka_unit_test(threads_at_once_make_replicas_equal),
      cmocka_unit_test(other_numbers_of_ranks_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
