/* exchange_accumulate.c - trainings that accumulate gradients over micro-batches: these are
 * exchanged once a step, and give the losses and weights of one rank.
 *
 *   mpi_exchange_accumulate RANKS FOLDER   FOLDER is empty and that of all ranks */
#include "train_session.h"

#define ACCUMULATED(n)                                                                          \
  "steps=20", "batch=2", "accumulate=" n, "log_every=1", "compare_every=3", "validate_every=2", \
      "optim.exchange=allreduce", "optim.schedule.lr=0.01",                                     \
      "optim.rule={momentum: {weight_decay: 0.01}}"

/* Moments over the batch and over space are merged in every micro-batch. */
static void batch_norm_in_two(void **state)
{
  volume v = usual(WEIR_F64);

  v.norm = true;
  assert_as_one_rank(v, 1e-10, 2, SETS(ACCUMULATED("2")));
}

/* Batches of other labels count more; the norm of the whole gradient is clipped. */
static void weights_in_three(void **state)
{
  volume v = usual(WEIR_F64);

  v.weighs = true;
  assert_as_one_rank(v, 1e-10, 2, SETS(ACCUMULATED("3"), "optim.clip.max_norm=0.5"));
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
      cmocka_unit_test(batch_norm_in_two),
      cmocka_unit_test(weights_in_three),
      cmocka_unit_test(gathered_maps_in_two),
      cmocka_unit_test(a_gradient_is_sent_once_a_step),
  };
  const int status = session_open(argc, argv);

  if (status != 0) {
    return status;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
