/* train_step_test.c - a step without its loop: its graphs on grids without ranks, its plans on this
 * one. */
#include "train/weir_train_step.h"

#include "base/weir_alloc.h"
#include "support/train/ranks_check.h"

enum { BATCH = 4 };

/* A step of a small volume on this rank; `task` refers to v. */
typedef struct subject {
  volume v;
  weir_train_task task;
  weir_train_cfg cfg;
  weir_exec_cfg exec;
  weir_train_step *step;
} subject;

static void open_subject(subject *s, int64_t accumulate)
{
  *s = (subject){.v = {.dtype = WEIR_F32, .size = {16, 8, 8}, .blocks = 2}};
  weir_opts_default(weir_train_opts, sizeof s->cfg, &s->cfg);
  weir_opts_default(weir_exec_opts, sizeof s->exec, &s->exec);
  s->cfg.batch = BATCH;
  s->cfg.accumulate = accumulate;
  s->exec.tier = WEIR_TIER_VECTOR; /* the vector interpreter compiles nothing */
  s->task = volume_task(&s->v, 8, 0);
  assert_ok(weir_train_step_create(&s->task, &s->cfg,
                                   &(weir_plan_opts){.exec = &s->exec, .threads = 1}, &s->step));
}

/* One plan, or one that accumulates and one that applies; what is timed, ran. */
static void plans_are_those_of_an_update(void **state)
{
  for (int64_t accumulate = 1; accumulate <= 2; accumulate++) {
    const int64_t before = weir_alloc_bytes();
    weir_plan *plan = NULL, *again = NULL;
    subject s;

    open_subject(&s, accumulate);
    for (int i = 0; i < accumulate; i++) {
      double seconds = -1;

      assert_ok(weir_train_step_plan(s.step, i, &plan));
      assert_non_null(plan);
      assert_ok(weir_train_step_run(s.step, i, &seconds));
      assert_true(seconds >= 0);
      assert_ok(weir_train_step_plan(s.step, i, &again));
      assert_ptr_equal(plan, again);
    }
    assert_ok(weir_train_step_plan(s.step, (int)accumulate, &plan));
    assert_null(plan);
    assert_int_equal(s.v.fetched, 0);
    weir_train_step_destroy(&s.step);
    assert_null(s.step);
    assert_int_equal(weir_alloc_bytes(), before);
  }
}

/* Graphs as plans; with accumulation the gradient is summed over the ranks that share samples. */
static void graphs_are_those_of_the_grid(void **state)
{
  static const int64_t nothing[WEIR_ALONG_DIMS] = {0};
  const weir_grid grid = {4, {2, 1, 1, 1}};

  for (int64_t accumulate = 1; accumulate <= 2; accumulate++) {
    weir_train_sharded sharded;
    subject s;

    open_subject(&s, accumulate);
    assert_ok(weir_train_step_shard(s.step, &grid, nothing, &sharded));
    assert_int_equal(sharded.n, accumulate);
    assert_int_equal(sharded.runs[0], accumulate);
    assert_int_equal(sharded.n_sums, accumulate - 1);
    for (int i = 0; i < sharded.n; i++) {
      assert_int_equal(weir_grid_size(weir_partition_grid(sharded.partition[i])), 2);
    }
    if (accumulate > 1) {
      assert_int_equal(sharded.sum[0].ranks, 2);
      assert_true(sharded.sum[0].bytes > 0);
      assert_int_equal(sharded.runs[1], 1);
    }
    weir_train_sharded_fini(&sharded);
    weir_train_step_destroy(&s.step);
  }
}

/* Maps of 4, 8 and 16 planes. */
static void levels_ascend_to_the_inputs(void **state)
{
  const weir_grid grid = {4, {1, 2, 1, 1}};
  weir_train_levels levels;
  subject s;

  open_subject(&s, 1);
  assert_ok(weir_train_step_levels(s.step, &grid, &levels));
  assert_int_equal(levels.n[WEIR_ALONG_HEIGHT], 0);
  assert_int_equal(levels.n[WEIR_ALONG_DEPTH], 3);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(levels.extent[WEIR_ALONG_DEPTH][i], 4 << i);
  }
  weir_train_step_destroy(&s.step);
}

static void other_grids_are_refused_and_leave_nothing(void **state)
{
  static const int64_t nothing[WEIR_ALONG_DIMS] = {0};
  const weir_grid grid = {5, {1, 1, 1, 1, 2}};
  const int64_t before = weir_alloc_bytes();
  weir_train_sharded sharded;
  subject s;

  open_subject(&s, 1);
  assert_int_equal(weir_train_step_shard(s.step, &grid, nothing, &sharded), WEIR_ERR_CONFIG);
  weir_train_sharded_fini(&sharded);
  weir_train_step_destroy(&s.step);
  assert_int_equal(weir_alloc_bytes(), before);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans_are_those_of_an_update),
      cmocka_unit_test(graphs_are_those_of_the_grid),
      cmocka_unit_test(levels_ascend_to_the_inputs),
      cmocka_unit_test(other_grids_are_refused_and_leave_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
