/* exchange_counts.c - every exchange policy of the registry: messages and bytes that it reports are
 * those that are given to MPI, counted there, while other sums of the same ranks are under way.
 *
 *   mpi_exchange_counts RANKS */
#undef WEIR_HAVE_CMOCKA
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "all_ranks.h"
#include "count_sends.h"
#include "optim/weir_exchange.h"

enum { COUNT = 5000, STEPS = 12 }; /* more bytes than comm.tree_max_bytes */

static const weir_comm_cfg usual = {
    .max_message_bytes = 1 << 14, .tree_max_bytes = 1 << 12, .timeout = 60};

/* What MPI has been given, while no thread of this rank gives it more. */
static sends given_to_mpi(void)
{
  weir_comm_borrow(comm);
  const sends s = sends_so_far();

  weir_comm_return(comm);
  return s;
}

/* A step of a rank, which in every third one is late. */
static void compute(int step)
{
  const struct timespec late = {.tv_nsec = (step + rank) % 3 == 0 ? 2000000 : 0};

  (void)nanosleep(&late, NULL);
}

/* Steps with sums of another group of all ranks, whose messages are `beside` afterwards. */
static void run_steps(weir_exchange *x, double *a, sends *beside)
{
  static double other[COUNT];
  weir_comm *group = NULL;
  weir_request *sum = NULL;

  assert_ok(weir_comm_split(comm, 0, &group));
  assert_ok(weir_allreduce_create(group, "beside", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64),
                                  other, COUNT, &sum));
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < COUNT; i++) {
      a[i] = rank + step + i;
    }
    compute(step);
    assert_ok(weir_request_start(sum));
    assert_ok(weir_exchange_run(x));
    assert_ok(weir_request_wait(sum));
  }
  assert_ok(weir_exchange_settle(x));
  const weir_comm_count counted = weir_comm_counted(group, WEIR_COMM_REDUCE);

  *beside = (sends){counted.sent, counted.sent_bytes};
  weir_request_destroy(&sum);
  weir_comm_close(&group);
}

static void check_policy(const weir_exchange_desc *policy)
{
  static double a[COUNT];
  const weir_grid grid = {.dims = 1, .extent = {ranks}};
  const weir_exchange_part part = {a, WEIR_F64, COUNT, 1};
  const weir_exchange_args args = {.comm = comm, .grid = &grid, .part = &part, .n = 1};
  weir_exchange x;
  sends beside;

  assert_ok(weir_exchange_open(policy, &args, &x));
  const sends before = given_to_mpi();
  const weir_exchange_counts opened = weir_exchange_count(&x);

  assert_ok(weir_comm_barrier(comm)); /* a rank that is ahead begins no version before */
  run_steps(&x, a, &beside);
  const sends after = given_to_mpi();
  const weir_exchange_counts counts = weir_exchange_count(&x);
  const int64_t messages =
                    counts.messages + counts.activations - opened.messages - opened.activations,
                bytes = counts.payload_bytes + counts.index_bytes + counts.activation_bytes -
                        opened.payload_bytes - opened.index_bytes - opened.activation_bytes;

  if (rank == 0) {
    fprintf(stderr, "%s: %lld messages of %lld bytes, %lld in time of %lld\n", policy->name,
            (long long)messages, (long long)bytes, (long long)counts.fresh,
            (long long)counts.versions);
  }
  assert_int_equal(messages, after.messages - before.messages - beside.messages);
  assert_int_equal(bytes, after.bytes - before.bytes - beside.bytes);
  assert_true(messages > 0 || ranks == 1);
  assert_true(counts.fresh + counts.stale <= counts.versions && counts.versions > 0);
  assert_true(counts.rounds > 0 || ranks == 1);
  weir_exchange_close(&x);
}

static void policies_report_what_they_send(void **state)
{
  for (int k = 0; weir_exchange_table[k] != NULL; k++) {
    check_policy(weir_exchange_table[k]);
    assert_ok(weir_comm_barrier(comm));
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(policies_report_what_they_send)};

  open_all_ranks(argc, argv, 8, &usual);
  const int failed = weir_run_tests("exchange_counts", tests, 1, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
