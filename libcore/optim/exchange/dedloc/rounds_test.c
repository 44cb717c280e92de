/* rounds_test.c - rounds of means with shares by bandwidth, over simulated links of unequal ranks.
 */
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "comm/weir_inproc.h"
#include "optim/exchange/dedloc/dedloc_priv.h"
#include "optim/exchange_butterfly.h"

enum { ROUND_RANKS = 4, ROUND_COUNT = 1 << 16, ROUND_BYTES = 4 * ROUND_COUNT };

typedef struct throttled {
  int ranks;
  double bandwidth[ROUND_RANKS], xi; /* bytes/s; time of the shares for a byte */
  int64_t segment_bytes;
  double round_s; /* returns the time of the slowest rank */
} throttled;

static weir_status run_round(weir_comm *c, void *context)
{
  static float given[ROUND_RANKS][ROUND_COUNT], mean[ROUND_RANKS][ROUND_COUNT];
  throttled *const t = context;
  const int rank = weir_comm_rank(c);
  double share[ROUND_RANKS];
  int64_t counts[ROUND_RANKS];
  exchange_butterfly *b = NULL;
  weir_status status = WEIR_OK;

  (void)dedloc_shares(t->bandwidth, t->ranks, share);
  dedloc_split(share, t->ranks, ROUND_COUNT, counts);
  for (int i = 0; i < ROUND_COUNT; i++) {
    given[rank][i] = (float)(i % 1000 + rank);
  }
  WEIR_TRY(exchange_butterfly_create(&(exchange_butterfly_spec){.comm = c,
                                                                .dtype = WEIR_F32,
                                                                .count = ROUND_COUNT,
                                                                .shares = counts,
                                                                .timeout_s = 1000,
                                                                .segment_bytes = t->segment_bytes},
                                     &b));
  for (int64_t version = 0; version < 2; version++) {
    WEIR_TRY_GOTO(weir_comm_barrier(c), done);
    const double begin = weir_inproc_clock(c);

    WEIR_TRY_GOTO(exchange_butterfly_run(b, version, given[rank], 1, mean[rank]), done);
    t->round_s = fmax(t->round_s, weir_inproc_clock(c) - begin);
    for (int i = 0; i < ROUND_COUNT; i++) {
      assert_true(fabs(mean[rank][i] - (i % 1000 + 0.5 * (t->ranks - 1))) < 1e-3);
    }
  }
done:
  exchange_butterfly_destroy(&b);
  return status;
}

/* Sets xi and round_s. */
static void measure_round(throttled *t)
{
  const weir_network network = {.latency = 1e-6};
  const weir_inproc run = {.ranks = t->ranks, .network = &network, .rank_link_bw = t->bandwidth};
  double share[ROUND_RANKS];

  t->xi = dedloc_shares(t->bandwidth, t->ranks, share);
  t->round_s = 0;
  assert_ok(weir_inproc_run(&run, run_round, t));
}

static void check_round(throttled *t)
{
  measure_round(t);
  assert_true(t->round_s >= t->xi * ROUND_BYTES);
  assert_true(t->round_s <= 1.1 * t->xi * ROUND_BYTES);
}

/* No link is idle for long: a round takes the time that the linear programme predicts. */
static void rounds_take_the_time_of_the_slowest_link(void **state)
{
  throttled t = {.ranks = 4, .bandwidth = {1e6, 1e6, 1e6, 4e6}, .segment_bytes = INT64_MAX};

  (void)state;
  measure_round(&t); /* the control: one segment, whose means follow after all contributions */
  assert_true(t.round_s > 1.5 * t.xi * ROUND_BYTES);
  t.segment_bytes = 1024;
  check_round(&t);
  for (uint64_t seed = 0; seed < 2; seed++) {
    t.ranks = 3 + (int)seed;
    for (int r = 0; r < t.ranks; r++) {
      t.bandwidth[r] = 1e6 * (0.2 + 3 * weir_random_uniform(seed, 3, 0, (uint64_t)r));
    }
    check_round(&t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounds_take_the_time_of_the_slowest_link),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
