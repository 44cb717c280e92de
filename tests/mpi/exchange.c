/* exchange.c - every exchange policy of the registry, and trainings that accumulate gradients: they
 * are exchanged once a step, and give the losses and weights of one rank.
 *
 *   mpi_exchange RANKS FOLDER   FOLDER is empty and that of all ranks */
#include "optim/weir_exchange.h"

#include <stdio.h>

#include "train_session.h"

enum { COUNT = 1000, PARTS = 3 };

/* Element i of a part on a rank: whole numbers, of which sums have no rounding. */
static double element_of(int rank, int part, int i)
{
  return (double)((rank + 1) * (part + 2) + i % 17);
}

/* What the ranks that differ from this one along `dims` have together. */
static double sum_of(const weir_grid *grid, unsigned dims, int part, int i)
{
  const int me = weir_comm_rank(comm);
  double sum = 0;

  for (int q = 0; q < weir_comm_size(comm); q++) {
    if (weir_grid_sub_id(grid, q, dims) == weir_grid_sub_id(grid, me, dims)) {
      sum += element_of(q, part, i);
    }
  }
  return sum;
}

/* f32 over all ranks, f64 over the samples, and one that no rank shares; twice. */
static void check_policy(const weir_exchange_desc *policy, const weir_grid *grid)
{
  static const unsigned dims[PARTS] = {15, 1, 0};
  const int me = weir_comm_rank(comm);
  static float a[COUNT];
  static double b[COUNT], c[COUNT];
  const weir_exchange_part part[PARTS] = {
      {a, WEIR_F32, COUNT, dims[0]}, {b, WEIR_F64, COUNT, dims[1]}, {c, WEIR_F64, COUNT, dims[2]}};
  const weir_exchange_args args = {.comm = comm, .grid = grid, .part = part, .n = PARTS};
  weir_exchange x;

  assert_ok(weir_exchange_open(policy, &args, &x));
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < COUNT; i++) {
      a[i] = (float)element_of(me, 0, i);
      b[i] = element_of(me, 1, i);
      c[i] = element_of(me, 2, i);
    }
    assert_ok(weir_exchange_run(&x));
    for (int i = 0; i < COUNT && policy->in_plan; i++) {
      assert_true(a[i] == sum_of(grid, dims[0], 0, i));
      assert_true(b[i] == sum_of(grid, dims[1], 1, i));
      assert_true(c[i] == sum_of(grid, dims[2], 2, i));
    }
  }
  weir_exchange_close(&x);
  weir_exchange_close(&x); /* once more is none */
}

static void every_policy_on_every_grid(void **state)
{
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);

  for (int k = 0; weir_exchange_table[k] != NULL; k++) {
    const weir_exchange_desc *policy = weir_exchange_table[k];

    assert_true(policy->name[0] != 0 && policy->cite[0] != 0 && policy->help[0] != 0);
    for (int i = 0; i < n; i++) {
      check_policy(policy, &grid[i]);
    }
  }
}

static void an_unknown_policy_is_refused(void **state)
{
  const weir_exchange_desc *policy = NULL;

  assert_int_equal(weir_exchange_find("gossip", &policy), WEIR_ERR_CONFIG);
  assert_null(policy);
  assert_non_null(strstr(weir_last_message(), "choose one of: allreduce"));
  weir_clear_failure();
}

/* ---- Trainings ---- */

#define ACCUMULATED(n)                                                                          \
  "steps=20", "batch=2", "accumulate=" n, "log_every=1", "compare_every=3", "validate_every=2", \
      "optim.exchange=allreduce", "optim.schedule.lr=0.01",                                     \
      "optim.rule={momentum: {weight_decay: 0.01}}"

/* Moments over the batch and over space are merged in every micro-batch. */
static void batch_norm_in_two(void **state)
{
  volume v = usual(WEIR_F64);

  v.norm = true;
  assert_as_one_rank(v, 1e-10, 1, SETS(ACCUMULATED("2")));
}

/* Batches of other labels count more; the norm of the whole gradient is clipped. */
static void weights_in_three(void **state)
{
  volume v = usual(WEIR_F64);

  v.weighs = true;
  assert_as_one_rank(v, 1e-10, 1, SETS(ACCUMULATED("3"), "optim.clip.max_norm=0.5"));
}

/* The second block and the dense layers are whole on every rank: their gradient counts once. */
static void gathered_maps_in_two(void **state)
{
  volume v = usual(WEIR_F64);

  v.norm = true;
  memcpy(v.replicate_below, (int64_t[]){0, 4, 3, 4}, sizeof v.replicate_below);
  assert_as_one_rank(v, 1e-10, 2, SETS(ACCUMULATED("2"), "optim.average.decay=0.9"));
}

/* Messages of reductions that a rank sends in a training without validation. */
static weir_comm_count reduced(const weir_grid *grid, const char *steps, const char *accumulate)
{
  const weir_comm_count before = weir_comm_counted(comm, WEIR_COMM_REDUCE);
  volume v = usual(WEIR_F32);
  session s = train_on(grid, &v, 16,
                       SETS(steps, accumulate, "batch=4", "validate_every=100", "keep_best=false",
                            "compare_every=0", "checkpoint.every=100"));
  weir_comm_count after = weir_comm_counted(comm, WEIR_COMM_REDUCE);

  assert_ok(s.status);
  close_session(&s);
  after.sent -= before.sent;
  after.sent_bytes -= before.sent_bytes;
  return after;
}

/* Of one step, in three of them. */
static weir_comm_count of_step(const weir_grid *grid, const char *accumulate)
{
  const weir_comm_count two = reduced(grid, "steps=2", accumulate);
  weir_comm_count five = reduced(grid, "steps=5", accumulate);

  five.sent = (five.sent - two.sent) / 3;
  five.sent_bytes = (five.sent_bytes - two.sent_bytes) / 3;
  return five;
}

/* Merged in every micro-batch, it would be sent four times as often as in a step of one batch. */
static void a_gradient_is_sent_once_a_step(void **state)
{
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);

  for (int i = 0; i < n; i++) {
    const weir_comm_count one = of_step(&grid[i], "accumulate=1");
    const weir_comm_count four = of_step(&grid[i], "accumulate=4");
    char what[64];

    if (weir_comm_rank(comm) == 0) {
      print_message("%s: %lld messages, %lld bytes in a step of one batch; of four %lld, %lld\n",
                    grid_text(&grid[i], what, sizeof what), (long long)one.sent,
                    (long long)one.sent_bytes, (long long)four.sent, (long long)four.sent_bytes);
    }
    assert_true(four.sent_bytes < 4 * one.sent_bytes || weir_comm_size(comm) == 1);
    if (grid[i].extent[0] == weir_comm_size(comm)) { /* no sums of maps: the gradient and numbers */
      assert_true(2 * four.sent_bytes <= 3 * one.sent_bytes);
    }
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_policy_on_every_grid),
      cmocka_unit_test(an_unknown_policy_is_refused),
      cmocka_unit_test(batch_norm_in_two),
      cmocka_unit_test(weights_in_three),
      cmocka_unit_test(gathered_maps_in_two),
      cmocka_unit_test(a_gradient_is_sent_once_a_step),
  };

  if (argc < 3) {
    fprintf(stderr, "mpi_exchange RANKS FOLDER\n");
    return 2;
  }
  folder = argv[2];
  weir_log_set_level(WEIR_LOG_WARN);
  if (weir_comm_open(&comm) != WEIR_OK) {
    weir_print_trace(stderr);
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
