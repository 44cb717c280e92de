/* allreduce_test.c - sums in buckets: begun by any order of pieces, on every rank another one, they
 * have the bits of one sum; counters; what begins early. */
#include "optim/exchange/allreduce/allreduce_priv.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "comm/weir_inproc.h"

enum { COUNT = 1000, MAX_RANKS = 5, STEPS = 4, PIECES = 40 };

typedef struct sums {
  struct allreduce_opts opts;
  bool tells; /* elements as they are there */
  uint64_t seed;
  float out[MAX_RANKS][STEPS][2 * COUNT];
  weir_exchange_counts counts[MAX_RANKS];
} sums;

static double drawn(uint64_t seed, int rank, int step, int64_t i)
{
  return weir_random_uniform(seed, (uint32_t)rank, (uint32_t)step, (uint64_t)i);
}

/* Pieces of uneven size in an order of the rank's own; the last tenth is not told. */
static weir_status tell(const sums *s, weir_exchange *x, int rank, int step)
{
  int64_t at[PIECES + 1] = {0};
  int order[PIECES];

  for (int k = 0; k < PIECES; k++) {
    const int64_t size = (int64_t)(drawn(s->seed, rank, step, k) * 2 * COUNT / PIECES);

    at[k + 1] = at[k] + size < COUNT * 9 / 10 ? at[k] + size : COUNT * 9 / 10;
    order[k] = k;
  }
  at[PIECES] = COUNT * 9 / 10;
  for (int k = PIECES - 1; k > 0; k--) {
    const int other = (int)(drawn(s->seed + 1, rank, step, k) * (k + 1)), was = order[k];

    order[k] = order[other];
    order[other] = was;
  }
  for (int k = 0; k < PIECES; k++) {
    for (int part = 0; part < 2; part++) {
      WEIR_TRY(weir_exchange_ready(x, part, at[order[k]], at[order[k] + 1]));
    }
  }
  return WEIR_OK;
}

static weir_status body(weir_comm *c, void *context)
{
  sums *s = context;
  const int rank = weir_comm_rank(c);
  const weir_grid grid = {.dims = 1, .extent = {weir_comm_size(c)}};
  float *data = NULL;
  weir_exchange x = {.policy = NULL};
  weir_status status;

  WEIR_TRY(weir_alloc(2 * COUNT, sizeof *data, (void **)&data));
  const weir_exchange_part part[2] = {{data, WEIR_F32, COUNT, 1},
                                      {data + COUNT, WEIR_F32, COUNT, 1}};
  const weir_exchange_args args = {
      .opts = &s->opts, .comm = c, .grid = &grid, .part = part, .n = 2};

  WEIR_TRY_GOTO(weir_exchange_open(&weir_exchange_allreduce, &args, &x), done);
  for (int step = 0; step < STEPS; step++) {
    for (int64_t i = 0; i < 2 * COUNT; i++) {
      data[i] = (float)drawn(7, rank, step, i);
    }
    WEIR_TRY_GOTO(s->tells ? tell(s, &x, rank, step) : WEIR_OK, done);
    WEIR_TRY_GOTO(weir_exchange_run(&x), done);
    memcpy(s->out[rank][step], data, sizeof s->out[rank][step]);
  }
  s->counts[rank] = weir_exchange_count(&x);
done:
  weir_exchange_close(&x);
  weir_free(&data);
  return status;
}

static sums *summed(int ranks, double bucket_kb, bool tells, bool concurrent)
{
  const weir_inproc run = {.ranks = ranks, .seed = 5, .concurrent = concurrent};
  sums *s = NULL;

  assert_int_equal(weir_alloc(1, sizeof *s, (void **)&s), WEIR_OK);
  s->opts = (struct allreduce_opts){.bucket = bucket_kb * 1e-3};
  s->tells = tells;
  s->seed = (uint64_t)ranks;
  assert_int_equal(weir_inproc_run(&run, body, s), WEIR_OK);
  return s;
}

static void buckets_change_no_bit(void **state)
{
  static const double kb[] = {0.1, 0.3, 1.3, 100};

  (void)state;
  for (int ranks = 1; ranks <= MAX_RANKS; ranks++) {
    sums *whole = summed(ranks, 0, false, false);

    for (size_t k = 0; k < sizeof kb / sizeof kb[0]; k++) {
      sums *s = summed(ranks, kb[k], true, k % 2 == 1);

      for (int r = 0; r < ranks; r++) {
        assert_memory_equal(s->out[r], whole->out[0], sizeof s->out[r]);
      }
      weir_free(&s);
    }
    weir_free(&whole);
  }
}

/* 5 buckets of 200 elements in each part: the fifth lacks elements that are not told. */
static void what_is_complete_begins_early(void **state)
{
  sums *told = summed(2, 0.8, true, false), *silent = summed(2, 0.8, false, false);
  sums *off = summed(2, 0, true, false);

  (void)state;
  for (int r = 0; r < 2; r++) {
    assert_int_equal(told->counts[r].buckets, 2 * 5 * STEPS);
    assert_int_equal(told->counts[r].early, 2 * 4 * STEPS);
    assert_in_range(told->counts[r].complete, 0, 2 * 4 * STEPS);
    assert_int_equal(silent->counts[r].buckets, 2 * 5 * STEPS);
    assert_int_equal(silent->counts[r].early, 0);
    assert_int_equal(off->counts[r].buckets, 2 * STEPS);
    assert_int_equal(off->counts[r].early, 0);
    assert_int_equal(told->counts[r].payload_bytes, silent->counts[r].payload_bytes);
    assert_int_equal(told->counts[r].payload_bytes, off->counts[r].payload_bytes);
  }
  weir_free(&told);
  weir_free(&silent);
  weir_free(&off);
}

static void options_say_what_it_does(void **state)
{
  const weir_exchange_desc *policy = &weir_exchange_allreduce;
  const struct allreduce_opts off = {.bucket = 0, .in_plan = false};
  bool yes = false;

  (void)state;
  assert_int_equal(weir_exchange_overlaps(policy, NULL, &yes), WEIR_OK);
  assert_true(yes);
  assert_int_equal(weir_exchange_overlaps(policy, &off, &yes), WEIR_OK);
  assert_false(yes);
  assert_int_equal(weir_exchange_leaves_plan(policy, NULL, &yes), WEIR_OK);
  assert_false(yes);
  assert_int_equal(weir_exchange_leaves_plan(policy, &off, &yes), WEIR_OK);
  assert_true(yes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(buckets_change_no_bit),
      cmocka_unit_test(what_is_complete_begins_early),
      cmocka_unit_test(options_say_what_it_does),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
