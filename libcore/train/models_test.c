/* models_test.c - networks that train as one graph: the weights, checkpoints and best weights of
 * each are bitwise those of a run of its seed and learning rate alone, also where the run was
 * stopped, or one of them is behind. */
#include "support/train/train_check.h"

#include "base/weir_file.h"
#include "base/weir_log.h"

enum { MODELS = 3, SAMPLES = 21, VALID = 10 };

#define OPTIONS                                                                              \
  "steps=11", "batch=5", "seed=4", "optim.schedule.shape=cosine", "optim.average.decay=0.9", \
      "optim.clip.max_norm=0.5"

static const char *const together[] = {OPTIONS, "models.seeds=[7, 8, 30]",
                                       "models.lr=[0.01, 0.003, 0.02]", NULL};
static const char *const alone[MODELS][9] = {
    {OPTIONS, "models.seeds=[7]", "models.lr=[0.01]", NULL},
    {OPTIONS, "models.seeds=[8]", "models.lr=[0.003]", NULL},
    {OPTIONS, "models.seeds=[30]", "models.lr=[0.02]", NULL},
};

/* A network with the weights of a file. */
static session loaded(toy *t, const char *path)
{
  const weir_train_task task = toy_task(t, SAMPLES, VALID);
  session s = {.status = WEIR_OK};

  assert_ok(weir_params_create(task.dtype, &s.params));
  assert_ok(weir_store_create(&s.store));
  assert_ok(weir_train_prepare(&task, 0, s.params, s.store));
  assert_ok(weir_train_weights(s.params, s.store, path));
  return s;
}

static void path_of(const char *dir, int k, const char *file, char *path, size_t size)
{
  assert_true(snprintf(path, size, "%s/model-%d/%s", dir, k + 1, file) < (int)size);
}

static const char *weights_file(void)
{
  static char name[64];
  char path[64];

  assert_ok(weir_checkpoint_weights("d", WEIR_CHECKPOINT_AUTO, path, sizeof path));
  (void)snprintf(name, sizeof name, "%s", path + 2);
  return name;
}

/* Model k of the run in `dir` has the weights and the last checkpoint of its run alone. */
static void compare_model(toy *t, const char *dir, int k)
{
  toy own = *t;
  session s = train_in(NULL, &own, SAMPLES, VALID, 1, alone[k]);
  char path[400], checkpoint[400];

  assert_ok(s.status);
  path_of(dir, k, weights_file(), path, sizeof path);
  session fused = loaded(t, path), weights;

  (void)snprintf(path, sizeof path, "%s/%s", s.dir, weights_file());
  weights = loaded(t, path);
  assert_same(&weights, &fused);
  close_session(&fused);
  close_session(&weights);
  path_of(dir, k, "", path, sizeof path);
  assert_ok(weir_checkpoint_newest_path(path, checkpoint, sizeof checkpoint));
  fused = loaded(t, checkpoint);
  assert_ok(weir_checkpoint_newest_path(s.dir, checkpoint, sizeof checkpoint));
  weights = loaded(t, checkpoint);
  assert_same(&weights, &fused);
  close_session(&fused);
  close_session(&weights);
  close_session(&s);
}

static void compare_all(toy *t, const session *s)
{
  char path[400];

  for (int k = 0; k < MODELS; k++) {
    compare_model(t, s->dir, k);
  }
  (void)snprintf(path, sizeof path, "%s/%s", s->dir, weights_file()); /* the first one's */
  session first = loaded(t, path);

  assert_same(&first, s);
  close_session(&first);
}

static void each_is_its_own_run(void **state)
{
  toy t = {.noise = true};

  (void)state;
  for (int threads = 1; threads <= 2; threads++) {
    session s = train_in(NULL, &t, SAMPLES, VALID, threads, together);

    assert_ok(s.status);
    assert_int_equal(s.result.step, 11);
    assert_int_equal(t.fetched, 11); /* one batch for all */
    compare_all(&t, &s);
    close_session(&s);
  }
}

static void stopped_runs_resume_to_the_same_bits(void **state)
{
  (void)state;
  for (int64_t at = 1; at < 11; at += 3) {
    toy t = {.noise = true}, stopping = {.noise = true, .stop_at = at};
    session first = train_in(NULL, &stopping, SAMPLES, VALID, 1, together);

    weir_stop_request(0);
    assert_int_equal(first.status, WEIR_ERR_STOPPED);
    session second = train_in(first.dir, &t, SAMPLES, VALID, 1, together);

    assert_ok(second.status);
    assert_int_equal(second.result.first, at);
    compare_all(&t, &second);
    close_session(&first);
    close_session(&second);
  }
}

/* Stopped in the validation of the second network: the first is an epoch ahead of its checkpoint,
 * or the others are behind. */
static void one_that_is_behind_catches_up(void **state)
{
  (void)state;
  for (int64_t k = 1; k <= 6; k++) { /* fetches of the first validation: two for each network */
    toy t = {.noise = true}, stopping = {.noise = true, .stop_valid = k};
    session first = train_in(NULL, &stopping, SAMPLES, VALID, 1, together);

    weir_stop_request(0);
    assert_int_equal(first.status, WEIR_ERR_STOPPED);
    session second = train_in(first.dir, &t, SAMPLES, VALID, 1, together);

    assert_ok(second.status);
    compare_all(&t, &second);
    close_session(&first);
    close_session(&second);
  }
}

/* The folder of a network is that of a run alone: this continues it. */
static void one_goes_on_alone(void **state)
{
  toy t = {.noise = true}, stopping = {.noise = true, .stop_at = 7};
  session first = train_in(NULL, &stopping, SAMPLES, VALID, 1, together), whole, rest;
  char dir[400];

  (void)state;
  weir_stop_request(0);
  assert_int_equal(first.status, WEIR_ERR_STOPPED);
  path_of(first.dir, 1, "", dir, sizeof dir);
  rest = train_in(dir, &t, SAMPLES, VALID, 1, alone[1]);
  assert_ok(rest.status);
  assert_int_equal(rest.result.first, 7);
  whole = train_in(NULL, &t, SAMPLES, VALID, 1, alone[1]);
  assert_same(&whole, &rest);
  close_session(&first);
  close_session(&rest);
  close_session(&whole);
}

/* A file is not taken for that of another seed. */
static void other_seeds_are_refused(void **state)
{
  toy t = {.noise = true};
  session s = train_in(NULL, &t, SAMPLES, VALID, 1, together);

  (void)state;
  assert_ok(s.status);
  refused(train_in(s.dir, &t, SAMPLES, VALID, 1,
                   SETS(OPTIONS, "models.seeds=[7, 9, 30]", "models.lr=[0.01, 0.003, 0.02]")),
          WEIR_ERR_CONFIG, "are of the network of seed 8, not 9");
  close_session(&s);
}

static void options_that_do_not_fit_are_refused(void **state)
{
  toy t = {.hidden = 0};

  (void)state;
  refused(train_in(NULL, &t, 20, 5, 1, SETS("models.seeds=[1, 2]", "accumulate=2")),
          WEIR_ERR_CONFIG, "do not take accumulate");
  refused(train_in(NULL, &t, 20, 5, 1, SETS("models.seeds=[1, 2]", "patience=2")), WEIR_ERR_CONFIG,
          "do not take patience");
  refused(train_in(NULL, &t, 20, 5, 1, SETS("models.seeds=[1, 2]", "target.metric=mae")),
          WEIR_ERR_CONFIG, "do not take target.metric");
  refused(train_in(NULL, &t, 20, 5, 1, SETS("models.seeds=[1, 2]", "models.lr=[0.1]")),
          WEIR_ERR_CONFIG, "models.lr has 1 learning rates for the 2");
  refused(train_in(NULL, &t, 20, 5, 1, SETS("models.lr=[0.1]")), WEIR_ERR_CONFIG,
          "models.lr has 1 learning rates for the 0");
  t.device = "emulated";
  refused(train_in(NULL, &t, 20, 5, 1, SETS("models.seeds=[1, 2]")), WEIR_ERR_UNSUPPORTED,
          "not on exec.device 'emulated'");
  assert_int_equal(t.fetched, 0);
}

/* The network is named, and the operator. */
static void a_nan_names_its_network(void **state)
{
  toy t = {.bad_sample = 3, .bad_input = 1e38};

  (void)state;
  refused(train_in(NULL, &t, 20, 5, 1,
                   SETS("models.seeds=[1, 2]", "models.lr=[1e-12, 1e6]", "steps=40", "batch=20",
                        "optim.rule=sgd")),
          WEIR_ERR_NUMERIC, "model 2 of seed 2: step ");
  assert_true(t.fetched > 0);
}

static int all_tests(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_is_its_own_run),
      cmocka_unit_test(stopped_runs_resume_to_the_same_bits),
      cmocka_unit_test(one_that_is_behind_catches_up),
      cmocka_unit_test(one_goes_on_alone),
      cmocka_unit_test(other_seeds_are_refused),
      cmocka_unit_test(options_that_do_not_fit_are_refused),
      cmocka_unit_test(a_nan_names_its_network),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
  weir_log_set_level(WEIR_LOG_ERROR);
  return toy_tests(all_tests);
}
