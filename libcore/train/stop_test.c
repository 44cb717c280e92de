/* stop_test.c - a run that a signal stops resumes from any step to the same bits. */
#include "support/train/train_check.h"

#include "base/weir_log.h"

/* Stops once after step `at`, then resumes; else as the run that `whole` is of. */
static session interrupted(int64_t at, int64_t per_step, toy *t, const char *const *sets)
{
  toy stopping = *t;
  stopping.stop_at = at * per_step - (t->refuse > 0 ? per_step - t->refuse : 0);
  session first = train_in(NULL, &stopping, 21, 10, 1, sets);

  weir_stop_request(0);
  assert_int_equal(first.status, WEIR_ERR_STOPPED);
  assert_non_null(strstr(weir_last_message(), "to resume from the checkpoint"));
  session second = train_in(first.dir, t, 21, 10, 1, sets);

  assert_ok(second.status);
  assert_int_equal(second.result.first, t->refuse > 0 ? at - 1 : at);
  close_session(&first);
  return second;
}

static void every_step_is_gone_on_from(toy *t, int64_t fetches, const char *const *sets)
{
  session whole = train_in(NULL, t, 21, 10, 1, sets);

  assert_ok(whole.status);
  assert_int_equal(whole.result.step, 11);
  for (int64_t at = 1; at < 11; at++) {
    session s = interrupted(at, fetches, t, sets);

    assert_same(&whole, &s);
    close_session(&s);
  }
  close_session(&whole);
}

/* 21 samples in batches of 5: 4 steps and a partial one an epoch; 11 steps end within the third. */
static void resumed_runs_have_the_same_bits(void **state)
{
  toy t = {.noise = true};

  every_step_is_gone_on_from(&t, 1,
                             SETS("steps=11", "batch=5", "optim.schedule.shape=cosine",
                                  "optim.average.decay=0.9", "optim.clip.max_norm=0.5"));
}

/* 6 samples a step, in batches of 3: each step fetches twice, the fourth of an epoch once. */
static void so_have_runs_that_accumulate(void **state)
{
  toy t = {.noise = true};

  every_step_is_gone_on_from(&t, 2,
                             SETS("steps=11", "batch=3", "accumulate=2", "drop_last=true",
                                  "optim.rule=momentum", "checkpoint.format=raw"));
}

/* A sample that is made when it is asked for may fail because of the signal. */
static void so_have_runs_that_stop_within_a_sample(void **state)
{
  toy t = {.noise = true, .refuse = 1};

  every_step_is_gone_on_from(&t, 1, SETS("steps=11", "batch=5", "checkpoint.every=3"));
}

/* The micro-batches before it have updated the buffers. */
static void or_within_a_sample_of_the_second_microbatch(void **state)
{
  toy t = {.noise = true, .refuse = 2};

  every_step_is_gone_on_from(
      &t, 2, SETS("steps=11", "batch=3", "accumulate=2", "drop_last=true", "check_nan=false"));
  every_step_is_gone_on_from(&t, 2, SETS("steps=11", "batch=3", "accumulate=2", "drop_last=true"));
}

/* Validation fetches twice, after the steps 5, 10 and 11: within a sample of each the run stops,
 * once more where it resumes, and then continues to the end. */
static void or_within_a_sample_of_the_validation(void **state)
{
  const char *const *sets = SETS("steps=11", "batch=5", "optim.average.decay=0.9", "patience=9");
  toy t = {.noise = true};
  session whole = train_in(NULL, &t, 21, 10, 1, sets);

  assert_ok(whole.status);
  for (int64_t k = 1; k <= 6; k++) {
    const int64_t step = (const int64_t[]){5, 10, 11}[(k - 1) / 2];
    toy stopping = {.noise = true, .stop_valid = k};
    session s = train_in(NULL, &stopping, 21, 10, 1, sets);

    for (int again = 0; again < 2; again++) {
      weir_stop_request(0);
      assert_int_equal(s.status, WEIR_ERR_STOPPED);
      assert_non_null(strstr(weir_last_message(), "to resume from the checkpoint"));
      stopping.stop_valid = again == 0 ? 1 : 0;
      close_session(&s);
      s = train_in(s.dir, &stopping, 21, 10, 1, sets);
    }
    assert_ok(s.status);
    assert_int_equal(s.result.first, step);
    assert_int_equal(s.result.best_epoch, whole.result.best_epoch);
    assert_same(&whole, &s);
    close_session(&s);
  }
  close_session(&whole);
}

static int all_tests(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(resumed_runs_have_the_same_bits),
      cmocka_unit_test(so_have_runs_that_accumulate),
      cmocka_unit_test(so_have_runs_that_stop_within_a_sample),
      cmocka_unit_test(or_within_a_sample_of_the_second_microbatch),
      cmocka_unit_test(or_within_a_sample_of_the_validation),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
  weir_log_set_level(WEIR_LOG_ERROR);
  return toy_tests(all_tests);
}
