/* comm_test.c - a program that was started alone is one rank; a launcher is seen by its variables;
 * coordinates in a grid. Several ranks: tests/mpi. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "comm/comm_priv.h"
#include "conf/weir_launch.h"
#include "comm/weir_grid.h"

static void alone_there_is_one_rank(void **state)
{
  const char mine[] = "abc";
  char *all = NULL;
  int64_t bytes = 0;
  weir_comm *c = NULL;

  assert_ok(weir_comm_open(&c));
  assert_int_equal(weir_comm_rank(c), 0);
  assert_int_equal(weir_comm_size(c), 1);
  assert_false(c->kind->several);
  assert_ok(weir_comm_barrier(c));
  assert_ok(weir_comm_gather(c, mine, 3, (void **)&all, &bytes));
  assert_true(bytes == 3 && memcmp(all, mine, 3) == 0);
  weir_free(&all);
  assert_ok(weir_comm_gather(c, NULL, 0, (void **)&all, &bytes));
  assert_int_equal(bytes, 0);
  weir_free(&all);
  assert_int_equal(weir_comm_agree(c, WEIR_ERR_DATA), WEIR_ERR_DATA);
  weir_comm_close(&c);
  assert_null(c);
  weir_comm_close(&c);
}

/* Where a build lacks MPI, several ranks are refused: each would do all the work. One rank of a
 * launcher, and tasks of a batch script that has no rank, need none. */
static void what_needs_no_other_rank_starts_none(void **state)
{
  static const char *const alone[][2] = {{"OMPI_COMM_WORLD_SIZE", "1"},
                                         {"PMI_SIZE", "1"},
                                         {"SLURM_NTASKS", "16"},
                                         {"OMPI_COMM_WORLD_SIZE", "many"}};
  bool several = false;
  weir_comm *c = NULL;

  for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
    assert_int_equal(setenv(alone[i][0], alone[i][1], 1), 0);
    assert_ok(weir_comm_open(&c));
    assert_false(c->kind->several);
    weir_comm_close(&c);
    unsetenv(alone[i][0]);
  }
  for (const weir_comm_kind *const *k = weir_comm_kind_table; *k != NULL; k++) {
    several = several || ((*k)->several && (*k)->open != NULL);
  }
  if (!several) {
    assert_int_equal(setenv("PMI_SIZE", "4", 1), 0);
    assert_int_equal(weir_comm_open(&c), WEIR_ERR_UNSUPPORTED);
    assert_non_null(strstr(weir_last_message(), "one of 4 ranks"));
    assert_null(c);
    unsetenv("PMI_SIZE");
  }
}

/* What each launcher sets, and how many ranks that is. */
static void launchers_are_told_apart(void **state)
{
  static const struct {
    const char *set[4][2];
    int ranks;
  } rows[] = {
      {{{"OMPI_COMM_WORLD_SIZE", "3"}, {"SLURM_NTASKS", "16"}}, 3}, /* mpiexec in a job */
      {{{"PMI_SIZE", "4"}, {"PMI_RANK", "1"}}, 4},                  /* MPICH, srun --mpi=pmi2 */
      {{{"PMIX_RANK", "0"}, {"SLURM_NTASKS", "5"}}, 5},             /* srun --mpi=pmix */
      {{{"PMIX_RANK", "0"}, {"SLURM_NTASKS", "16"}, {"SLURM_STEP_NUM_TASKS", "2"}}, 2},
      {{{"SLURM_NTASKS", "16"}, {"SLURM_PROCID", "0"}}, 1}, /* a batch script */
      {{{"PMI_SIZE", "99999999999"}}, 1},
      {{{NULL}}, 1},
  };

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (int k = 0; k < 4 && rows[i].set[k][0] != NULL; k++) {
      assert_int_equal(setenv(rows[i].set[k][0], rows[i].set[k][1], 1), 0);
    }
    assert_int_equal(weir_launch_ranks(), rows[i].ranks);
    for (int k = 0; k < 4 && rows[i].set[k][0] != NULL; k++) {
      unsetenv(rows[i].set[k][0]);
    }
  }
}

/* Tasks of srun that are no ranks would all do the whole work. What a shell in a step starts has
 * the same variables, but is no task. */
static void tasks_without_mpi_are_refused(void **state)
{
  static const struct {
    const char *set[2];
    bool task; /* this process is what srun started */
    int apart;
  } rows[] = {
      {{NULL}, true, 4},
      {{NULL}, false, 1},
      {{"PMIX_RANK", "3"}, true, 1},
      {{"PMI_RANK", "3"}, true, 1},
      {{"OMPI_COMM_WORLD_SIZE", "1"}, true, 1},
      {{"SLURM_STEP_NUM_TASKS", "1"}, true, 1},
  };
  weir_comm *c = NULL;
  char pid[32];

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const bool refused = rows[i].apart > 1;

    (void)snprintf(pid, sizeof pid, "%ld", (long)(rows[i].task ? getpid() : getppid()));
    assert_int_equal(setenv("SLURM_TASK_PID", pid, 1), 0);
    assert_int_equal(setenv("SLURM_STEP_NUM_TASKS", "4", 1), 0);
    if (rows[i].set[0] != NULL) {
      assert_int_equal(setenv(rows[i].set[0], rows[i].set[1], 1), 0);
    }
    assert_int_equal(weir_launch_tasks(), rows[i].apart);
    if (refused) {
      assert_int_equal(weir_comm_open(&c), WEIR_ERR_CONFIG);
      assert_non_null(strstr(weir_last_message(), "one of 4 tasks"));
      assert_non_null(strstr(weir_last_message(), "--mpi=pmix"));
      assert_null(c);
    }
    if (rows[i].set[0] != NULL) {
      unsetenv(rows[i].set[0]);
    }
    unsetenv("SLURM_STEP_NUM_TASKS");
    unsetenv("SLURM_TASK_PID");
  }
}

/* Rank 0 of a step of srun, and of nothing else. */
static void pmi2_of_srun_is_known(void **state)
{
  assert_int_equal(setenv("PMI_RANK", "0", 1), 0);
  assert_false(weir_launch_leads_pmi2());
  assert_int_equal(setenv("SLURM_STEP_ID", "0", 1), 0);
  assert_true(weir_launch_leads_pmi2());
  assert_int_equal(setenv("PMI_RANK", "1", 1), 0);
  assert_false(weir_launch_leads_pmi2());
  unsetenv("PMI_RANK");
  unsetenv("SLURM_STEP_ID");
}

/* The only rank sends boxes to itself: [2, 3] of [4, 5] becomes a transposed [3, 2]. */
static weir_status split_and_exchange(void *context)
{
  int16_t from[20], to[6] = {0};
  double one = 7;
  weir_request *r = NULL, *sum = NULL;
  weir_comm *c = NULL, *sub = NULL;
  weir_status status = WEIR_OK;

  for (int i = 0; i < 20; i++) {
    from[i] = (int16_t)i;
  }
  const weir_transfer list[] = {{0, false, {from + 6, sizeof *from, 2, {2, 3}, {5, 1}}},
                                {0, true, {to, sizeof *to, 2, {2, 3}, {1, 2}}}};

  WEIR_TRY_GOTO(weir_comm_open(&c), done);
  WEIR_TRY_GOTO(weir_comm_split(c, 3, &sub), done);
  WEIR_TRY_GOTO(weir_exchange_create(sub, "turn", list, 2, &r), done);
  WEIR_TRY_GOTO(weir_request_start(r), done);
  WEIR_TRY_GOTO(weir_request_wait(r), done);
  assert_memory_equal(to, ((int16_t[]){6, 11, 7, 12, 8, 13}), sizeof to);
  WEIR_TRY_GOTO(
      weir_allreduce_create(c, "sum", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64), &one, 1, &sum),
      done);
  WEIR_TRY_GOTO(weir_request_start(sum), done);
  WEIR_TRY_GOTO(weir_request_wait(sum), done);
  assert_true(one == 7);
  for (int u = 0; u < WEIR_COMM_USES; u++) {
    assert_int_equal(weir_comm_counted(c, (weir_comm_use)u).sent, 0);
  }
done:
  weir_request_destroy(&r);
  weir_request_destroy(&sum);
  weir_comm_close(&sub);
  weir_comm_close(&c);
  return status;
}

static void alone_an_exchange_is_a_copy(void **state)
{
  assert_true(weir_check_faults(split_and_exchange, NULL) > 5);
  assert_int_equal(weir_comm_abort(&(weir_comm){.size = 1}, WEIR_ERR_DATA), WEIR_ERR_DATA);
}

/* Places and ranks are one to one; groups are the ranks that differ in the given dimensions alone.
 */
static void coordinates_of_a_grid(void **state)
{
  for (uint64_t n = 0; n < 40; n++) {
    weir_grid g = {.dims = (int)(weir_random_bits(3, 0, 0, n) % (WEIR_GRID_DIMS + 1))};
    int here[WEIR_GRID_DIMS], there[WEIR_GRID_DIMS], last = -1;

    for (int d = 0; d < g.dims; d++) {
      g.extent[d] = 1 + (int)(weir_random_bits(3, 1, (uint32_t)d, n) % 3);
    }
    const int size = weir_grid_size(&g);

    assert_ok(weir_grid_check(&g, size));
    assert_int_equal(weir_grid_check(&g, size + 1), WEIR_ERR_CONFIG);
    for (int rank = 0; rank < size; rank++) {
      weir_grid_coords(&g, rank, here);
      assert_int_equal(weir_grid_rank(&g, here), rank);
      last = rank;
    }
    for (unsigned dims = 0; dims < 1u << WEIR_GRID_DIMS; dims += 5) {
      bool same = true;

      weir_grid_coords(&g, last, here);
      weir_grid_coords(&g, last / 2, there);
      for (int d = 0; d < WEIR_GRID_DIMS; d++) {
        same = same && ((dims >> d & 1) != 0 || here[d] == there[d]);
      }
      assert_int_equal(same,
                       weir_grid_sub_id(&g, last, dims) == weir_grid_sub_id(&g, last / 2, dims));
    }
  }
  assert_int_equal(weir_grid_check(&(weir_grid){2, {0, 4}}, 0), WEIR_ERR_CONFIG);
  assert_int_equal(weir_grid_check(&(weir_grid){3, {1 << 30, 1 << 30, 1 << 30}}, 1),
                   WEIR_ERR_CONFIG);
  assert_int_equal(weir_grid_check(&(weir_grid){.dims = 7}, 1), WEIR_ERR_CONFIG);
}

static void options_are_complete(void **state)
{
  assert_int_equal(weir_opts_incomplete(weir_comm_opts), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alone_there_is_one_rank),
      cmocka_unit_test(what_needs_no_other_rank_starts_none),
      cmocka_unit_test(launchers_are_told_apart),
      cmocka_unit_test(tasks_without_mpi_are_refused),
      cmocka_unit_test(pmi2_of_srun_is_known),
      cmocka_unit_test(alone_an_exchange_is_a_copy),
      cmocka_unit_test(coordinates_of_a_grid),
      cmocka_unit_test(options_are_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
