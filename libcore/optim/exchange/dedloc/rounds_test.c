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
  double timeout_s; /* 0: none that counts */
  double round_s;   /* returns the time of the slowest rank */
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
  WEIR_TRY(exchange_butterfly_create(
      &(exchange_butterfly_spec){.comm = c,
                                 .dtype = WEIR_F32,
                                 .count = ROUND_COUNT,
                                 .shares = counts,
                                 .timeout_s = t->timeout_s > 0 ? t->timeout_s : 1000,
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

/* The contributions of a rank alone take 0.8 of the time-out, with the means between them longer
 * than it. */
static void slow_contributions_are_in_the_means_of_all_segments(void **state)
{
  const double alone = 0.75 * ROUND_BYTES / 1e6;
  throttled t = {.ranks = 4,
                 .bandwidth = {1e6, 1e6, 1e6, 1e6},
                 .segment_bytes = 1024,
                 .timeout_s = alone / 0.8};

  (void)state;
  check_round(&t); /* and that means are exact */
  assert_true(t.round_s > t.timeout_s);
}

typedef struct silence {
  int silent, n; /* rank; elements */
} silence;

/* Elements of shares of the silent rank stay as they are, all others are means of the others. */
static void check_without(const silence *s, const exchange_butterfly *b, int ranks,
                          const double *mean)
{
  int shares = 0, checked = 0;
  const exchange_share *const share = exchange_butterfly_shares(b, &shares);

  assert_true(shares > 2 * ranks);
  for (int k = 0; k < shares; k++) {
    const bool failed = k % ranks == s->silent;

    assert_int_equal(share[k].outcome == EXCHANGE_TAKEN, !failed);
    for (int64_t j = 0; j < share[k].count; j++, checked++) {
      const int64_t i = share[k].begin + (share[k].first + j) % share[k].total;
      double sum = 0;

      for (int r = 0; r < ranks; r++) {
        sum += r == s->silent ? 0 : (double)i + 1000 * r;
      }
      assert_true(fabs(mean[i] - (failed ? -1 : sum / (ranks - 1))) < 1e-9);
    }
  }
  assert_int_equal(checked, s->n);
}

static weir_status run_without(weir_comm *c, void *context)
{
  enum { MOST = 1000 };
  const silence *const s = context;
  const int rank = weir_comm_rank(c), ranks = weir_comm_size(c);
  double given[MOST], mean[MOST];
  exchange_butterfly *b = NULL;
  int64_t newest = -1;
  weir_status status = WEIR_OK;

  for (int i = 0; i < s->n; i++) {
    given[i] = i + 1000.0 * rank;
    mean[i] = -1;
  }
  WEIR_TRY(exchange_butterfly_create(
      &(exchange_butterfly_spec){
          .comm = c, .dtype = WEIR_F64, .count = s->n, .timeout_s = 0.1, .segment_bytes = 256},
      &b));
  if (rank != s->silent) {
    WEIR_TRY_GOTO(exchange_butterfly_run(b, 0, given, 1, mean), done);
    check_without(s, b, ranks, mean);
  }
  WEIR_TRY_GOTO(exchange_butterfly_drain(b, &newest), done);
  assert_int_equal(newest, 0);
done:
  exchange_butterfly_destroy(&b);
  return status;
}

static void a_silent_rank_is_left_out_of_every_segment(void **state)
{
  const weir_network network = {.latency = 1e-6};

  (void)state;
  for (int ranks = 2; ranks <= 4; ranks++) {
    silence s = {.silent = ranks / 2, .n = 997};
    const weir_inproc run = {.ranks = ranks, .network = &network};

    assert_ok(weir_inproc_run(&run, run_without, &s));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounds_take_the_time_of_the_slowest_link),
      cmocka_unit_test(slow_contributions_are_in_the_means_of_all_segments),
      cmocka_unit_test(a_silent_rank_is_left_out_of_every_segment),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
