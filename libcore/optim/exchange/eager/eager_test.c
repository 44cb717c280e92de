/* eager_test.c - what becomes of gradients of ranks that are late by a script: none is lost or
 * counted twice, and who begins an exchange waits for nobody else. */
#include <math.h>
#include "optim/exchange/eager/eager_priv.h"
#include "support/optim/replicas_check.h"

extern const weir_exchange_desc weir_exchange_eager;

static int64_t gradient(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)was;
  return step < 0 ? 0
                  : (int64_t)(weir_random_bits(r->seed, 3, (uint32_t)(rank * 1000 + step),
                                               (uint64_t)i) >>
                              40) -
                        (1 << 23);
}

/* Any order of posts; a tenth of the steps takes ten times as long. */
static double uneven(const replicas *r, int rank, int step)
{
  const uint64_t at = (uint64_t)(rank * REPLICAS_STEPS + step);
  const double u = weir_random_uniform(r->seed, 1, 0, at);

  return u * (weir_random_uniform(r->seed, 2, 0, at) < 0.1 ? 10 : 1);
}

/* The sum of all gradients, and of what the rank applied. */
static void assert_conserved(const replicas *r)
{
  for (int rank = 0; rank < r->ranks; rank++) {
    for (int i = 0; i < r->count; i++) {
      int64_t posted = 0, applied = r->after[rank][r->steps][i];

      for (int step = 0; step < r->steps; step++) {
        applied += r->after[rank][step][i];
        for (int q = 0; q < r->ranks; q++) {
          posted += r->before[q][step][i];
        }
      }
      assert_int_equal(applied, posted);
    }
  }
}

static void no_gradient_is_lost_or_counted_twice(void **state)
{
  static replicas r;

  (void)state;
  for (uint64_t seed = 0; seed < 48; seed++) {
    const struct eager_opts opts = {.mode = (int)(seed % 3),
                                    .quorum = (int64_t)(seed / 3 % (1 + seed % REPLICAS_MAX)),
                                    .period = seed % 5 == 0 ? 4 : 0,
                                    .seed = (int64_t)seed};

    r = (replicas){.policy = &weir_exchange_eager,
                   .opts = &opts,
                   .ranks = 1 + (int)(seed % REPLICAS_MAX),
                   .steps = 9,
                   .count = 1 + (int)(seed % 7),
                   .seed = seed,
                   .computes_s = uneven,
                   .element = gradient};
    replicas_run(&r);
    assert_conserved(&r);
  }
}

static double a_few_ms(const replicas *r, int rank, int step)
{
  return 0.004 * uneven(r, rank, step);
}

/* All at once, with a thread for each rank's exchanges. */
static void nor_by_threads_at_once(void **state)
{
  static replicas r;
  const struct eager_opts opts = {.mode = EAGER_SOLO};

  (void)state;
  r = (replicas){.policy = &weir_exchange_eager,
                 .opts = &opts,
                 .ranks = 4,
                 .steps = 30,
                 .count = REPLICAS_COUNT,
                 .concurrent = true,
                 .seed = 7,
                 .computes_s = a_few_ms,
                 .element = gradient};
  replicas_run(&r);
  assert_conserved(&r);
}

/* Where every exchange waits for all ranks, each gives the sum of that step. */
static void waiting_for_all_is_an_allreduce(void **state)
{
  static replicas r;
  const struct eager_opts opts = {.mode = EAGER_SOLO, .period = 1};

  (void)state;
  r = (replicas){.policy = &weir_exchange_eager,
                 .opts = &opts,
                 .ranks = 6,
                 .steps = 8,
                 .count = 5,
                 .computes_s = uneven,
                 .element = gradient};
  replicas_run(&r);
  for (int rank = 0; rank < r.ranks; rank++) {
    for (int step = 0; step < r.steps; step++) {
      for (int i = 0; i < r.count; i++) {
        int64_t sum = 0;

        for (int q = 0; q < r.ranks; q++) {
          sum += r.before[q][step][i];
        }
        assert_int_equal(r.after[rank][step][i], sum);
      }
    }
    assert_int_equal(r.counts[rank][r.steps].fresh, r.steps);
  }
}

/* Steps of all ranks begin every 10 s; rank k computes k + 1 of these. */
static double one_after_another(const replicas *r, int rank, int step)
{
  const double began = step > 0 ? r->done_s[rank][step - 1] : 0;

  return 10.0 * step + rank + 1 - began;
}

static double fresh_of(const replicas *r, int step)
{
  double fresh = 0;

  for (int rank = 0; rank < r->ranks; rank++) {
    fresh +=
        (double)(r->counts[rank][step].fresh - (step > 0 ? r->counts[rank][step - 1].fresh : 0));
  }
  return fresh;
}

/* Solo has the gradient of the first rank alone; majority of all up to the drawn one, (P + 1) / 2
 * on average; a quorum as many as it says, by default more than half; every fourth exchange has
 * all.
 */
static void gradients_in_time_are_as_many_as_expected(void **state)
{
  static replicas r;

  (void)state;
  for (int k = 0; k < 4; k++) {
    const int mode = k < 3 ? k : EAGER_QUORUM, expected = k == 0 ? 1 : k == 2 ? 4 : 6;
    const struct eager_opts opts = {
        .mode = mode, .quorum = k == 3 ? 6 : 0, .period = 4, .seed = 11};
    const int steps = REPLICAS_STEPS, ranks = 7;
    double sum = 0;
    int n = 0;

    r = (replicas){.policy = &weir_exchange_eager,
                   .opts = &opts,
                   .ranks = ranks,
                   .steps = steps,
                   .count = 1,
                   .computes_s = one_after_another,
                   .element = gradient};
    replicas_run(&r);
    for (int step = 0; step < steps; step++) {
      if (step % 4 == 3) {
        assert_true(fresh_of(&r, step) == ranks);
      } else {
        assert_true(mode == EAGER_MAJORITY || fresh_of(&r, step) == expected);
        sum += fresh_of(&r, step);
        n++;
      }
    }
    /* A number drawn from 1 .. P has a variance of (P^2 - 1) / 12. */
    const double sigma = sqrt((ranks * ranks - 1) / 12.0 / n);

    assert_true(mode != EAGER_MAJORITY || fabs(sum / n - (ranks + 1) / 2.0) < 3 * sigma);
  }
}

static double one_sleeps(const replicas *r, int rank, int step)
{
  return rank == r->ranks - 1 && step == 0 ? 100 : 1;
}

static void nobody_waits_for_a_late_rank(void **state)
{
  static replicas r;
  const struct eager_opts opts = {.mode = EAGER_SOLO};

  (void)state;
  r = (replicas){.policy = &weir_exchange_eager,
                 .opts = &opts,
                 .ranks = 5,
                 .steps = 20,
                 .count = 3,
                 .computes_s = one_sleeps,
                 .element = gradient};
  replicas_run(&r);
  for (int rank = 0; rank < 4; rank++) {
    assert_true(r.done_s[rank][r.steps - 1] < 21);
  }
  /* It finds all sums over, and gives its own in the last one. */
  assert_true(r.done_s[4][0] == r.posted_s[4][0]);
  assert_int_equal(r.counts[4][r.steps].fresh, 0);
  assert_conserved(&r);
}

static double first_step_is_long(const replicas *r, int rank, int step)
{
  (void)r;
  return rank == 1 && step == 0 ? 3.5 : 1;
}

/* Versions 0 to 2, at 1, 2 and 3 s, have nothing of rank 1; each of the next three has its gradient
 * of three steps before. A sum of two ranks is a message up and one down, and 8 bytes begin it. */
static void ages_and_messages_are_counted(void **state)
{
  static replicas r;
  const struct eager_opts opts = {.mode = EAGER_SOLO};

  (void)state;
  r = (replicas){.policy = &weir_exchange_eager,
                 .opts = &opts,
                 .ranks = 2,
                 .steps = 6,
                 .count = 3,
                 .computes_s = first_step_is_long,
                 .element = gradient};
  replicas_run(&r);
  const weir_exchange_counts *first = &r.counts[0][5], *late = &r.counts[1][6];

  assert_true(first->versions == 6 && first->fresh == 6 && first->stale == 0);
  assert_true(late->versions == 6 && late->fresh == 0 && late->stale == 3);
  assert_true(first->max_age == 0 && late->max_age == 3);
  assert_true(first->messages == 6 && first->payload_bytes == 6 * 24 && first->index_bytes == 0);
  assert_true(first->activations == 6 && first->activation_bytes == 6 * 8);
  assert_int_equal(first->rounds, 6 * 2);
}

static void a_quorum_of_more_ranks_is_refused(void **state)
{
  static replicas r;
  const struct eager_opts opts = {.mode = EAGER_QUORUM, .quorum = 4};
  const weir_inproc run = {.ranks = 3};

  (void)state;
  r = (replicas){.policy = &weir_exchange_eager,
                 .opts = &opts,
                 .ranks = 3,
                 .steps = 1,
                 .count = 1,
                 .computes_s = uneven,
                 .element = gradient};
  assert_int_equal(weir_inproc_run(&run, replicas_body, &r), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "quorum: 4 ranks are more than the 3 replicas"));
  weir_clear_failure();
}

/* All ranks of a quorum but one are asleep: it begins nothing. */
static double few_are_awake(const replicas *r, int rank, int step)
{
  return rank < r->ranks - 3 && step == 0 ? 100 : 1;
}

static void a_quorum_waits_for_its_last_rank(void **state)
{
  static replicas r;

  (void)state;
  for (int64_t quorum = 3; quorum <= 4; quorum++) {
    const struct eager_opts opts = {.mode = EAGER_QUORUM, .quorum = quorum};

    r = (replicas){.policy = &weir_exchange_eager,
                   .opts = &opts,
                   .ranks = 6,
                   .steps = 5,
                   .count = 2,
                   .computes_s = few_are_awake,
                   .element = gradient};
    replicas_run(&r);
    for (int rank = 3; rank < 6; rank++) {
      assert_int_equal(r.done_s[rank][0] < 50, quorum == 3);
    }
    assert_conserved(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_gradient_is_lost_or_counted_twice),
      cmocka_unit_test(nor_by_threads_at_once),
      cmocka_unit_test(waiting_for_all_is_an_allreduce),
      cmocka_unit_test(gradients_in_time_are_as_many_as_expected),
      cmocka_unit_test(nobody_waits_for_a_late_rank),
      cmocka_unit_test(ages_and_messages_are_counted),
      cmocka_unit_test(a_quorum_of_more_ranks_is_refused),
      cmocka_unit_test(a_quorum_waits_for_its_last_rank),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
