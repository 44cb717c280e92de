/* fine_tuning_test.c - a training that starts from the weights of another. */
#include "support/train/train_check.h"

#include "base/weir_log.h"

enum { SAMPLES = 21, VALID = 10 };

static char weights[400];

/* Trains from the weights of a file. */
static session tune(const char *dir, const char *path, toy *t, const char *const *sets)
{
  const weir_train_task task = toy_task(t, SAMPLES, VALID);
  session s = {.status = WEIR_OK};

  assert_ok(weir_params_create(task.dtype, &s.params));
  assert_ok(weir_store_create(&s.store));
  assert_ok(weir_train_prepare(&task, 3, s.params, s.store));
  assert_ok(weir_train_weights(s.params, s.store, path));
  train_on(&s, dir, t, SAMPLES, VALID, 1, sets);
  return s;
}

/* A first training, whose file of weights is then known. */
static session first_training(const char *seed)
{
  toy t = {.noise = true};
  session s = train_in(NULL, &t, SAMPLES, VALID, 1,
                       SETS(seed, "steps=7", "batch=5", "checkpoint.format=raw"));

  assert_ok(s.status);
  snprintf(weights, sizeof weights, "%s/weights.weir", s.dir);
  return s;
}

/* "initial_weights=PATH" of the first training. */
static const char *from_weights(void)
{
  static char text[450];

  snprintf(text, sizeof text, "initial_weights=%s", weights);
  return text;
}

#define TUNE from_weights(), "steps=11", "batch=5", "checkpoint.format=raw"

/* Steps of length 0 leave the weights of the file; others reach lower losses than from random ones.
 */
static void it_starts_from_them(void **state)
{
  session first = first_training("seed=1");
  toy noisy = {.noise = true};
  session still = tune(NULL, weights, &noisy, SETS(TUNE, "optim.schedule.lr=0", "keep_best=false"));
  session tuned = tune(NULL, weights, &noisy, SETS(TUNE));
  session random = train_in(NULL, &noisy, SAMPLES, VALID, 1, SETS("steps=11", "batch=5"));

  assert_ok(still.status);
  assert_ok(tuned.status);
  assert_ok(random.status);
  const weir_tensor *const a = check_stored(first.store, WEIR_PARAMS_FLAT);
  const weir_tensor *const b = check_stored(still.store, WEIR_PARAMS_FLAT);

  assert_memory_equal(a->data, b->data, weir_tensor_bytes(a));
  assert_true(tuned.result.best_loss < random.result.best_loss);
  close_session(&first);
  close_session(&still);
  close_session(&tuned);
  close_session(&random);
}

static void it_resumes_to_the_same_bits(void **state)
{
  session first = first_training("seed=1");
  toy t = {.noise = true}, stopping = {.noise = true, .stop_at = 6};
  session whole = tune(NULL, weights, &t, SETS(TUNE));
  session part = tune(NULL, weights, &stopping, SETS(TUNE));

  weir_stop_request(0);
  assert_ok(whole.status);
  assert_int_equal(part.status, WEIR_ERR_STOPPED);
  session rest = tune(part.dir, weights, &t, SETS(TUNE));

  assert_ok(rest.status);
  assert_int_equal(rest.result.first, 6);
  assert_same(&whole, &rest);
  close_session(&first);
  close_session(&whole);
  close_session(&part);
  close_session(&rest);
}

/* Checkpoints of a training from other weights, or from random ones, are not continued. */
static void other_weights_are_refused(void **state)
{
  toy t = {.noise = true};
  session first = first_training("seed=1");
  session tuned = tune(NULL, weights, &t, SETS(TUNE));
  session random =
      train_in(NULL, &t, SAMPLES, VALID, 1, SETS("steps=11", "batch=5", "checkpoint.format=raw"));

  assert_ok(tuned.status);
  assert_ok(random.status);
  refused(tune(random.dir, weights, &t, SETS(TUNE)), WEIR_ERR_SHAPE, "another network or training");
  refused(train_in(tuned.dir, &t, SAMPLES, VALID, 1,
                   SETS("steps=11", "batch=5", "checkpoint.format=raw")),
          WEIR_ERR_SHAPE, "another network or training");
  close_session(&first);
  first = first_training("seed=2");
  refused(tune(tuned.dir, weights, &t, SETS(TUNE)), WEIR_ERR_CONFIG, "from other initial weights");
  refused(tune(NULL, weights, &t, SETS("initial_weights=nowhere.nc", "steps=11")), WEIR_ERR_DATA,
          "train.initial_weights: nowhere.nc cannot be read");
  refused(tune(NULL, weights, &t, SETS(TUNE, "models.seeds=[1, 2]")), WEIR_ERR_CONFIG,
          "initial_weights: they would be the same networks");
  close_session(&first);
  close_session(&tuned);
  close_session(&random);
}

static int all_tests(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_starts_from_them),
      cmocka_unit_test(it_resumes_to_the_same_bits),
      cmocka_unit_test(other_weights_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
  weir_log_set_level(WEIR_LOG_ERROR);
  return toy_tests(all_tests);
}
