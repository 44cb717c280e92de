/* compare_test.c - a small network trained on ranks of which one computes three times as long:
 * times, waiting, the target, and what has no row. */
#include "app/weir_compare.h"
#include "base/weir_file.h"
#include "support/train/train_check.h"

enum { STEPS = 8 }; /* 2 epochs of 16 samples in batches of 4 */

/* What trains, and what was called. */
typedef struct programme {
  const char *const *sets;
  int64_t n_valid;
  int prepared;
} programme;

typedef struct on_rank {
  toy t;
  weir_compare_rank *rank;
} on_rank;

static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  return toy_fetch(&((on_rank *)context)->t, want, tensor);
}

/* Rank 0 takes 3 s, the others 1 s. */
static weir_status batch(void *context, const weir_train_batch *want)
{
  weir_compare_rank *const rank = ((on_rank *)context)->rank;

  assert_true(want->n > 0);
  return weir_compare_compute(rank, weir_comm_rank(rank->comm) == 0 ? 3 : 1);
}

static void begin(void *context, int64_t epoch)
{
  toy_epoch(&((on_rank *)context)->t, epoch);
}

static weir_status train(weir_compare_rank *rank, void *context)
{
  const programme *const p = context;
  on_rank o = {.rank = rank};
  weir_train_task task = toy_task(&o.t, 16, p->n_valid);
  const weir_dist dist = {.comm = rank->comm,
                          .grid = {.dims = 1, .extent = {weir_comm_size(rank->comm)}}};
  weir_exec_cfg tier;
  weir_plan_opts exec = on_threads(1, &tier);
  session s = {.status = WEIR_OK};
  weir_config *config = NULL;
  weir_train_cfg cfg = toy_cfg(p->sets, 3, &config);

  exec.dist = &dist;
  cfg.optim.exchange = rank->exchange;
  cfg.seed += rank->run;
  task.fetch = fetch;
  task.batch = batch;
  task.epoch = begin;
  task.context = &o;
  assert_ok(weir_params_create(task.dtype, &s.params));
  assert_ok(weir_store_create(&s.store));
  assert_ok(weir_train_prepare(&task, cfg.seed, s.params, s.store));
  s.status = weir_train_run(&task, &cfg, &exec, s.params, s.store, rank->dir, &s.result);
  weir_config_destroy(&config);
  close_session(&s);
  return s.status;
}

static weir_status prepare(void *context)
{
  ((programme *)context)->prepared++;
  assert_true(weir_file_exists("trainings"));
  return WEIR_OK;
}

/* Compares on 2 and 3 ranks of a network without latency. */
static weir_status compare(programme *p, const char **policy, int n, double target,
                           weir_compared *out)
{
  int64_t ranks[] = {2, 3};
  const weir_scaling_cfg cfg = {
      .ranks = {.items = ranks, .count = 2}, .policies = {policy, n}, .runs = 2};
  const weir_one_of exchange = {.name = NULL};

  assert_ok(weir_compare_check(&cfg));
  return weir_compare_run(&(weir_compare_spec){.cfg = &cfg,
                                               .exchange = &exchange,
                                               .target = target,
                                               .prepare = prepare,
                                               .train = train,
                                               .context = p,
                                               .folder = "trainings"},
                          out);
}

static void ranks_wait_for_the_slowest(void **state)
{
  programme p = {.sets = SETS("epochs=2", "batch=4", "optim.rule=sgd"), .n_valid = 8};
  weir_compared c;

  (void)state;
  assert_ok(compare(&p, (const char *[]){"allreduce", "wagma"}, 2, 0, &c));
  assert_int_equal(p.prepared, 1);
  assert_true(!weir_file_exists("trainings"));
  assert_int_equal(c.n, 3); /* wagma refuses 3 ranks */
  assert_string_equal(c.row[2].policy->name, "wagma");
  assert_int_equal(c.n_points, 3 * 2 * 2);
  assert_int_equal(c.n_ranks, 2 * (2 + 3 + 2));
  for (int k = 0; k < 2; k++) { /* allreduce */
    const double ranks = c.row[k].ranks, computing = (3 + ranks - 1) / ranks;

    assert_near(c.row[k].seconds, 3 * STEPS, 1e-6);
    assert_near(c.row[k].waiting, 1 - computing / 3, 1e-6);
    assert_near(c.row[k].in_time, 1, 0);
  }
  assert_near(c.row[0].loss, c.row[1].loss, 1e-6);
  assert_near(c.target, c.row[1].loss + c.row[1].loss_std, 0);
  assert_string_equal(c.target_of, "allreduce");
  for (int64_t i = 0; i < c.n_ranks; i++) {
    assert_near(c.rank[i].computed_s, STEPS * (c.rank[i].rank == 0 ? 3 : 1), 1e-9);
    assert_in_range(c.rank[i].row, 0, 2);
  }
  weir_compared_fini(&c);
}

static void the_target_is_that_given(void **state)
{
  programme p = {.sets = SETS("epochs=2", "batch=4", "optim.rule=sgd"), .n_valid = 8};
  weir_compared c;

  (void)state;
  assert_ok(compare(&p, (const char *[]){"allreduce"}, 1, 1e6, &c));
  assert_null(c.target_of);
  assert_int_equal(c.row[0].reached, 2);
  assert_near(c.row[0].reach_s, 3.0 * STEPS / 2, 1e-6); /* the first validation */
  assert_near(c.row[0].reach_step, STEPS / 2, 0);
  weir_compared_fini(&c);
}

static void what_cannot_be_compared_is_refused(void **state)
{
  programme p = {.sets = SETS("epochs=2", "batch=4", "optim.rule=sgd")};
  const char *unknown[] = {"allreduse"};
  weir_compared c;

  (void)state;
  assert_int_equal(compare(&p, (const char *[]){"allreduce"}, 1, 0, &c), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "there was no validation"));
  assert_true(!weir_file_exists("trainings"));
  weir_compared_fini(&c);
  assert_int_equal(weir_compare_check(&(weir_scaling_cfg){.policies = {unknown, 1}}),
                   WEIR_ERR_CONFIG);
}

static int tests(void)
{
  const struct CMUnitTest all[] = {
      cmocka_unit_test(ranks_wait_for_the_slowest),
      cmocka_unit_test(the_target_is_that_given),
      cmocka_unit_test(what_cannot_be_compared_is_refused),
  };

  return cmocka_run_group_tests(all, NULL, NULL);
}

int main(void)
{
  return toy_tests(tests);
}
