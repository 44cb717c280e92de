/* train.c - a training on a grid of ranks against the same training on each rank alone: losses of
 * every step, weights and all that a checkpoint holds; what goes wrong on one rank; checkpoints of
 * one grid on another.
 *
 *   mpi_train RANKS FOLDER         the tests; FOLDER is empty and that of all ranks
 *   mpi_train RANKS FOLDER killed  a run that its last rank does not live to see the end of
 *   mpi_train RANKS FOLDER again   the same without that; prints the losses that it ends with */
#include <signal.h>
#include <sys/stat.h>
#include "support/graph/store_check.h"
#include "base/weir_signal.h"
#include "train_session.h"

static weir_grid first_grid(int which)
{
  int n = 0;
  const weir_grid *grid = grids_of(weir_comm_size(comm), &n);

  return grid[which < n ? which : n - 1];
}

static void momentum_in_f32(void **state)
{
  assert_as_one_rank(usual(WEIR_F32), 1e-5, 1, SETS(COMMON, "optim.rule=momentum"));
}

/* Moments over the batch and over space are merged, and statistics kept of them. */
static void adam_in_f64(void **state)
{
  volume v = usual(WEIR_F64);

  v.norm = true;
  assert_as_one_rank(v, 1e-12, 2,
                     SETS(COMMON, "optim.average.decay=0.9", "optim.clip.max_norm=0.5"));
}

/* Norms of every parameter; batches that are divided again. */
static void lars_in_f64_and_parts(void **state)
{
  assert_as_one_rank(usual(WEIR_F64), 1e-12, 3,
                     SETS("steps=20", "batch=3", "accumulate=2", "log_every=1",
                          "optim.schedule.lr=0.002", "validate_every=2",
                          "optim.rule={lars: {trust: 1}}"));
}

/* The map after the first block, of 4 x 3 x 4 voxels, is all-gathered: the second block, with its
 * moments, and the dense layers are whole on every rank. */
static void gathered_maps_in_f64(void **state)
{
  volume v = usual(WEIR_F64);

  v.norm = true;
  memcpy(v.replicate_below, (int64_t[]){0, 4, 3, 4}, sizeof v.replicate_below);
  assert_as_one_rank(v, 1e-12, 2,
                     SETS(COMMON, "optim.average.decay=0.9", "optim.clip.max_norm=0.5"));
}

/* Along the depth before the second block, along the width ahead of the dense layers. */
static void gathered_maps_in_f32_and_parts(void **state)
{
  volume v = usual(WEIR_F32);

  v.size[1] = 9; /* uneven, and the third level has 2 */
  v.blocks = 3;
  memcpy(v.replicate_below, (int64_t[]){0, 4, 0, 1}, sizeof v.replicate_below);
  assert_as_one_rank(v, 1e-5, 1,
                     SETS("steps=20", "batch=3", "accumulate=2", "log_every=1",
                          "optim.schedule.lr=0.01", "optim.rule=momentum", "validate_every=2",
                          "compare_every=3"));
}

/* Alone for 6 steps, on all ranks up to 13, with a map that is gathered up to 10, on the first half
 * of them to the end. */
static void a_run_goes_on_on_other_grids(void **state)
{
  const bool first = weir_comm_rank(comm) == 0;
  const int half = (weir_comm_size(comm) + 1) / 2;
  const weir_grid all = first_grid(1), few = {4, {half, 1, 1, 1}};
  volume v = usual(WEIR_F64);
  weir_comm *sub = NULL;
  char dir[PATH];
  session whole = train_alone(&v, 13, SETS("steps=20", "batch=4"));

  assert_ok(whole.status);
  new_dir(dir, false);
  if (first) {
    session s = train(NULL, NULL, dir, &v, 13, SETS("steps=6", "batch=4"));

    assert_ok(s.status);
    close_session(&s);
  }
  assert_ok(weir_comm_barrier(comm));
  v.replicate_below[WEIR_ALONG_DEPTH] = 4;
  session s = train(comm, &all, dir, &v, 13, SETS("steps=10", "batch=4"));

  assert_ok(s.status);
  assert_int_equal(s.result.first, 6);
  close_session(&s);
  v.replicate_below[WEIR_ALONG_DEPTH] = 0;
  s = train(comm, &all, dir, &v, 13, SETS("steps=13", "batch=4"));
  assert_ok(s.status);
  assert_int_equal(s.result.first, 10);
  close_session(&s);
  assert_ok(weir_comm_split(comm, weir_comm_rank(comm) < half ? 0 : -1, &sub));
  if (sub != NULL) {
    s = train(sub, &few, dir, &v, 13, SETS("steps=20", "batch=4"));
    assert_ok(s.status);
    assert_int_equal(s.result.first, 13);
    assert_near(s.result.valid_loss, whole.result.valid_loss, 1e-10);
    compare("on three grids", &whole, &s, 1e-10);
    close_session(&s);
    weir_comm_close(&sub);
  }
  close_session(&whole);
}

/* The last rank is asked to stop when it reads its fifth batch. */
static weir_status stop_at_five(volume *v)
{
  if (v->fetched >= 5 && weir_comm_rank(comm) == weir_comm_size(comm) - 1) {
    weir_stop_request(SIGTERM);
  }
  return WEIR_OK;
}

static void a_signal_to_one_rank_stops_all(void **state)
{
  const weir_grid grid = first_grid(0);
  volume v = usual(WEIR_F32);
  char dir[PATH];
  session whole = train_on(&grid, &v, 12, SETS("steps=9", "batch=4"));

  assert_ok(whole.status);
  new_dir(dir, false);
  v.before = stop_at_five;
  session s = train(comm, &grid, dir, &v, 12, SETS("steps=9", "batch=4"));

  weir_stop_request(0);
  assert_int_equal(s.status, WEIR_ERR_STOPPED);
  assert_non_null(strstr(weir_last_message(), "to resume from the checkpoint"));
  close_session(&s);
  v.before = NULL;
  s = train(comm, &grid, dir, &v, 12, SETS("steps=9", "batch=4"));
  assert_ok(s.status);
  assert_true(s.result.first > 0 && s.result.first < 9);
  compare("the same grid", &whole, &s, 0); /* the same bits */
  close_session(&s);
  close_session(&whole);
}

static void refused(const session *s, weir_status status, const char *message)
{
  if (s->status != status || strstr(weir_last_message(), message) == NULL) {
    fail_msg("status %d: '%s' is not in '%s'", (int)s->status, message, weir_last_message());
  }
}

/* The last rank cannot read its third batch. */
static weir_status fail_at_three(volume *v)
{
  return v->fetched == 3 && weir_comm_rank(comm) == weir_comm_size(comm) - 1
             ? weir_fail(WEIR_ERR_DATA, "sample 7 is not there")
             : WEIR_OK;
}

static void a_sample_that_one_rank_cannot_read_ends_all(void **state)
{
  const weir_grid grid = first_grid(0);
  volume v = usual(WEIR_F32);

  v.before = fail_at_three;
  session s = train_on(&grid, &v, 12, SETS("steps=9", "batch=4"));

  refused(&s, WEIR_ERR_DATA, "sample 7 is not there");
  close_session(&s);
}

/* One voxel of the last plane: of the last rank along the depth where there are several. */
static void an_infinite_voxel_is_told(void **state)
{
  const weir_grid grid = first_grid(1);
  volume v = usual(WEIR_F32);
  char rank[64];

  v.bad_sample = 6;
  v.bad_voxel = INFINITY;
  session s = train_on(&grid, &v, 12, SETS("steps=9", "batch=4"));

  refused(&s, WEIR_ERR_NUMERIC, "the input 'x' has inf as element");
  (void)snprintf(rank, sizeof rank, "rank %d of", weir_comm_size(comm) - 1);
  if (grid.extent[WEIR_ALONG_DEPTH] > 1 && grid.extent[WEIR_ALONG_SAMPLES] == 1 &&
      weir_comm_rank(comm) == 0) {
    refused(&s, WEIR_ERR_NUMERIC, rank);
  }
  close_session(&s);
}

/* One bit of the weights of the last rank turns over. */
static weir_status damage(volume *v)
{
  const weir_tensor *bank = check_stored(v->context, WEIR_PARAMS_FLAT);

  if (v->fetched == 3 && weir_comm_rank(comm) == weir_comm_size(comm) - 1) {
    ((uint8_t *)bank->data)[17] ^= 1;
  }
  return WEIR_OK;
}

static void other_weights_are_found(void **state)
{
  const weir_grid grid = first_grid(0);
  const int ranks = weir_comm_size(comm);
  volume v = usual(WEIR_F32);
  char text[64];

  v.before = damage;
  session s =
      train_on(&grid, &v, 12, SETS("steps=9", "batch=4", "compare_every=2", "checkpoint.every=9"));

  if (ranks == 1) { /* whom to compare with? */
    assert_ok(s.status);
  } else {
    (void)snprintf(text, sizeof text, "'params' of rank %d differs from that of rank 0", ranks - 1);
    refused(&s, WEIR_ERR_NUMERIC, text);
    refused(&s, WEIR_ERR_NUMERIC, "step 4");
  }
  close_session(&s);
}

/* One bit of the rows of the first dense layer that the last rank has: its last ones, before that
 * layer's biases and the last layer. */
static weir_status damage_slab(volume *v)
{
  const weir_tensor *bank = check_stored(v->context, WEIR_PARAMS_FLAT);
  const int64_t after = 6 + 6 * VOLUME_OUTPUTS + VOLUME_OUTPUTS;

  if (v->fetched == 3 && weir_comm_rank(comm) == weir_comm_size(comm) - 1) {
    ((uint8_t *)bank->data)[4 * (weir_tensor_numel(bank) - after - 1)] ^= 1;
  }
  return WEIR_OK;
}

/* Ranks of other samples have the same shard. */
static void another_slab_is_found(void **state)
{
  const weir_grid grid = {4, {2, 2, 1, 1}};
  volume v = usual(WEIR_F32);

  if (weir_comm_size(comm) != 4) {
    return; /* there is no other rank with the same shard */
  }
  v.before = damage_slab;
  session s =
      train_on(&grid, &v, 12, SETS("steps=9", "batch=4", "compare_every=2", "checkpoint.every=9"));

  refused(&s, WEIR_ERR_NUMERIC,
          "'params' of rank 3 differs from that of others with the same shard");
  refused(&s, WEIR_ERR_NUMERIC, "step 4");
  close_session(&s);
}

/* Bytes that a rank sends to others within the steps of a training without validation. */
static int64_t exchanged(const weir_grid *grid, const char *steps)
{
  const weir_comm_count before = weir_comm_counted(comm, WEIR_COMM_EXCHANGE);
  volume v = usual(WEIR_F32);
  session s = train_on(grid, &v, 12,
                       SETS(steps, "batch=4", "validate_every=100", "keep_best=false",
                            "compare_every=0", "checkpoint.every=100"));

  assert_ok(s.status);
  close_session(&s);
  return weir_comm_counted(comm, WEIR_COMM_EXCHANGE).sent_bytes - before.sent_bytes;
}

/* A rank at one end of the depth: planes of 6 x 8 voxels of the input, of 3 x 4 of what the first
 * block makes, and of its gradient, of each sample; nothing of the weights of the dense layers. */
static void a_step_sends_planes_alone(void **state)
{
  const int ranks = weir_comm_size(comm);
  const weir_grid grid = {4, {ranks > 2 ? ranks / 2 : 1, ranks > 1 ? 2 : 1, 1, 1}};

  if (ranks == 3) {
    return; /* the grid is for the numbers of ranks that CTest takes */
  }
  const int64_t samples = 4 / grid.extent[0];
  const int64_t planes = 6 * 8 * VOLUME_CHANNELS + 3 * 4 * 3 + 3 * 4 * 4;
  const int64_t two = exchanged(&grid, "steps=2"), five = exchanged(&grid, "steps=5");

  assert_int_equal(five - two, 3 * (ranks > 1 ? 4 * samples * planes : 0));
}

/* Where comparisons are rarer than checkpoints, too, no checkpoint has them. */
static void other_weights_are_not_saved(void **state)
{
  const weir_grid grid = first_grid(0);
  volume v = usual(WEIR_F32);
  int64_t newest = -1;

  v.before = damage;
  session s = train_on(&grid, &v, 12,
                       SETS("steps=9", "batch=4", "compare_every=100", "checkpoint.every=1"));

  if (weir_comm_size(comm) > 1) {
    refused(&s, WEIR_ERR_NUMERIC, "differs from that of rank 0");
    refused(&s, WEIR_ERR_NUMERIC, "step 3");
    assert_ok(weir_checkpoint_newest(s.dir, &newest));
    assert_int_equal(newest, 2);
  }
  close_session(&s);
}

static void a_checkpoint_that_cannot_be_written_ends_all(void **state)
{
  const weir_grid grid = first_grid(0);
  volume v = usual(WEIR_F32);
  char dir[PATH], blocked[PATH + 64];

  new_dir(dir, false);
  (void)snprintf(blocked, sizeof blocked, "%s/checkpoint-000000003.weir", dir);
  if (weir_comm_rank(comm) == 0) {
    assert_int_equal(mkdir(dir, 0777), 0);
    assert_int_equal(mkdir(blocked, 0777), 0);
    (void)strcat(blocked, "/x");
    assert_int_equal(mkdir(blocked, 0777), 0);
  }
  assert_ok(weir_comm_barrier(comm));
  session s = train(comm, &grid, dir, &v, 12,
                    SETS("steps=9", "batch=4", "checkpoint.every=3", "checkpoint.format=raw"));

  assert_int_not_equal(s.status, WEIR_OK);
  assert_non_null(strstr(weir_last_message(), "checkpoint-000000003"));
  close_session(&s);
}

static void a_grid_of_other_ranks_is_refused(void **state)
{
  const weir_grid grid = {4, {weir_comm_size(comm) + 1, 1, 1, 1}};
  volume v = usual(WEIR_F32);
  session s = train_on(&grid, &v, 12, SETS("steps=9", "batch=4"));

  if (weir_comm_size(comm) > 1) {
    refused(&s, WEIR_ERR_CONFIG, "does not match the");
  }
  close_session(&s);
}

/* ---- A rank that is gone ---- */

static weir_status die(volume *v)
{
  if (v->fetched == 7 && weir_comm_rank(comm) == weir_comm_size(comm) - 1) {
    (void)raise(SIGKILL);
  }
  return WEIR_OK;
}

static int run_of_script(bool killed)
{
  const weir_grid grid = {4, {weir_comm_size(comm), 1, 1, 1}};
  volume v = usual(WEIR_F64);
  char dir[PATH];

  (void)snprintf(dir, sizeof dir, "%s/run", folder);
  v.before = killed ? die : NULL;
  session s = train(comm, &grid, dir, &v, 16, SETS("steps=12", "batch=4", "checkpoint.every=1"));

  if (s.status != WEIR_OK) {
    weir_print_trace(stderr);
  } else if (weir_comm_rank(comm) == 0) {
    printf("after step %d: %.12g\n", (int)s.result.first, s.result.valid_loss);
  }
  close_session(&s);
  return (int)s.status;
}

static int all_tests(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(momentum_in_f32),
      cmocka_unit_test(adam_in_f64),
      cmocka_unit_test(lars_in_f64_and_parts),
      cmocka_unit_test(gathered_maps_in_f64),
      cmocka_unit_test(gathered_maps_in_f32_and_parts),
      cmocka_unit_test(a_run_goes_on_on_other_grids),
      cmocka_unit_test(a_signal_to_one_rank_stops_all),
      cmocka_unit_test(a_sample_that_one_rank_cannot_read_ends_all),
      cmocka_unit_test(an_infinite_voxel_is_told),
      cmocka_unit_test(other_weights_are_found),
      cmocka_unit_test(other_weights_are_not_saved),
      cmocka_unit_test(another_slab_is_found),
      cmocka_unit_test(a_step_sends_planes_alone),
      cmocka_unit_test(a_checkpoint_that_cannot_be_written_ends_all),
      cmocka_unit_test(a_grid_of_other_ranks_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
  if (argc < 3) {
    fprintf(stderr, "mpi_train RANKS FOLDER [killed|again]\n");
    return 2;
  }
  const int status = session_open(argc, argv);

  if (status != 0) {
    return status;
  }
  const int failed = argc > 3 ? run_of_script(strcmp(argv[3], "killed") == 0) : all_tests();

  weir_comm_close(&comm);
  return failed;
}
