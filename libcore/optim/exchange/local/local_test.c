/* local_test.c - weights of replicas that train alone between averages. */
#include "optim/exchange/local/local_priv.h"
#include "support/optim/replicas_check.h"

extern const weir_exchange_desc weir_exchange_local;

/* Every rank adds a number of its own; multiples of all numbers of ranks, so that averages are
 * whole. */
static int64_t add_own(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)r;
  return was + 840 * 840 * (int64_t)(rank * rank + step * (i + 1) + 2);
}

static double alike(const replicas *r, int rank, int step)
{
  (void)r;
  (void)rank;
  (void)step;
  return 1;
}

static int64_t mean_of(const replicas *r, int step, int i)
{
  int64_t sum = 0;

  for (int q = 0; q < r->ranks; q++) {
    sum += r->before[q][step][i];
  }
  return sum / r->ranks;
}

static void averages_come_in_their_period(void **state)
{
  static replicas r;
  const struct local_opts opts = {.period = 4, .first = 2};

  (void)state;
  for (int ranks = 1; ranks <= 5; ranks++) {
    r = (replicas){.policy = &weir_exchange_local,
                   .opts = &opts,
                   .ranks = ranks,
                   .steps = 7,
                   .count = 6,
                   .computes_s = alike,
                   .element = add_own};
    replicas_run(&r);
    for (int rank = 0; rank < ranks; rank++) {
      for (int i = 0; i < r.count; i++) {
        for (int step = 0; step < r.steps; step++) {
          const bool averaged = step < 2 || step % 4 == 3;

          assert_int_equal(r.after[rank][step][i],
                           averaged ? mean_of(&r, step, i) : r.before[rank][step][i]);
        }
        assert_int_equal(r.after[rank][r.steps][i], mean_of(&r, r.steps - 1, i));
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(averages_come_in_their_period)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
