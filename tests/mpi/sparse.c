/* sparse.c - words that a rank moves in a step of `oktopk` on ranks of MPI, counted next to MPI and
 * at MPI itself: at most 6 k (P - 1) / P where k elements are selected (Li and Hoefler 2022), but
 * not with equal regions.
 *
 *   mpi_sparse RANKS */
#include <stdlib.h>
#include "count_sends.h"
#include "optim/exchange/oktopk/oktopk_priv.h"
#include "support/optim/sparse_check.h"

enum { N = 20000, K = 400, STEPS = 16 };

static weir_comm *world;
static int me, all;

/* Bytes of this rank so far: sent and received in messages of selected elements, and all sent. */
typedef struct bytes {
  int64_t sent, received, total;
} bytes;

static bytes bytes_so_far(void)
{
  const weir_comm_count c = weir_comm_counted(world, WEIR_COMM_VARYING);
  bytes b = {.sent = c.sent_bytes, .received = c.received_bytes};

  for (int u = 0; u < WEIR_COMM_USES; u++) {
    b.total += weir_comm_counted(world, (weir_comm_use)u).sent_bytes;
  }
  return b;
}

static int64_t max_of_ranks(int64_t x)
{
  weir_request *r = NULL;

  assert_ok(weir_allreduce_create(world, "largest", weir_reducer_of(WEIR_REDUCE_MAX, WEIR_I64), &x,
                                  1, &r));
  assert_ok(weir_request_run_once(&r));
  return x;
}

/* Words of the busiest rank in a step, in units of k. */
static double words_of(int regions)
{
  static float gradient[N];
  const struct oktopk_opts opts = {.density = (double)K / N,
                                   .reselect_factor = 2,
                                   .threshold_period = 1,
                                   .region_period = 8,
                                   .local_scale = 1.025,
                                   .global_scale = 1.025,
                                   .band = 1.1,
                                   .regions = regions};
  const sparse_run numbers = {.count = N, .seed = 5};
  const weir_exchange_desc *policy = NULL;
  const weir_grid grid = {.dims = 1, .extent = {all}};
  const weir_exchange_part part = {gradient, WEIR_F32, N, 1};
  const weir_exchange_args args = {
      .opts = &opts, .comm = world, .grid = &grid, .part = &part, .n = 1};
  weir_exchange x;

  assert_ok(weir_exchange_find("oktopk", &policy));
  assert_ok(weir_exchange_open(policy, &args, &x));
  const bytes before = bytes_so_far();
  const sends at_mpi = sends_so_far();

  for (int step = 0; step < STEPS; step++) {
    int applied = 0;

    for (int i = 0; i < N; i++) {
      gradient[i] = (float)sparse_skewed(&numbers, me, step, i);
    }
    assert_ok(weir_exchange_run(&x));
    for (int i = 0; i < N; i++) {
      applied += gradient[i] != 0;
    }
    assert_int_equal(applied, K);
  }
  const bytes after = bytes_so_far();

  assert_int_equal(after.total - before.total, sends_so_far().bytes - at_mpi.bytes);
  weir_exchange_close(&x);
  const int64_t sent = after.sent - before.sent, received = after.received - before.received;

  return (double)max_of_ranks(sent > received ? sent : received) / 4 / STEPS / K;
}

static void a_rank_moves_at_most_6_k_words(void **state)
{
  const double bound = 6.0 * (all - 1) / all;
  const double balanced = words_of(OKTOPK_BALANCED), control = words_of(OKTOPK_EQUAL);

  if (me == 0) {
    print_message("%d ranks, words of the busiest rank: %.2f k, equal regions %.2f k; at most %.2f "
                  "k\n",
                  all, balanced, control, bound);
  }
  assert_true(balanced <= bound);
  assert_true(control > bound);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_rank_moves_at_most_6_k_words)};

  if (weir_comm_open(&world) != WEIR_OK) {
    weir_print_trace(stderr);
    return 1;
  }
  me = weir_comm_rank(world);
  all = weir_comm_size(world);
  if (argc < 2 || all != atoi(argv[1])) {
    (void)fprintf(stderr, "mpi_sparse RANKS: %d ranks\n", all);
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&world);
  return failed;
}
