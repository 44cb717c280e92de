/* dpsgd_test.c - means of neighbours in a ring, and who waits for whom. */
#include "support/optim/replicas_check.h"

extern const weir_exchange_desc weir_exchange_dpsgd;

/* Multiples of 6^13 2^4, so that means of two and three are whole for some steps. */
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

/* Also the sum over all ranks stays. */
static void weights_become_the_mean_of_neighbours(void **state)
{
  static replicas r;

  (void)state;
  for (int ranks = 1; ranks <= REPLICAS_MAX; ranks++) {
    r = (replicas){.policy = &weir_exchange_dpsgd,
                   .ranks = ranks,
                   .steps = 4,
                   .count = 5,
                   .computes_s = alike,
                   .element = keep};
    replicas_run(&r);
    for (int i = 0; i < r.count; i++) {
      int64_t before = 0, after = 0;

      for (int rank = 0; rank < ranks; rank++) {
        for (int step = 0; step < r.steps; step++) {
          int64_t sum = r.before[rank][step][i];

          for (int k = 1; k < (ranks < 3 ? ranks : 3); k++) {
            sum += r.before[(rank + (k == 1 ? 1 : ranks - 1)) % ranks][step][i];
          }
          assert_int_equal(r.after[rank][step][i], sum / (ranks < 3 ? ranks : 3));
        }
        before += r.before[rank][0][i];
        after += r.after[rank][r.steps - 1][i];
        assert_int_equal(r.after[rank][r.steps][i], r.after[0][r.steps][i]);
      }
      assert_int_equal(before, after);
    }
  }
}

static double one_sleeps(const replicas *r, int rank, int step)
{
  (void)r;
  return rank == 0 && step == 0 ? 100 : 1;
}

/* A ring of eight: in step k ranks at a distance of up to k + 1 of the sleeper wait for it. */
static void only_neighbours_wait(void **state)
{
  static replicas r;

  (void)state;
  r = (replicas){.policy = &weir_exchange_dpsgd,
                 .ranks = 8,
                 .steps = 4,
                 .count = 3,
                 .computes_s = one_sleeps,
                 .element = keep};
  replicas_run(&r);
  for (int rank = 1; rank < 8; rank++) {
    const int distance = rank < 5 ? rank : 8 - rank;

    for (int step = 0; step < r.steps; step++) {
      assert_int_equal(r.done_s[rank][step] > 50, distance <= step + 1);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_become_the_mean_of_neighbours),
      cmocka_unit_test(only_neighbours_wait),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
