/* train_test.c - a small network is trained: it learns, stops when it gets no better, and says
 * where a NaN comes from. Runs that are stopped: stop_test.c. */
#include "support/train/train_check.h"
#include "support/graph/store_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"

static void a_function_is_learnt(void **state)
{
  toy t = {.hidden = 0};
  session s =
      train_in(NULL, &t, 256, 64, 1, SETS("epochs=60", "batch=16", "optim.schedule.lr=0.01"));

  assert_ok(s.status);
  assert_int_equal(s.result.step, 60 * 16);
  assert_int_equal(s.result.epoch, 60);
  /* The variance of what is learnt is 0.16. */
  assert_true(s.result.loss < 0.005 && s.result.best_loss < 0.005);
  assert_true(s.result.best_loss <= s.result.valid_loss);
  close_session(&s);
}

static void threads_do_not_change_bits(void **state)
{
  toy t = {.noise = true, .hidden = 100};
  session one = train_in(NULL, &t, 200, 20, 1, SETS("steps=50", "batch=16"));
  session two = train_in(NULL, &t, 200, 20, 2, SETS("steps=50", "batch=16"));
  session other = train_in(NULL, &t, 200, 20, 2, SETS("steps=50", "batch=16", "seed=2"));

  assert_ok(one.status);
  assert_ok(two.status);
  assert_int_equal(one.result.step, 50);
  assert_same(&one, &two);
  assert_non_null(first_difference(one.store, other.store));
  close_session(&one);
  close_session(&two);
  close_session(&other);
}

/* Batches of 4 and 2 thirds of one of 12: the same sums in another order. */
static void accumulated_as_the_whole(toy *t)
{
  session whole = train_in(NULL, t, 30, 7, 1, SETS("epochs=1", "batch=12", "optim.rule=sgd"));
  session accumulated =
      train_in(NULL, t, 30, 7, 1, SETS("epochs=1", "batch=4", "accumulate=3", "optim.rule=sgd"));

  assert_ok(whole.status);
  assert_ok(accumulated.status);
  assert_int_equal(whole.result.step, 3); /* the last of 6 samples: batches of 4 and 2 */
  assert_int_equal(accumulated.result.step, 3);
  assert_near(whole.result.loss, accumulated.result.loss, 1e-6);
  assert_near(whole.result.valid_loss, accumulated.result.valid_loss, 1e-6);
  assert_int_equal(weir_compare("parameters", WEIR_F32,
                                check_stored(accumulated.store, WEIR_PARAMS_FLAT)->data,
                                check_stored(whole.store, WEIR_PARAMS_FLAT)->data,
                                weir_params_elements(whole.params), (weir_tolerance){1e-6, 1e-6}),
                   0);
  close_session(&whole);
  close_session(&accumulated);
}

static void accumulated_gradients_are_those_of_the_whole(void **state)
{
  accumulated_as_the_whole(&(toy){.hidden = 5});
}

/* Batches whose samples weigh more count more. */
static void weighted_ones_too(void **state)
{
  accumulated_as_the_whole(&(toy){.hidden = 5, .weighted = true});
}

/* What is learnt makes validation worse: the first epoch stays the best. */
static void patience_ends_with_the_best_weights(void **state)
{
  toy t = {.contradict = true};
  session s =
      train_in(NULL, &t, 64, 32, 1, SETS("epochs=40", "patience=3", "optim.schedule.lr=0.02"));

  assert_ok(s.status);
  assert_int_equal(s.result.end, WEIR_TRAIN_PATIENCE);
  assert_int_equal(s.result.epoch, s.result.best_epoch + 3);
  assert_true(s.result.epoch < 40);
  char epochs[32];

  snprintf(epochs, sizeof epochs, "steps=%d", (int)s.result.best_epoch * 8);
  session best =
      train_in(NULL, &t, 64, 32, 1, SETS(epochs, "keep_best=false", "optim.schedule.lr=0.02"));

  assert_ok(best.status);
  assert_memory_equal(check_stored(best.store, WEIR_PARAMS_FLAT)->data,
                      check_stored(s.store, WEIR_PARAMS_FLAT)->data,
                      4 * (size_t)weir_params_elements(s.params));
  /* Once more in the same folder: there is nothing left to do. */
  session again =
      train_in(s.dir, &t, 64, 32, 1, SETS("epochs=40", "patience=3", "optim.schedule.lr=0.02"));

  assert_ok(again.status);
  assert_int_equal(again.result.first, s.result.step);
  assert_int_equal(t.fetched, 0);
  assert_same(&s, &again);
  close_session(&s);
  close_session(&best);
  close_session(&again);
}

/* The first validation at the target or below is the last; a resumed run has nothing left to do. */
static void a_target_ends_the_run(void **state)
{
  toy t = {.hidden = 0};
  const char *const *sets = SETS("epochs=60", "target.metric=mae", "target.value=0.2",
                                 "optim.schedule.lr=0.01", "keep_best=false");
  session s = train_in(NULL, &t, 64, 32, 1, sets);

  assert_ok(s.status);
  assert_int_equal(s.result.end, WEIR_TRAIN_TARGET);
  assert_true(s.result.epoch > 1 && s.result.epoch < 60);
  char epochs[32];

  snprintf(epochs, sizeof epochs, "epochs=%d", (int)s.result.epoch - 1);
  session before = train_in(NULL, &t, 64, 32, 1,
                            SETS(epochs, "target.metric=mae", "target.value=0.2",
                                 "optim.schedule.lr=0.01", "keep_best=false"));

  assert_ok(before.status);
  assert_int_equal(before.result.end, WEIR_TRAIN_DONE);
  session again = train_in(s.dir, &t, 64, 32, 1, sets);

  assert_ok(again.status);
  assert_int_equal(again.result.end, WEIR_TRAIN_TARGET);
  assert_int_equal(t.fetched, 0);
  assert_same(&s, &again);
  session other = train_in(s.dir, &t, 64, 32, 1,
                           SETS("epochs=60", "target.metric=bias", "target.value=0.2",
                                "optim.schedule.lr=0.01", "keep_best=false"));

  assert_ok(other.status);
  assert_true(t.fetched > 0); /* the value that is known is another metric's */
  close_session(&s);
  close_session(&before);
  close_session(&again);
  close_session(&other);
}

/* A metric that grows ends a run at the target or above, not below. */
static void a_target_from_below(void **state)
{
  toy t = {.grow = true};
  session s = train_in(NULL, &t, 64, 32, 1, SETS("epochs=3", "target.metric=mae"));

  assert_ok(s.status);
  assert_int_equal(s.result.end, WEIR_TRAIN_TARGET);
  assert_int_equal(s.result.epoch, 1);
  close_session(&s);
  s = train_in(NULL, &t, 64, 32, 1, SETS("epochs=3", "target.metric=mae", "target.value=1e9"));
  assert_ok(s.status);
  assert_int_equal(s.result.end, WEIR_TRAIN_DONE);
  close_session(&s);
}

/* Each epoch is announced once, from 0, and once more where a run resumes within it. */
static void epochs_are_told(void **state)
{
  toy t = {.stop_at = 7};
  session s = train_in(NULL, &t, 40, 0, 1, SETS("epochs=3"));

  assert_int_equal(s.status, WEIR_ERR_STOPPED);
  assert_int_equal(t.begun, 2);
  assert_int_equal(t.epoch, 1); /* 7 of 5 batches an epoch */
  close_session(&s);
  weir_stop_request(0);
  t = (toy){.hidden = 0};
  s = train_in(s.dir, &t, 40, 0, 1, SETS("epochs=3"));
  assert_ok(s.status);
  assert_int_equal(s.result.first, 7);
  assert_int_equal(t.begun, 2);
  assert_int_equal(t.epoch, 2);
  close_session(&s);
}

/* The network alone, into a store that never saw a training. */
static void weights_are_read_back(void **state)
{
  toy t = {.noise = true};
  const weir_train_task task = toy_task(&t, 40, 10);
  session s = train_in(NULL, &t, 40, 10, 1, SETS("epochs=2", "checkpoint.format=raw"));
  session fresh = {.status = WEIR_OK};
  char path[512];

  assert_ok(s.status);
  assert_ok(weir_params_create(task.dtype, &fresh.params));
  assert_ok(weir_store_create(&fresh.store));
  assert_ok(weir_train_prepare(&task, 7, fresh.params, fresh.store));
  snprintf(path, sizeof path, "%s/weights.weir", s.dir);
  assert_ok(weir_train_weights(fresh.params, fresh.store, path));
  assert_int_equal(weir_store_count(fresh.store), 2);
  assert_null(first_difference(fresh.store, s.store) != NULL &&
                      strcmp(first_difference(fresh.store, s.store), "number of arrays") != 0
                  ? first_difference(fresh.store, s.store)
                  : NULL);
  toy wide = {.noise = true, .hidden = 13};
  const weir_train_task other = toy_task(&wide, 40, 10);

  close_session(&fresh);
  assert_ok(weir_params_create(other.dtype, &fresh.params));
  assert_ok(weir_store_create(&fresh.store));
  assert_ok(weir_train_prepare(&other, 7, fresh.params, fresh.store));
  assert_int_equal(weir_train_weights(fresh.params, fresh.store, path), WEIR_ERR_SHAPE);
  close_session(&fresh);
  close_session(&s);
}

/* ---- Refusals ---- */

static void what_does_not_fit_is_refused(void **state)
{
  toy t = {.hidden = 3};
  session s = train_in(NULL, &t, 10, 0, 1, SETS("epochs=1", "batch=2"));

  assert_ok(s.status);
  refused(train_in(s.dir, &t, 10, 0, 1, SETS("epochs=2", "batch=2", "seed=3")), WEIR_ERR_CONFIG,
          "written with seed 1, not 3");
  refused(train_in(s.dir, &t, 10, 0, 1, SETS("epochs=2", "batch=5")), WEIR_ERR_CONFIG,
          "written with batch times accumulate 2, not 5");
  refused(train_in(s.dir, &t, 10, 0, 1, SETS("epochs=2", "batch=2", "accumulate=2")),
          WEIR_ERR_CONFIG, "written with batch times accumulate 2, not 4");
  refused(train_in(s.dir, &t, 12, 0, 1, SETS("epochs=2", "batch=2")), WEIR_ERR_CONFIG,
          "written with samples: 10, not 12");
  refused(train_in(s.dir, &t, 10, 0, 1, SETS("epochs=2", "batch=2", "shuffle=false")),
          WEIR_ERR_CONFIG, "written with shuffle 1, not 0");
  refused(train_in(s.dir, &t, 10, 0, 1, SETS("epochs=2", "batch=2", "optim.clip.max_norm=1")),
          WEIR_ERR_CONFIG, "another update rule, clipping");
  refused(
      train_in(s.dir, &t, 10, 0, 1, SETS("epochs=2", "batch=2", "optim.rule={adam: {beta1: 0.8}}")),
      WEIR_ERR_CONFIG, "another update rule, clipping");
  refused(
      train_in(s.dir, &(toy){.hidden = 3, .weighted = true}, 10, 0, 1, SETS("epochs=2", "batch=2")),
      WEIR_ERR_CONFIG, "another network or loss");
  refused(train_in(s.dir, &t, 10, 0, 1, SETS("epochs=2", "checkpoint.resume=false")),
          WEIR_ERR_CONFIG, "contains checkpoints: set checkpoint.resume");
  toy other = {.hidden = 4};

  refused(train_in(s.dir, &other, 10, 0, 1, SETS("epochs=2")), WEIR_ERR_SHAPE,
          "another network or training");
  refused(train_in(NULL, &t, 10, 0, 1, SETS("patience=2")), WEIR_ERR_CONFIG,
          "needs validation samples");
  refused(train_in(NULL, &t, 10, 10, 1, SETS("target.metric=mse")), WEIR_ERR_CONFIG,
          "target.metric: 'toy' has no such metric: choose one of: mae");
  refused(train_in(NULL, &t, 10, 0, 1, SETS("target.metric=mae")), WEIR_ERR_CONFIG,
          "target.metric needs validation samples");
  refused(train_in(NULL, &t, 10, 0, 1, SETS("batch=11", "drop_last=true")), WEIR_ERR_CONFIG,
          "10 samples are fewer than one update of 11");
  refused(train_in(NULL, &t, 0, 0, 1, SETS("batch=1")), WEIR_ERR_CONFIG, "no samples");
  close_session(&s);
}

/* What needs no sample is refused before any is counted, what needs one is left to the run. */
static void options_are_judged_before_samples_are_counted(void **state)
{
  const char *const metric[] = {"mae"};
  weir_train_task t = {
      .name = "toy", .metric = metric, .n_metrics = 1, .n_train = -1, .n_valid = -1};
  weir_train_cfg c;

  weir_opts_default(weir_train_opts, sizeof c, &c);
  c.drop_last = true;
  c.batch = 1000000;
  c.patience = 1;
  c.target.metric = "mae";
  assert_ok(weir_train_suits(&t, &c));
  t.n_valid = 0;
  assert_int_equal(weir_train_suits(&t, &c), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "patience 1 needs validation samples"));
  t.n_valid = 5;
  t.n_train = 10;
  assert_int_equal(weir_train_suits(&t, &c), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "10 samples are fewer than one update of 1000000"));
  t.n_train = -1;
  c.optim.schedule.unit = 1;
  c.optim.schedule.warmup = (double)c.epochs + 1;
  assert_int_equal(weir_train_suits(&t, &c), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "warmup: 11 epochs exceed the run of 10"));
  c.optim.schedule.unit = 0; /* how many steps 10 epochs have is not known */
  assert_ok(weir_train_suits(&t, &c));
  c.target.metric = "mse";
  assert_int_equal(weir_train_suits(&t, &c), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "'toy' has no such metric: choose one of: mae"));
}

/* What training calls its own is not taken for the task's. */
static void names_of_its_own_are_refused(void **state)
{
  static const char *const names[] = {"seed", "draw", "step", "lr", "weight", "loss"};
  static const char *const scopes[] = {"train", "optim", "best"};
  toy t = {.hidden = 3};
  weir_params *params;
  weir_store *store;

  for (int i = 0; i < 9; i++) {
    const weir_train_input input[] = {
        {.name = i < 6 ? names[i] : "x", .dtype = WEIR_F32, .rank = 1, .shape = {2}},
        toy_inputs[1],
    };

    t.scope = i < 6 ? NULL : scopes[i - 6];
    weir_train_task task = toy_task(&t, 10, 0);

    task.input = input;
    assert_ok(weir_params_create(task.dtype, &params));
    assert_ok(weir_store_create(&store));
    assert_int_equal(weir_train_prepare(&task, 1, params, store), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), i < 6 ? names[i] : scopes[i - 6]));
    weir_params_destroy(&params);
    weir_store_destroy(&store);
  }
}

/* A store that another training left its banks in: they do not enter the next one's files. */
static void what_an_earlier_run_left_is_not_saved(void **state)
{
  toy t = {.hidden = 3};
  session s =
      train_in(NULL, &t, 10, 4, 1,
               SETS("epochs=1", "optim.average.decay=0.9", "optim.rule=adam", "accumulate=2"));

  assert_ok(s.status);
  train_on(&s, NULL, &t, 10, 4, 1, SETS("epochs=1", "optim.rule=momentum", "keep_best=false"));
  assert_ok(s.status);
  session fresh =
      train_in(s.dir, &t, 10, 4, 1, SETS("epochs=2", "optim.rule=momentum", "keep_best=false"));

  assert_ok(fresh.status);
  assert_int_equal(fresh.result.first, 2);
  close_session(&s);
  close_session(&fresh);
}

/* ---- Numbers that are none ---- */

static weir_value log_of_less(weir_graph *g, weir_value loss)
{
  return weir_label(g, weir_log(g, weir_sub_scalar(g, loss, 1000)), "log of less");
}
static weir_value overflow(weir_graph *g, weir_value loss)
{
  const weir_value big = weir_label(g, weir_exp(g, weir_add_scalar(g, loss, 200)), "too big");

  return weir_sub(g, big, big);
}
/* The loss is 0 and finite; the derivative of the root at 0 is not. */
static weir_value root_of_nothing(weir_graph *g, weir_value loss)
{
  return weir_label(g, weir_sqrt(g, weir_sub(g, loss, loss)), "root");
}

static void where_a_nan_comes_from_is_told(void **state)
{
  toy t = {.tail = log_of_less};

  refused(train_in(NULL, &t, 10, 0, 1, SETS("batch=5")), WEIR_ERR_NUMERIC,
          "step 1: loss or gradient is NaN or infinite: NaN in 'log of less' (elementwise at ");
  assert_non_null(strstr(weir_last_message(), "train_test.c:"));
  t.tail = overflow;
  refused(train_in(NULL, &t, 10, 0, 1, SETS("batch=5", "accumulate=2")), WEIR_ERR_NUMERIC,
          "an infinite value in 'too big' (");
  assert_non_null(strstr(weir_last_message(), ", which leads to NaN in "));
  t.tail = root_of_nothing;
  refused(train_in(NULL, &t, 10, 0, 1, SETS("batch=5")), WEIR_ERR_NUMERIC,
          "step 1: loss or gradient is NaN or infinite: ");
  assert_non_null(strstr(weir_last_message(), "train_test.c:")); /* the root's line */
  refused(train_in(NULL, &t, 10, 0, 1, SETS("batch=5", "check_nan=false", "steps=2")),
          WEIR_ERR_NUMERIC, "check_nan names the operator");
}

static void a_bad_sample_is_told(void **state)
{
  toy t = {.bad_sample = 6, .bad_input = NAN};
  session s = train_in(NULL, &t, 10, 0, 1, SETS("batch=2", "shuffle=false", "checkpoint.every=1"));

  assert_int_equal(s.status, WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "step 4: "));
  assert_non_null(strstr(weir_last_message(), "the input 'x' has nan as element 0"));
  close_session(&s);
  t.bad_input = 0; /* repaired: the newest checkpoint is from before it */
  session on = train_in(s.dir, &t, 10, 0, 1, SETS("batch=2", "shuffle=false", "steps=6"));
  session whole = train_in(NULL, &t, 10, 0, 1, SETS("batch=2", "shuffle=false", "steps=6"));

  assert_ok(on.status);
  assert_int_equal(on.result.first, 3);
  assert_same(&on, &whole);
  close_session(&on);
  close_session(&whole);
}

/* ---- Events ---- */

static int count_lines(const char *text, const char *a, const char *b)
{
  int n = 0;

  for (const char *line = text; *line != 0; line = strchr(line, '\n') + 1) {
    const char *end = strchr(line, '\n'), *x = strstr(line, a), *y = strstr(line, b);

    n += x != NULL && x < end && y != NULL && y < end;
  }
  return n;
}

static void events_tell_the_course(void **state)
{
  toy t = {.hidden = 3};
  char path[512], *text = NULL;
  int64_t size = 0;

  snprintf(path, sizeof path, "run.jsonl");
  assert_ok(weir_events_open(path));
  session s = train_in(NULL, &t, 12, 4, 1, SETS("epochs=3", "batch=4", "log_every=2"));

  weir_events_close();
  assert_ok(s.status);
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  assert_int_equal(count_lines(text, "\"train_begin\"", "\"steps\": 9"), 1);
  assert_int_equal(count_lines(text, "\"step\"", "\"event\": \"step\""), 4);
  assert_int_equal(count_lines(text, "\"epoch_end\"", "\"valid_loss\""), 3);
  assert_int_equal(count_lines(text, "\"epoch_end\"", "\"mae\""), 3);
  assert_int_equal(count_lines(text, "\"checkpoint\"", "\"file\""), 3);
  assert_int_equal(count_lines(text, "\"stop\"", "\"reason\": \"done\""), 1);
  weir_free(&text);
  close_session(&s);
}

/* ---- Memory ---- */

/* One update of a network of one weight, with its checkpoint. */
static weir_status one_unit(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  const weir_value y = weir_nn_dense(net, "only", (&(weir_nn_dense_spec){.units = 1}), in[0]);

  (void)opts;
  *loss = weir_sum(net->graph, weir_square(net->graph, weir_sub(net->graph, y, in[1])), -1);
  return weir_graph_status(net->graph);
}

static weir_status train_once(void *context)
{
  toy t = {.hidden = 0};
  weir_train_task task = toy_task(&t, 2, 1);
  weir_exec_cfg tier;
  const weir_plan_opts exec = on_threads(1, &tier);
  const weir_train_cfg *cfg = context;
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_train_result result;
  weir_status status;
  char dir[300];

  toy_dir(dir, sizeof dir);
  task.build = one_unit;
  task.n_metrics = 0;
  WEIR_TRY_GOTO(weir_params_create(task.dtype, &params), done);
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_train_prepare(&task, 1, params, store), done);
  status = weir_train_run(&task, cfg, &exec, params, store, dir, &result);
done:
  weir_params_destroy(&params);
  weir_store_destroy(&store);
  return status;
}

static void no_memory_is_told(void **state)
{
  weir_config *config = NULL;
  weir_train_cfg cfg =
      toy_cfg(SETS("steps=1", "batch=2", "optim.rule=sgd", "checkpoint.format=raw"), 4, &config);

  int64_t k = 1, failed = 0;

  for (bool hit = true; hit; k += 1 + k / 200) {
    const int64_t before = weir_alloc_bytes();

    weir_alloc_fail_after(k);
    const weir_status status = train_once(&cfg);

    hit = weir_alloc_count() >= k;
    weir_alloc_fail_after(0);
    /* A pass may do without what it asked for; an access whose body or count had no memory is
     * refused as if it were wrong (SHAPE). */
    const bool refused_access = strstr(weir_last_message(), "more than once") != NULL ||
                                strstr(weir_last_message(), "or no memory") != NULL;

    if (weir_alloc_bytes() != before ||
        (status != WEIR_ERR_MEMORY && status != WEIR_OK && !refused_access)) {
      fail_msg("fault %d gives %d and keeps %d bytes: %s", (int)k, (int)status,
               (int)(weir_alloc_bytes() - before), weir_last_message());
    }
    failed += status == WEIR_ERR_MEMORY;
  }
  assert_true(failed > 200);
  weir_config_destroy(&config);
}

static void tables_are_complete(void **state)
{
  assert_int_equal(weir_opts_incomplete(weir_train_opts), 0);
  assert_int_equal(weir_opts_incomplete(weir_train_check_opts), 0);
}

static int all_tests(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_function_is_learnt),
      cmocka_unit_test(threads_do_not_change_bits),
      cmocka_unit_test(accumulated_gradients_are_those_of_the_whole),
      cmocka_unit_test(weighted_ones_too),
      cmocka_unit_test(patience_ends_with_the_best_weights),
      cmocka_unit_test(a_target_ends_the_run),
      cmocka_unit_test(a_target_from_below),
      cmocka_unit_test(epochs_are_told),
      cmocka_unit_test(weights_are_read_back),
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(options_are_judged_before_samples_are_counted),
      cmocka_unit_test(names_of_its_own_are_refused),
      cmocka_unit_test(what_an_earlier_run_left_is_not_saved),
      cmocka_unit_test(where_a_nan_comes_from_is_told),
      cmocka_unit_test(a_bad_sample_is_told),
      cmocka_unit_test(events_tell_the_course),
      cmocka_unit_test(no_memory_is_told),
      cmocka_unit_test(tables_are_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
  weir_log_set_level(WEIR_LOG_ERROR);
  return toy_tests(all_tests);
}
